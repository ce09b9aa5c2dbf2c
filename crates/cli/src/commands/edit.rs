//! `edit`: change a memory, by flags or in an editor.

mod lesson;
mod vault;

use super::{auto_commit, names, pairs, print_done};
use crate::args::{Args, Edit};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{environment, person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, fault::Result, hash, time};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::shelf::records::{Document, Said, Version, apply};
use heirloom_engine::shelf::{Done, unknown};
use std::process::Command;

pub(crate) fn run(args: &Args, call: &Edit, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let id = names::find(&wired.call, &call.id)?;
    let done = match id.kind().shelf() {
        ShelfName::Records => record(&wired, call, &id)?,
        ShelfName::Topics => lesson::edit(&wired, call, &id)?,
        ShelfName::Vault => vault::edit(&wired, call, &id)?,
        ShelfName::Notes => {
            return Err(Fault::new(Code::Usage, "a note is what was said and does not change")
                .fact("id", id.as_str())
                .hint(format!(
                    "`heirloom convert {id} lesson` distils it, `heirloom retire {id}` takes it out of use"
                )));
        }
        ShelfName::Tiers => return super::remember::edit(&wired, call, &id, out),
    };
    let Some(done) = done else {
        out.say("nothing changed");
        return Ok(exit::OK);
    };
    out.answer(&done, || print_done(out, "changed", &done));
    auto_commit(&wired, out, &format!("memory: edit {}", done.id));
    Ok(exit::OK)
}

fn record(wired: &Wired, call: &Edit, id: &MemoryId) -> Result<Option<Done>> {
    no_flags(
        call,
        id,
        &[
            ("--text", call.text.is_some()),
            ("--topic", call.topic.is_some()),
            ("--category", call.category.is_some()),
        ],
    )?;
    let records = wired.call.records();
    let target = records.locate(id)?;
    let bytes = files::read(&target.path, files::MAX_FILE)?;
    let old = Document::parse(&bytes).map_err(|why| {
        Fault::new(Code::Read, format!("`{}` cannot be read: {why}", target.shown))
            .fact("target", target.shown.as_str())
    })?;
    let by_flags = call.title.is_some() || !call.field.is_empty() || !call.tag.is_empty();
    let mut new = if by_flags {
        let category =
            wired.call.settings().category(id.kind().name()).ok_or_else(|| unknown(id.as_str()))?;
        let mut new = old.clone();
        apply(&mut new, category, &pairs(&call.field)?)?;
        new.retitle(call.title.as_deref());
        new.add_tags(&call.tag);
        new
    } else {
        let Some(after) = in_editor(wired, "json", &old.to_bytes())? else { return Ok(None) };
        Document::parse(&after).map_err(|why| not_one("record", &why))?
    };
    let now = time::format(wired.call.project().world().now);
    let summary = call.message.clone().unwrap_or_else(|| "Edited".to_owned());
    new.note_change(&now, &summary);
    let mut said = Said::default();
    let version = Version::Exactly(call.version.clone().unwrap_or_else(|| hash::sha256(&bytes)));
    let answer = records.update(&target, new, &version, &wired.cwd, person::entry(), &mut said)?;
    let text = |key: &str| answer[key].as_str().map(str::to_owned);
    Ok(Some(Done {
        status: "updated",
        id: MemoryId::new(&id.kind(), &text("id").unwrap_or_default()),
        path: text("target"),
        notes: said.warnings,
    }))
}

/// Refuses flags that this kind has no use for.
pub(super) fn no_flags(call: &Edit, id: &MemoryId, flags: &[(&str, bool)]) -> Result<()> {
    match flags.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Fault::new(Code::Usage, format!("a {} has no {flag}", id.kind()))
            .fact("id", call.id.as_str())
            .hint("`heirloom edit --help` says which kind takes what")),
    }
}

/// The memory as it is now; one that is not the version the caller read is left alone.
pub(super) fn current(wired: &Wired, call: &Edit, id: &MemoryId) -> Result<Memory> {
    let memory = wired.call.shelf_of(id)?.get(id)?.ok_or_else(|| unknown(id.as_str()))?;
    if call.version.as_ref().is_some_and(|version| *version != memory.version) {
        return Err(Fault::new(Code::OccConflict, format!("`{id}` changed since it was read"))
            .fact("id", id.as_str()));
    }
    Ok(memory)
}

fn not_one(what: &str, why: &str) -> Fault {
    Fault::new(Code::Input, format!("what came back from the editor is no {what}: {why}"))
        .hint("nothing was changed; run `heirloom edit` again")
}

/// Opens a text in the user's editor; `None` if it came back as it was. The copy is private and goes away again.
pub(super) fn in_editor(wired: &Wired, ending: &str, before: &[u8]) -> Result<Option<Vec<u8>>> {
    let editor = environment::text("VISUAL").or_else(|| environment::text("EDITOR")).ok_or_else(|| {
        Fault::new(Code::Usage, "no editor is set and no change was given")
            .hint("set EDITOR, or say what to change: --title, --field NAME=VALUE, --tag, --text")
    })?;
    let path = wired.call.project().local()?.path(&format!("edit-{}.{ending}", std::process::id()));
    files::write(&path, before, Mode::Private)?;
    let mut words = editor.split_whitespace();
    let status = Command::new(words.next().unwrap_or("vi")).args(words).arg(&path).status();
    let after = files::read(&path, files::MAX_FILE);
    files::remove(&path)?;
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => {
            return Err(Fault::new(
                Code::Usage,
                format!("`{editor}` ended with an error; nothing was changed"),
            ));
        }
        Err(e) => return Err(Fault::new(Code::Usage, format!("`{editor}` could not be started: {e}"))),
    }
    let after = after?;
    Ok((after != before).then_some(after))
}
