//! The shapes of the answers about settings, review, users, the model and the chain of hooks.
//!
//! Comes in: the name of an answer. Goes out: what it is and its schema. Never here: an answer.

use super::{anchored, count, id, list_of, maybe, memory, number, object, one_of, text, yes_or_no};
use serde_json::{Value, json};

pub(super) fn of(name: &str) -> Option<(&'static str, Value)> {
    Some(match name {
        "config-approve" => ("A wish of the project's that is approved now", changed("approved")),
        "config-category" => ("Settings of a category as they stand now", changed("set")),
        "config-get" => ("One setting, and where it comes from", valued()),
        "config-list" => ("Every setting that has a value, by name", list_of(valued())),
        "config-pin" => ("What became of the PIN", object(&[("status", one_of(&["set", "removed"]))])),
        "config-set" => ("Settings as they were set", changed("set")),
        "config-unset" => ("A setting that was taken out of a file", changed("unset")),
        "doctor" => (
            "Every link of the chain from agent to memory",
            object(&[("ok", yes_or_no()), ("checks", list_of(check()))]),
        ),
        "init" => (
            "What a project needed for a memory",
            list_of(object(&[("what", text()), ("path", text()), ("done", yes_or_no())])),
        ),
        "model-embed" | "model-status" => ("The model in use, and how far it is", model()),
        "model-remove" => {
            ("The model in use from now on", object(&[("model", json!({ "const": "builtin" }))]))
        }
        "review" => ("What waits for a person, and what could be tidied up", review()),
        "review-accept" | "trust" => ("What became of a person's yes", accepted()),
        "review-reject" => ("The ids of drafts that were turned down", list_of(text())),
        "undo-list" => ("Changes that can be taken back, newest first", list_of(undoable())),
        "user-list" => ("The users of this store", list_of(user())),
        _ => return None,
    })
}

fn valued() -> Value {
    let origins = ["flag", "environment", "project", "user", "default"];
    object(&[("name", text()), ("value", json!({})), ("origin", one_of(&origins))])
}

fn changed(status: &str) -> Value {
    object(&[
        ("status", json!({ "const": status })),
        ("of", one_of(&["project", "user"])),
        ("settings", list_of(object(&[("key", text()), ("value", json!({}))]))),
    ])
}

fn check() -> Value {
    object(&[
        ("id", text()),
        ("state", one_of(&["good", "warning", "broken"])),
        ("detail", text()),
        ("fix", text()),
    ])
}

fn model() -> Value {
    let trouble = object(&[
        ("since", text()),
        ("at", text()),
        ("failures", count()),
        ("reason", text()),
        ("again", json!({ "type": "integer" })),
    ]);
    object(&[
        ("model", text()),
        ("embedded", count()),
        ("memories", count()),
        ("endpoint", maybe("string")),
        ("trouble", json!({ "anyOf": [trouble, { "type": "null" }] })),
    ])
}

fn draft() -> Value {
    object(&[
        ("key", text()),
        ("verified", yes_or_no()),
        ("id", text()),
        ("shelf", text()),
        ("channel", text()),
        ("trust", one_of(&["low", "medium", "high"])),
        ("reasons", list_of(text())),
        ("at", text()),
        ("draft", json!({})),
        ("kind", text()),
        ("would_be", text()),
        ("fields", list_of(object(&[("name", text()), ("value", text())]))),
        ("age", text()),
        ("said?", text()),
        ("known?", list_of(object(&[("id", text()), ("text", text())]))),
        ("seen", text()),
        ("cannot?", text()),
    ])
}

fn review() -> Value {
    let problem = object(&[
        ("file", text()),
        ("line?", count()),
        ("code", text()),
        ("message", text()),
        ("fix", text()),
    ]);
    let doubt = object(&[
        ("id", id()),
        ("line", count()),
        ("sort", one_of(&["twin", "came_back", "held_back"])),
        ("reason", text()),
    ]);
    object(&[
        ("drafts", list_of(draft())),
        ("saved_by_agents", list_of(memory())),
        ("problems", list_of(problem)),
        ("doubts", list_of(doubt)),
        ("older?", list_of(id())),
        ("stale", list_of(anchored())),
        ("near_duplicates", list_of(object(&[("a", id()), ("b", id()), ("score", number())]))),
        ("proposed_deletions", list_of(object(&[("id", id()), ("reason", text())]))),
    ])
}

fn accepted() -> Value {
    let failed = object(&[("key", text()), ("code", text()), ("message", text())]);
    object(&[("accepted", list_of(text())), ("stored", list_of(text())), ("failed", list_of(failed))])
}

fn user() -> Value {
    object(&[
        ("user", text()),
        ("added_at", text()),
        ("has_token", yes_or_no()),
        ("tokens", list_of(super::writes::token())),
    ])
}

fn undoable() -> Value {
    object(&[
        ("number", text()),
        ("at", text()),
        ("by", text()),
        ("actions", list_of(text())),
        ("ids", list_of(text())),
        ("undone", yes_or_no()),
        ("undoes?", text()),
    ])
}
