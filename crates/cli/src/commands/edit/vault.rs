//! `edit` of a canon or register: the next version of its line.

use super::{current, in_editor, no_flags, not_one};
use crate::args::Edit;
use crate::person;
use crate::wiring::Wired;
use heirloom_core::{MemoryId, fault::Result};
use heirloom_engine::shelf::Done;
use heirloom_engine::shelf::vault::{Revision, Write};

pub(super) fn edit(wired: &Wired, call: &Edit, id: &MemoryId) -> Result<Option<Done>> {
    no_flags(call, id, &[("--title", call.title.is_some()), ("--field", !call.field.is_empty())])?;
    let memory = current(wired, call, id)?;
    let mut change = Revision {
        id: id.name().to_owned(),
        text: call.text.clone(),
        category: call.category.clone(),
        topic_id: call.topic.clone(),
        based_on: Some(memory.version.clone()),
        ..Revision::default()
    };
    if !call.tag.is_empty() {
        let more = call.tag.iter().filter(|tag| !memory.tags.contains(*tag)).cloned();
        change.tags = Some(memory.tags.iter().cloned().chain(more).collect());
    }
    let by_flags = change.text.is_some()
        || change.category.is_some()
        || change.topic_id.is_some()
        || change.tags.is_some();
    if !by_flags {
        let before = format!("{}\n", memory.body);
        let Some(after) = in_editor(wired, "txt", before.as_bytes())? else { return Ok(None) };
        let after = String::from_utf8(after).map_err(|_| not_one("text", "it is no UTF-8"))?;
        change.text = Some(after.trim_end().to_owned());
    }
    let vault = wired.call.vault();
    let stored = vault.write(Write::Revise(change), person::entry())?;
    let path = Some(wired.call.project().shown(&vault.path()));
    Ok(Some(Done { status: stored.status, id: stored.id, path, notes: Vec::new() }))
}
