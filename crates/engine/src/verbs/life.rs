//! Retire, restore, archive, unarchive: a memory's way out of use and back.
//!
//! Comes in: ids and a reason. Goes out: what became of each. What a person stands behind, or took out of use, moves only with a person's
//! yes. Never here: removing text; that is `forget`.

use super::names::{self, Enough};
use super::{Outcome, asked_of, commit, seen, waiting};
use crate::call::Call;
use crate::shelf::Done;
use heirloom_core::{May, Memory, MemoryId, Owner, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// Which memories are to move, and why.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// Their ids or names.
    pub ids: Vec<String>,
    /// Why, for the memory's history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Takes memories out of use.
pub fn retire(call: &Call, ask: &Move) -> Result<Vec<Outcome<Done>>> {
    each(call, Verb::Retire, ask)
}

/// Puts retired memories back into use.
pub fn restore(call: &Call, ask: &Move) -> Result<Vec<Outcome<Done>>> {
    each(call, Verb::Restore, ask)
}

/// Keeps memories for the record, out of recall.
pub fn archive(call: &Call, ask: &Move) -> Result<Vec<Outcome<Done>>> {
    each(call, Verb::Archive, ask)
}

/// Puts archived memories back into use.
pub fn unarchive(call: &Call, ask: &Move) -> Result<Vec<Outcome<Done>>> {
    each(call, Verb::Unarchive, ask)
}

fn each(call: &Call, verb: Verb, ask: &Move) -> Result<Vec<Outcome<Done>>> {
    let enough = Enough::to_change(call);
    // All names are looked up before anything is touched.
    let ids: Vec<MemoryId> =
        ask.ids.iter().map(|name| names::find(call, name, enough)).collect::<Result<_>>()?;
    let moved = ids.iter().map(|id| run(call, verb, id, ask.reason.as_deref())).collect();
    // Also what was moved before one that failed.
    commit::commit(call, &format!("memory: {} {}", verb.name(), ask.ids.join(" ")));
    moved
}

pub(super) fn run(call: &Call, verb: Verb, id: &MemoryId, reason: Option<&str>) -> Result<Outcome<Done>> {
    let memory = seen(call, id)?;
    if asked_of(call, verb, &memory, stands_behind(call, verb, &memory)?)? == May::Waits {
        let ask = Move { ids: vec![memory.id.to_string()], reason: reason.map(str::to_owned) };
        return Ok(Outcome::Waits(waiting::wait(call, verb, &memory, &ask)?));
    }
    let shelf = call.shelf_of(&memory.id)?;
    let entry = call.entry();
    let why = reason.unwrap_or_default();
    let done = match verb {
        Verb::Restore => shelf.restore(&memory.id, entry),
        Verb::Archive => shelf.archive(&memory.id, why, entry),
        Verb::Unarchive => shelf.unarchive(&memory.id, entry),
        _ => shelf.retire(&memory.id, why, entry),
    };
    Outcome::of(call, done)
}

/// Whose word a move goes against: the writer's, or of what is out of use already that of whoever took it out.
pub(super) fn stands_behind(call: &Call, verb: Verb, memory: &Memory) -> Result<Owner> {
    match verb {
        Verb::Restore | Verb::Unarchive => call.stands_behind(memory),
        _ => call.owner_of(memory),
    }
}
