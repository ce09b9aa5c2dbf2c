//! Status: what there is, shelf by shelf, and what needs attention.
//!
//! Comes in: a call. Goes out: figures. Never here: a memory's text.

use super::may_read;
use crate::call::Call;
use crate::project::no_memory;
use crate::shelf::vault::Stats;
use crate::shelf::{Listing, Shelf as _};
use heirloom_core::{ShelfName, Status, Verb, fault::Result};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub use crate::shelf::Count;
pub use crate::shelf::topics::ExternalState;

/// Everything `status` knows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct State {
    /// The project folder.
    pub project: PathBuf,
    /// The memory folder.
    pub memory: PathBuf,
    /// Records by category.
    pub categories: Vec<OfCategory>,
    /// All shelves.
    pub shelves: Vec<OfShelf>,
    /// The vault's own figures.
    pub vault: Stats,
    /// Where lessons live, and where they should.
    pub external_memory: ExternalState,
    /// Size on the disk.
    pub bytes: u64,
    /// Whether `index.md` says what the files say.
    pub index_in_sync: bool,
    /// What is wrong with it.
    pub issues: Vec<String>,
    /// How much waits for a person.
    pub waiting_for_review: usize,
}

/// How much there is of a category.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfCategory {
    /// Its name.
    pub category: String,
    /// Whether it is switched on.
    pub enabled: bool,
    /// How much.
    #[serde(flatten)]
    pub count: Count,
}

/// How much there is on a shelf.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfShelf {
    /// Its name.
    pub shelf: &'static str,
    /// How much.
    #[serde(flatten)]
    pub count: Count,
}

/// What there is.
pub fn status(call: &Call) -> Result<State> {
    may_read(call, Verb::Status)?;
    let root = call.project().root().folder();
    if !root.is_dir() {
        return Err(no_memory(root));
    }
    let records = call.records();
    let memories = records.list(&Listing::everything())?;
    let count = |name: &str, status: Status| {
        memories.iter().filter(|m| m.kind.name() == name && m.status == status).count()
    };
    let categories = call.settings().categories.iter().map(|c| OfCategory {
        category: c.name().to_owned(),
        enabled: c.enabled,
        count: Count {
            active: count(c.name(), Status::Active),
            retired: count(c.name(), Status::Retired),
            archived: count(c.name(), Status::Archived),
        },
    });
    let mut shelves = Vec::new();
    for shelf in call.shelves() {
        let count = match shelf.count() {
            // A database that cannot be reached keeps nobody from looking at files; `verify` names it.
            Err(_) if shelf.name() == ShelfName::Tiers => continue,
            counted => counted?,
        };
        shelves.push(OfShelf { shelf: shelf.name().name(), count });
    }
    let health = records.health()?;
    // The index is made with the first record: before that nothing is amiss.
    let none_yet = health.sync.is_none()
        && health.active + health.retired + health.archived + health.unreadable.len() == 0;
    Ok(State {
        project: call.project().folder().to_owned(),
        memory: root.to_owned(),
        categories: categories.collect(),
        shelves,
        vault: call.vault().stats()?,
        external_memory: call.topics().external_state(),
        bytes: folder_size(root),
        index_in_sync: none_yet || health.sync.as_ref().is_some_and(|sync| sync.is_none()),
        issues: if none_yet { Vec::new() } else { health.issues() },
        waiting_for_review: crate::review::pending(call)?.len(),
    })
}

fn folder_size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => folder_size(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |meta| meta.len()),
            _ => 0,
        })
        .sum()
}
