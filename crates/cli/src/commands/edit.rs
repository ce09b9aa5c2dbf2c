//! `edit`: change a memory, by flags or in an editor.

use super::{auto_commit, pairs, print_added, remember};
use crate::args::{self, Args};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{environment, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, ShelfName, fault::Result};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::verbs::edit::{Edit, draft, edit, questions};
use std::process::Command;

pub(crate) fn run(args: &Args, call: &args::Edit, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let mut ask = Edit {
        id: call.id.clone(),
        version: call.version.clone(),
        title: call.title.clone(),
        fields: pairs(&call.field)?,
        tags: call.tag.clone(),
        text: call.text.clone(),
        topic: call.topic.clone(),
        category: call.category.clone(),
        message: call.message.clone(),
        ..Edit::default()
    };
    if !ask.says_what() {
        let before = draft(&wired.call, &call.id)?;
        let Some(after) = in_editor(&wired, before.ending, before.text.as_bytes())? else {
            out.say("nothing changed");
            return Ok(exit::OK);
        };
        let after = String::from_utf8(after).map_err(|_| {
            Fault::new(Code::Input, "what came back from the editor is no UTF-8 text")
                .hint("nothing was changed; run `heirloom edit` again")
        })?;
        ask.whole = Some(after);
        ask.id = before.id.to_string();
        ask.version.get_or_insert(before.version);
    }
    match remember::answers(&questions(&wired.call, &ask)?, "", out)? {
        Some(yes) => ask.yes = yes,
        None => return Ok(exit::REFUSED),
    }
    let changed = edit(&wired.call, &ask)?.done()?;
    out.answer(&changed, || print_added(out, "changed", &changed));
    if changed.id.kind().shelf() != ShelfName::Tiers {
        auto_commit(&wired, out, &format!("memory: edit {}", changed.id));
    }
    Ok(exit::OK)
}

/// Opens a text in the user's editor; `None` if it came back as it was. The copy is private and goes away again.
fn in_editor(wired: &Wired, ending: &str, before: &[u8]) -> Result<Option<Vec<u8>>> {
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
