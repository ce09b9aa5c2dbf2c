//! Routes of upkeep: other kinds, cited code, checks, and what is past its time.
//!
//! Comes in: a call and a request. Goes out: what the verb answered. Nothing here names a file of the machine. Never here: a rule about memories, or
//! what belongs to the machine itself: settings, hooks, models, git.

use super::house::CURSOR;
use super::shapes::{self, object};
use super::{Given, Param, Route, verb};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use axum::http::StatusCode;
use heirloom_engine::Call;
use heirloom_engine::verbs::anchor::{self, Anchor, Deed};
use heirloom_engine::verbs::convert::{self, Conversion, Convert};
use heirloom_engine::verbs::remove::{self, Clear, Compact, Redact};
use heirloom_engine::verbs::scan;
use heirloom_engine::verbs::trail::{self, AskWhy, Last};
use heirloom_engine::verbs::upkeep::{self, Expire, Gc};
use heirloom_engine::verbs::verify::{self, Verify};
use heirloom_engine::verbs::{Outcome, config};
use serde_json::{Value, json};

/// Runs of hooks, unless somebody says.
const RUNS: usize = 20;

const KEEPS: Route = Route {
    method: "POST",
    path: "",
    name: "",
    tag: "upkeep",
    about: "",
    query: &[],
    body: None,
    status: 200,
    answer: || json!({}),
    waits: false,
    writes: true,
    versioned: false,
    run: |_, _| Err(Problem::nowhere()),
};

fn dry_run() -> Value {
    shapes::flag("Only show what would happen")
}

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/v1/memories/{id}/convert",
        name: "convert_memory",
        tag: "memories",
        about: "Make a memory of another kind from this one",
        body: Some(|| {
            object(&[
                ("kind", shapes::word("The new kind")),
                ("text?", shapes::text("The new text; by default the text of the source")),
                ("title?", shapes::text("The new title")),
                ("topic?", shapes::text("Topic of a lesson or register")),
                ("scope?", shapes::text("Scope of a canon or register")),
                ("fields?", shapes::named_values("Content fields by name")),
                ("tags?", shapes::texts("More tags")),
                ("retire?", shapes::flag("Take the source out of use")),
            ])
        }),
        status: 201,
        answer: shapes::added,
        waits: true,
        run: converted,
        ..KEEPS
    },
    Route {
        path: "/v1/memories/{id}/anchors",
        name: "change_anchors",
        tag: "memories",
        about: "Say which code a memory cites: add places, take the code as it is now, or drop places",
        body: Some(|| {
            object(&[
                ("action", json!({ "type": "string", "enum": ["add", "renew", "drop"] })),
                (
                    "places?",
                    shapes::texts(
                        "PATH, PATH:12-20, PATH#symbol; with drop at most one, or none to drop all",
                    ),
                ),
            ])
        }),
        answer: || verb("anchor-list")["items"].clone(),
        waits: true,
        run: anchored,
        ..KEEPS
    },
    Route {
        method: "GET",
        path: "/v1/memories/{id}/why",
        name: "get_why",
        tag: "memories",
        about: "When and why a memory was last given to an agent",
        answer: || verb("why"),
        writes: false,
        run: |call, given| Ok(Reply::ok(&trail::why(call, &AskWhy { id: given.part("id") })?)),
        ..KEEPS
    },
    Route {
        method: "GET",
        path: "/v1/runs",
        name: "list_runs",
        about: "What hooks did last, newest first",
        query: &[
            Param {
                name: "hook",
                about: "Only this hook",
                schema: r#"{"type":"string","maxLength":64}"#,
                required: false,
            },
            Param {
                name: "limit",
                about: "Runs per page; 20 by default",
                schema: r#"{"type":"integer","minimum":1,"maximum":1000}"#,
                required: false,
            },
            CURSOR,
        ],
        answer: || shapes::paged("runs", verb("last")),
        writes: false,
        run: |call, given| {
            call.project().expect_memory()?;
            let ask = Last { hook: given.text("hook"), limit: given.count("limit").unwrap_or(RUNS) };
            Ok(Reply::ok(&trail::last_page(call, &ask, given.text("cursor").as_deref())?))
        },
        ..KEEPS
    },
    Route {
        method: "GET",
        path: "/v1/verify",
        name: "verify",
        about: "Whether everything stored is as it should be",
        answer: || verb("verify"),
        writes: false,
        run: |call, _| verified(call, false),
        ..KEEPS
    },
    Route {
        path: "/v1/repair",
        name: "repair",
        about: "Rebuild what is derived from the files, then verify",
        answer: || verb("verify"),
        run: |call, _| verified(call, true),
        ..KEEPS
    },
    Route {
        path: "/v1/scan",
        name: "scan",
        about: "What the gate would say about a text; nothing is stored",
        body: Some(|| {
            object(&[
                ("text", shapes::text("The text")),
                ("row?", shapes::word("Which shelf's rules, as `heirloom scan --as` takes them")),
            ])
        }),
        answer: || verb("scan"),
        writes: false,
        run: |call, given| {
            let text = given.text("text").unwrap_or_default();
            let row = given.text("row");
            Ok(Reply::ok(&scan::scan_stream(call, row.as_deref(), "text", &mut text.as_bytes())?))
        },
        ..KEEPS
    },
    Route {
        path: "/v1/redact",
        name: "redact",
        about: "What the gate would refuse among stored memories; with fix it is cut out, which needs the scope delete",
        body: Some(|| object(&[("fix?", shapes::flag("Cut it out"))])),
        answer: || verb("scan"),
        run: |call, given| Ok(Reply::ok(&remove::redact(call, &Redact { fix: given.flag("fix") })?)),
        ..KEEPS
    },
    Route {
        path: "/v1/clear",
        name: "clear",
        about: "Remove all your turns, all your facts, or both; needs the scope delete and cannot be undone",
        body: Some(|| {
            object(&[
                ("tier", json!({ "type": "string", "enum": ["episodic", "semantic", "all"] })),
                ("shred?", shapes::flag("Also where that means rewriting tables that others use")),
                ("dry_run?", dry_run()),
            ])
        }),
        answer: || {
            let names = || json!({ "type": "array", "items": { "type": "string" } });
            object(&[
                ("status", json!({ "type": "string", "enum": ["forgotten", "rehearsed"] })),
                ("count", json!({ "type": "integer", "minimum": 0 })),
                ("ids?", names()),
                ("unreached?", names()),
            ])
        },
        run: cleared,
        ..KEEPS
    },
    Route {
        path: "/v1/gc",
        name: "collect",
        about: "Remove what has expired by the settings; earlier needs the scope delete",
        body: Some(|| {
            object(&[
                ("grace_days?", shapes::count("Days a retired record stays", 0, 36_500)),
                ("dry_run?", dry_run()),
            ])
        }),
        answer: || verb("gc"),
        run: |call, given| {
            call.project().expect_memory()?;
            let grace_days = given.count("grace_days").and_then(|days| u32::try_from(days).ok());
            let ask = Gc { dry_run: given.flag("dry_run"), grace_days, keep_index: false };
            Ok(Reply::ok(&upkeep::gc(call, &ask)?))
        },
        ..KEEPS
    },
    Route {
        path: "/v1/expire",
        name: "expire",
        about: "Remove expired turns; needs the scope upkeep, and delete to remove them earlier",
        body: Some(|| {
            object(&[(
                "within_days?",
                shapes::count("Also turns that expire within this many days", 0, 36_500),
            )])
        }),
        answer: || verb("expire"),
        run: |call, given| {
            let within_days = given.count("within_days").and_then(|days| u32::try_from(days).ok());
            Ok(Reply::ok(&upkeep::expire(call, &Expire { within_days })?))
        },
        ..KEEPS
    },
    Route {
        path: "/v1/compact",
        name: "compact",
        about: "Drop lines of the vault that no longer count; needs the scope delete",
        body: Some(|| object(&[("dry_run?", dry_run())])),
        answer: || verb("compact"),
        run: |call, given| {
            call.project().expect_memory()?;
            Ok(Reply::ok(&remove::compact(call, &Compact { dry_run: given.flag("dry_run") })?))
        },
        ..KEEPS
    },
];

fn converted(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let wanted = Conversion {
        words: given.text("text"),
        title: given.text("title"),
        topic: given.text("topic"),
        scope: given.text("scope"),
        fields: given.fields(),
        tags: given.texts("tags"),
        retire: given.flag("retire"),
    };
    let kind = given.text("kind").unwrap_or_default();
    let outcome = convert::convert(call, &Convert { id: given.part("id"), kind, wanted, seen: None })?;
    super::memories::written(call, outcome, StatusCode::CREATED)
}

fn anchored(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let places = given.texts("places");
    let deed = match given.text("action").as_deref() {
        Some("add") => Deed::Add(places),
        Some("drop") => Deed::Drop(places.into_iter().next()),
        _ => Deed::Renew,
    };
    Ok(match anchor::anchor(call, &Anchor { id: given.part("id"), deed, from: None })? {
        Outcome::Done(done) => Reply::ok(&done),
        Outcome::Waits(waiting) => super::memories::waits(&waiting),
    })
}

fn verified(call: &Call, fix: bool) -> Result<Reply, Problem> {
    call.project().expect_memory()?;
    Ok(Reply::ok(&verify::verify(call, &Verify { fix }, config::warnings(call))?))
}

fn cleared(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let ask = Clear { tier: given.text("tier").unwrap_or_default(), shred: given.flag("shred") };
    if given.flag("dry_run") {
        let count = remove::clearing(call, &ask)?.count;
        return Ok(Reply::ok(&json!({ "status": "rehearsed", "count": count })));
    }
    Ok(Reply::ok(&remove::clear(call, &ask)?))
}
