//! The verbs: one function for each thing that can be asked, whichever door asks.
//!
//! Comes in: a [`Call`], which carries the caller, and a typed request. Goes out: a typed answer that serialises; it becomes `--json`, an
//! HTTP body and an MCP result. Authority, audience and redaction act in here, so that no door can forget them. Never here: arguments,
//! questions to a person, printing.
//!
//! A write ends in [`Outcome`]: done, or waiting for a person. Waiting is an answer, not an error; a door may still end with the exit code
//! of [`Code::NeedsConfirmation`].

mod about;
pub mod activity;
pub mod add;
pub mod anchor;
pub mod archive;
pub mod commit;
pub mod config;
pub mod convert;
pub mod cursor;
pub mod decide;
pub mod doctor;
pub mod edit;
pub mod events;
pub mod export;
pub mod hook;
pub mod import;
pub mod init;
pub mod invite;
pub mod items;
pub mod join;
pub mod life;
pub mod list;
pub mod memory_tool;
pub mod merge;
pub mod model;
pub mod names;
pub mod once;
pub mod recall;
pub mod record;
pub mod records;
pub mod remember;
pub mod remove;
pub mod review;
pub mod scan;
pub mod schema;
pub mod search;
pub mod sessions;
pub mod setup;
pub mod shelves;
pub mod show;
pub mod staged;
pub mod status;
pub mod sync;
pub mod told;
pub mod trail;
pub mod undo;
pub mod upkeep;
pub mod users;
pub mod vault;
pub mod verify;
mod waiting;
pub mod working;

pub use crate::shelf::Done;
pub use waiting::{Waiting, change_of, resume};

use crate::call::Call;
use crate::shelf::tiers::Kept;
use heirloom_core::{Code, Fault, May, Memory, MemoryId, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// What came of a write.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Outcome<T> {
    /// It is done.
    Done(T),
    /// Nothing changed; a person decides.
    Waits(Waiting),
}

impl<T> Outcome<T> {
    /// What was done; the fault of something that waits otherwise. For doors that report waiting as an error code.
    pub fn done(self) -> Result<T> {
        match self {
            Outcome::Done(done) => Ok(done),
            Outcome::Waits(waiting) => Err(waiting.into()),
        }
    }

    /// An outcome from what a shelf answered: a draft that waits is no fault here.
    pub fn of(call: &Call, answer: Result<T>) -> Result<Outcome<T>> {
        match answer {
            Ok(done) => Ok(Outcome::Done(done)),
            Err(fault) if fault.code == Code::NeedsConfirmation => {
                Ok(Outcome::Waits(Waiting::of(call, &fault)?))
            }
            Err(fault) => Err(fault),
        }
    }
}

/// What saving or changing a memory left behind: the same shape for every kind and verb.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Added {
    /// `created`, `updated`, `promoted`, `already_there`, …; `rehearsed` if nothing was to be stored.
    pub status: &'static str,
    /// The memory's id afterwards.
    pub id: MemoryId,
    /// Where it is stored, from the project folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What else there is to say, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What nobody said and was put in, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// What it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<MemoryId>,
    /// Of a rehearsal, what would be stored, as its shelf writes it; nothing if the gate would not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would: Option<String>,
}

impl Added {
    fn rehearsed(id: MemoryId, path: Option<String>, would: Option<String>) -> Added {
        Added { status: "rehearsed", id, path, notes: Vec::new(), assumed: Vec::new(), from: None, would }
    }
}

impl From<Done> for Added {
    fn from(done: Done) -> Added {
        let Done { status, id, path, notes } = done;
        Added { status, id, path, notes, assumed: Vec::new(), from: None, would: None }
    }
}

impl From<Kept> for Added {
    fn from(kept: Kept) -> Added {
        let id = kept.stored.memory().id;
        Added {
            status: kept.status,
            id,
            path: None,
            notes: kept.notes,
            assumed: Vec::new(),
            from: None,
            would: None,
        }
    }
}

/// A person's answers to what a verb asks first. From anybody else they count for nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Yes {
    /// What may be a secret is none, or is to be stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub possible_secret: bool,
    /// The facts that were shown and may be superseded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersede: Vec<String>,
}

/// How far a long piece of work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is counted: `files`, `memories`, …
    pub what: &'static str,
    /// How many are done.
    pub done: u64,
    /// How many there are, where that is known before the end.
    pub of: Option<u64>,
}

/// Whoever wants to know how far a piece of work has come.
pub type Watch<'a> = dyn FnMut(Progress) + 'a;

/// Nobody does.
pub fn unwatched(_: Progress) {}

/// Asks the table of authority about an effect on a text of this owner on a shelf. A token caps what a person may do in the tiers, which it
/// opens; the files of a project are that person's with and without it.
pub(crate) fn asked(call: &Call, verb: Verb, shelf: ShelfName, owner: Owner) -> Result<May> {
    call.asks(verb, shelf, owner).map_err(|fault| call.refuse(verb, "", fault))
}

/// The same about a memory that is there: a refusal names it in the audit.
pub(crate) fn asked_of(call: &Call, verb: Verb, memory: &Memory, owner: Owner) -> Result<May> {
    call.asks(verb, memory.kind.shelf(), owner).map_err(|fault| call.refuse(verb, memory.id.as_str(), fault))
}

/// Refuses whoever may not do what only looks.
pub(crate) fn may_read(call: &Call, verb: Verb) -> Result<()> {
    asked(call, verb, ShelfName::Records, Owner::Nobody).map(|_| ())
}

/// Whether turns and facts may be among what this caller is shown: a token that may not look opens nothing to look at, also to a person.
pub(crate) fn sees_tiers(call: &Call, verb: Verb) -> bool {
    call.asks(verb, ShelfName::Tiers, Owner::Nobody).is_ok()
}

/// The same for what lies on one shelf: of the tiers even a person sees no more than the token that opens them may.
pub(crate) fn may_read_of(call: &Call, verb: Verb, id: &MemoryId) -> Result<()> {
    call.asks(verb, id.kind().shelf(), Owner::Nobody)
        .map(|_| ())
        .map_err(|fault| call.refuse(verb, id.as_str(), fault))
}

/// The memory of an id as this caller may see it.
pub(crate) fn seen(call: &Call, id: &MemoryId) -> Result<Memory> {
    let memory = call.shelf_of(id)?.get(id)?.filter(|memory| call.caller().sees().sees(memory));
    memory.ok_or_else(|| unknown(id))
}

fn unknown(id: &MemoryId) -> Fault {
    crate::shelf::unknown(id.as_str())
}

#[cfg(test)]
#[path = "verbs_tests.rs"]
mod tests;

#[cfg(test)]
mod walk;

#[cfg(test)]
#[path = "house_tests.rs"]
mod house_tests;

#[cfg(test)]
#[path = "nowhere_tests.rs"]
mod nowhere_tests;

#[cfg(test)]
#[path = "looks_tests.rs"]
mod looks_tests;
