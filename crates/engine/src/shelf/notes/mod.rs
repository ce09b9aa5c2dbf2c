//! The notes shelf: assistant messages worth keeping, word for word, one Markdown file with YAML front matter each.
//!
//! Comes in: drafts that passed the gate. Goes out: notes and the read model of all shelves. Never here: a summary, a user's
//! message, or a change to a stored note's bytes.
//!
//! | what | how |
//! |---|---|
//! | in use | `<root>/notes/<uuid>.md` |
//! | retired | `<root>/notes/retired/<uuid>.md`: the same bytes moved aside, kept until somebody forgets them |
//! | why it was retired, what was cut out, where it came from | a line in `<root>/provenance.jsonl` |
//!
//! The format has no field for a status, so a note's place is its status: readable without Heirloom, a plain rename in git, and
//! trust, which is bound to the bytes, stays as it was.

mod draft;
mod file;
mod find;
mod id;
mod keys;
mod life;
mod native;
mod note;
mod read;
mod redact;
mod scalar;
mod store;
mod verify;

pub(crate) use draft::one_line;
pub use draft::{Given, NoteDraft};
pub use file::{read as read_file, write as write_file};
pub use find::{Filter, Session};
pub use id::NoteId;
pub use native::{Brought, Native};
pub use note::{Moment, Note, content_hash};
pub use store::Kept;

use crate::call::Call;

/// The notes of a project.
#[derive(Debug, Clone, Copy)]
pub struct Notes<'a> {
    call: &'a Call,
}

impl<'a> Notes<'a> {
    /// The shelf in an engine's project.
    pub fn new(call: &'a Call) -> Notes<'a> {
        Notes { call }
    }
}

#[cfg(test)]
#[path = "notes_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "file_tests.rs"]
mod file_tests;
