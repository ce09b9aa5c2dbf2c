//! A record as it is on disk: a JSON object whose keys keep their order.
//!
//! Comes in: bytes. Goes out: typed looks at its fields, and bytes again. Never here: whether it is valid.

use heirloom_core::{Status, hash, json};
use serde_json::{Map, Value, json};

/// Most entries a record's change list keeps; the oldest go first.
pub(super) const CHANGES_MAX: usize = 50;

/// Longest summary of a change and longest reason.
pub(super) const SUMMARY_MAX: usize = 300;

/// A record's JSON object.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document(pub(super) Map<String, Value>);

impl Document {
    /// The record with these fields.
    pub fn of(fields: Map<String, Value>) -> Document {
        Document(fields)
    }

    /// Its fields, as one value.
    pub fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// Reads a record; says why if it is none.
    pub fn parse(bytes: &[u8]) -> Result<Document, String> {
        match json::parse(bytes) {
            Ok(Value::Object(map)) => Ok(Document(map)),
            Ok(_) => Err("expected a JSON object".to_owned()),
            Err(e) => Err(format!("invalid JSON: {e}")),
        }
    }

    /// The bytes of the file: indented by two, non-ASCII as it is, a final line break.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(&self.0).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The version token of these bytes.
    pub fn token(bytes: &[u8]) -> String {
        hash::sha256(bytes)
    }

    /// A text field.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }

    /// Any field; `null` counts as absent.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// The category it names; an empty name is none.
    pub fn category(&self) -> Option<&str> {
        self.text("category").filter(|name| !name.is_empty())
    }

    /// The status; a record without one is active, an unknown one is `None`.
    pub fn status(&self) -> Option<Status> {
        match self.get("record_status") {
            None => Some(Status::Active),
            Some(value) => value.as_str().and_then(Status::named),
        }
    }

    /// The tags that are text.
    pub fn tags(&self) -> Vec<&str> {
        let tags = self.0.get("tags").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        tags.iter().filter_map(Value::as_str).collect()
    }

    /// The content object.
    pub fn content(&self) -> Option<&Map<String, Value>> {
        self.0.get("content").and_then(Value::as_object)
    }

    /// The change list.
    pub fn changes(&self) -> &[Value] {
        self.0.get("changes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// How often it was updated.
    pub fn times_updated(&self) -> u64 {
        self.0.get("times_updated").and_then(Value::as_u64).unwrap_or_default()
    }

    /// Sets a field.
    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// Removes a field, keeping the order of the others.
    pub(super) fn remove(&mut self, key: &str) {
        self.0.shift_remove(key);
    }

    /// Appends a change; the oldest go when there are too many.
    pub(super) fn push_change(&mut self, entry: Value) {
        let mut changes = self.changes().to_vec();
        changes.push(entry);
        self.set_changes(changes);
    }

    /// Replaces the change list, cut to its limit.
    pub(super) fn set_changes(&mut self, mut changes: Vec<Value>) {
        let surplus = changes.len().saturating_sub(CHANGES_MAX);
        changes.drain(..surplus);
        self.set("changes", changes);
    }
}

/// A change entry about one field.
pub(super) fn change(date: &str, summary: &str, field: &str, old: Value, new: Value) -> Value {
    json!({
        "date": date,
        "summary": short(summary),
        "field": field,
        "old_value": old,
        "new_value": new,
    })
}

/// At most so many characters as a summary or reason may have.
pub(super) fn short(text: &str) -> String {
    text.chars().take(SUMMARY_MAX).collect()
}

impl Document {
    /// Cuts a change list that arrived too long.
    pub(super) fn set_changes_if_any(&mut self) {
        let changes = self.changes().to_vec();
        if changes.len() > CHANGES_MAX {
            self.set_changes(changes);
        }
    }

    /// Gives a record without an id one made from its title.
    pub fn fill_name(&mut self) {
        if self.get("id").is_none() {
            let name = super::compose::name_for(self.text("title").unwrap_or_default());
            self.set("id", name);
        }
    }

    /// A new title, if one is given.
    pub fn retitle(&mut self, title: Option<&str>) {
        if let Some(title) = title {
            self.set("title", title);
        }
    }

    /// More tags.
    pub fn add_tags(&mut self, tags: &[String]) {
        let all: Vec<String> =
            self.tags().into_iter().map(str::to_owned).chain(tags.iter().cloned()).collect();
        self.set("tags", all);
    }

    /// Another name.
    pub fn rename(&mut self, name: &str) {
        self.set("id", name);
    }

    /// One content field.
    pub fn set_content(&mut self, key: &str, value: impl Into<Value>) {
        if let Some(Value::Object(content)) = self.0.get_mut("content") {
            content.insert(key.to_owned(), value.into());
        }
    }

    /// A change entry in the writer's own words.
    pub fn note_change(&mut self, date: &str, summary: &str) {
        let mut changes = self.changes().to_vec();
        changes.push(json!({ "date": date, "summary": short(summary) }));
        self.set("changes", changes);
    }
}
