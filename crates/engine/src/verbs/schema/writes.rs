//! The shapes of what writing commands answer, and of every error.
//!
//! Comes in: the name of an answer. Goes out: what it is and its schema. Never here: an answer.

use super::{anchored, any_of, count, free, id, list_of, maybe, object, one_of, text, yes_or_no};
use serde_json::{Value, json};

pub(super) fn of(name: &str) -> Option<(&'static str, Value)> {
    Some(match name {
        "add" => ("What became of a new memory; with --dry-run, what would be stored", added()),
        "anchor-add" | "anchor-drop" | "anchor-renew" => ("What a memory cites now", anchored()),
        "archive" | "restore" | "retire" | "unarchive" => {
            ("What became of each memory", list_of(any_of(&[done(), waits()])))
        }
        "clear" | "memory-clear" => ("What is gone of a user's turns and facts", cleared()),
        "convert" => ("The memory that was made from another", added()),
        "edit" => ("What became of a changed memory", added()),
        "error" => ("Why nothing was done; every command that fails answers this", error()),
        "forget" | "memory-forget" => {
            ("What is gone, of one memory or of a topic", any_of(&[gone(), cleared()]))
        }
        "record-candidate" => ("The record that new information may belong to", candidate()),
        "record-write" => ("What became of a record, in the record format's own words", free()),
        "remember" => ("What became of a new fact", added()),
        "review-propose" => (
            "How many turns were looked at, and how many facts wait because of it",
            object(&[("turns", count()), ("proposed", count())]),
        ),
        "setup" => ("What was changed in the settings of coding agents, or would be", setup()),
        "undo" => ("What was taken back, or would be, or why not", undone()),
        "user-add" => {
            ("A user that is there now", object(&[("status", one_of(&["added", "known"])), ("user", text())]))
        }
        "user-invite" => (
            "A link that works once, shown once",
            object(&[
                ("status", json!({ "const": "invited" })),
                ("user", text()),
                ("link", text()),
                ("expires_at", text()),
            ]),
        ),
        "user-remove" => ("A user that is gone, or would be", removed()),
        "user-token" => (
            "A new token, shown once; with --list the tokens of a user, with --revoke the one that is gone",
            any_of(&[made_token(), list_of(token()), revoked()]),
        ),
        "vault-bulk-add" => ("What became of each addition", list_of(added_one())),
        "vault-bulk-delete" => (
            "What became of each memory",
            object(&[
                ("deleted", list_of(text())),
                ("not_found", list_of(text())),
                ("waiting?", list_of(text())),
            ]),
        ),
        "vault-promote" => ("The canon that was made of a register", added()),
        _ => return None,
    })
}

fn done_parts() -> Vec<(&'static str, Value)> {
    vec![("status", text()), ("id", id()), ("path?", text()), ("notes?", list_of(text()))]
}

fn done() -> Value {
    object(&done_parts())
}

/// Saving and changing have one shape, whatever the kind.
fn added() -> Value {
    let mut parts = done_parts();
    parts.extend([("assumed?", list_of(text())), ("from?", id()), ("would?", text())]);
    object(&parts)
}

fn waits() -> Value {
    object(&[
        ("status", json!({ "const": "waits" })),
        ("key", text()),
        ("id", text()),
        ("why", list_of(text())),
        ("what", json!({})),
    ])
}

fn error() -> Value {
    let facts = list_of(json!({ "type": "object", "additionalProperties": text() }));
    object(&[("error", object(&[("code", text()), ("message", text()), ("facts", facts), ("hint", text())]))])
}

fn gone() -> Value {
    object(&[
        ("id", id()),
        ("places", list_of(text())),
        ("in_git", list_of(text())),
        ("unreached", list_of(text())),
    ])
}

fn cleared() -> Value {
    object(&[
        ("status", json!({ "const": "forgotten" })),
        ("count", count()),
        ("ids", list_of(text())),
        ("unreached", list_of(text())),
        ("in_git?", list_of(text())),
    ])
}

fn candidate() -> Value {
    let excerpt = object(&[
        ("title", text()),
        ("record_status", text()),
        ("tags", list_of(text())),
        ("last_change_summary", text()),
        ("key_fields", free()),
    ]);
    let found = object(&[
        ("path", text()),
        ("title", text()),
        ("tags", list_of(text())),
        ("excerpt", any_of(&[excerpt, json!({ "type": "null" })])),
    ]);
    object(&[
        ("candidate", any_of(&[found, json!({ "type": "null" })])),
        ("lifecycle_event", maybe("string")),
        ("delete_allowed", yes_or_no()),
        ("pre_action", maybe("string")),
        ("structural_cud", text()),
        ("vetoes", list_of(text())),
        ("hints", list_of(text())),
    ])
}

fn setup() -> Value {
    let change = object(&[
        ("agent", maybe("string")),
        ("file", text()),
        ("changes", yes_or_no()),
        ("applied", yes_or_no()),
        ("diff", list_of(text())),
    ]);
    object(&[
        ("applied", yes_or_no()),
        ("changes", list_of(change)),
        ("purged?", list_of(text())),
        ("next", list_of(text())),
    ])
}

fn undone() -> Value {
    let step = object(&[
        ("id", text()),
        ("does", text()),
        ("changed_since", yes_or_no()),
        ("diff", list_of(text())),
    ]);
    object(&[
        ("status", one_of(&["undone", "would_undo", "changed_since"])),
        ("number", text()),
        ("undo?", text()),
        ("memories", list_of(step)),
    ])
}

fn token_parts() -> Vec<(&'static str, Value)> {
    vec![
        ("id", text()),
        ("name?", text()),
        ("scopes", text()),
        ("added_at", text()),
        ("expires_at?", text()),
        ("used_at?", text()),
    ]
}

/// What is known of a token; never the token.
pub(super) fn token() -> Value {
    object(&token_parts())
}

fn made_token() -> Value {
    let mut parts = token_parts();
    parts.extend([("user", text()), ("token", text())]);
    object(&parts)
}

fn revoked() -> Value {
    object(&[("status", json!({ "const": "revoked" })), ("user", text()), ("name?", text())])
}

fn removed() -> Value {
    object(&[
        ("status", one_of(&["removed", "would_remove"])),
        ("user", text()),
        ("memories", count()),
        ("tokens", count()),
        ("unreached?", list_of(text())),
    ])
}

fn added_one() -> Value {
    object(&[("status", text()), ("id?", text()), ("code?", text()), ("message?", text()), ("hint?", text())])
}
