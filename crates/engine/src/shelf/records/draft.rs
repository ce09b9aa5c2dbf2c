//! A record on its way through the gate.
//!
//! Comes in: a document that is about to be stored. Goes out: its texts, one by one, for the gate to look at. Never here: the
//! record's files, and whether its category has room, which only whoever holds the lock can know.

use super::document::Document;
use super::schema::{self, REQUIRED, Stage, UNKNOWN, Wrong};
use crate::gate::policy::Row;
use crate::gate::{Check, Draft};
use heirloom_core::settings::Category;
use heirloom_core::{Code, Fault, MemoryId, fault::Result};
use serde_json::Value;

/// Fields whose values are fixed words; there is nothing to look for in them.
const FIXED: [&str; 3] = ["schema_version", "category", "record_status"];

/// Fields that are folded, corrected or replaced before a record is stored.
const FOLDED: [&str; 7] =
    ["id", "tags", "created_at", "updated_at", "schema_version", "category", "record_status"];

const ORDER: &[Check] =
    &[Check::Shape, Check::Secrets, Check::Identity, Check::Contact, Check::Injection, Check::Trust];

/// A record that wants to be stored.
#[derive(Debug)]
pub(super) struct RecordDraft<'a> {
    /// The document.
    pub(super) document: Document,
    /// Its category.
    pub(super) category: &'a Category,
    /// What was given for fields that are folded before they are stored.
    pub(super) given: Vec<(&'static str, String)>,
}

/// What a document says in fields that are folded before they are stored.
pub(super) fn given(document: &Document) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for field in FOLDED {
        if let Some(mut value) = document.0.get(field).cloned() {
            walk(field, &mut value, &mut |_, text| found.push((field, text.clone())));
        }
    }
    found
}

impl Draft for RecordDraft<'_> {
    fn row(&self) -> Row {
        Row::Records
    }

    fn order(&self) -> &'static [Check] {
        ORDER
    }

    fn id(&self) -> String {
        MemoryId::new(&self.category.kind, self.document.text("id").unwrap_or_default()).to_string()
    }

    fn texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        // The id is made from the title: it comes last, so that a refusal names what somebody wrote.
        for made in [false, true] {
            for (key, value) in &mut self.document.0 {
                if (key == "id") == made && !FIXED.contains(&key.as_str()) {
                    walk(key, value, visit);
                }
            }
        }
    }

    fn given(&self) -> &[(&'static str, String)] {
        &self.given
    }

    fn own_check(&mut self, check: Check) -> Result<()> {
        match check {
            Check::Shape => match schema::validate(&self.document, self.category, Stage::Stored) {
                wrong if wrong.is_empty() => Ok(()),
                wrong => Err(wrong_fields(&wrong, |got| got.to_owned())),
            },
            _ => Ok(()),
        }
    }
}

fn walk(field: &str, value: &mut Value, visit: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => visit(field, text),
        Value::Array(items) => {
            items.iter_mut().enumerate().for_each(|(at, v)| walk(&format!("{field}.{at}"), v, visit))
        }
        Value::Object(map) => map.iter_mut().for_each(|(key, v)| walk(&format!("{field}.{key}"), v, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The error for wrong fields. `shown` makes a value fit to be printed: short, and without secrets.
pub(super) fn wrong_fields(wrong: &[Wrong], shown: impl Fn(&str) -> String) -> Fault {
    let names: Vec<&str> = wrong.iter().map(|w| w.field.as_str()).collect();
    let mut fault = Fault::new(Code::Validation, format!("not a valid record: {}", names.join(", ")));
    for one in wrong {
        fault = fault
            .fact("field", one.field.as_str())
            .fact("expected", one.expected.as_str())
            .fact("got", if one.got.is_null() { "nothing".to_owned() } else { shown(&short(&one.got)) })
            .fact("fix", fix(one));
    }
    fault.hint(format!("correct {} and try again", names.join(", ")))
}

/// What to do about a wrong field.
fn fix(wrong: &Wrong) -> String {
    let Wrong { field, expected, .. } = wrong;
    match expected.as_str() {
        UNKNOWN => format!("remove {field}"),
        REQUIRED => format!("add {field}"),
        expected => format!("write {field} as {expected}"),
    }
}

fn short(value: &Value) -> String {
    const MAX: usize = 120;
    let text = value.to_string();
    if text.chars().count() <= MAX { text } else { text.chars().take(MAX).collect::<String>() + "…" }
}

/// The refusal of a record for which its category has no room.
pub(super) fn full(category: &Category, has: usize, max: usize) -> Fault {
    Fault::new(Code::Capacity, format!("{} holds {has} of {max} records", category.name()))
        .fact("category", category.name())
        .fact("count", has.to_string())
        .fact("max_memories_per_category", max.to_string())
        .hint(format!(
            "retire or archive one (`heirloom list --kind {}`), or raise max_memories_per_category",
            category.name()
        ))
}
