//! Forget, clear, compact, redact: what cannot be taken back.
//!
//! Comes in: one memory, a topic, or a tier, each first looked at and then removed. Goes out: what is gone, and what could not be reached. Every
//! one of them needs a person, or a token that a person gave the scope `delete`; a refusal is audited. Never here: asking whether somebody
//! is sure. That is the door's; a yes makes nobody a person.

use super::names::{self, Enough};
use super::seen;
use crate::call::Call;
use crate::index::shelves::ShelfIndex;
use crate::recall::ledger;
use crate::shelf::tiers::{Stored, Tier};
use crate::shelf::vault::Compacted;
use crate::shelf::{Forgotten, Problem, unknown};
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// Stands for a user's turns and facts where no single one is named.
const TOPIC: &str = "fact:*";

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forget {
    /// An id, a name, or words that a user's turns and facts are about.
    pub name: String,
    /// Take the words as a topic, whatever else they might name.
    #[serde(default)]
    pub topic: bool,
    /// A part of a name is enough, because what it stands for is shown and confirmed before anything goes.
    #[serde(default)]
    pub shown_first: bool,
}

/// What `forget` would remove.
#[derive(Debug, Clone, PartialEq)]
pub enum Doomed {
    /// One memory.
    One {
        /// Which one.
        id: MemoryId,
        /// The memory, if it is still there; of one that is gone only traces are left.
        memory: Option<Box<Memory>>,
    },
    /// A user's turns and facts about a topic.
    Topic {
        /// The words.
        topic: String,
        /// What they were found in.
        memories: Vec<Stored>,
    },
}

/// What is gone of a user's turns and facts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cleared {
    /// Always `forgotten`.
    pub status: &'static str,
    /// How many.
    pub count: usize,
    /// Which ones.
    pub ids: Vec<String>,
    /// Places this machine cannot reach, a line each.
    pub unreached: Vec<String>,
}

/// What `scan --store` found, cut out and left.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Redacted {
    /// What the gate would refuse.
    pub held: Vec<Problem>,
    /// Files that changed.
    pub fixed: Vec<String>,
    /// What is still there.
    pub left: Vec<Problem>,
}

/// Whether this caller may do what cannot be taken back. Asked before anything is shown, and by every verb here again.
pub fn permitted(call: &Call, verb: Verb, about: &str) -> Result<()> {
    let shelf = match (verb, MemoryId::parse(about)) {
        (_, Some(id)) => id.kind().shelf(),
        (Verb::Clear | Verb::Resurrect, None) => ShelfName::Tiers,
        _ => ShelfName::Records,
    };
    call.permit(verb, shelf, about)
}

/// What a request would remove.
pub fn doomed(call: &Call, ask: &Forget) -> Result<Doomed> {
    permitted(call, Verb::Forget, "")?;
    names::given(&ask.name)?;
    let enough = if ask.shown_first { Enough::to_change(call) } else { Enough::Whole };
    if !ask.topic {
        match names::find(call, &ask.name, enough) {
            Ok(id) => {
                let memory = seen(call, &id).ok().map(Box::new);
                return Ok(Doomed::One { id, memory });
            }
            Err(fault) if fault.code == Code::NotFound => {}
            Err(fault) => return Err(fault),
        }
    }
    permitted(call, Verb::Forget, TOPIC)?;
    let memories = call.tiers()?.about_topic(&ask.name)?;
    if memories.is_empty() {
        return Err(Fault::new(
            Code::NotFound,
            format!("there is no memory `{}`, and nothing of yours is about it", ask.name),
        )
        .fact("id", ask.name.as_str())
        .hint("`heirloom list` shows what there is"));
    }
    Ok(Doomed::Topic { topic: ask.name.clone(), memories })
}

/// Removes every trace of a memory. With `shred` also where that means rewriting tables that others use.
pub fn forget(call: &Call, id: &MemoryId, shred: bool) -> Result<(Forgotten, Vec<String>)> {
    permitted(call, Verb::Forget, id.as_str())?;
    let gone = call
        .shelf_of(id)?
        .forget(id, call.entry())
        .map_err(|fault| if fault.code == Code::NotFound { unknown(id.as_str()) } else { fault })?;
    let mut unreached = Vec::new();
    if shred && id.kind().shelf() == ShelfName::Tiers {
        unreached = call.tiers()?.scrub(true)?;
    }
    derived(call, [gone.id.as_str()])?;
    Ok((gone, unreached))
}

/// Removes what was found about a topic.
pub fn forget_topic(call: &Call, topic: &str, ids: &[String], shred: bool) -> Result<Cleared> {
    permitted(call, Verb::Forget, TOPIC)?;
    let gone = call.tiers()?.forget_topic(topic, ids)?;
    cleared(call, gone, shred)
}

/// Removes every turn or every fact of a user, or both.
pub fn clear(call: &Call, tier: Option<Tier>, shred: bool) -> Result<Cleared> {
    permitted(call, Verb::Clear, tier.map_or("all", Tier::name))?;
    let gone = call.tiers()?.clear(tier)?;
    cleared(call, gone, shred)
}

fn cleared(call: &Call, gone: Vec<String>, shred: bool) -> Result<Cleared> {
    let unreached = call.tiers()?.scrub(shred)?;
    derived(call, gone.iter().map(String::as_str))?;
    Ok(Cleared { status: "forgotten", count: gone.len(), ids: gone, unreached })
}

/// What is derived from the shelves must not remember what they forgot. A project without a memory has nothing derived.
fn derived<'a>(call: &Call, gone: impl IntoIterator<Item = &'a str>) -> Result<()> {
    if !call.project().has_local() {
        return Ok(());
    }
    let gone: Vec<&str> = gone.into_iter().collect();
    ShelfIndex::forget(call, &gone)?;
    gone.iter().try_for_each(|id| ledger::forget(call.project(), id))
}

/// Drops the vault's lines that no longer count.
pub fn compact(call: &Call) -> Result<Compacted> {
    permitted(call, Verb::Compact, "vault")?;
    call.vault().compact(call.entry())
}

/// Looks for what the gate would refuse in every shelf; with `fix`, cuts it out.
pub fn redact(call: &Call, fix: bool) -> Result<Redacted> {
    let held = call.refused_content()?;
    if !fix || held.is_empty() {
        return Ok(Redacted { left: held.clone(), held, fixed: Vec::new() });
    }
    permitted(call, Verb::Redact, "")?;
    let fixed = call.redact_stored(call.entry())?;
    Ok(Redacted { held, fixed, left: call.refused_content()? })
}
