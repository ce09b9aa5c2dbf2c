//! `note list|session`: the note shelf's own tools.

use crate::args::{Args, Note, NoteAction};
use crate::output::{Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::{Memory, fault::Result};
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
    out.answer(&found, || print(out, &found.memories));
    Ok(exit::OK)
}

fn print(out: &Out, notes: &[Memory]) {
    if notes.is_empty() {
        out.say("no notes here; `heirloom import <transcript>` keeps an assistant's messages");
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
