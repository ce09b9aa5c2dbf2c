//! Editing a record: its title, fields and tags, or its whole document.
//!
//! Comes in: the memory as it is and the change. Goes out: the record under its old or its new name. Never here: what an update may not lose,
//! which is the shelf's.

use super::{Edit, hold, not_one};
use crate::call::Call;
use crate::files;
use crate::gate::Entry;
use crate::shelf::records::{Document, Said, Target, Version, apply};
use crate::shelf::unknown;
use crate::verbs::{Added, Outcome};
use heirloom_core::{Code, Fault, Memory, MemoryId, fault::Result, hash, time};

pub(super) fn draft(call: &Call, memory: &Memory) -> Result<String> {
    let (_, document, _) = stored(call, memory)?;
    Ok(String::from_utf8_lossy(&document.to_bytes()).into_owned())
}

fn stored(call: &Call, memory: &Memory) -> Result<(Target, Document, Vec<u8>)> {
    let target = call.records().locate(&memory.id)?;
    let bytes = files::read(&target.path, files::MAX_FILE)?;
    let document = Document::parse(&bytes).map_err(|why| {
        Fault::new(Code::Read, format!("`{}` cannot be read: {why}", target.shown))
            .fact("target", target.shown.as_str())
    })?;
    Ok((target, document, bytes))
}

pub(super) fn edit(
    call: &Call,
    ask: &Edit,
    memory: &Memory,
    entry: Entry,
    waits: bool,
) -> Result<Outcome<Added>> {
    let (target, old, bytes) = stored(call, memory)?;
    if ask.version.as_ref().is_some_and(|v| *v != memory.version && *v != hash::md5(&bytes)) {
        return Err(Fault::new(Code::OccConflict, format!("`{}` changed since it was read", memory.id))
            .fact("id", memory.id.as_str()));
    }
    let known = old.changes().len();
    let mut new = match &ask.whole {
        Some(whole) => Document::parse(whole.as_bytes()).map_err(|why| not_one("record", &why))?,
        None => {
            let name = memory.kind.name();
            let category = call.settings().category(name).ok_or_else(|| unknown(memory.id.as_str()))?;
            let mut new = old;
            apply(&mut new, category, &ask.fields)?;
            new.retitle(ask.title.as_deref());
            new.add_tags(&ask.tags);
            new
        }
    };
    let now = time::format(call.project().world().now);
    // A document that says itself what changed needs no second telling.
    if ask.message.is_some() || new.changes().len() <= known {
        new.note_change(&now, ask.message.as_deref().unwrap_or("Edited"));
    }
    let records = call.records();
    let version = Version::Exactly(memory.version.clone());
    let folder = call.project().folder();
    let mut said = Said::default();
    if waits {
        records.expect_update(&target, new, &version, folder, &mut said)?;
        return hold(call, ask, memory).map(Outcome::Waits);
    }
    let updated = records.update(&target, new, &version, folder, entry, &mut said).map(|answer| {
        let text = |key: &str| answer[key].as_str().map(str::to_owned);
        Added {
            status: "updated",
            id: MemoryId::new(&memory.kind, &text("id").unwrap_or_default()),
            path: text("target"),
            notes: said.warnings,
            assumed: Vec::new(),
            from: None,
            would: None,
        }
    });
    Outcome::of(call, updated)
}
