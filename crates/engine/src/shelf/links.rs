//! Links between memories: which one was distilled from which, kept in `provenance.jsonl`.
//!
//! Comes in: an id. Goes out: the memories it came from and those it became. Never here: a memory's text.

use super::provenance::{self, Line};
use super::{Change, Shelf};
use crate::call::Call;
use crate::files::{Lock, Root};
use heirloom_core::{MemoryId, fault::Result};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What a line of this sort says was done.
const DISTILLED: &str = "distilled";

/// A link to another memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Link {
    /// The other memory.
    pub id: String,
    /// When it was made.
    pub at: String,
}

/// The links of a memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Links {
    /// What it was distilled from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distilled_from: Vec<Link>,
    /// What was distilled from it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub became: Vec<Link>,
    /// Where it was imported from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub imported_from: Vec<Link>,
}

impl Links {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.distilled_from.is_empty() && self.became.is_empty() && self.imported_from.is_empty()
    }
}

/// The links of a memory, oldest first.
pub fn of(root: &Root, id: &str) -> Result<Links> {
    let mut links = Links::default();
    for line in provenance::read(root)? {
        let Some(from) = line.text("from") else { continue };
        let link = |id: &str| Link { id: id.to_owned(), at: line.at.clone() };
        match (line.did.as_str(), line.id == id, from == id) {
            (DISTILLED, true, false) => links.distilled_from.push(link(from)),
            (DISTILLED, false, true) => links.became.push(link(&line.id)),
            ("imported", true, _) => links.imported_from.push(link(from)),
            _ => {}
        }
    }
    Ok(links)
}

/// Notes that a memory was distilled from another one. `hash` is that of the new memory; empty while it waits.
pub fn distilled(call: &Call, lock: &Lock, new: &str, hash: &str, from: &MemoryId) -> Result<()> {
    let line = Line {
        id: new.to_owned(),
        hash: hash.to_owned(),
        at: heirloom_core::time::format(call.project().world().now),
        did: DISTILLED.to_owned(),
        more: Map::from_iter([("from".to_owned(), json!(from))]),
    };
    provenance::append(call.project().root(), lock, &[line])
}

/// How a memory came to be what it is, its links included, oldest first.
pub fn history(call: &Call, shelf: &dyn Shelf, id: &MemoryId) -> Result<Vec<Change>> {
    let mut changes = shelf.history(id)?;
    let links = of(call.project().root(), id.as_str())?;
    let change = |link: Link, what: &str| Change {
        at: link.at,
        summary: format!("{what} {}", link.id),
        field: None,
        old: None,
        new: None::<Value>,
    };
    changes.extend(links.distilled_from.into_iter().map(|link| change(link, "distilled from")));
    changes.extend(links.became.into_iter().map(|link| change(link, "became")));
    // A line without a time says how things are now, and stays behind all others.
    changes.sort_by_key(|change| (change.at.is_empty(), change.at.clone()));
    Ok(changes)
}
