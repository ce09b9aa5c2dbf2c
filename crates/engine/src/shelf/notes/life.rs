//! A note's life after it is stored: what every shelf can do.
//!
//! Comes in: ids. Goes out: memories, and what was done. Retiring moves the file aside and restoring moves it back; the bytes stay
//! as they are. Never here: an edit. A note is what was said.

use super::read::{MAX_NOTE, Stored};
use super::{NoteId, Notes, note};
use crate::files::{self, Lock, Mode, Prepared};
use crate::gate::{Entry, audit};
use crate::shelf::door::change::{Intent, Was, Written};
use crate::shelf::{Change, Done, Forgotten, Listing, Problem, Shelf, in_git, provenance, unknown};
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, Status, fault::Result, time};
use serde_json::{Value, json};

impl Shelf for Notes<'_> {
    fn name(&self) -> ShelfName {
        ShelfName::Notes
    }

    fn list(&self, wanted: &Listing) -> Result<Vec<Memory>> {
        let all = self.memories(self.all(wanted.status)?)?;
        Ok(all.into_iter().filter(|memory| wanted.wants(memory)).collect())
    }

    fn get(&self, id: &MemoryId) -> Result<Option<Memory>> {
        let Some(id) = NoteId::parse(id.name()) else { return Ok(None) };
        self.find(&id)?.map(|stored| self.memory(stored)).transpose()
    }

    fn raw(&self, id: &MemoryId) -> Result<Option<String>> {
        let stored = self.need(id)?;
        files::read_text(&stored.path, MAX_NOTE)
    }

    fn history(&self, id: &MemoryId) -> Result<Vec<Change>> {
        let stored = self.need(id)?;
        let id = stored.note.id.memory_id();
        let mut changes = Vec::new();
        if self.call.project().has_local() {
            changes.extend(
                self.call.audit_entries()?.iter().filter_map(|entry| stored_line(entry, id.as_str())),
            );
        }
        let lines = provenance::about(self.call.project().root(), id.as_str())?;
        changes.extend(lines.iter().map(|line| {
            let why = line.text("reason").or_else(|| line.text("from")).filter(|why| !why.is_empty());
            let rules = line.more.get("rules").map(Value::to_string);
            let why = why.map(str::to_owned).or(rules);
            Change {
                at: line.at.clone(),
                summary: why.map_or_else(|| line.did.clone(), |why| format!("{}: {why}", line.did)),
                field: (line.did == "redacted").then(|| "content".to_owned()),
                old: None,
                new: None,
            }
        }));
        changes.sort_by(|a, b| a.at.cmp(&b.at));
        let said = plain(stored.note.occurred_at.stored(), "said".to_owned());
        changes.insert(0, said);
        if !note::is_hash_of(&stored.note.content_hash, &stored.note.content) {
            let now = time::format(self.call.project().world().now);
            changes.push(plain(now, "the text was changed since it was stored".to_owned()));
        }
        Ok(changes)
    }

    fn retire(&self, id: &MemoryId, reason: &str, entry: Entry) -> Result<Done> {
        self.change(id, Status::Retired, reason, entry)
    }

    fn restore(&self, id: &MemoryId, entry: Entry) -> Result<Done> {
        self.change(id, Status::Active, "", entry)
    }

    fn forget(&self, id: &MemoryId, entry: Entry) -> Result<Forgotten> {
        let wanted = NoteId::parse(id.name()).ok_or_else(|| unknown(id.as_str()))?;
        let lock = self.call.lock()?;
        let id = wanted.memory_id();
        let project = self.call.project();
        let mut paths = Vec::new();
        // The names by which the message would be known if it were captured again.
        let mut messages = self.unname(&wanted)?;
        let mut files = Vec::new();
        for status in [Status::Active, Status::Retired] {
            files::sweep_temporary(&self.folder(status)?);
            for path in self.files(status)? {
                let named = path.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case(wanted.as_str()));
                let note = self.load(&path, status).ok().map(|stored| stored.note);
                files.push((path, named, note));
            }
        }
        for (_, named, note) in &files {
            let message =
                |note: &&super::Note| note.memory_path.is_none() && (*named || note.id.same(&wanted));
            if let Some(note) = note.as_ref().filter(message) {
                for hash in [note.content_hash.clone(), note::content_hash(&note.content)] {
                    messages.extend([NoteId::of(note.occurred_at.at(), &hash), NoteId::of_content(&hash)]);
                }
            }
        }
        for (path, named, note) in files {
            // A merge may have brought the same message under another id.
            let twin = note.is_some_and(|note| {
                note.id.same(&wanted) || note.name().is_some_and(|name| messages.contains(&name))
            });
            if named || twin {
                paths.push(path);
            }
        }
        let inbox = self.call.inbox()?;
        let waiting = inbox.list(project.world().now)?.iter().filter(|item| item.id == id.as_str()).count();
        if paths.is_empty() && waiting == 0 {
            return Err(unknown(id.as_str()));
        }
        let at = time::format(project.world().now);
        messages.sort();
        messages.dedup();
        let messages: Vec<MemoryId> = messages.iter().map(NoteId::memory_id).collect();
        let salt = self.call.salt();
        let marker =
            provenance::forgetting_all(project.root(), &lock, id.as_str(), &[], &messages, &at, &salt)?;
        let intent = self.intend(&lock, entry, "memory_forget", &id, paths.len(), None)?;
        let waiting = waiting.max(inbox.sweep(project.world().now, Some(id.as_str()))?);
        // The marker first: whatever stops this half-way, the note is out of recall and nothing captures it again.
        marker.map_or(Ok(()), Prepared::commit)?;
        let mut places: Vec<String> = paths.iter().map(|path| project.shown(path)).collect();
        if waiting > 0 {
            places.push("review inbox".to_owned());
        }
        paths.iter().try_for_each(|path| files::remove(path))?;
        self.call.forget_trust(id.as_str())?;
        intent.done();
        Ok(Forgotten { id, in_git: in_git(project, &paths), places })
    }

    fn verify(&self) -> Result<Vec<Problem>> {
        self.problems()
    }

    fn redact_stored(&self, entry: Entry) -> Result<Vec<String>> {
        self.redact_notes(entry)
    }
}

impl Notes<'_> {
    fn need(&self, id: &MemoryId) -> Result<Stored> {
        let found = NoteId::parse(id.name()).map(|id| self.find(&id)).transpose()?.flatten();
        found.ok_or_else(|| unknown(id.as_str()))
    }

    /// Moves a note to the folder of another status.
    fn change(&self, id: &MemoryId, to: Status, reason: &str, entry: Entry) -> Result<Done> {
        let lock = self.call.lock()?;
        let stored = self.need(id)?;
        let id = stored.note.id.memory_id();
        let (did, already, action) = match to {
            Status::Active => ("restored", "already_active", "memory_restore"),
            _ => ("retired", "already_retired", "memory_retire"),
        };
        let project = self.call.project();
        if stored.status == to {
            let path = Some(project.shown(&stored.path));
            return Ok(Done { status: already, id, path, notes: Vec::new() });
        }
        let folder = self.folder(to)?;
        let target = folder.join(stored.note.id.file_name());
        if std::fs::symlink_metadata(&target).is_ok() {
            return Err(Fault::new(Code::Create, format!("`{}` exists already", project.shown(&target)))
                .fact("id", id.as_str())
                .hint("`heirloom verify` says what is in it; nothing was moved"));
        }
        if let (Status::Active, Some(path)) = (to, &stored.note.memory_path) {
            self.expect_free(path, &stored.note.id)?;
        }
        files::make_folder(&folder, Mode::Shared)?;
        let reason = self.call.screen().redacted(reason);
        let line = self.line(id.as_str(), &stored.hash, did, [("reason", json!(reason))]);
        let intent = self.intend(&lock, entry, action, &id, 1, Some((&stored, to)))?;
        // A full disk is met before anything moved; a line about a move that then fails is followed by the audit's word that it did.
        provenance::append(project.root(), &lock, &[line])?;
        files::rename(&stored.path, &target)?;
        intent.done();
        Ok(Done { status: did, id, path: Some(project.shown(&target)), notes: Vec::new() })
    }

    /// The audit line of a change that leaves the stored bytes, and therefore their trust, as they were, or nothing at all.
    fn intend<'c>(
        &'c self,
        lock: &'c Lock,
        entry: Entry,
        action: &'static str,
        id: &MemoryId,
        size: usize,
        moved: Option<(&Stored, Status)>,
    ) -> Result<Intent<'c>> {
        let bytes = match moved {
            Some((stored, _)) => files::read(&stored.path, MAX_NOTE)?,
            None => Vec::new(),
        };
        let what = Written {
            body: "",
            action,
            shelf: ShelfName::Notes,
            id: id.as_str(),
            hash: moved.map_or("", |(stored, _)| stored.hash.as_str()),
            before: moved.map(|(stored, _)| stored.hash.as_str()),
            size,
            was: match moved {
                Some((stored, _)) => Was::Text { id: id.as_str(), bytes: &bytes, status: stored.status },
                None => Was::Unkept,
            },
            leaves: moved.map_or(Status::Retired, |(_, to)| to),
        };
        self.call.intend_plain(lock, entry, &[], what)
    }
}

fn plain(at: String, summary: String) -> Change {
    Change { at, summary, field: None, old: None, new: None }
}

/// The audit's line about storing a note; other changes are in the provenance file, with their reasons.
fn stored_line(entry: &Value, id: &str) -> Option<Change> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let is_write = text("id") == Some(id)
        && text("action") == Some("memory_write")
        && matches!(text("verdict"), Some("keep" | "redact"))
        && audit::happened(entry);
    let channel = text("channel").unwrap_or_default();
    is_write.then(|| {
        plain(text("at").unwrap_or_default().to_owned(), format!("stored through channel {channel}"))
    })
}
