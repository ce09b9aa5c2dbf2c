//! Names: which memory a text stands for.
//!
//! Comes in: what somebody typed, and what is to be done with it. Goes out: a whole id, or a fault that lists what would fit. A blank name
//! stands for nothing; through doors where ids are given (MCP, HTTP) a part does not either. Never here: a guess for something that cannot be
//! taken back.

use crate::call::Call;
use crate::shelf::{Listing, unknown};
use heirloom_core::{Code, Fault, Kind, MemoryId, ShelfName, fault::Result};

/// Most names shown when one is not enough.
const SHOWN: usize = 8;

/// How much of a name is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enough {
    /// Any part that fits only one memory: for whoever only looks, and for a person.
    Part,
    /// A whole id, or a whole name after the kind.
    Whole,
}

impl Enough {
    /// To read, anybody may give a part. To change something, a person may; a program names the memory.
    pub fn to_change(call: &Call) -> Enough {
        if call.caller().is_person() { Enough::Part } else { Enough::Whole }
    }
}

/// Refuses a blank name.
pub fn given(name: &str) -> Result<()> {
    // A kind alone names nothing.
    let own = name
        .split_once(':')
        .filter(|(kind, _)| MemoryId::parse(&format!("{kind}:x")).is_some())
        .map_or(name, |(_, own)| own);
    if own.trim().is_empty() { Err(missing()) } else { Ok(()) }
}

/// The id a name stands for.
pub fn find(call: &Call, name: &str, enough: Enough) -> Result<MemoryId> {
    given(name)?;
    if let Some(id) = MemoryId::parse(name) {
        if id.name().trim().is_empty() {
            return Err(missing());
        }
        let id = match id.kind() {
            Kind::Lesson => call.topics().plain_id(&id).unwrap_or(id),
            _ => id,
        };
        // `decision:use-post` is a part of an id too. A program, and whoever names a turn or a fact, means what they say.
        let whole =
            call.caller().gives_ids() || enough == Enough::Whole || id.kind().shelf() == ShelfName::Tiers;
        let there = |id: &MemoryId| {
            let shelf = call.shelves().into_iter().find(|shelf| shelf.name() == id.kind().shelf());
            shelf.is_none_or(|shelf| !matches!(shelf.get(id), Ok(None)))
        };
        if whole || there(&id) {
            return Ok(id);
        }
        return match part(call, name, enough) {
            Err(fault) if fault.code == Code::NotFound => Ok(id),
            found => found,
        };
    }
    if call.caller().gives_ids() {
        return Err(Fault::new(Code::Usage, format!("`{name}` is not a whole id"))
            .fact("name", name)
            .hint("give the id as `list` and `search` show it, kind and name: decision:use-postgresql"));
    }
    part(call, name, enough)
}

/// The memory whose id has `name` in it. Capitals do not count, and words may stand as in a title: "Use PostgreSQL" is in `use-postgresql-for-orders`.
fn part(call: &Call, name: &str, enough: Enough) -> Result<MemoryId> {
    let typed = name.trim().to_lowercase();
    let joined = typed.split_whitespace().collect::<Vec<_>>().join("-");
    let mut exact = Vec::new();
    let mut partly = Vec::new();
    // Turns and facts are named in full: their ids are no words, and there may be a million of them.
    for shelf in call.shelves().into_iter().filter(|shelf| shelf.name() != ShelfName::Tiers) {
        for memory in shelf.list(&Listing::everything())? {
            let (id, own) = (memory.id.as_str().to_lowercase(), memory.id.name().to_lowercase());
            if memory.id.name() == name || own == typed || own == joined {
                exact.push(memory.id);
            } else if id.contains(&typed) || id.contains(&joined) {
                partly.push(memory.id);
            }
        }
    }
    match (exact.len(), partly.len(), enough) {
        (1, _, _) => Ok(exact.remove(0)),
        (0, 0, _) => Err(unknown(name)),
        (0, 1, Enough::Part) => Ok(partly.remove(0)),
        (0, _, Enough::Whole) => Err(ambiguous(name, &partly, "is only a part of a name")),
        (0, count, Enough::Part) => Err(ambiguous(name, &partly, &format!("fits {count} memories"))),
        (count, _, _) => Err(ambiguous(name, &exact, &format!("fits {count} memories"))),
    }
}

fn missing() -> Fault {
    Fault::new(Code::Usage, "the name of a memory is missing").hint("`heirloom list` shows all ids")
}

fn ambiguous(name: &str, fits: &[MemoryId], why: &str) -> Fault {
    let shown: Vec<&str> = fits.iter().take(SHOWN).map(MemoryId::as_str).collect();
    let more = fits.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Fault::new(Code::Ambiguous, format!("`{name}` {why}"))
        .fact("name", name)
        .hint(format!("use one of: {}{more}", shown.join(", ")))
}
