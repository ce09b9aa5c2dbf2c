//! The notes shelf: assistant messages worth keeping, word for word, one Markdown file with YAML front matter each.
//!
//! Comes in: drafts that passed the gate. Goes out: notes and the read model of all shelves. Never here: a summary, a user's
//! message, or a change to the bytes of a note that is no file.
//!
//! | what | how |
//! |---|---|
//! | in use | `<root>/notes/<uuid>.md` |
//! | retired | `<root>/notes/retired/<uuid>.md`: the same bytes moved aside, kept until somebody forgets them |
//! | why it was retired, what was cut out, where it came from | a line in `<root>/provenance.jsonl` |
//!
//! A note may be a file of the memory tool: then `memory_path` in its front matter is the path it goes by, its content is that file's bytes, and it may
//! change. Every other note is what was said, and does not.
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
pub mod place;
mod read;
mod redact;
mod rewrite;
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
pub use rewrite::Rewrite;
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
