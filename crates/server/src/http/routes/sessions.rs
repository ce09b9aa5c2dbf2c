//! Routes of working memory: the running conversation of a session, in the process of the server.
//!
//! Comes in: messages and the name of a session. Goes out: what is in mind. It is the token's user's own, and gone with the process. Never here: a
//! file.

use super::shapes::{self, object};
use super::{Given, Route};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use axum::http::StatusCode;
use heirloom_core::{Code, Fault};
use heirloom_engine::Call;
use heirloom_engine::verbs::working::{self, Append, Said, Session};
use serde_json::{Value, json};

const TAG: &str = "sessions";

const TURN: Route = Route {
    method: "GET",
    path: "/v1/sessions/{session}/messages",
    name: "",
    tag: TAG,
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

fn speaker() -> Value {
    json!({ "type": "string", "enum": ["system", "user", "assistant", "tool"] })
}

fn message() -> Value {
    object(&[
        ("speaker", speaker()),
        ("content?", json!({ "type": "string" })),
        ("item?", json!({ "type": "object" })),
        ("trust", json!({ "enum": ["low", "medium", "high"] })),
        ("tokens", json!({ "type": "integer", "minimum": 0 })),
    ])
}

fn number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn trust() -> Value {
    json!({ "enum": ["low", "medium", "high"] })
}

fn name() -> Value {
    json!({ "type": "string" })
}

pub(super) const ROUTES: &[Route] = &[
    Route {
        name: "read_session",
        about: "The messages in mind, oldest first; `new` says that nothing is kept of the session, as after a restart of the server",
        answer: || {
            object(&[
                ("session", name()),
                ("messages", json!({ "type": "array", "items": message() })),
                ("tokens", number()),
                ("trust", trust()),
                ("new?", json!({ "type": "boolean" })),
            ])
        },
        run: |call, given| Ok(Reply::ok(&working::read(call, &session(given))?)),
        ..TURN
    },
    Route {
        method: "POST",
        name: "append_to_session",
        about: "Keep messages in mind; the oldest ones make room, the system's last",
        body: Some(|| {
            let said = object(&[
                ("speaker", speaker()),
                ("content?", shapes::text("What was said")),
                (
                    "item?",
                    json!({ "type": "object", "description": "An item of your own form, kept as it is, in place of the content" }),
                ),
                ("external?", shapes::flag("Whether it comes from outside: a web page, a file")),
            ]);
            object(&[(
                "messages",
                json!({ "type": "array", "items": said, "minItems": 1, "maxItems": 1000 }),
            )])
        }),
        answer: || {
            object(&[
                ("session", name()),
                ("count", number()),
                ("tokens", number()),
                ("dropped", number()),
                ("new?", json!({ "type": "boolean" })),
                ("by_turn?", json!({ "type": "boolean" })),
                ("trust", trust()),
            ])
        },
        run: appended,
        ..TURN
    },
    Route {
        method: "DELETE",
        name: "clear_session",
        about: "End a conversation: nothing of it is left",
        answer: || object(&[("session", name()), ("cleared", number())]),
        run: |call, given| Ok(Reply::ok(&working::clear(call, &session(given))?)),
        ..TURN
    },
    Route {
        method: "POST",
        path: "/v1/sessions/{session}/pop",
        name: "pop_from_session",
        about: "Take the newest message out",
        answer: || {
            object(&[("session", name()), ("message", json!({ "anyOf": [message(), { "type": "null" }] }))])
        },
        run: |call, given| Ok(Reply::ok(&working::pop(call, &session(given))?)),
        ..TURN
    },
];

fn session(given: &Given) -> Session {
    Session { session: given.part("session") }
}

fn appended(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let messages: Vec<Said> = serde_json::from_value(given.body.get("messages").cloned().unwrap_or_default())
        .map_err(|_| Problem::from(Fault::new(Code::Validation, "the messages cannot be read")))?;
    let kept = working::append(call, &Append { session: given.part("session"), messages })?;
    Ok(Reply::ok(&kept).status(StatusCode::OK))
}
