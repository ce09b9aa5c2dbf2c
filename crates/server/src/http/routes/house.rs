//! Routes that keep house: review, audit, undo, users and tokens, figures.
//!
//! Comes in: a call and a request. Goes out: what the verb answered, without the paths of the machine. Never here: a person; what needs one is
//! refused by the table of authority.

use super::shapes::{self, object};
use super::{Given, Param, Route, verb};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use axum::http::StatusCode;
use heirloom_core::{Code, Fault, Scopes};
use heirloom_engine::Call;
use heirloom_engine::verbs::decide::{self, Reject};
use heirloom_engine::verbs::invite::{self, InviteUser};
use heirloom_engine::verbs::status::{own, status};
use heirloom_engine::verbs::trail::{self, Audit};
use heirloom_engine::verbs::undo::{self, Undo};
use heirloom_engine::verbs::users::{self, AddUser, MakeToken, RemoveUser, RevokeToken};
use serde_json::{Value, json};

const LOOKS: Route = Route {
    method: "GET",
    path: "",
    name: "",
    tag: "house",
    about: "",
    query: &[],
    body: None,
    status: 200,
    answer: || json!({}),
    waits: false,
    writes: false,
    versioned: false,
    run: |_, _| Err(Problem::nowhere()),
};

/// Lines of an audit, unless somebody says.
const LINES: usize = 100;

const LIMIT: Param = Param {
    name: "limit",
    about: "Lines per page; 100 by default. The first page has the newest",
    schema: r#"{"type":"integer","minimum":1,"maximum":1000}"#,
    required: false,
};
pub(super) const CURSOR: Param = Param {
    name: "cursor",
    about: "`next` of the page before",
    schema: r#"{"type":"string","maxLength":128}"#,
    required: false,
};
const ABOUT: Param = Param {
    name: "id",
    about: "Only about this id",
    schema: r#"{"type":"string","maxLength":512}"#,
    required: false,
};

fn name() -> Value {
    json!({ "type": "string" })
}

fn token_parts() -> Vec<(&'static str, Value)> {
    vec![
        ("id", name()),
        ("name?", name()),
        ("scopes", name()),
        ("added_at", name()),
        ("expires_at?", name()),
        ("used_at?", name()),
    ]
}

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/v1/status",
        name: "get_status",
        about: "What the project's memory holds, and what needs attention",
        answer: || without_paths(verb("status")),
        run: |call, _| {
            let mut state = serde_json::to_value(status(call)?).unwrap_or_default();
            strip(&mut state);
            Ok(Reply::new(StatusCode::OK, state))
        },
        ..LOOKS
    },
    Route {
        path: "/v1/stats",
        name: "get_stats",
        about: "How much you have of turns and facts",
        answer: || {
            let number = || json!({ "type": "integer", "minimum": 0 });
            object(&[
                ("user", name()),
                ("episodes", number()),
                ("facts", number()),
                ("superseded", number()),
                ("retired", number()),
            ])
        },
        run: |call, _| Ok(Reply::ok(&own(call)?)),
        ..LOOKS
    },
    Route {
        path: "/v1/review",
        name: "list_review",
        about: "What waits for a person, and what could be tidied up",
        answer: || verb("review"),
        run: |call, _| Ok(Reply::ok(&decide::list(call)?)),
        ..LOOKS
    },
    Route {
        method: "POST",
        path: "/v1/review/{key}/accept",
        name: "accept",
        about: "A person's yes; a token is never a person and is refused",
        body: Some(|| object(&[("seen", shapes::word("What came with what was shown"))])),
        answer: || verb("review-accept"),
        writes: true,
        run: |call, given| {
            let shown =
                vec![decide::Seen { key: given.part("key"), seen: given.text("seen").unwrap_or_default() }];
            Ok(Reply::ok(&decide::accept(call, &decide::Accept { shown })?))
        },
        ..LOOKS
    },
    Route {
        method: "POST",
        path: "/v1/review/{key}/reject",
        name: "reject",
        about: "Reject a draft that waits",
        answer: || verb("review-reject"),
        writes: true,
        run: |call, given| Ok(Reply::ok(&decide::reject(call, &Reject { keys: vec![given.part("key")] })?)),
        ..LOOKS
    },
    Route {
        path: "/v1/audit",
        name: "list_audit",
        about: "Lines of the project's audit, oldest first; with chain=own those of your turns and facts. Pages go back in time",
        query: &[
            ABOUT,
            LIMIT,
            CURSOR,
            Param {
                name: "verdict",
                about: "Only with this verdict",
                schema: r#"{"type":"string","maxLength":64}"#,
                required: false,
            },
            Param {
                name: "chain",
                about: "Which audit",
                schema: r#"{"type":"string","enum":["project","own"]}"#,
                required: false,
            },
        ],
        answer: || shapes::paged("lines", verb("audit")),
        run: audit,
        ..LOOKS
    },
    Route {
        path: "/v1/audit/verify",
        name: "verify_audit",
        about: "Whether the audit's chains are whole",
        answer: || verb("audit-verify"),
        run: |call, _| Ok(Reply::ok(&trail::verify_audit(call)?)),
        ..LOOKS
    },
    Route {
        path: "/v1/undo",
        name: "list_undo",
        about: "Changes that can be undone, newest first",
        answer: || verb("undo-list"),
        run: |call, _| Ok(Reply::ok(&undo::list(call)?)),
        ..LOOKS
    },
    Route {
        method: "POST",
        path: "/v1/undo",
        name: "undo",
        about: "Undo a change; the undo is a change too",
        body: Some(|| {
            object(&[
                ("number?", shapes::word("Its number; by default the last change")),
                ("dry_run?", shapes::flag("Only show what would happen")),
            ])
        }),
        answer: || {
            let step = object(&[
                ("id", name()),
                ("does", name()),
                ("changed_since", json!({ "type": "boolean" })),
                ("diff", json!({ "type": "array", "items": name() })),
            ]);
            object(&[
                ("status", name()),
                ("number", name()),
                ("undo?", name()),
                ("memories", json!({ "type": "array", "items": step })),
            ])
        },
        writes: true,
        run: |call, given| {
            Ok(Reply::ok(&undo::undo(
                call,
                &Undo { number: given.text("number"), dry_run: given.flag("dry_run") },
            )?))
        },
        ..LOOKS
    },
    Route {
        path: "/v1/users",
        name: "list_users",
        tag: "users",
        about: "The users of this store",
        answer: || verb("user-list"),
        run: |call, _| Ok(Reply::ok(&users::list(call)?)),
        ..LOOKS
    },
    Route {
        method: "POST",
        path: "/v1/users",
        name: "add_user",
        tag: "users",
        about: "Add a user; needs the scope admin",
        body: Some(|| object(&[("user", shapes::word("The name"))])),
        status: 201,
        answer: || object(&[("status", name()), ("user", name())]),
        writes: true,
        run: |call, given| {
            Ok(Reply::ok(&users::add(call, &AddUser { user: given.text("user").unwrap_or_default() })?)
                .status(StatusCode::CREATED))
        },
        ..LOOKS
    },
    Route {
        method: "DELETE",
        path: "/v1/users/{user}",
        name: "remove_user",
        tag: "users",
        about: "Remove a user and everything they own; this cannot be undone",
        query: &[
            Param {
                name: "dry_run",
                about: "Only show what would be removed",
                schema: r#"{"type":"boolean"}"#,
                required: false,
            },
            Param {
                name: "shred",
                about: "Also rewrite tables that others use",
                schema: r#"{"type":"boolean"}"#,
                required: false,
            },
        ],
        answer: || {
            let number = || json!({ "type": "integer", "minimum": 0 });
            object(&[
                ("status", name()),
                ("user", name()),
                ("memories", number()),
                ("tokens", number()),
                ("unreached?", json!({ "type": "array", "items": name() })),
            ])
        },
        writes: true,
        run: |call, given| {
            let ask = RemoveUser {
                user: given.part("user"),
                shred: given.flag("shred"),
                dry_run: given.flag("dry_run"),
            };
            Ok(Reply::ok(&users::remove(call, &ask)?))
        },
        ..LOOKS
    },
    Route {
        method: "POST",
        path: "/v1/users/{user}/tokens",
        name: "make_token",
        tag: "users",
        about: "Make a token; it replaces the one with the same name and appears in this answer only",
        body: Some(|| {
            object(&[
                ("name?", shapes::word("Its name among the user's tokens")),
                ("scopes?", shapes::word("What it may do: read,write,delete,facts,admin,upkeep")),
                ("days?", shapes::count("After how many days it ends", 1, 3650)),
            ])
        }),
        status: 201,
        answer: || {
            let mut parts = vec![("user", name()), ("token", name())];
            parts.extend(token_parts());
            object(&parts)
        },
        // A key of idempotency would have the token kept; asking again makes a new one in its place.
        writes: false,
        run: made_token,
        ..LOOKS
    },
    Route {
        method: "POST",
        path: "/v1/users/{user}/invite",
        name: "invite_user",
        tag: "users",
        about: "Make a link with which a user sets a PIN for the page; it works once and appears in this answer only",
        body: Some(|| {
            object(&[
                ("hours?", shapes::count("Hours for which it works; 24 by default", 1, 168)),
                (
                    "server?",
                    shapes::word("The address of the server; without it the link begins with its path"),
                ),
            ])
        }),
        status: 201,
        answer: || verb("user-invite"),
        // A key of idempotency would have the link kept; asking again makes a new one in its place.
        writes: false,
        run: |call, given| {
            let ask = InviteUser {
                user: given.part("user"),
                hours: given.count("hours").and_then(|hours| u32::try_from(hours).ok()),
                server: given.text("server"),
            };
            Ok(Reply::ok(&invite::invite(call, &ask)?).status(StatusCode::CREATED))
        },
        ..LOOKS
    },
    Route {
        method: "DELETE",
        path: "/v1/users/{user}/tokens/{name}",
        name: "revoke_token",
        tag: "users",
        about: "Revoke a token; `-` stands for the one without a name",
        answer: || object(&[("status", name()), ("user", name()), ("name?", name())]),
        writes: true,
        run: |call, given| {
            let named = Some(given.part("name")).filter(|name| name != "-");
            Ok(Reply::ok(&users::revoke(call, &RevokeToken { user: given.part("user"), name: named })?))
        },
        ..LOOKS
    },
];

fn audit(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let ask = Audit {
        id: given.text("id"),
        verdict: given.text("verdict"),
        event: None,
        limit: given.count("limit").unwrap_or(LINES),
    };
    let cursor = given.text("cursor");
    Ok(match given.text("chain").as_deref() {
        Some("own") => Reply::ok(&trail::own_audit_page(call, &ask, cursor.as_deref())?),
        _ => Reply::ok(&trail::audit_page(call, &ask, cursor.as_deref())?),
    })
}

fn made_token(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let scopes = given.text("scopes").map(|text| {
        Scopes::parse(&text).map_err(|_| {
            Fault::new(Code::Validation, "the list of scopes is not valid")
                .hint("use read, write, delete, facts, admin, upkeep, separated by commas")
        })
    });
    let ask = MakeToken {
        user: given.part("user"),
        name: given.text("name"),
        scopes: scopes.transpose()?,
        days: given.count("days").and_then(|days| u32::try_from(days).ok()),
        hours: None,
    };
    Ok(Reply::ok(&users::token(call, &ask)?).status(StatusCode::CREATED))
}

/// Paths belong to the machine.
const PATHS: [&str; 2] = ["project", "memory"];

fn strip(state: &mut Value) {
    if let Some(state) = state.as_object_mut() {
        PATHS.iter().for_each(|key| {
            state.remove(*key);
        });
        state.remove("external_memory");
    }
}

fn without_paths(mut schema: Value) -> Value {
    strip(&mut schema["properties"]);
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|name| !PATHS.iter().any(|path| name == path) && name != "external_memory");
    }
    schema
}
