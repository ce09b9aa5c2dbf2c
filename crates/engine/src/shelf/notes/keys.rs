//! Which note a message was stored as on this machine: `.local/note-names`, a line for each.
//!
//! Comes in: the name of a message and the id its note got. Goes out: that id, so that a message whose note somebody edited by hand is not stored a
//! second time beside the edit. Lines are short and can be lost: then the instant and the hash in the file still tell. Never here: a message's text.

use super::{NoteId, Notes};
use crate::files::{self, Mode};
use heirloom_core::fault::Result;
use std::path::PathBuf;

const FILE: &str = "note-names";

/// Beyond this nobody looks; an id is 36 bytes.
const MAX: u64 = 64 << 20;

impl Notes<'_> {
    fn names_file(&self) -> Result<PathBuf> {
        Ok(self.call.project().local()?.path(FILE))
    }

    fn names(&self) -> Result<String> {
        Ok(files::read_text(&self.names_file()?, MAX)?.unwrap_or_default())
    }

    /// The id under which a message was stored here, if it was.
    pub(super) fn stored_as(&self, message: &NoteId) -> Result<Option<NoteId>> {
        let names = self.names()?;
        let found =
            names.lines().filter_map(|line| line.split_once(' ')).find(|(name, _)| *name == message.as_str());
        Ok(found.and_then(|(_, id)| NoteId::parse(id)))
    }

    /// Notes under which id a message was stored. Without the line the file itself still tells.
    pub(super) fn stored_under(&self, message: &NoteId, id: &NoteId) {
        let line = format!("{message} {id}");
        let _ = self.names_file().and_then(|file| files::append_line(&file, &line, Mode::Private));
    }

    /// Takes every line about an id out; says which messages it was known by.
    pub(super) fn unname(&self, id: &NoteId) -> Result<Vec<NoteId>> {
        let names = self.names()?;
        let is_about =
            |line: &&str| line.split_once(' ').is_some_and(|(_, of)| of.eq_ignore_ascii_case(id.as_str()));
        let gone: Vec<NoteId> =
            names.lines().filter(is_about).filter_map(|line| NoteId::parse(line.get(..36)?)).collect();
        if !gone.is_empty() {
            let rest: String =
                names.lines().filter(|line| !is_about(line)).map(|line| format!("{line}\n")).collect();
            files::write(&self.names_file()?, rest.as_bytes(), Mode::Private)?;
        }
        Ok(gone)
    }
}
