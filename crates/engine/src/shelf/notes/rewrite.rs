//! Files of the memory tool: notes with a path, whose text and path may change.
//!
//! Comes in: an id and a new text or path. Goes out: the same note under the same id, through the gate, with the text before kept for `undo`. Two notes
//! in use never go by the same path, and no file lies below another. Never here: a note that is what somebody said; that does not change.

use super::read::{MAX_NOTE, Stored};
use super::store::{cut_out, said};
use super::{Given, Kept, NoteDraft, NoteId, Notes, file, place};
use crate::files::{self, Lock, Mode, Prepared};
use crate::gate::{Entry, Passed};
use crate::shelf::door::change::{Was, Written};
use crate::shelf::{Done, provenance, unknown};
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, Status, fault::Result, hash};
use serde_json::json;

/// What a file becomes. What is not given stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// Its text.
    pub content: Option<String>,
    /// Its path, in the plain form.
    pub path: Option<String>,
}

impl Notes<'_> {
    /// The files in use, each with its path, newest first.
    pub fn files_of_tool(&self) -> Result<Vec<(String, Memory)>> {
        let all = self.all(Some(Status::Active))?.into_iter();
        all.filter(|stored| stored.note.memory_path.is_some())
            .map(|stored| Ok((stored.note.memory_path.clone().unwrap_or_default(), self.memory(stored)?)))
            .collect()
    }

    /// Changes a file. `version` is what the caller read; a file that changed since is not overwritten.
    pub fn rewrite(
        &self,
        id: &MemoryId,
        change: Rewrite,
        version: Option<&str>,
        entry: Entry,
    ) -> Result<Kept> {
        let lock = self.call.lock()?;
        let stored = NoteId::parse(id.name()).map(|id| self.find(&id)).transpose()?.flatten();
        let stored = stored.ok_or_else(|| unknown(id.as_str()))?;
        if version.is_some_and(|version| version != stored.hash) {
            return Err(Fault::new(Code::OccConflict, format!("`{id}` changed since it was read"))
                .fact("id", id.as_str()));
        }
        let Some(path) = stored.note.memory_path.clone() else { return Err(unknown(id.as_str())) };
        let to = change.path.clone().unwrap_or_else(|| path.clone());
        if to != path {
            self.expect_storable(&lock, &to, entry)?;
            self.expect_free(&to, &stored.note.id)?;
        }
        let profile = self.call.settings().gate.profile(ShelfName::Notes);
        let draft = self.changed(&stored, &path, &to, change.content).under(profile);
        let passed = self.call.pass(&lock, ShelfName::Notes, draft, entry, NoteDraft::to_fields)?;
        let line = (to != path).then_some(path.as_str());
        self.replace(&lock, &stored, &passed, line)
    }

    /// Puts an earlier text of a file in place of the present one, whose hash must be `version`.
    pub(crate) fn put_back(&self, id: &MemoryId, text: &str, version: &str, entry: Entry) -> Result<Done> {
        let before = file::read(text)?;
        let change = Rewrite { content: Some(before.content), path: before.memory_path };
        Ok(self.rewrite(id, change, Some(version), entry)?.done)
    }

    /// Refuses a path that another note in use goes by, or that lies below or above one.
    pub(super) fn expect_free(&self, path: &str, id: &NoteId) -> Result<()> {
        let below = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/'));
        for stored in self.all(Some(Status::Active))? {
            let Some(other) = stored.note.memory_path.as_deref().filter(|_| !stored.note.id.same(id)) else {
                continue;
            };
            if other == path || below(other, path) {
                return Err(Fault::new(Code::Create, format!("File {path} already exists"))
                    .hint("choose another path, or change the file that is there"));
            }
            if below(path, other) {
                return Err(not_a_folder(other));
            }
        }
        Ok(())
    }

    /// Refuses a path that says what must not be stored. What is cut out of a text cannot be cut out of a name.
    pub(super) fn expect_storable(&self, lock: &Lock, path: &str, entry: Entry) -> Result<()> {
        // Words of a path are looked at as words too: a slash or a dot hides nothing.
        let screen = self.call.screen();
        let words = path.replace(['/', '.'], " ");
        if screen.redacted(path) == path && screen.redacted(&words) == words {
            return Ok(());
        }
        let fault = Fault::new(Code::GateRefused, "the path holds what must not be stored")
            .fact("field", "memory_path")
            .hint("use a path without the secret");
        self.call.refused(lock, ShelfName::Notes, "", entry, &fault)?;
        Err(fault)
    }

    /// The draft of a changed file. What followed from the old text follows from the new one; what a person wrote there stays.
    fn changed(&self, stored: &Stored, path: &str, to: &str, content: Option<String>) -> NoteDraft {
        let note = &stored.note;
        let max = self.call.settings().notes.max_keywords;
        let content = content.unwrap_or_else(|| note.content.clone());
        let old = NoteDraft::of_file(path, &note.content, note.occurred_at.clone(), max);
        let mut draft = NoteDraft::of_file(to, &content, note.occurred_at.clone(), max);
        draft.id = Some(note.id.clone());
        if note.subject != *old.subject.value() {
            draft.subject = Given::Yes(note.subject.clone());
        }
        if note.keywords != *old.keywords.value() {
            draft.keywords = Given::Yes(note.keywords.clone());
        }
        if note.applies_to.to_string() != *old.applies_to.value() {
            draft.applies_to = Given::Yes(note.applies_to.to_string());
        }
        draft
    }

    fn replace(
        &self,
        lock: &Lock,
        stored: &Stored,
        passed: &Passed<NoteDraft>,
        moved_from: Option<&str>,
    ) -> Result<Kept> {
        let note = passed.draft().note(&[])?;
        let text = file::write(&note);
        let before = files::read(&stored.path, MAX_NOTE)?;
        if before == text.as_bytes() {
            return Ok(self.kept("unchanged", stored, Vec::new()));
        }
        let ready = Prepared::new(&stored.path, text.as_bytes(), Mode::Shared)?;
        let (id, hash) = (note.id.memory_id(), hash::sha256(text.as_bytes()));
        let what = Written {
            body: &note.content,
            action: "memory_write",
            shelf: ShelfName::Notes,
            id: id.as_str(),
            hash: &hash,
            before: None,
            size: text.len(),
            was: Was::Text { id: id.as_str(), bytes: &before, status: stored.status },
            leaves: stored.status,
        };
        let intent = self.call.intend(lock, passed, what)?;
        let mut lines = Vec::new();
        let cut = cut_out(passed.remarks());
        if !cut.is_empty() {
            lines.push(self.line(id.as_str(), &hash, "redacted", [("rules", json!(cut))]));
        }
        if let Some(from) = moved_from {
            lines.push(self.line(id.as_str(), &hash, "renamed", [("from", json!(from))]));
        }
        if !lines.is_empty() {
            provenance::append(self.call.project().root(), lock, &lines)?;
        }
        ready.commit()?;
        intent.done();
        let stored = Stored { note, hash, ..stored.clone() };
        Ok(self.kept("updated", &stored, said(passed.remarks())))
    }
}

/// The refusal of a path that goes through a file.
pub(super) fn not_a_folder(path: &str) -> Fault {
    Fault::new(Code::Create, format!("The path {path} is not a directory."))
        .hint(format!("choose a path below another folder of {}", place::ROOT))
}
