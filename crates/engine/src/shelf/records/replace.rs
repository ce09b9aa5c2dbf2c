//! Replacing a record and its index line together.
//!
//! Comes in: a record's new bytes on disk under a temporary name, its new index line, the lock. Goes out: both in place, visible at once and
//! durable when the caller has waited for it without the lock. Both are written before either is put in place, so a full disk
//! changes nothing; a mark in `.local` says what is owed in between, so that whoever comes after a killed process finishes its
//! work. The index is derived: it is replaced whole, but nobody waits for the disk because of it. Never here: what the bytes say.

use super::index_file::{self, IndexEntry};
use super::store::Records;
use crate::files::{self, Lock, Mode, Placed, Prepared, step};
use crate::shelf::door::change::Intent;
use heirloom_core::{Fault, MemoryId, fault::Result, json};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A record's next state.
pub(super) struct Change<'a> {
    /// Its file.
    pub(super) path: &'a Path,
    /// What it will hold, written and synced.
    pub(super) record: Prepared,
    /// The index line of an active record; `None` for one that is not.
    pub(super) line: Option<IndexEntry>,
    /// Where it was, if it gets a new name.
    pub(super) renamed: Option<Renamed<'a>>,
}

/// A record's earlier place and both of its names.
pub(super) struct Renamed<'a> {
    pub(super) path: &'a Path,
    pub(super) was: MemoryId,
    pub(super) is: MemoryId,
}

impl Records<'_> {
    /// Stores a record. `intend` writes down that it is about to happen (audit, trust) after everything that may fail for want of space and
    /// before anything changes: nothing is ever stored without its audit line.
    pub(super) fn replace<'i>(
        &self,
        lock: &Lock,
        change: Change<'_>,
        intend: impl FnOnce() -> Result<Intent<'i>>,
    ) -> Result<Placed> {
        let old = change.renamed.as_ref().map(|renamed| renamed.path);
        let index = self.prepare_index(lock, change.path, change.line.as_ref(), old)?;
        self.index_owes(change.renamed.as_ref().map(|renamed| (renamed, change.path)))?;
        let intent = intend()?;
        let placed = change.record.place()?;
        step::reached("record-stored");
        // From here on the change has happened: what cannot be finished now is owed, and the next writer does it.
        let mut done = self.put_index(index).is_ok();
        if let Some(renamed) = &change.renamed {
            done &= files::remove(renamed.path).is_ok();
            done &= self.remember_alias(lock, &renamed.was, &renamed.is).is_ok();
        }
        intent.done();
        if done {
            self.index_owes_nothing()?;
        }
        Ok(placed)
    }

    /// The index as it will be, on disk beside the old one; `None` if there is none and nothing to list. `also_gone` is the old path
    /// of a renamed record. If an earlier writer died half-way, or there is no index, it is made anew.
    pub(super) fn prepare_index(
        &self,
        lock: &Lock,
        path: &Path,
        line: Option<&IndexEntry>,
        also_gone: Option<&Path>,
    ) -> Result<Option<Prepared>> {
        let owed = self.finish_rename(lock)?;
        let there = self.index_text()?;
        let is_new = there.is_none();
        let mut text = match there.filter(|_| !owed) {
            Some(text) => text,
            None => index_file::render(&self.lines().0),
        };
        if let Some(old) = also_gone {
            text = index_file::without_line(&text, &self.call.project().shown(old));
        }
        let shown = self.call.project().shown(path);
        let text = match line {
            Some(entry) => index_file::with_line(&text, &shown, &entry.line()),
            None => index_file::without_line(&text, &shown),
        };
        if is_new && !text.lines().any(index_file::is_entry) {
            return Ok(None);
        }
        Prepared::derived(&self.index_path(), text.as_bytes(), Mode::Shared).map(Some)
    }

    /// Puts a prepared index in place.
    pub(super) fn put_index(&self, index: Option<Prepared>) -> Result<()> {
        if let Some(index) = index {
            // Its folder is not waited for: a power cut that undoes this undoes the removal of the mark after it too.
            let _ = index.place()?;
        }
        step::reached("index-stored");
        Ok(())
    }

    /// Says in `.local` that index and records are about to differ, and which rename is under way.
    pub(super) fn index_owes(&self, renamed: Option<(&Renamed<'_>, &Path)>) -> Result<()> {
        let mark = self.owes_mark()?;
        let text = renamed.map_or_else(String::new, |(renamed, to)| {
            let place = |path: &Path| path.to_string_lossy().into_owned();
            let (from, to) = (place(renamed.path), place(to));
            json!({ "from": from, "to": to, "was": renamed.was, "is": renamed.is }).to_string()
        });
        std::fs::write(&mark, text).map_err(|e| Fault::io(&mark, "write", &e))
    }

    pub(super) fn index_owes_nothing(&self) -> Result<()> {
        let mark = self.owes_mark()?;
        match std::fs::remove_file(&mark) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Fault::io(&mark, "remove", &e)),
            _ => Ok(()),
        }
    }

    fn owes_mark(&self) -> Result<PathBuf> {
        Ok(self.call.project().local()?.path("index-owes"))
    }

    /// Whether an earlier writer left before it had brought the index in step. If it was renaming a record and the new file is there, the old
    /// one goes now, so that the record is not there twice, and its old id leads to the new one.
    pub(super) fn finish_rename(&self, lock: &Lock) -> Result<bool> {
        let Some(text) = files::read_if_there(&self.owes_mark()?, files::MAX_FILE)? else { return Ok(false) };
        let mark = json::parse(&text).unwrap_or_default();
        let word = |key: &str| mark.get(key).and_then(Value::as_str).unwrap_or_default();
        let root = self.call.project().root();
        let place = |key: &str| root.resolve(Path::new(word(key))).ok();
        if let (Some(from), Some(to)) = (place("from"), place("to"))
            && let (Some(was), Some(is)) = (MemoryId::parse(word("was")), MemoryId::parse(word("is")))
            && self.load(&to, word("to"))?.is_some()
        {
            if self.alias(&was)?.as_ref() != Some(&is) {
                self.remember_alias(lock, &was, &is)?;
            }
            files::remove(&from)?;
        }
        Ok(true)
    }
}
