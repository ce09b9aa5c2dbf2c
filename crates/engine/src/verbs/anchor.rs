//! Anchor: which code a memory is about.
//!
//! Comes in: a memory and places as somebody typed them. Goes out: what is cited now and what became of it, or a change that waits because a
//! person stands behind the memory. Saving something together with what it cites goes through here too. Never here: looking at code.

use super::names::{self, Enough};
use super::{Outcome, asked_of, commit, seen, waiting};
use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::anchors;
use heirloom_core::{Code, Fault, May, MemoryId, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub use crate::shelf::anchors::{Anchored, Cited, Freshness};

/// What is done to a memory's citations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Cites these places too.
    Add(Vec<String>),
    /// Takes the code as it is now: somebody looked, and the memory still holds.
    Renew,
    /// Cites this place, or anything in this file, no more; nothing at all if there is none.
    Drop(Option<String>),
}

/// A change of what a memory cites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// The memory, by id or name.
    pub id: String,
    /// What is done.
    pub deed: Deed,
    /// The folder that paths are taken from, beside the project's.
    #[serde(skip)]
    pub from: Option<PathBuf>,
}

/// Changes what a memory cites.
pub fn anchor(call: &Call, ask: &Anchor) -> Result<Outcome<Anchored>> {
    let outcome = run(call, ask, call.entry())?;
    if let Outcome::Done(anchored) = &outcome {
        commit::commit(call, &format!("memory: anchor {}", anchored.id));
    }
    Ok(outcome)
}

pub(super) fn run(call: &Call, ask: &Anchor, entry: Entry) -> Result<Outcome<Anchored>> {
    let id = names::find(call, &ask.id, Enough::to_change(call))?;
    if id.kind().shelf() == ShelfName::Tiers {
        return Err(anchors::not_cited(&id));
    }
    let memory = seen(call, &id)?;
    let new = match &ask.deed {
        Deed::Add(places) => cited(call, places, ask.from.as_deref())?,
        Deed::Renew | Deed::Drop(_) => Vec::new(),
    };
    if asked_of(call, Verb::Anchor, &memory, call.stands_behind(&memory)?)? == May::Waits {
        let deed = match &ask.deed {
            // As they are called from the project folder, wherever this was typed.
            Deed::Add(_) => Deed::Add(new.iter().map(anchors::Anchor::shown).collect()),
            other => other.clone(),
        };
        let ask = Anchor { id: memory.id.to_string(), deed, from: None };
        return Ok(Outcome::Waits(waiting::wait(call, Verb::Anchor, &memory, &ask)?));
    }
    let kept = new.iter().map(anchors::Anchor::shown).collect();
    let cited = match &ask.deed {
        Deed::Add(_) => anchors::add(call, &id, new, entry),
        Deed::Renew => anchors::renew(call, &id, entry),
        Deed::Drop(place) => anchors::drop_anchors(call, &id, place.as_deref(), entry),
    }?;
    let state = Freshness::together(cited.iter().map(|cited| cited.state));
    Ok(Outcome::Done(Anchored { id: id.to_string(), state, kept, anchors: cited }))
}

/// Places as they are now.
pub(super) fn cited(call: &Call, places: &[String], from: Option<&Path>) -> Result<Vec<anchors::Anchor>> {
    let folder = call.project().folder();
    places.iter().map(|place| anchors::cite(folder, from.unwrap_or(folder), place)).collect()
}

/// Saves a memory, then what it cites. The places were looked at first, so that a wrong one leaves nothing half-done; those of a memory that
/// waits for a person wait with it.
pub(super) fn citing<T>(
    call: &Call,
    cited: Vec<anchors::Anchor>,
    entry: Entry,
    save: impl FnOnce() -> Result<T>,
    id_of: impl FnOnce(&T) -> Option<MemoryId>,
) -> Result<T> {
    let saved = match save() {
        Err(fault) if fault.code == Code::NeedsConfirmation && !cited.is_empty() => {
            if let Some(id) = fault.get("id") {
                anchors::announce(call, id, cited, entry)?;
            }
            return Err(fault);
        }
        saved => saved?,
    };
    if let Some(id) = id_of(&saved).filter(|_| !cited.is_empty()) {
        anchors::add(call, &id, cited, entry).map_err(|mut fault: Fault| {
            fault.message = format!("`{id}` is saved, but not what it cites: {}", fault.message);
            fault
        })?;
    }
    Ok(saved)
}
