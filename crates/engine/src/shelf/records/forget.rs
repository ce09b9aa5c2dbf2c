//! Forget: every trace of a record's text is removed.
//!
//! Comes in: an id. Goes out: the places text was removed from, and what git still holds. File, archive, quarantine, inbox, index line,
//! aliases, trust entries and temp files of killed writers go; a marker without text stays in `provenance.jsonl`, so that a merge that
//! brings the file back is noticed. Never here: rewriting git's history, which is the owner's decision.

use super::store::Records;
use crate::files::{self, Prepared};
use crate::gate::Entry;
use crate::shelf::door::change::{Was, Written};
use crate::shelf::{Forgotten, provenance, unknown};
use heirloom_core::{MemoryId, ShelfName, Status, fault::Result};
use std::path::{Path, PathBuf};

impl Records<'_> {
    pub(super) fn forget_record(&self, asked: &MemoryId, entry: Entry) -> Result<Forgotten> {
        let lock = self.call.lock()?;
        let id = match self.target_of(asked)?.path.exists() {
            true => asked.clone(),
            false => self.alias(asked)?.unwrap_or_else(|| asked.clone()),
        };
        let target = self.target_of(&id)?;
        let mut files_of_it = self.copies(&target.path)?;
        if target.path.exists() {
            files_of_it.insert(0, target.path.clone());
        }
        let now = self.call.project().world().now;
        let inbox = self.call.inbox()?;
        let waiting = inbox.list(now)?.iter().filter(|item| item.id == id.as_str()).count();
        if files_of_it.is_empty() && waiting == 0 {
            return Err(unknown(asked.as_str()));
        }
        let in_git = self.held_by_git(&id, &files_of_it)?;
        let index = self.prepare_index(&lock, &target.path, None, None)?;
        let written = Written {
            body: "",
            action: "memory_forget",
            shelf: ShelfName::Records,
            id: id.as_str(),
            hash: "",
            before: None,
            size: files_of_it.len(),
            was: Was::Unkept,
            leaves: Status::Retired,
        };
        let earlier_ids = self.earlier_ids(&id)?;
        let root = self.call.project().root();
        let marker =
            provenance::forgetting(root, &lock, id.as_str(), &earlier_ids, &self.now(), &self.call.salt())?;
        let intent = self.call.intend_plain(&lock, entry, &[], written)?;
        // The marker comes first: whatever stops this call half-way, what is left of the record is known to be unwanted.
        marker.map_or(Ok(()), Prepared::commit)?;
        self.index_owes(None)?;
        let waiting = waiting.max(inbox.sweep(now, Some(id.as_str()))?);
        let mut places = Vec::new();
        for path in &files_of_it {
            files::remove(path)?;
            places.push(self.call.project().shown(path));
        }
        // Unlike after other changes the disk is waited for: the title must not come back with a power cut.
        if let Some(index) = index {
            index.commit()?;
        }
        self.index_owes_nothing()?;
        places.push(self.call.project().shown(&self.index_path()));
        if waiting > 0 {
            places.push(format!("review inbox ({waiting})"));
        }
        if self.drop_aliases(&lock, &id)? {
            places.push(self.call.project().shown(&self.root().join(".aliases.jsonl")));
        }
        self.sweep(&lock)?;
        self.call.forget_trust(id.as_str())?;
        // What was kept to take changes back stands under the names it had at the time.
        for earlier in &earlier_ids {
            let taken = self.target_of(earlier).is_ok_and(|target| target.path.exists());
            match taken {
                // Another record has this name now, and what is known of it is known of that one.
                true => self.call.forget_kept(earlier.as_str())?,
                false => {
                    inbox.sweep(now, Some(earlier.as_str()))?;
                    self.call.forget_trust(earlier.as_str())?;
                }
            }
        }
        intent.done();
        Ok(Forgotten { id, places, in_git })
    }

    /// Copies of a record: in the archive, quarantined beside it, and left by an editor that was killed.
    fn copies(&self, path: &Path) -> Result<Vec<PathBuf>> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(Vec::new()) };
        let name = name.to_string_lossy().into_owned();
        let stem = name.trim_end_matches(".json").to_owned();
        let archive = self.root().join("archive").join(folder.file_name().unwrap_or_default());
        let quarantined = format!("{name}.invalid.");
        let in_folder = |folder: &Path, wanted: &dyn Fn(&str) -> bool| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.filter(|e| wanted(&e.file_name().to_string_lossy())).map(|e| e.path()).collect()
        };
        let numbered = |candidate: &str| {
            let Some(rest) = candidate.strip_suffix(".json").and_then(|c| c.strip_prefix(&stem)) else {
                return false;
            };
            rest.is_empty() || rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok())
        };
        // A numbered name in the archive may also be another record's own name; its id inside decides.
        let own_id = |path: &PathBuf| {
            let document =
                files::read(path, files::MAX_FILE).ok().and_then(|b| super::Document::parse(&b).ok());
            document.is_none_or(|d| d.text("id") == Some(stem.as_str()))
        };
        let mut copies: Vec<PathBuf> = in_folder(&archive, &numbered).into_iter().filter(own_id).collect();
        copies.extend(in_folder(folder, &|n: &str| n.starts_with(&quarantined)));
        let local = self.call.project().local()?.folder();
        let in_editor = in_folder(local, &|n: &str| n.starts_with("edit-") && n.ends_with(".json"));
        copies.extend(in_editor.into_iter().filter(own_id));
        Ok(copies)
    }

    /// Where git still holds versions of it: under its present names, and under earlier ones that nothing else has taken since.
    fn held_by_git(&self, id: &MemoryId, files_of_it: &[PathBuf]) -> Result<Vec<String>> {
        let earlier = self.earlier_ids(id)?.into_iter().filter_map(|was| self.target_of(&was).ok());
        let earlier = earlier.map(|target| target.path).filter(|path| !path.exists());
        let project = self.call.project();
        Ok(files_of_it
            .iter()
            .cloned()
            .chain(earlier)
            .filter(|path| crate::git::has_history(project.folder(), path))
            .map(|path| project.shown(&path))
            .collect())
    }
}
