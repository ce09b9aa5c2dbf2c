//! What can be asked of the vault: the fields as they come in, before anything was looked at.
//!
//! Comes in: a door's words, or an inbox item's. Goes out: the same, as a value. Left-out fields are `None`: a new memory takes the
//! format's default, an update keeps what is there. Never here: a check.

use super::record::{CANON, Record};
use heirloom_core::settings::SHARED;
use serde::{Deserialize, Serialize};

/// One change to the vault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Write {
    /// A new memory, or the next version of the register with its topic and scope.
    Add(Addition),
    /// The next version of a memory.
    Revise(Revision),
    /// A register becomes canon.
    Promote(Promotion),
    /// A memory goes out of use.
    Retire {
        /// Which one.
        id: String,
    },
    /// A memory comes back into use.
    Restore {
        /// Which one.
        id: String,
    },
    /// A memory as it was in an earlier line, as its next version.
    PutBack {
        /// That line.
        line: String,
        /// SHA-256 of the line that counts now; a memory that has another one by now is left alone.
        based_on: String,
    },
    /// A line of another vault, with its id and version.
    Import {
        /// The line.
        line: String,
    },
}

impl Write {
    /// The id of a memory it builds on even if that one is retired.
    pub(super) fn names(&self) -> Option<String> {
        match self {
            Write::Restore { id } => Some(id.clone()),
            Write::Import { line } | Write::PutBack { line, .. } => {
                Record::parse(line.as_bytes()).ok().map(|record| record.id.into_owned())
            }
            Write::Add(_) | Write::Revise(_) | Write::Promote(_) | Write::Retire { .. } => None,
        }
    }
}

/// A new memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Addition {
    /// What it says.
    pub text: String,
    /// `shared`, or whose it is.
    #[serde(default = "shared")]
    pub scope: String,
    /// What it is about; `other` if new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// `canon` or `register`.
    #[serde(default = "canon")]
    pub tier: String,
    /// The key under which a register is kept up to date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic_id: Option<String>,
    /// The way it came in.
    #[serde(default = "manual")]
    pub source: String,
    /// Labels; none if new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// SHA-256 of the line of the register it brings up to date; one that has another by now is left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub based_on: Option<String>,
}

impl Addition {
    /// A canon text in the shared scope, with the format's defaults.
    pub fn new(text: impl Into<String>) -> Addition {
        Addition {
            text: text.into(),
            scope: shared(),
            category: None,
            tier: canon(),
            topic_id: None,
            source: manual(),
            tags: None,
            based_on: None,
        }
    }
}

/// A change to a memory that is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    /// Which one.
    pub id: String,
    /// What it says from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Labels; an empty list takes all away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// `canon` or `register`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic_id: Option<String>,
    /// SHA-256 of the line the change is based on; a memory that has another one by now is left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub based_on: Option<String>,
}

/// A register that becomes canon.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Promotion {
    /// Which one.
    pub id: String,
    /// Its text as canon, if other than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its labels, if other than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// SHA-256 of the line it was when somebody looked at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub based_on: Option<String>,
}

fn shared() -> String {
    SHARED.to_owned()
}

fn canon() -> String {
    CANON.to_owned()
}

fn manual() -> String {
    "manual".to_owned()
}
