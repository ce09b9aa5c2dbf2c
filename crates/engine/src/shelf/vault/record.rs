//! A record of the vault: one line of `vault.jsonl`.
//!
//! Comes in: a line. Goes out: its fields, borrowed from it where the line has no escapes, and the same line back. The layout
//! is closed: key order, `, ` and `: ` between things, non-ASCII as it is, `topic_id` only where there is one. Keys nobody
//! knows are passed over; a key twice makes the line unreadable, because nobody can say which one was meant.

use super::layout;
use super::scan::MAX_LINE;
use heirloom_core::{Kind, MemoryId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A text of a line.
pub(super) type Text<'a> = Cow<'a, str>;

/// The tier whose records hold for good.
pub const CANON: &str = "canon";
/// The tier whose records hold the present state.
pub const REGISTER: &str = "register";

/// One version of one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record<'a> {
    /// The name all versions share; twelve hex digits if it was made here.
    pub id: Text<'a>,
    /// Starts at 1; the highest one counts.
    pub version: i64,
    /// When the first version was written; empty if nobody said.
    pub created_at: Text<'a>,
    /// When the text last changed.
    pub updated_at: Option<Text<'a>>,
    /// `canon` or `register`.
    pub tier: Text<'a>,
    /// The key under which a register is kept up to date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic_id: Option<Text<'a>>,
    /// The way it came in, in the vault's own words.
    pub source: Option<Text<'a>>,
    /// `shared`, or whose it is.
    pub scope: Text<'a>,
    /// What it is about; free text in lower case.
    pub category: Text<'a>,
    /// Labels.
    pub tags: Vec<Text<'a>>,
    /// When it was taken out of use.
    pub deleted_at: Option<Text<'a>>,
    /// What it says.
    pub text: Text<'a>,
}

/// A borrowed text; serde borrows inside options and lists only through a type of its own.
#[derive(Deserialize)]
#[serde(transparent)]
struct Lent<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    version: Option<i64>,
    #[serde(borrow)]
    created_at: Option<Lent<'a>>,
    #[serde(borrow)]
    updated_at: Option<Lent<'a>>,
    #[serde(borrow)]
    tier: Option<Lent<'a>>,
    #[serde(borrow)]
    topic_id: Option<Lent<'a>>,
    #[serde(borrow)]
    source: Option<Lent<'a>>,
    #[serde(borrow)]
    scope: Option<Lent<'a>>,
    #[serde(borrow)]
    category: Option<Lent<'a>>,
    #[serde(borrow)]
    tags: Option<Vec<Lent<'a>>>,
    #[serde(borrow)]
    deleted_at: Option<Lent<'a>>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

impl<'a> Record<'a> {
    /// Reads a line. The error says what is wrong, without the line.
    pub fn parse(line: &'a [u8]) -> Result<Record<'a>, String> {
        if line.len() > MAX_LINE {
            return Err(format!("longer than {MAX_LINE} bytes"));
        }
        if let Some(record) = layout::read(line) {
            return Ok(record);
        }
        let wire: Wire<'a> = serde_json::from_slice(line).map_err(|e| why(&e))?;
        if wire.id.is_empty() {
            return Err("the id is empty".to_owned());
        }
        let text = |lent: Option<Lent<'a>>, missing: &'static str| match lent {
            Some(Lent(text)) => text,
            None => Cow::Borrowed(missing),
        };
        Ok(Record {
            id: wire.id,
            version: wire.version.unwrap_or(1),
            created_at: text(wire.created_at, ""),
            updated_at: wire.updated_at.map(|t| t.0),
            tier: text(wire.tier, CANON),
            topic_id: wire.topic_id.map(|t| t.0),
            source: wire.source.map(|t| t.0),
            scope: text(wire.scope, "shared"),
            category: text(wire.category, "other"),
            tags: wire.tags.unwrap_or_default().into_iter().map(|t| t.0).collect(),
            deleted_at: wire.deleted_at.map(|t| t.0),
            text: wire.text,
        })
    }

    /// Whether the memory of a line is in use; the error is [`Record::parse`]'s.
    pub(super) fn in_use(line: &'a [u8]) -> Result<bool, String> {
        match layout::in_use(line).filter(|_| line.len() <= MAX_LINE) {
            Some(in_use) => Ok(in_use),
            None => Record::parse(line).map(|record| record.is_active()),
        }
    }

    /// The line, without its line break.
    pub fn line(&self) -> String {
        let mut line = String::with_capacity(self.text.len() + 256);
        let mut put = |key: &str, value: &str| {
            line.push_str(if line.is_empty() { "{\"" } else { ", \"" });
            line.push_str(key);
            line.push_str("\": ");
            line.push_str(value);
        };
        let maybe = |text: &Option<Text<'_>>| text.as_deref().map_or_else(|| "null".to_owned(), quoted);
        put("id", &quoted(&self.id));
        put("version", &self.version.to_string());
        put("created_at", &quoted(&self.created_at));
        put("updated_at", &maybe(&self.updated_at));
        put("tier", &quoted(&self.tier));
        if let Some(topic) = &self.topic_id {
            put("topic_id", &quoted(topic));
        }
        put("source", &maybe(&self.source));
        put("scope", &quoted(&self.scope));
        put("category", &quoted(&self.category));
        let tags: Vec<String> = self.tags.iter().map(|tag| quoted(tag)).collect();
        put("tags", &format!("[{}]", tags.join(", ")));
        put("deleted_at", &maybe(&self.deleted_at));
        put("text", &quoted(&self.text));
        line.push('}');
        line
    }

    /// In use: not taken out.
    pub fn is_active(&self) -> bool {
        self.deleted_at.is_none()
    }

    /// Whether it holds for good.
    pub fn is_canon(&self) -> bool {
        self.tier == CANON
    }

    /// Whether it holds the present state.
    pub fn is_register(&self) -> bool {
        self.tier == REGISTER
    }

    /// The topic of a register that has one. An empty topic is none.
    pub fn topic(&self) -> Option<&str> {
        self.topic_id.as_deref().filter(|topic| !topic.is_empty())
    }

    /// The kind in everybody's words. A tier nobody knows counts as canon, like a line without one.
    pub fn kind(&self) -> Kind {
        if self.is_register() { Kind::Register } else { Kind::Canon }
    }

    /// The id in everybody's words.
    pub fn memory_id(&self) -> MemoryId {
        MemoryId::new(&self.kind(), &self.id)
    }

    /// The same record, owning its texts.
    pub fn into_owned(self) -> Record<'static> {
        let own = |text: Text<'_>| Cow::Owned(text.into_owned());
        Record {
            id: own(self.id),
            version: self.version,
            created_at: own(self.created_at),
            updated_at: self.updated_at.map(own),
            tier: own(self.tier),
            topic_id: self.topic_id.map(own),
            source: self.source.map(own),
            scope: own(self.scope),
            category: own(self.category),
            tags: self.tags.into_iter().map(own).collect(),
            deleted_at: self.deleted_at.map(own),
            text: own(self.text),
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// The parser's reason without what it quotes of the line.
fn why(error: &serde_json::Error) -> String {
    use serde_json::error::Category;
    match error.classify() {
        Category::Eof => "the line ends too early".to_owned(),
        Category::Syntax | Category::Io => format!("not JSON from column {} on", error.column()),
        Category::Data => {
            let full = error.to_string();
            match full.split('`').nth(1).filter(|_| full.contains(" field `")) {
                Some(field) if full.starts_with("missing") => format!("`{field}` is missing"),
                Some(field) => format!("`{field}` occurs twice"),
                None => format!("a value of the wrong type before column {}", error.column()),
            }
        }
    }
}
