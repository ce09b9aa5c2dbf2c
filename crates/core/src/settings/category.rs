//! A record category as the settings describe it: a built-in kind with its settings, or a custom one.
//!
//! Comes in: the table of kinds and the resolved settings. Goes out: everything the record shelf needs to know about a
//! category. Never here: how a record is checked or stored.

use crate::kind::{CUSTOM_FIELDS, Field, Kind, Shape, Words};

/// Names of declared fields that hold the sentence itself, beside that of the category.
const THE_THING: [&str; 9] =
    ["summary", "description", "statement", "sentence", "text", "what", "message", "content", "body"];

/// A category of records.
#[derive(Debug, Clone, PartialEq)]
pub struct Category {
    /// What kind of memory it holds.
    pub kind: Kind,
    /// Its folder below the memory root.
    pub folder: String,
    /// Off: no capture, no new records, not recalled.
    pub enabled: bool,
    /// Off: triage skips it.
    pub auto_capture: bool,
    /// `gc` retires what was not updated for this many days; 0 is never.
    pub retention_days: u32,
    /// How many active ones are kept; `None` is no limit.
    pub max_retained: Option<u32>,
    /// What it is for, in the user's words; at most 500 characters.
    pub description: Option<String>,
    /// Fields of a custom category, if it declares any.
    pub custom_fields: Vec<CustomField>,
}

/// A field that a custom category declares.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomField {
    /// The name on paper.
    pub name: String,
    /// Texts instead of one text.
    pub list: bool,
    /// Whether a record must have it.
    pub required: bool,
}

/// A field of either sort, as the record shelf sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldView<'a> {
    /// The name on paper.
    pub name: &'a str,
    /// What it holds.
    pub shape: Shape,
    /// Whether a record must have it.
    pub required: bool,
    /// Whether an excerpt shows it.
    pub excerpt: bool,
    /// Which part of a plain sentence belongs there.
    pub from: Words,
    /// What to write there; empty for custom fields.
    pub help: &'a str,
}

impl Category {
    /// The name in files and commands.
    pub fn name(&self) -> &str {
        self.kind.name()
    }

    /// The label in `index.md`.
    pub fn label(&self) -> String {
        self.kind.label()
    }

    /// The content fields, in order.
    pub fn fields(&self) -> Vec<FieldView<'_>> {
        let built_in = |fields: &'static [Field]| {
            fields
                .iter()
                .map(|f| FieldView {
                    name: f.name,
                    shape: f.shape,
                    required: f.required,
                    excerpt: f.excerpt,
                    from: f.from,
                    help: f.help,
                })
                .collect()
        };
        match self.kind.row() {
            Some(row) => built_in(row.fields),
            None if self.custom_fields.is_empty() => built_in(CUSTOM_FIELDS),
            None => self
                .custom_fields
                .iter()
                .map(|f| FieldView {
                    name: &f.name,
                    shape: match (f.list, f.required) {
                        (true, required) => Shape::List { min: usize::from(required) },
                        (false, _) => Shape::Text,
                    },
                    required: f.required,
                    excerpt: f.required,
                    from: match (f.required, self.is_the_thing(f)) {
                        (_, true) => Words::What,
                        (true, false) => Words::Own,
                        (false, false) => Words::Later,
                    },
                    help: "",
                })
                .collect(),
        }
    }

    /// Whether a declared field is where the sentence itself belongs: it is called so. Any other field says something a sentence does not
    /// have to say, such as who was there.
    fn is_the_thing(&self, field: &CustomField) -> bool {
        let own = |name: &str| name == self.name() || THE_THING.contains(&name);
        let first = self.custom_fields.iter().find(|other| !other.list && own(&other.name));
        first.is_some_and(|first| first.name == field.name)
    }

    /// Whether triage may propose to delete one.
    pub fn triage_may_delete(&self) -> bool {
        self.kind.row().is_none_or(|row| row.triage_may_delete)
    }
}
