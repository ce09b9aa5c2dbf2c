//! The shape of a record: base fields and the content fields of its category, checked against the table of kinds.
//!
//! Comes in: a document and its category. Goes out: every field that is wrong, with what was expected. The JSON Schemas in
//! `schemas/` are made from the same table ([`super::json_schema`]) and accept the same documents. Never here: changing
//! anything.

use super::document::{CHANGES_MAX, Document, SUMMARY_MAX};
use heirloom_core::kind::Shape;
use heirloom_core::settings::Category;
use serde_json::{Map, Value};

/// Longest title.
pub(super) const TITLE_MAX: usize = 120;
/// What an id looks like.
pub(super) const ID_PATTERN: &str = "^[a-z0-9]([a-z0-9-]{0,78}[a-z0-9])?$";

/// A field that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    /// The dotted path of the field.
    pub field: String,
    /// What was expected there.
    pub expected: String,
    /// What is there; `null` if nothing is.
    pub got: Value,
}

/// Whether the change list may still be longer than a stored one (it is cut before it is stored).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// As it arrived.
    Input,
    /// As it is or will be on disk.
    Stored,
}

/// The fields that records of all categories share.
pub const BASE_FIELDS: [&str; 17] = [
    "schema_version",
    "category",
    "id",
    "title",
    "record_status",
    "created_at",
    "updated_at",
    "tags",
    "related_files",
    "confidence",
    "content",
    "changes",
    "times_updated",
    "retired_at",
    "retired_reason",
    "archived_at",
    "archived_reason",
];

/// Everything that is wrong with a document of that category.
pub fn validate(document: &Document, category: &Category, stage: Stage) -> Vec<Wrong> {
    let mut look = Look { wrong: Vec::new() };
    let root = &document.0;
    look.exactly(root, "schema_version", "1.0");
    look.exactly(root, "category", category.name());
    if let Some(id) = look.required_text(root, "", "id")
        && !is_id(id)
    {
        look.say(
            "id",
            format!("1 to 80 lower-case letters, digits and inner hyphens ({ID_PATTERN})"),
            &root["id"],
        );
    }
    if let Some(title) = look.required_text(root, "", "title") {
        let length = title.chars().count();
        if length == 0 || length > TITLE_MAX {
            look.say("title", format!("1 to {TITLE_MAX} characters"), &root["title"]);
        }
    }
    if let Some(status) = root.get("record_status")
        && !matches!(status.as_str(), Some("active" | "retired" | "archived"))
    {
        look.say("record_status", "'active', 'retired' or 'archived'", status);
    }
    look.required_text(root, "", "created_at");
    look.required_text(root, "", "updated_at");
    look.list(root, "", "tags", 1, true);
    look.list(root, "", "related_files", 0, false);
    if let Some(confidence) = document.get("confidence")
        && !confidence.as_f64().is_some_and(|n| (0.0..=1.0).contains(&n))
    {
        look.say("confidence", "a number from 0 to 1", confidence);
    }
    if let Some(times) = root.get("times_updated")
        && !(times.is_u64() || times.is_i64() || times.as_f64().is_some_and(|n| n.fract() == 0.0))
    {
        look.say("times_updated", "a whole number", times);
    }
    for key in ["retired_at", "archived_at"] {
        look.optional_text(root, "", key, usize::MAX);
    }
    for key in ["retired_reason", "archived_reason"] {
        look.optional_text(root, "", key, SUMMARY_MAX);
    }
    look.changes(document, stage);
    look.content(document, category);
    for (key, value) in root.iter().filter(|(key, _)| !BASE_FIELDS.contains(&key.as_str())) {
        look.say(key, UNKNOWN, value);
    }
    look.wrong
}

/// Whether a text is fit to be an id.
pub(super) fn is_id(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=80).contains(&text.len())
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// What is expected of a field that no record has.
pub(super) const UNKNOWN: &str = "no such field";

/// What is expected of a field that every record has.
pub(super) const REQUIRED: &str = "a value; the field is required";

struct Look {
    wrong: Vec<Wrong>,
}

fn path(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

impl Look {
    fn say(&mut self, field: impl Into<String>, expected: impl Into<String>, got: &Value) {
        self.wrong.push(Wrong { field: field.into(), expected: expected.into(), got: got.clone() });
    }

    fn missing(&mut self, field: String) {
        self.wrong.push(Wrong { field, expected: REQUIRED.to_owned(), got: Value::Null });
    }

    fn exactly(&mut self, map: &Map<String, Value>, key: &str, expected: &str) {
        match map.get(key) {
            None => self.missing(key.to_owned()),
            Some(value) if value.as_str() != Some(expected) => self.say(key, format!("'{expected}'"), value),
            Some(_) => {}
        }
    }

    fn required_text<'a>(&mut self, map: &'a Map<String, Value>, prefix: &str, key: &str) -> Option<&'a str> {
        match map.get(key) {
            None => self.missing(path(prefix, key)),
            Some(Value::String(text)) => return Some(text),
            Some(other) => self.say(path(prefix, key), "text", other),
        }
        None
    }

    fn optional_text(&mut self, map: &Map<String, Value>, prefix: &str, key: &str, max: usize) {
        match map.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if text.chars().count() <= max => {}
            Some(Value::String(_)) => {
                self.say(path(prefix, key), format!("at most {max} characters"), &map[key])
            }
            Some(other) => self.say(path(prefix, key), "text", other),
        }
    }

    fn list(&mut self, map: &Map<String, Value>, prefix: &str, key: &str, min: usize, required: bool) {
        let field = path(prefix, key);
        match map.get(key) {
            None if required => self.missing(field),
            None => {}
            Some(Value::Null) if !required => {}
            Some(Value::Array(items)) => {
                if items.len() < min {
                    self.say(
                        field.clone(),
                        format!("at least {min} item{}", if min == 1 { "" } else { "s" }),
                        &map[key],
                    );
                }
                for (at, item) in items.iter().enumerate().filter(|(_, item)| !item.is_string()) {
                    self.say(format!("{field}.{at}"), "text", item);
                }
            }
            Some(other) => self.say(field, "a list of texts", other),
        }
    }

    fn changes(&mut self, document: &Document, stage: Stage) {
        let Some(value) = document.get("changes") else { return };
        let Some(items) = value.as_array() else {
            return self.say("changes", "a list of changes", value);
        };
        if stage == Stage::Stored && items.len() > CHANGES_MAX {
            self.say("changes", format!("at most {CHANGES_MAX} entries"), &Value::from(items.len()));
        }
        for (at, item) in items.iter().enumerate() {
            let prefix = format!("changes.{at}");
            let Some(entry) = item.as_object() else {
                self.say(prefix, "an object with date and summary", item);
                continue;
            };
            self.required_text(entry, &prefix, "date");
            if let Some(summary) = self.required_text(entry, &prefix, "summary")
                && summary.chars().count() > SUMMARY_MAX
            {
                self.say(
                    format!("{prefix}.summary"),
                    format!("at most {SUMMARY_MAX} characters"),
                    &entry["summary"],
                );
            }
            self.optional_text(entry, &prefix, "field", usize::MAX);
            self.only(entry, &prefix, &["date", "summary", "field", "old_value", "new_value"]);
        }
    }

    fn only(&mut self, map: &Map<String, Value>, prefix: &str, known: &[&str]) {
        for (key, value) in map.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
            self.say(path(prefix, key), UNKNOWN, value);
        }
    }

    fn content(&mut self, document: &Document, category: &Category) {
        let content = match document.0.get("content") {
            None => return self.missing("content".to_owned()),
            Some(Value::Object(content)) => content,
            Some(other) => return self.say("content", "an object", other),
        };
        let fields = category.fields();
        for field in &fields {
            let key = field.name;
            let full = path("content", key);
            match (content.get(key), field.shape) {
                (None, _) if field.required => self.missing(full),
                (None, _) => {}
                (Some(Value::Null), _) if !field.required => {}
                (Some(value), Shape::Text) if !value.is_string() => self.say(full, "text", value),
                (Some(value), Shape::Choice(words))
                    if !value.as_str().is_some_and(|w| words.contains(&w)) =>
                {
                    self.say(full, one_of(words), value);
                }
                (Some(value), Shape::Flag) if !value.is_boolean() => self.say(full, "true or false", value),
                (Some(_), Shape::List { min }) => self.list(content, "content", key, min, field.required),
                (Some(value), Shape::Alternatives) => self.alternatives(&full, value),
                (Some(value), Shape::Examples) => self.examples(&full, value),
                (Some(_), Shape::Text | Shape::Choice(_) | Shape::Flag) => {}
            }
        }
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        self.only(content, "content", &names);
    }

    fn alternatives(&mut self, field: &str, value: &Value) {
        let Some(items) = value.as_array() else {
            return self.say(field, "a list of {option, rejected_reason}", value);
        };
        for (at, item) in items.iter().enumerate() {
            let prefix = format!("{field}.{at}");
            let Some(entry) = item.as_object() else {
                self.say(prefix, "an object with option and rejected_reason", item);
                continue;
            };
            self.required_text(entry, &prefix, "option");
            self.required_text(entry, &prefix, "rejected_reason");
            self.only(entry, &prefix, &["option", "rejected_reason"]);
        }
    }

    fn examples(&mut self, field: &str, value: &Value) {
        let Some(entry) = value.as_object() else {
            return self.say(field, "an object with the lists prefer and avoid", value);
        };
        self.list(entry, field, "prefer", 0, false);
        self.list(entry, field, "avoid", 0, false);
        self.only(entry, field, &["prefer", "avoid"]);
    }
}

fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
