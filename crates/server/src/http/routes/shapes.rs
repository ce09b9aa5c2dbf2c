//! Schemas of what requests bring, and of answers to writes.
//!
//! Comes in: nothing. Goes out: JSON Schemas of the plain sort. Answers of reading verbs have theirs in the engine. Never here: what they mean.

use serde_json::{Map, Value, json};

/// The longest text that is looked at; the gate and the shelves have limits of their own below it.
const TEXT: u64 = 400_000;

/// An object with these fields; `?` behind a name says that it may be missing.
pub(crate) fn object(parts: &[(&str, Value)]) -> Value {
    let plain = |name: &str| name.trim_end_matches('?').to_owned();
    let properties: Map<String, Value> =
        parts.iter().map(|(name, schema)| (plain(name), schema.clone())).collect();
    let required: Vec<&str> =
        parts.iter().map(|(name, _)| *name).filter(|name| !name.ends_with('?')).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

pub(crate) fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about, "maxLength": TEXT })
}

pub(crate) fn word(about: &str) -> Value {
    json!({ "type": "string", "description": about, "minLength": 1, "maxLength": 512 })
}

pub(crate) fn texts(about: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string", "maxLength": 512 }, "maxItems": 100, "description": about })
}

pub(crate) fn flag(about: &str) -> Value {
    json!({ "type": "boolean", "description": about })
}

pub(crate) fn count(about: &str, least: u64, most: u64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most, "description": about })
}

pub(crate) fn named_values(about: &str) -> Value {
    json!({ "type": "object", "additionalProperties": { "type": "string" }, "description": about })
}

/// A page: a list under this name, and the cursor of the next page if there is one.
pub(crate) fn paged(name: &str, list: Value) -> Value {
    object(&[(name, list), ("next?", any_text())])
}

fn any_text() -> Value {
    json!({ "type": "string" })
}

fn list(item: Value) -> Value {
    json!({ "type": "array", "items": item })
}

pub(crate) fn new_memory() -> Value {
    object(&[
        (
            "kind",
            word(
                "decision, runbook, constraint, tech_debt, preference, session_summary, lesson, note, fact, episode, canon, register, or a category of the project",
            ),
        ),
        ("text", text("What to remember; a reason after \"because\"")),
        ("title?", text("A short title")),
        ("fields?", named_values("Content fields by name")),
        ("tags?", texts("Tags")),
        ("topic?", text("Topic of a lesson or register")),
        ("scope?", text("Where it holds")),
        ("category?", text("Category of a canon or register")),
        ("subject?", text("What a fact is about")),
        ("source?", text("Where a canon, a register, a turn or a fact comes from")),
        ("files?", texts("Files it is about")),
        ("confidence?", json!({ "type": "number", "minimum": 0, "maximum": 1 })),
        ("at?", text("When it was")),
        ("cites?", texts("Code it cites: PATH, PATH:12-20, PATH#symbol")),
        ("dry_run?", flag("Only show what would be stored")),
    ])
}

pub(crate) fn change() -> Value {
    object(&changes())
}

/// A change, and the memory that goes into it.
pub(crate) fn joining() -> Value {
    let mut parts = vec![
        ("other", word("The memory that goes: its id, or the key of a draft")),
        ("seen?", word("The version of it that was read")),
    ];
    parts.extend(changes());
    object(&parts)
}

fn changes() -> [(&'static str, Value); 7] {
    [
        ("title?", text("New title of a record or lesson")),
        ("text?", text("New text of a fact, canon or register")),
        ("fields?", named_values("Content fields of a record or lesson; confidence of a fact")),
        ("tags?", texts("Tags to add")),
        ("topic?", text("New topic of a register")),
        ("category?", text("New category of a canon or register")),
        ("message?", text("What changed and why")),
    ]
}

pub(crate) fn reason() -> Value {
    object(&[("reason?", text("Why"))])
}

pub(crate) fn added() -> Value {
    object(&[
        ("status", any_text()),
        ("id", any_text()),
        ("path?", any_text()),
        ("notes?", list(any_text())),
        ("assumed?", list(any_text())),
        ("from?", any_text()),
        ("would?", any_text()),
    ])
}

pub(crate) fn done() -> Value {
    object(&[("status", any_text()), ("id", any_text()), ("path?", any_text()), ("notes?", list(any_text()))])
}

pub(crate) fn waits() -> Value {
    object(&[
        ("status", json!({ "const": "waits" })),
        ("key", any_text()),
        ("id", any_text()),
        ("why", list(any_text())),
        ("what", json!({})),
    ])
}

pub(crate) fn forgotten() -> Value {
    object(&[
        ("id", any_text()),
        ("places", list(any_text())),
        ("in_git", list(any_text())),
        ("unreached", list(any_text())),
    ])
}

/// What goes wrong, whatever it is.
pub(crate) fn problem() -> Value {
    let fact = object(&[("name", any_text()), ("value", any_text())]);
    object(&[
        ("type", any_text()),
        ("title", any_text()),
        ("status", json!({ "type": "integer" })),
        ("detail", any_text()),
        ("code", any_text()),
        ("next", any_text()),
        ("facts", list(fact)),
    ])
}
