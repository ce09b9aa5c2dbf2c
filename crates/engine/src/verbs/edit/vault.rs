//! Editing a canon or register: the next version of its line.
//!
//! Comes in: the memory as it is and the change. Goes out: one more line. Tags are added to those there are. Never here: the vault's eight
//! steps.

use super::{Edit, hold};
use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::vault::{Revision, Write};
use crate::verbs::add::stored_in_vault;
use crate::verbs::{Added, Outcome};
use heirloom_core::{Memory, fault::Result};

pub(super) fn edit(
    call: &Call,
    ask: &Edit,
    memory: &Memory,
    entry: Entry,
    waits: bool,
) -> Result<Outcome<Added>> {
    let mut change = Revision {
        id: memory.id.name().to_owned(),
        text: ask.whole.as_ref().map(|whole| whole.trim_end().to_owned()).or_else(|| ask.text.clone()),
        category: ask.category.clone(),
        topic_id: ask.topic.clone(),
        based_on: Some(memory.version.clone()),
        ..Revision::default()
    };
    if !ask.tags.is_empty() {
        let more = ask.tags.iter().filter(|tag| !memory.tags.contains(*tag)).cloned();
        change.tags = Some(memory.tags.iter().cloned().chain(more).collect());
    }
    let vault = call.vault();
    if waits {
        vault.rehearse(Write::Revise(change))?;
        return hold(call, ask, memory).map(Outcome::Waits);
    }
    let stored = vault.write(Write::Revise(change), entry);
    Outcome::of(call, stored.map(|stored| stored_in_vault(call, &vault, stored)))
}
