//! Names people type: a full id, or a part of one that fits only one memory.

use heirloom_core::{Code, Fault, MemoryId, ShelfName, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::shelf::{Listing, unknown};

/// Most names shown when one is not enough.
const SHOWN: usize = 8;

/// The id a name stands for.
pub(crate) fn find(engine: &Call, name: &str) -> Result<MemoryId> {
    if let Some(id) = MemoryId::parse(name) {
        return Ok(id);
    }
    let mut exact = Vec::new();
    let mut partly = Vec::new();
    // Turns and facts are named in full: their ids are no words, and there may be a million of them.
    for shelf in engine.shelves().into_iter().filter(|shelf| shelf.name() != ShelfName::Tiers) {
        for memory in shelf.list(&Listing::everything())? {
            if memory.id.name() == name {
                exact.push(memory.id);
            } else if memory.id.name().contains(name) {
                partly.push(memory.id);
            }
        }
    }
    let mut fits = if exact.is_empty() { partly } else { exact };
    match fits.len() {
        0 => Err(unknown(name)),
        1 => Ok(fits.remove(0)),
        count => {
            let shown: Vec<&str> = fits.iter().take(SHOWN).map(MemoryId::as_str).collect();
            let more = if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
            Err(Fault::new(Code::Ambiguous, format!("`{name}` fits {count} memories"))
                .fact("name", name)
                .hint(format!("use one of: {}{more}", shown.join(", "))))
        }
    }
}
