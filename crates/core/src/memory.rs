//! The read model: what every shelf shows of its contents, so that search, recall and every door work over all
//! of them alike.
//!
//! Comes in: whatever a shelf keeps. Goes out: one shape. Never here: a file format; those belong to the shelves.

use crate::kind::Kind;
use crate::trust::{Source, Trust};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// A memory as everybody sees it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Memory {
    /// `decision:use-postgres`, `note:550e8400-…`: text that says its kind.
    pub id: MemoryId,
    /// What kind of memory it is.
    #[schemars(with = "String")]
    pub kind: Kind,
    /// One line.
    pub title: String,
    /// The text in full, readable.
    pub body: String,
    /// Labels.
    pub tags: Vec<String>,
    /// Files this memory is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub applies_to: Vec<String>,
    /// Where it holds.
    #[schemars(with = "String")]
    pub scope: Scope,
    /// Whose it is, for the shelves that belong to users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Where it came from.
    pub source: Source,
    /// How far to believe it.
    pub trust: Trust,
    /// Where it is in its life.
    pub status: Status,
    /// The content token: changes whenever the stored bytes change.
    pub version: String,
    /// When what it tells of happened, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<String>,
    /// When it was first stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When it last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// When it will go by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// SHA-256 of the stored bytes.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub content_hash: String,
    /// How sure its writer was, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The file it lives in, from the project folder, for the shelves that are files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What only its kind has: the content of a record; role, session, position, message, tool and external of a turn; statement, accepted,
    /// supersedes and superseded_by of a fact; item (namespace, labels, key, value, metadata) of what a program keeps; topic, subtopic, date and
    /// parts of a lesson; the 16-character content_hash of a note; category, topic_id, source and revision in the vault.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
}

/// An id: kind, colon, name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryId(String);

impl MemoryId {
    /// Puts an id together.
    pub fn new(kind: &Kind, name: &str) -> MemoryId {
        MemoryId(format!("{}:{name}", kind.name()))
    }

    /// Reads an id as it is written; `None` if it has no kind or no name.
    pub fn parse(text: &str) -> Option<MemoryId> {
        let (kind, name) = text.split_once(':')?;
        let plain = !kind.is_empty()
            && kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        (plain && !name.is_empty()).then(|| MemoryId(text.to_owned()))
    }

    /// The kind part.
    pub fn kind(&self) -> Kind {
        Kind::named(self.0.split_once(':').map_or("", |(k, _)| k))
    }

    /// The part after the kind.
    pub fn name(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, n)| n)
    }

    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for MemoryId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.0)
    }
}

impl JsonSchema for MemoryId {
    fn schema_name() -> Cow<'static, str> {
        "MemoryId".into()
    }

    /// An id is always whole: kind, colon, name.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[a-z0-9_]+:." })
    }
}

/// Where a memory is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// In use.
    Active,
    /// Taken out of use; goes for good after the grace period.
    Retired,
    /// Kept for the record, not recalled.
    Archived,
    /// Replaced by a newer version.
    Superseded,
}

impl Status {
    /// The name on paper.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Retired => "retired",
            Status::Archived => "archived",
            Status::Superseded => "superseded",
        }
    }

    /// The status of that name.
    pub fn named(name: &str) -> Option<Status> {
        [Status::Active, Status::Retired, Status::Archived, Status::Superseded]
            .into_iter()
            .find(|s| s.name() == name)
    }
}

/// Where a memory holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The whole project.
    Global,
    /// One file.
    File(String),
    /// A part of the project by name.
    Area(String),
    /// One agent, or `shared` for all of them.
    Agent(String),
    /// One user.
    User(String),
}

impl Scope {
    /// Reads `global`, `file:<path>` or `area:<name>`; nothing else is a place in a project.
    pub fn in_project(text: &str) -> Option<Scope> {
        let named = |name: &str| !name.is_empty() && !name.contains(['\n', '\r']);
        match text.split_once(':') {
            None if text == "global" => Some(Scope::Global),
            Some(("file", path)) if named(path) => Some(Scope::File(path.to_owned())),
            Some(("area", name)) if named(name) => Some(Scope::Area(name.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Global => f.write_str("global"),
            Scope::File(path) => write!(f, "file:{path}"),
            Scope::Area(name) => write!(f, "area:{name}"),
            Scope::Agent(name) => write!(f, "agent:{name}"),
            Scope::User(name) => write!(f, "user:{name}"),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_its_kind_and_keeps_colons_in_its_name() {
        let id = MemoryId::parse("lesson:git/rebase#2026-01-15-lost: commits").unwrap();
        assert_eq!(id.kind(), Kind::Lesson);
        assert_eq!(id.name(), "git/rebase#2026-01-15-lost: commits");
        assert_eq!(MemoryId::parse("no-kind"), None);
        assert_eq!(MemoryId::parse("decision:"), None);
        assert_eq!(MemoryId::parse("../etc:passwd"), None);
    }

    #[test]
    fn a_place_in_a_project_is_global_a_file_or_an_area() {
        for text in ["global", "file:src/a.ts", "area:db", "file:C:/x"] {
            assert_eq!(Scope::in_project(text).unwrap().to_string(), text);
        }
        for text in ["", "Global", "globally", "file:", "area:", "agent:x", "file", "file:a\nb"] {
            assert_eq!(Scope::in_project(text), None, "{text}");
        }
    }
}
