//! `edit`: change a memory, by flags or in an editor.

use super::{pairs, print_added, remember};
use crate::args::{self, Args};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{environment, person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::verbs::Added;
use heirloom_engine::verbs::edit::{Edit, draft, drop_draft, edit, keep_draft, questions};
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
    if let Some(file) = &call.from {
        ask.whole = Some(super::input::text(file)?);
    }
    if !ask.says_what() {
        return by_hand(&wired, ask, out);
    }
    match remember::answers(&questions(&wired.call, &ask)?, "", out)? {
        Some(yes) => ask.yes = yes,
        None => return Ok(exit::REFUSED),
    }
    let changed = edit(&wired.call, &ask)?.done()?;
    changed_to(&changed, out);
    Ok(exit::OK)
}

fn changed_to(changed: &Added, out: &Out) {
    out.answer(changed, || print_added(out, "changed", changed));
}

/// A change in the editor. What cannot be taken is shown again with the reason, for as long as somebody is there who wants to go on; the text
/// is kept where nobody is.
fn by_hand(wired: &Wired, mut ask: Edit, out: &Out) -> Result<u8> {
    let before = draft(&wired.call, &ask.id)?;
    ask.id = before.id.to_string();
    ask.version.get_or_insert(before.version.clone());
    let mut text = before.text.clone().into_bytes();
    loop {
        let fault = match in_editor(wired, before.ending, &mut text)? {
            Ended::Well if text == before.text.as_bytes() => {
                out.say("nothing changed");
                return Ok(exit::OK);
            }
            Ended::Well => match taken(wired, &mut ask, &text, out)? {
                Taken::Changed(changed) => {
                    drop_draft(&wired.call)?;
                    changed_to(&changed, out);
                    return Ok(exit::OK);
                }
                Taken::TurnedDown => return Ok(exit::REFUSED),
                Taken::Not(fault) => fault,
            },
            Ended::Badly(_) if text == before.text.as_bytes() => {
                return Err(Fault::new(Code::Usage, "the editor ended with an error; nothing was changed")
                    .hint("check what $VISUAL or $EDITOR names"));
            }
            Ended::Badly(editor) => {
                Fault::new(Code::Usage, format!("`{editor}` ended with an error; nothing was changed"))
            }
        };
        if person::is_present() {
            out.fault(&fault);
            match person::confirm("Open the editor again with your text?", false) {
                Ok(true) => continue,
                // Ctrl-C loses nothing either.
                Err(other) if !person::has_stopped() => return Err(other),
                Ok(false) | Err(_) => {}
            }
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        return Err(match keep_draft(&wired.call, &before.id, &text, before.ending)? {
            Some(file) => fault.hint(format!(
                "nothing was changed; your text is kept in {0}: correct it, then `heirloom edit {1} --from {0}`",
                file.display(),
                before.id
            )),
            None => fault,
        });
    }
}

/// What became of a text from the editor.
enum Taken {
    /// It is what the memory says now.
    Changed(Box<Added>),
    /// Whoever was asked said no.
    TurnedDown,
    /// It cannot be taken as it is.
    Not(Fault),
}

fn taken(wired: &Wired, ask: &mut Edit, text: &[u8], out: &Out) -> Result<Taken> {
    let Ok(text) = String::from_utf8(text.to_vec()) else {
        return Ok(Taken::Not(Fault::new(Code::Input, "what came back from the editor is not UTF-8 text")));
    };
    ask.whole = Some(text);
    match remember::answers(&questions(&wired.call, ask)?, "", out)? {
        Some(yes) => ask.yes = yes,
        None => return Ok(Taken::TurnedDown),
    }
    match edit(&wired.call, ask).and_then(heirloom_engine::verbs::Outcome::done) {
        Ok(changed) => Ok(Taken::Changed(Box::new(changed))),
        // Another text would be taken; anything else has nothing to do with the text.
        Err(fault)
            if matches!(fault.code, Code::Input | Code::Validation | Code::Merge | Code::GateRefused) =>
        {
            Ok(Taken::Not(fault))
        }
        Err(fault) => Err(fault),
    }
}

/// A text as it comes back from the editor; nothing if it is the same.
pub(super) fn text_in_editor(wired: &Wired, ending: &str, before: &str) -> Result<Option<String>> {
    let mut text = before.as_bytes().to_vec();
    if let Ended::Badly(editor) = in_editor(wired, ending, &mut text)? {
        return Err(Fault::new(Code::Usage, format!("`{editor}` ended with an error; nothing was changed"))
            .hint("check what $VISUAL or $EDITOR names"));
    }
    let text = String::from_utf8(text)
        .map_err(|_| Fault::new(Code::Input, "what came back from the editor is not UTF-8 text"))?;
    Ok((text != before).then_some(text))
}

/// How the editor ended.
enum Ended {
    /// Without an error.
    Well,
    /// With one.
    Badly(String),
}

/// Opens a text in the user's editor, and takes it back as it is afterwards. The copy is private and goes away again.
fn in_editor(wired: &Wired, ending: &str, text: &mut Vec<u8>) -> Result<Ended> {
    let editor = environment::text("VISUAL").or_else(|| environment::text("EDITOR")).ok_or_else(|| {
        Fault::new(Code::Usage, "no editor is set and no change was given")
            .hint("set EDITOR, or say what to change: --title, --field NAME=VALUE, --tag, --text")
    })?;
    let path = wired.call.project().local()?.path(&format!("edit-{}.{ending}", std::process::id()));
    files::write(&path, text, Mode::Private)?;
    let _hushed = crate::output::watch::hush();
    let mut words = editor.split_whitespace();
    let status = Command::new(words.next().unwrap_or("vi")).args(words).arg(&path).status();
    let after = files::read(&path, files::MAX_FILE);
    files::remove(&path)?;
    let status =
        status.map_err(|e| Fault::new(Code::Usage, format!("`{editor}` could not be started: {e}")))?;
    *text = after?;
    Ok(if status.success() { Ended::Well } else { Ended::Badly(editor) })
}
