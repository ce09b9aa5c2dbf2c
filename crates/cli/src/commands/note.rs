//! `note list|session`: the note shelf's own tools.

use super::visible;
use crate::args::{Args, Note, NoteAction};
use crate::output::{Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Memory, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::verbs::shelves::{self, ListNotes, NotesInPlay};

pub(crate) fn run(args: &Args, call: &Note, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    let found = match &call.action {
        NoteAction::List { scope, keyword, offset, limit } => {
            let ask = ListNotes {
                scope: scope.clone(),
                keyword: keyword.clone(),
                offset: *offset,
                limit: Some(*limit),
            };
            shelves::list_notes(&wired.call, &ask)?
        }
        NoteAction::Session { file, area, limit } => {
            let ask = NotesInPlay { files: file.clone(), area: area.clone(), limit: *limit };
            shelves::notes_in_play(&wired.call, &ask)?
        }
    };
    let nothing = match &call.action {
        NoteAction::List { scope, keyword, .. } if found.memories.is_empty() => {
            missed(&wired.call, scope.as_deref(), keyword.as_deref())?
        }
        _ => NOTHING.to_owned(),
    };
    out.answer(&found, || print(out, &found.memories, &nothing));
    Ok(exit::OK)
}

const NOTHING: &str = "no notes here; `heirloom import <transcript>` keeps an assistant's messages";

/// What to say where filters leave no note.
fn missed(call: &Call, scope: Option<&str>, keyword: Option<&str>) -> Result<String> {
    let Some(word) = keyword else {
        return Ok(scope.map_or(NOTHING.to_owned(), |scope| format!("no note has the scope `{scope}`")));
    };
    let others = shelves::other_spellings(call, word)?;
    let others: Vec<String> = others.iter().map(|other| format!("`{other}`")).collect();
    Ok(match (others.is_empty(), scope) {
        (false, _) => format!("no note has the keyword `{word}`; there is {}", others.join(", ")),
        (true, None) => format!("no note has the keyword `{word}`"),
        (true, Some(scope)) => format!("no note has the keyword `{word}` and the scope `{scope}`"),
    })
}

fn print(out: &Out, notes: &[Memory], nothing: &str) {
    if notes.is_empty() {
        out.say(visible(&one_line(nothing)));
        return;
    }
    let mut table = Table::new(&["ID", "SAID", "SCOPE", "SUBJECT"]);
    for note in notes {
        let said = note.occurred_at.as_deref().unwrap_or("-");
        table.row(vec![
            note.id.to_string(),
            said.get(..10).unwrap_or(said).to_owned(),
            note.scope.to_string(),
            note.title.clone(),
        ]);
    }
    table.print(out);
}
