//! `edit`: change a memory, by flags or in an editor.

use super::{auto_commit, names, pairs};
use crate::args::{Args, Edit};
use crate::output::Out;
use crate::{environment, person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, MemoryId, ShelfName, fault::Result, hash, time};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::shelf::records::{Document, Said, Version, apply};
use heirloom_engine::shelf::unknown;
use serde_json::json;
use std::process::Command;

pub(crate) fn run(args: &Args, call: &Edit, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let id = names::find(&wired.engine, &call.id)?;
    if id.kind().shelf() != ShelfName::Records {
        return Err(Fault::new(Code::Usage, format!("a {} is not changed with `edit`", id.kind()))
            .hint(format!("`heirloom show {id}` shows it")));
    }
    let records = wired.engine.records();
    let target = records.locate(&id)?;
    let bytes = files::read(&target.path, files::MAX_FILE)?;
    let old = Document::parse(&bytes).map_err(|why| {
        Fault::new(Code::Read, format!("`{}` cannot be read: {why}", target.shown))
            .fact("target", target.shown.as_str())
    })?;
    let by_flags = call.title.is_some() || !call.field.is_empty() || !call.tag.is_empty();
    let mut new = if by_flags {
        let category =
            wired.engine.settings().category(id.kind().name()).ok_or_else(|| unknown(id.as_str()))?;
        let mut new = old.clone();
        apply(&mut new, category, &pairs(&call.field)?)?;
        new.retitle(call.title.as_deref());
        new.add_tags(&call.tag);
        new
    } else {
        let Some(new) = in_editor(&wired, &old)? else {
            out.say("nothing changed");
            return Ok(exit::OK);
        };
        new
    };
    let now = time::format(wired.engine.project().world().now);
    let summary = call.message.clone().unwrap_or_else(|| "Edited".to_owned());
    new.note_change(&now, &summary);
    let mut said = Said::default();
    let version = Version::Exactly(hash::sha256(&bytes));
    let answer = records.update(&target, new, &version, &wired.cwd, person::entry(), &mut said)?;
    let name = answer["id"].as_str().unwrap_or_default();
    let id = MemoryId::new(&id.kind(), name);
    out.answer(
        &json!({ "status": "updated", "id": id, "path": answer["target"], "notes": said.warnings }),
        || {
            out.line(format!("{} {}", out.style.green("changed"), out.style.bold(id.as_str())));
            said.warnings.iter().for_each(|warning| out.note(warning));
        },
    );
    auto_commit(&wired, out, &format!("memory: edit {id}"));
    Ok(exit::OK)
}

/// Opens the record in the user's editor; `None` if it came back as it was. The copy is private and goes away again.
fn in_editor(wired: &wiring::Wired, old: &Document) -> Result<Option<Document>> {
    let editor = environment::text("VISUAL").or_else(|| environment::text("EDITOR")).ok_or_else(|| {
        Fault::new(Code::Usage, "no editor is set and no change was given")
            .hint("set EDITOR, or say what to change: --title, --field NAME=VALUE, --tag")
    })?;
    let path = wired.engine.project().local()?.path(&format!("edit-{}.json", std::process::id()));
    let before = old.to_bytes();
    files::write(&path, &before, Mode::Private)?;
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
    if after == before {
        return Ok(None);
    }
    Document::parse(&after).map(Some).map_err(|why| {
        Fault::new(Code::Input, format!("what came back from the editor is no record: {why}"))
            .hint("nothing was changed; run `heirloom edit` again")
    })
}
