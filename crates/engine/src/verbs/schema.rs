//! The shapes of answers, as JSON Schemas: of every reading verb here, of what keeps house (settings, review, the model) in `schema/house.rs`, of
//! upkeep in `schema/upkeep.rs`, of what writes in `schema/writes.rs`.
//!
//! Comes in: the name of an answer. Goes out: its schema, which becomes a file in `schemas/answers/`; tests hold what every command prints
//! against it. No answer has a key that its schema does not name. Never here: an answer.

mod house;
mod upkeep;
mod writes;

use crate::hook::trace::Ended;
use serde_json::{Map, Value, json};

/// The answers that have a schema: the command's words, joined by `-`.
pub const ANSWERS: [&str; 76] = [
    "add",
    "anchor-add",
    "anchor-drop",
    "anchor-list",
    "anchor-renew",
    "archive",
    "audit",
    "audit-verify",
    "brief",
    "clear",
    "compact",
    "config-approve",
    "config-category",
    "config-get",
    "config-list",
    "config-pin",
    "config-set",
    "config-unset",
    "convert",
    "doctor",
    "edit",
    "error",
    "expire",
    "export",
    "forget",
    "gc",
    "history",
    "import",
    "import-auto",
    "init",
    "last",
    "lesson-load",
    "lesson-topics",
    "list",
    "memory-clear",
    "memory-forget",
    "model-embed",
    "model-remove",
    "model-status",
    "note-list",
    "note-session",
    "recall",
    "record-candidate",
    "record-write",
    "remember",
    "restore",
    "retire",
    "review",
    "review-accept",
    "review-propose",
    "review-reject",
    "scan",
    "search",
    "setup",
    "show",
    "snapshot",
    "status",
    "sync",
    "trust",
    "unarchive",
    "undo",
    "undo-list",
    "user-add",
    "user-list",
    "user-remove",
    "user-token",
    "vault-bulk-add",
    "vault-bulk-delete",
    "vault-consolidate",
    "vault-context",
    "vault-promote",
    "vault-propose",
    "vault-recall",
    "vault-stats",
    "verify",
    "why",
];

/// The schema of an answer; `None` if there is none of that name.
pub fn of(name: &str) -> Option<Value> {
    let (what, mut schema) = match name {
        "anchor-list" => ("What memories cite, and whether it changed", list_of(anchored())),
        "audit" => ("Lines of the project's audit, or with --tiers of the user's own", audit()),
        "audit-verify" => (
            "That the audit's chains are whole",
            object(&[
                ("whole", json!({ "const": true })),
                ("entries", count()),
                ("checkpoints?", list_of(object(&[("at", text()), ("lines", count()), ("was", text())]))),
                ("left_out?", text()),
            ]),
        ),
        "brief" => (
            "The lessons a task should start with",
            object(&[("text", text()), ("tokens", count()), ("ids", list_of(id()))]),
        ),
        "compact" => ("What became of the vault, or would", upkeep::compacted()),
        "expire" => (
            "What had expired",
            object(&[("users", count()), ("episodes", count()), ("audit_lines", count())]),
        ),
        "export" => (
            "The files of shelves, or what was written of them; of turns and facts, counts",
            upkeep::exported(),
        ),
        "gc" => (
            "What was collected, or would be",
            object(&[
                ("grace_period_days", count()),
                ("deleted", list_of(text())),
                ("archived", list_of(text())),
                ("retired", list_of(text())),
                ("skipped", list_of(text())),
                ("failed", list_of(text())),
                ("unreadable", list_of(text())),
            ]),
        ),
        "history" => ("The history of a memory, oldest first", list_of(change())),
        "import" => {
            ("What an import brought, or would; of an archive of turns and facts, counts", upkeep::imported())
        }
        "import-auto" => (
            "What coding agents already know about the project, and what came of it",
            object(&[
                ("found", list_of(object(&[("what", text()), ("sources", list_of(text()))]))),
                ("report", upkeep::arrivals()),
            ]),
        ),
        "last" => ("What hooks did last, newest first", list_of(run())),
        "lesson-load" => ("The lessons of a topic, newest first", memories()),
        "lesson-topics" => ("The topics of lessons", list_of(topic())),
        "list" => (
            "A page of memories",
            object(&[("memories", list_of(memory())), ("next?", text()), ("unreachable?", list_of(text()))]),
        ),
        "note-list" => ("Notes in use, newest first", memories()),
        "note-session" => ("The notes a session should see", memories()),
        "recall" => (
            "What an agent would be given for a prompt",
            object(&[
                ("prompt", text()),
                ("ranking", one_of(&["hybrid", "title_tags"])),
                ("hits", list_of(hit())),
                ("block", text()),
            ]),
        ),
        "scan" => ("What the gate would not store as it is, and what was not looked at", upkeep::scanned()),
        "search" => (
            "Memories that fit, best first",
            object(&[
                ("ranking", one_of(&["hybrid", "title_tags", "tiers", "newest"])),
                ("hits", list_of(hit())),
                ("context?", context()),
            ]),
        ),
        "show" => ("A memory, what it came from and what it cites", {
            let mut parts = memory_parts();
            parts.extend([("links?", links()), ("anchors?", list_of(cited()))]);
            object(&parts)
        }),
        "snapshot" => (
            "What every session is given of the vault",
            object(&[("agent", maybe("string")), ("scopes", list_of(text())), ("block", text())]),
        ),
        "status" => ("What there is, and what needs attention", upkeep::status()),
        "sync" => ("What would move between here and the external memory, and what did", upkeep::synced()),
        "vault-consolidate" => (
            "Pairs of the vault that may be one memory, best first",
            list_of(object(&[("score", number()), ("a", id()), ("b", id()), ("texts", list_of(text()))])),
        ),
        "vault-context" => (
            "The vault's block for a question",
            object(&[("agent", maybe("string")), ("query", text()), ("block", text())]),
        ),
        "vault-propose" => (
            "What could go from the vault, with reasons",
            list_of(object(&[("id", id()), ("reason", text()), ("text", text())])),
        ),
        "vault-recall" => ("The newest memories of the vault that are filed as asked", memories()),
        "vault-stats" => ("The vault's figures", upkeep::stats()),
        "verify" => (
            "Whether everything is as it should be; with --staged, what the next commit holds",
            object(&[
                ("ok", yes_or_no()),
                ("files?", count()),
                ("problems", list_of(problem())),
                ("repaired?", list_of(text())),
            ]),
        ),
        "why" => (
            "The last time a memory was given to an agent",
            object(&[
                ("id", text()),
                ("at", text()),
                ("agent", text()),
                ("version", text()),
                ("score", number()),
                ("why", reasons()),
            ]),
        ),
        other => house::of(other).or_else(|| writes::of(other))?,
    };
    let mut whole = Map::new();
    whole.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("title".to_owned(), json!(format!("heirloom {} --json", name.replace('-', " "))));
    whole.insert("description".to_owned(), json!(what));
    whole.append(schema.as_object_mut()?);
    Some(Value::Object(whole))
}

/// An object with exactly these keys; `?` behind a name says that it may be missing.
fn object(parts: &[(&str, Value)]) -> Value {
    let plain = |name: &str| name.trim_end_matches('?').to_owned();
    let properties: Map<String, Value> =
        parts.iter().map(|(name, schema)| (plain(name), schema.clone())).collect();
    let required: Vec<&str> =
        parts.iter().map(|(name, _)| *name).filter(|name| !name.ends_with('?')).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn list_of(item: Value) -> Value {
    json!({ "type": "array", "items": item })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn number() -> Value {
    json!({ "type": "number" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn yes_or_no() -> Value {
    json!({ "type": "boolean" })
}

fn maybe(kind: &str) -> Value {
    json!({ "type": [kind, "null"] })
}

fn one_of(names: &[&str]) -> Value {
    json!({ "enum": names })
}

/// An id is always whole: kind, colon, name.
fn id() -> Value {
    json!({ "type": "string", "pattern": "^[a-z0-9_]+:." })
}

/// An object whose keys are names of the user's or of a kind.
fn free() -> Value {
    json!({ "type": "object" })
}

fn memory_parts() -> Vec<(&'static str, Value)> {
    let mut fields = free();
    fields["description"] = json!(
        "what only its kind has: the content of a record; role, session, position, message, tool and external of a turn; statement, \
         accepted, supersedes and superseded_by of a fact; item (namespace, labels, key, value, metadata) of what a program keeps; topic, subtopic, date and parts of a lesson; the 16-character content_hash of \
         a note; category, topic_id, source and revision in the vault"
    );
    vec![
        ("id", id()),
        ("kind", text()),
        ("title", text()),
        ("body", text()),
        ("tags", list_of(text())),
        ("applies_to?", list_of(text())),
        ("scope", text()),
        ("owner?", text()),
        ("source", one_of(&["explicit_save", "user_message", "tool_output", "ai_inference", "repository"])),
        ("trust", one_of(&["low", "medium", "high"])),
        ("status", one_of(&["active", "retired", "archived", "superseded"])),
        ("version", text()),
        ("occurred_at?", text()),
        ("created_at?", text()),
        ("updated_at?", text()),
        ("expires_at?", text()),
        ("content_hash", json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })),
        ("confidence?", number()),
        ("path?", text()),
        ("fields?", fields),
    ]
}

fn memory() -> Value {
    object(&memory_parts())
}

fn memories() -> Value {
    object(&[("memories", list_of(memory()))])
}

fn hit() -> Value {
    let mut parts = memory_parts();
    let mark = json!({ "type": "array", "items": count(), "minItems": 2, "maxItems": 2 });
    parts.extend([
        ("score", maybe("number")),
        ("why", reasons()),
        (
            "snippet",
            object(&[
                ("text", text()),
                ("marks", list_of(mark)),
                ("cut_before", yes_or_no()),
                ("cut_after", yes_or_no()),
            ]),
        ),
        ("behind?", id()),
        ("anchors?", list_of(cited())),
    ]);
    object(&parts)
}

fn reasons() -> Value {
    list_of(object(&[("what", text()), ("points", number())]))
}

fn context() -> Value {
    object(&[
        ("text", text()),
        ("tokens", count()),
        ("left_out", list_of(object(&[("id", id()), ("why", text())]))),
        ("block", text()),
    ])
}

fn links() -> Value {
    let links = || list_of(object(&[("id", text()), ("at", text())]));
    object(&[("distilled_from?", links()), ("became?", links()), ("imported_from?", links())])
}

fn state() -> Value {
    one_of(&["unchanged", "moved", "unchecked", "changed", "gone"])
}

fn cited() -> Value {
    let place = object(&[("path", text()), ("lines?", list_of(count()))]);
    object(&[("anchor", text()), ("state", state()), ("now?", place)])
}

fn anchored() -> Value {
    object(&[("id", id()), ("state", state()), ("kept?", list_of(text())), ("anchors", list_of(cited()))])
}

fn change() -> Value {
    let any = || json!({});
    object(&[
        ("at", text()),
        ("summary", text()),
        ("field?", text()),
        ("old?", any()),
        ("new?", any()),
        ("undo?", text()),
    ])
}

fn run() -> Value {
    object(&[
        ("at", text()),
        ("hook", text()),
        ("agent", text()),
        ("ended", one_of(&Ended::ALL.map(Ended::name))),
        ("saw", text()),
        ("because", list_of(text())),
        ("left_out?", list_of(text())),
        ("micros", count()),
    ])
}

fn topic() -> Value {
    object(&[
        ("topic", text()),
        ("active", count()),
        ("archived", count()),
        ("loads", count()),
        ("newest", maybe("string")),
    ])
}

/// A line of an audit keeps what its writer of that day put into it: these are there in every one.
fn audit() -> Value {
    let line = |keys: &[&str]| {
        let properties: Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), text())).collect();
        let mut required = keys.to_vec();
        required.push("seq");
        let mut line = json!({ "type": "object", "properties": properties, "required": required });
        line["properties"]["seq"] = count();
        line
    };
    let project = line(&["at", "action", "verdict", "id", "channel", "prev", "hash"]);
    let mut own = line(&["at", "user", "action", "prev", "hash"]);
    own["properties"]["metadata"] = free();
    list_of(json!({ "anyOf": [project, own] }))
}

fn any_of(ways: &[Value]) -> Value {
    json!({ "anyOf": ways })
}

fn problem() -> Value {
    object(&[("file", text()), ("line?", count()), ("code", text()), ("message", text()), ("fix", text())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_a_schema_that_is_one() {
        assert!(ANSWERS.is_sorted());
        for name in ANSWERS {
            let schema = of(name).unwrap();
            assert!(jsonschema::meta::is_valid(&schema), "{name}");
        }
        assert_eq!(of("nothing"), None);
    }

    #[test]
    fn every_way_a_hook_ends_has_its_word_in_the_schema() {
        for ended in Ended::ALL {
            assert_eq!(serde_json::to_value(ended).unwrap(), ended.name());
        }
    }
}
