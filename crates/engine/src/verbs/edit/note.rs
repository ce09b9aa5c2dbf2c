//! Editing a note that is a file of the memory tool: its text, its path.
//!
//! Comes in: the memory as it is and the change. Goes out: the same note under the same id. Never here: a note that is what somebody said.

use super::{Edit, hold, unchanging};
use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::notes::{Rewrite, place};
use crate::verbs::{Added, Outcome, seen};
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, fault::Result};

/// The path of a file of the memory tool; nothing for any other memory.
pub(crate) fn path_of(memory: &Memory) -> Option<&str> {
    memory.fields.get("memory_path").and_then(|path| path.as_str())
}

pub(super) fn draft(memory: &Memory) -> Result<String> {
    path_of(memory).map(|_| memory.body.clone()).ok_or_else(|| unchanging(&memory.id))
}

/// Refuses a note that is what somebody said, and one that is not there, before anything else is looked at.
pub(super) fn may_change(call: &Call, id: &MemoryId) -> Result<()> {
    match id.kind().shelf() {
        ShelfName::Notes if !seen(call, id).is_ok_and(|memory| path_of(&memory).is_some()) => {
            Err(unchanging(id))
        }
        _ => Ok(()),
    }
}

pub(super) fn edit(
    call: &Call,
    ask: &Edit,
    memory: &Memory,
    entry: Entry,
    waits: bool,
) -> Result<Outcome<Added>> {
    let mut change = Rewrite { content: ask.whole.clone().or_else(|| ask.text.clone()), path: None };
    for (name, value) in &ask.fields {
        match name.as_str() {
            "path" => change.path = Some(place::file(value)?),
            _ => {
                return Err(Fault::new(Code::Usage, format!("`{name}` cannot be changed"))
                    .hint("use --text for its text, --field path=/memories/PATH for its path"));
            }
        }
    }
    if waits {
        return hold(call, ask, memory).map(Outcome::Waits);
    }
    let kept = call.notes().rewrite(&memory.id, change, Some(&memory.version), entry);
    Outcome::of(call, kept.map(|kept| Added::from(kept.done)))
}
