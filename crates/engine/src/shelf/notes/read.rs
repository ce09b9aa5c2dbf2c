//! Reading the shelf: which files there are and what is in them.
//!
//! Comes in: the two folders. Goes out: [`Stored`] notes, and for files that are none, why. Never here: writing, or a file that
//! a link leads to.

use super::{Note, NoteId, Notes, file};
use crate::budget::{self, Left};
use crate::files;
use crate::shelf::Problem;
use crate::shelf::forgets::Forgets;
use heirloom_core::{Code, Fault, Kind, Memory, Scope, Status, fault::Result, hash};
use serde_json::Map;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The largest note that is read.
pub(super) const MAX_NOTE: u64 = 8 << 20;

/// A note on the shelf.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) note: Note,
    pub(super) status: Status,
    pub(super) path: PathBuf,
    /// SHA-256 of the file's bytes.
    pub(super) hash: String,
}

impl Notes<'_> {
    /// The folder of a status, as it really is; a link that leads outside the memory folder is refused.
    pub(super) fn folder(&self, status: Status) -> Result<PathBuf> {
        let root = self.call.project().root();
        let parts: &[&str] = if status == Status::Active { &["notes"] } else { &["notes", "retired"] };
        root.resolve(&root.join(parts))
    }

    /// The Markdown files of a status, by name.
    pub(super) fn files(&self, status: Status) -> Result<Vec<PathBuf>> {
        let folder = self.folder(status)?;
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Fault::io(&folder, "list", &e)),
        };
        let mut paths: Vec<PathBuf> = entries
            .flatten()
            .take_while(|_| budget::goes_on_or_leaves(Left::Files))
            .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "md"))
            .collect();
        paths.sort();
        Ok(paths)
    }

    /// The note in a file.
    pub(super) fn load(&self, path: &Path, status: Status) -> Result<Stored> {
        let text = files::read_text(path, budget::one_memory(MAX_NOTE))?
            .ok_or_else(|| Fault::new(Code::NotFound, format!("file `{}` does not exist", path.display())))?;
        Ok(Stored {
            note: file::read(&text)?,
            status,
            path: path.to_owned(),
            hash: hash::sha256(text.as_bytes()),
        })
    }

    /// The same, unless there is no note in it: then the call remembers which file it passed over.
    fn loaded(&self, path: &Path, status: Status) -> Option<Stored> {
        self.load(path, status).map_err(|fault| self.passes_over(path, &fault)).ok()
    }

    /// A file that a budget had no room for holds a note all the same.
    pub(super) fn passes_over(&self, path: &Path, fault: &Fault) {
        if !budget::is_bounded() && fault.code != Code::NotFound {
            self.call.passes_over(self.call.project().shown(path), fault);
        }
    }

    /// Notes that one of the shelf's files, by its name from the memory folder, holds no note, if it does not.
    pub(crate) fn look_again(&self, name: &str) {
        let status = if name.starts_with("notes/retired/") { Status::Retired } else { Status::Active };
        let _ = self.loaded(&self.call.project().root().folder().join(name), status);
    }

    /// What is wrong with files that every reader passes over.
    pub fn passed_over(&self) -> Result<Vec<Problem>> {
        let mut found = Vec::new();
        for status in [Status::Active, Status::Retired] {
            for path in self.files(status)? {
                if let Err(fault) = self.load(&path, status) {
                    found.push(super::verify::unreadable(self.call.project().shown(&path), &fault));
                }
            }
        }
        Ok(found)
    }

    /// Every note that can be read and was not forgotten, newest first; `None` is every status.
    pub(super) fn all(&self, status: Option<Status>) -> Result<Vec<Stored>> {
        let forgotten = self.forgotten()?;
        let mut found = Vec::new();
        for place in [Status::Active, Status::Retired] {
            if status.is_none_or(|wanted| wanted == place) {
                let files = self.files(place)?.into_iter().filter(|_| budget::goes_on_or_leaves(Left::Files));
                let readable = files.filter_map(|path| self.loaded(&path, place));
                found.extend(readable.filter(|stored| !is_forgotten(&forgotten, &stored.note)));
            }
        }
        found.sort_by(|a, b| {
            let newest = b.note.occurred_at.at().cmp(&a.note.occurred_at.at());
            newest.then_with(|| a.note.id.cmp(&b.note.id))
        });
        // A message that two branches kept has two files after a merge, and is one note.
        let mut seen = HashSet::new();
        found.retain(|stored| {
            let note = &stored.note;
            // Two files may say the same.
            note.memory_path.is_some()
                || seen.insert((
                    stored.status == Status::Active,
                    note.occurred_at.at(),
                    note.content_hash.clone(),
                ))
        });
        Ok(found)
    }

    /// One note, in whatever status: by its file's name, or under another name by its own id.
    pub(super) fn find(&self, id: &NoteId) -> Result<Option<Stored>> {
        let forgotten = self.forgotten()?;
        if forgotten.contains(id.memory_id().as_str()) {
            return Ok(None);
        }
        match self.named(id)? {
            Some(stored) => Ok(Some(stored).filter(|stored| !is_forgotten(&forgotten, &stored.note))),
            None => Ok(self.all(None)?.into_iter().find(|stored| stored.note.id.same(id))),
        }
    }

    /// The note in the file that bears its name.
    pub(super) fn named(&self, id: &NoteId) -> Result<Option<Stored>> {
        for status in [Status::Active, Status::Retired] {
            let path = self.folder(status)?.join(id.file_name());
            if let Ok(stored) = self.load(&path, status)
                && stored.note.id.same(id)
            {
                return Ok(Some(stored));
            }
        }
        Ok(None)
    }

    /// The ids that may not come back.
    pub(super) fn forgotten(&self) -> Result<Forgets> {
        crate::shelf::provenance::forgotten(self.call.project().root())
    }

    /// The memory in a file of the shelf; `None` if there is no file.
    pub fn memory_at(&self, path: &Path, status: Status) -> Result<Option<Memory>> {
        match self.load(path, status) {
            Ok(stored) => self.memory(stored).map(Some),
            Err(fault) if fault.code == Code::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// A note as every shelf shows its memories.
    pub(super) fn memory(&self, stored: Stored) -> Result<Memory> {
        let Stored { note, status, path, hash } = stored;
        let id = note.id.memory_id();
        let standing = self.call.standing_of(id.as_str(), &hash, &note.content)?;
        let applies_to = match &note.applies_to {
            Scope::File(file) => vec![file.clone()],
            _ => Vec::new(),
        };
        let mut fields = Map::from_iter([("content_hash".to_owned(), note.content_hash.into())]);
        fields.extend(note.memory_path.map(|path| ("memory_path".to_owned(), path.into())));
        Ok(Memory {
            id,
            kind: Kind::Note,
            title: note.subject,
            body: note.content,
            tags: note.keywords,
            applies_to,
            scope: note.applies_to,
            owner: None,
            source: standing.source(),
            trust: standing.trust(),
            status,
            version: hash.clone(),
            occurred_at: Some(note.occurred_at.stored()),
            created_at: None,
            updated_at: None,
            expires_at: None,
            content_hash: hash,
            confidence: None,
            path: Some(self.call.project().shown(&path)),
            fields,
        })
    }

    /// Several of them.
    pub(super) fn memories(&self, stored: impl IntoIterator<Item = Stored>) -> Result<Vec<Memory>> {
        stored.into_iter().map(|one| self.memory(one)).collect()
    }
}

/// Whether a note was forgotten: by its id, or as the message it is.
pub(super) fn is_forgotten(forgotten: &Forgets, note: &Note) -> bool {
    !forgotten.is_empty()
        && (forgotten.contains(note.id.memory_id().as_str())
            || note.name().is_some_and(|name| forgotten.contains(name.memory_id().as_str())))
}
