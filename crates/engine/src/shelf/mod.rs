//! The shelves: where the truth is kept, each in its own format.
//!
//! Comes in: [`crate::gate::Passed`] drafts, through each shelf's own calls. Goes out: [`Memory`] values, the same shape from
//! every shelf. Never here: deciding what may be stored (the gate), ranking (recall), or printing.

pub mod anchors;
pub(crate) mod door;
pub mod forgets;
pub mod links;
mod merge;
pub mod notes;
mod open;
pub mod provenance;
pub mod records;
pub mod tiers;
pub mod topics;
pub mod vault;

pub use heirloom_core::Audience;
pub use merge::merge;

use crate::gate::Entry;
use crate::project::Project;
use heirloom_core::{Code, Fault, Kind, Memory, MemoryId, ShelfName, Status, fault::Result};
use serde::Serialize;
use std::path::PathBuf;

/// Which memories of a shelf are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Only this status; `None` is every status.
    pub status: Option<Status>,
    /// Only this kind.
    pub kind: Option<Kind>,
}

impl Listing {
    /// What is in use.
    pub fn active() -> Listing {
        Listing { status: Some(Status::Active), kind: None }
    }

    /// Everything, in whatever status.
    pub fn everything() -> Listing {
        Listing { status: None, kind: None }
    }

    /// Whether a memory is wanted.
    pub fn wants(&self, memory: &Memory) -> bool {
        self.status.is_none_or(|s| s == memory.status) && self.kind.as_ref().is_none_or(|k| *k == memory.kind)
    }
}

/// One step in the life of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Change {
    /// When, as stored.
    pub at: String,
    /// What was done, in a line.
    pub summary: String,
    /// Which field, if one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<serde_json::Value>,
    /// What it became.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<serde_json::Value>,
}

/// What a call did.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Done {
    /// `created`, `updated`, `retired`, `already_retired`, …
    pub status: &'static str,
    /// The memory's id afterwards.
    pub id: MemoryId,
    /// Where it is stored, from the project folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What else there is to say, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What `forget` removed.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Forgotten {
    /// The id that is gone.
    pub id: MemoryId,
    /// Every place text was removed from.
    pub places: Vec<String>,
    /// Files whose earlier versions git still holds.
    pub in_git: Vec<String>,
}

/// Something wrong in a store.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Problem {
    /// The file, from the project folder.
    pub file: String,
    /// The line, where one can be named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The code of the table.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub fix: String,
}

/// How much is on a shelf.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
pub struct Count {
    /// In use.
    pub active: usize,
    /// Taken out of use.
    pub retired: usize,
    /// Kept for the record.
    pub archived: usize,
}

/// What every shelf can do, so that one command covers them all.
pub trait Shelf {
    /// Which shelf this is.
    fn name(&self) -> ShelfName;

    /// The memories that are wanted, in the shelf's natural order.
    fn list(&self, wanted: &Listing) -> Result<Vec<Memory>>;

    /// One memory; aliases are followed.
    fn get(&self, id: &MemoryId) -> Result<Option<Memory>>;

    /// A memory's text as the shelf stores it, for those who show what changed.
    fn raw(&self, _id: &MemoryId) -> Result<Option<String>> {
        Ok(None)
    }

    /// How it came to be what it is, oldest first.
    fn history(&self, id: &MemoryId) -> Result<Vec<Change>>;

    /// Takes a memory out of use.
    fn retire(&self, id: &MemoryId, reason: &str, entry: Entry) -> Result<Done>;

    /// Puts a retired memory back into use.
    fn restore(&self, id: &MemoryId, entry: Entry) -> Result<Done>;

    /// Keeps a memory for the record, out of recall.
    fn archive(&self, id: &MemoryId, _reason: &str, _entry: Entry) -> Result<Done> {
        Err(not_here(id, "archived"))
    }

    /// Puts an archived memory back into use.
    fn unarchive(&self, id: &MemoryId, _entry: Entry) -> Result<Done> {
        Err(not_here(id, "unarchived"))
    }

    /// Removes every trace of a memory's text.
    fn forget(&self, id: &MemoryId, entry: Entry) -> Result<Forgotten>;

    /// What is wrong with the shelf's files.
    fn verify(&self) -> Result<Vec<Problem>>;

    /// Cuts what the gate refuses out of the shelf's files. Returns the files that changed.
    fn redact_stored(&self, entry: Entry) -> Result<Vec<String>>;

    /// How much is on it.
    fn count(&self) -> Result<Count> {
        let mut count = Count::default();
        for memory in self.list(&Listing::everything())? {
            match memory.status {
                Status::Active => count.active += 1,
                Status::Retired | Status::Superseded => count.retired += 1,
                Status::Archived => count.archived += 1,
            }
        }
        Ok(count)
    }
}

fn not_here(id: &MemoryId, what: &str) -> Fault {
    Fault::new(Code::Usage, format!("a {} cannot be {what}", id.kind()))
        .fact("id", id.as_str())
        .hint("`heirloom retire <id>` takes it out of use")
}

/// The fault for an id nobody knows.
pub fn unknown(id: &str) -> Fault {
    Fault::new(Code::NotFound, format!("there is no memory `{id}`")).fact("id", id)
}

/// Which of these files git still holds in some commit, from the project folder. Nothing of the repository is run for it.
pub fn in_git(project: &Project, paths: &[PathBuf]) -> Vec<String> {
    let holds = |path: &PathBuf| crate::git::has_history(project.folder(), path);
    paths.iter().filter(|path| holds(path)).map(|path| project.shown(path)).collect()
}
