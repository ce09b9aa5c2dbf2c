//! Join: two memories that say the same, or the opposite, become one.
//!
//! Comes in: the memory that stays, what it says from now on, and the other one: a stored memory or a draft that waits. Goes out: the one that stays and
//! what became of the other, as one change that one undo takes back. Both must still be what whoever decided was shown. Never here: which words are the
//! right ones; half of it: if the joined text cannot be saved, the other comes back.

use super::edit::{self, Edit};
use super::names::{self, Enough};
use super::{Added, Outcome, asked_of, commit, life, review, seen, undo, waiting};
use crate::call::Call;
use crate::gate::Entry;
use heirloom_core::{Code, Fault, May, Memory, MemoryId, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// Which two become one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// The memory that stays, by id or name.
    pub id: String,
    /// The version of it that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The one that goes: the id or name of a memory, or the key of a draft.
    pub other: String,
    /// The version of it that was seen; of a draft its `seen`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// What the one that stays says from now on; its `id` and `version` are not looked at. It stays as it is if nothing is to change.
    #[serde(default)]
    pub change: Edit,
}

/// What became of the two.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Joined {
    /// The one that stays.
    pub kept: Added,
    /// The one that went.
    pub other: String,
    /// `retired`, or `rejected` if it was a draft.
    #[schemars(extend("enum" = ["retired", "rejected"]))]
    pub became: &'static str,
}

/// The one that goes.
enum Other {
    Memory(Box<Memory>),
    Draft(Box<review::Shown>),
}

/// Makes one memory of two.
pub fn join(call: &Call, ask: &Join) -> Result<Outcome<Joined>> {
    let outcome = run(call, ask, call.entry())?;
    if let Outcome::Done(joined) = &outcome {
        commit::commit(call, &format!("memory: join {} into {}", joined.other, joined.kept.id));
    }
    Ok(outcome)
}

pub(super) fn run(call: &Call, ask: &Join, entry: Entry) -> Result<Outcome<Joined>> {
    let kept = seen(call, &names::find(call, &ask.id, Enough::to_change(call))?)?;
    let other = found(call, &ask.other)?;
    is_as_seen(kept.id.as_str(), ask.version.as_deref(), &kept.version)?;
    let (shelf, name) = match &other {
        Other::Memory(memory) => {
            is_as_seen(memory.id.as_str(), ask.seen.as_deref(), &memory.version)?;
            (memory.kind.shelf(), memory.id.to_string())
        }
        Other::Draft(shown) => {
            is_as_seen(&shown.item.key, ask.seen.as_deref(), &shown.seen)?;
            (review::shelf_of(&shown.item).unwrap_or(ShelfName::Records), shown.item.id.clone())
        }
    };
    fits(&kept, shelf, &name)?;
    // Authority is asked about each of the two.
    let mut may = asked_of(call, Verb::Join, &kept, call.stands_behind(&kept)?)?;
    match &other {
        Other::Memory(memory) => {
            if asked_of(call, Verb::Join, memory, call.owner_of(memory)?)? == May::Waits {
                may = May::Waits;
            }
        }
        // Whoever turns a draft into something else decides about it, and that is a person's.
        Other::Draft(_) => call.permit(Verb::Accept, shelf, &name)?,
    }
    if may == May::Waits {
        let seen = match &other {
            Other::Memory(memory) => memory.version.clone(),
            Other::Draft(shown) => shown.seen.clone(),
        };
        let change = Edit { id: String::new(), version: None, ..ask.change.clone() };
        let ask = Join { id: kept.id.to_string(), version: None, other: name, seen: Some(seen), change };
        return Ok(Outcome::Waits(waiting::wait(call, Verb::Join, &kept, &ask)?));
    }
    // Nobody writes between the two halves.
    let _lock = if shelf == ShelfName::Tiers { None } else { Some(call.lock()?) };
    // The other goes first: beside it, the joined text would be its duplicate.
    let became = match &other {
        Other::Memory(memory) => {
            let why = format!("joined into {}", kept.id);
            match life::run(call, Verb::Retire, &memory.id, Some(&why))? {
                Outcome::Done(_) => "retired",
                Outcome::Waits(waits) => return Ok(Outcome::Waits(waits)),
            }
        }
        Other::Draft(shown) => {
            review::reject(call, &shown.item.key)?;
            "rejected"
        }
    };
    let changed = match ask.change.says_what() {
        true => saved(call, ask, &kept, &name, entry),
        false => Ok(Outcome::Done(unchanged(&kept))),
    };
    match changed {
        Ok(Outcome::Done(kept)) => Ok(Outcome::Done(Joined { kept, other: name, became })),
        Ok(Outcome::Waits(waits)) => take_back(call, shelf).map(|()| Outcome::Waits(waits)),
        Err(fault) => Err(take_back(call, shelf).err().unwrap_or(fault)),
    }
}

fn saved(call: &Call, ask: &Join, kept: &Memory, other: &str, entry: Entry) -> Result<Outcome<Added>> {
    let mut change = ask.change.clone();
    change.id = kept.id.to_string();
    change.version = Some(kept.version.clone());
    if kept.kind.shelf() == ShelfName::Records && change.message.is_none() {
        change.message = Some(format!("Joined with {other}"));
    }
    edit::run(call, &change, entry)
}

fn unchanged(kept: &Memory) -> Added {
    Added {
        status: "kept",
        id: kept.id.clone(),
        path: kept.path.clone(),
        notes: Vec::new(),
        assumed: Vec::new(),
        from: None,
        would: None,
    }
}

/// The one that goes, under the key of a draft or by the name of a memory.
fn found(call: &Call, name: &str) -> Result<Other> {
    for inbox in call.inboxes()? {
        if let Ok(item) = inbox.get(name, call.project().world().now) {
            return Ok(Other::Draft(Box::new(review::shown(call, item))));
        }
    }
    let id: MemoryId = names::find(call, name, Enough::to_change(call))?;
    Ok(Other::Memory(Box::new(seen(call, &id)?)))
}

fn is_as_seen(id: &str, seen: Option<&str>, now: &str) -> Result<()> {
    match seen.is_none_or(|seen| seen == now) {
        true => Ok(()),
        false => Err(Fault::new(Code::OccConflict, format!("`{id}` changed since it was read"))
            .fact("id", id)
            .hint("look at both again; nothing was changed")),
    }
}

/// One undo takes back what stands in one audit: that of the project, or the user's own.
fn fits(kept: &Memory, other: ShelfName, name: &str) -> Result<()> {
    let message = if kept.id.as_str() == name {
        "a memory cannot be joined with itself".to_owned()
    } else if (kept.kind.shelf() == ShelfName::Tiers) != (other == ShelfName::Tiers) {
        format!("`{}` and `{name}` are kept in different places and cannot be joined", kept.id)
    } else {
        return Ok(());
    };
    Err(Fault::new(Code::Usage, message)
        .fact("id", kept.id.as_str())
        .hint("name two memories of the project, or two facts"))
}

/// Takes back what this call changed so far, as a change of its own.
fn take_back(call: &Call, shelf: ShelfName) -> Result<()> {
    let (numbers, chain) = match shelf {
        ShelfName::Tiers => (call.in_tiers(), 't'),
        _ => (call.in_files(), 'p'),
    };
    let Some(number) = numbers.began() else { return Ok(()) };
    let mine = numbers.aside();
    let ask = undo::Undo { number: Some(format!("{chain}{number}")), dry_run: false };
    let undone = undo::undo(call, &ask);
    numbers.resume(mine);
    match undone?.status {
        "undone" => Ok(()),
        _ => Err(Fault::new(
            Code::OccConflict,
            "the joined text was not saved, and the other memory changed meanwhile",
        )
        .hint(format!("`heirloom undo {chain}{number}` brings it back into use"))),
    }
}

#[cfg(test)]
#[path = "join_tests.rs"]
mod tests;
