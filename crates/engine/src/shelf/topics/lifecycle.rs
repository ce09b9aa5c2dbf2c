//! The life of a lesson: listed, shown, taken out of use, put back, forgotten.
//!
//! Comes in: ids. Goes out: the same answers every shelf gives. Retiring and archiving move an entry to the archive, restoring moves it
//! back; forgetting takes it out of both, the index, the statistics and the trust book. Never here: the gate, since no new text comes in
//! (a reason for retiring is screened).

use super::access::Access;
use super::stock::{Held, Part};
use super::store::{self, Open};
use super::{Topics, stock, sync_git};
use crate::files::{self, Batch, Prepared};
use crate::gate::{Entry, audit};
use crate::git;
use crate::shelf::door::change::{Was, Written};
use crate::shelf::{Change, Done, Forgotten, Listing, Problem, Shelf, provenance, unknown};
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, Status, fault::Result, text::one_line, time};
use serde_json::Value;
use std::path::PathBuf;

impl Shelf for Topics<'_> {
    fn name(&self) -> ShelfName {
        ShelfName::Topics
    }

    fn list(&self, wanted: &Listing) -> Result<Vec<Memory>> {
        let stock = self.stock();
        let forgotten = self.forgotten()?;
        let mut out = Vec::new();
        for topic in stock.topics() {
            for held in stock.entries(&topic, Part::default()) {
                if self.came_back(&forgotten, &held) {
                    continue;
                }
                if wanted.status.is_none_or(|status| status == held.status) {
                    out.push(self.memory(&held)?);
                }
            }
        }
        out.retain(|memory| wanted.wants(memory));
        Ok(out)
    }

    fn get(&self, id: &MemoryId) -> Result<Option<Memory>> {
        self.stock().find(id).map(|held| self.memory(&held)).transpose()
    }

    fn raw(&self, id: &MemoryId) -> Result<Option<String>> {
        Ok(self.stock().find(id).map(|held| held.plain))
    }

    fn history(&self, id: &MemoryId) -> Result<Vec<Change>> {
        let held = self.stock().find(id).ok_or_else(|| unknown(id.as_str()))?;
        let change = |at: String, summary: String| Change { at, summary, field: None, old: None, new: None };
        let mut out = vec![change(held.lesson.date.to_string(), "dated".to_owned())];
        if self.call.project().has_local() {
            for line in self.call.audit_entries()? {
                let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
                if text("id") == id.as_str() && audit::happened(&line) {
                    out.push(change(text("at"), format!("{} ({})", text("action"), text("channel"))));
                }
            }
        }
        match (held.status, &held.retired) {
            (Status::Archived, _) => out.push(change(String::new(), "in the archive".to_owned())),
            (_, Some(why)) => out.push(change(why.chars().take(10).collect(), format!("retired: {why}"))),
            _ => {}
        }
        Ok(out)
    }

    fn retire(&self, id: &MemoryId, reason: &str, entry: Entry) -> Result<Done> {
        let open = self.open()?;
        let held = open.stock.find(id).ok_or_else(|| unknown(id.as_str()))?;
        if held.status == Status::Retired {
            return Ok(self.done("already_retired", id.clone(), &open, &held.path));
        }
        let reason = one_line(&self.call.screen().redacted(reason));
        let why = format!("{} {reason}", time::format_date(self.call.project().world().now));
        let why = why.trim_end().to_owned();
        let mut batch = Batch::default();
        if held.status == Status::Archived {
            // Said anew where it lies: out and in again in one write would need two.
            let page =
                stock::read_page(&held.path, stock::MAX_ARCHIVE)?.ok_or_else(|| unknown(id.as_str()))?;
            let tagged = super::archive::tagged(&held.plain, &held.subtopic, Some(&why));
            batch.write(&held.path, page.replaced(held.at, &tagged).text().to_owned(), "archive-stored");
        } else {
            self.move_out(&open, &mut batch, &held, Some(why))?;
        }
        self.finish(open, batch, &held, "memory_retire", Status::Retired, entry)
    }

    fn restore(&self, id: &MemoryId, entry: Entry) -> Result<Done> {
        self.move_back(id, Status::Retired, entry, "memory_restore")
    }

    fn archive(&self, id: &MemoryId, _reason: &str, entry: Entry) -> Result<Done> {
        let open = self.open()?;
        let held = open.stock.find(id).ok_or_else(|| unknown(id.as_str()))?;
        if held.status != Status::Active {
            return Err(Fault::new(Code::Archive, format!("`{id}` is {} already", held.status.name()))
                .fact("id", id.as_str()));
        }
        let mut batch = Batch::default();
        self.move_out(&open, &mut batch, &held, None)?;
        self.finish(open, batch, &held, "memory_archive", Status::Archived, entry)
    }

    fn unarchive(&self, id: &MemoryId, entry: Entry) -> Result<Done> {
        self.move_back(id, Status::Archived, entry, "memory_unarchive")
    }

    fn forget(&self, id: &MemoryId, entry: Entry) -> Result<Forgotten> {
        // Git is asked before anybody waits for the lock.
        let in_git = self.in_history(id)?;
        let open = self.open()?;
        let held = open.stock.find(id).ok_or_else(|| unknown(id.as_str()))?;
        let year = held.lesson.date.year();
        let live = open.stock.live_path(&held.topic, &held.subtopic)?;
        let archived = open.stock.archive_path(&held.topic, year)?;
        let index = open.stock.index_path();
        let files = [&live, &archived, &index];
        let before = files.map(|path| std::fs::read(path).ok());
        let mut batch = Batch::default();
        if held.status == Status::Active {
            let (_, page) = store::live_page(&open.stock, &held.topic, &held.subtopic)?;
            store::write_live(&mut batch, &held.topic, &held.subtopic, &live, &page.without(&[held.at]));
        }
        // Also the copy that an interrupted move may have left.
        store::out_of_archive(&open.stock, &mut batch, &held.topic, year, |tag, plain| {
            stock::subtopic_of(tag) == held.subtopic && plain == held.plain
        })?;
        let gone = Some(held.lesson.title.as_str());
        store::update_index(&open.stock, &mut batch, &held.topic, &held.subtopic, gone)?;
        let ready = batch.prepare()?;
        let what = Written {
            body: "",
            action: "memory_forget",
            shelf: ShelfName::Topics,
            id: id.as_str(),
            hash: "",
            before: None,
            size: 1,
            was: Was::Unkept,
            leaves: Status::Retired,
        };
        let now = self.call.project().world().now;
        let root = self.call.project().root();
        let marker = provenance::forgetting(
            root,
            &open.lock,
            id.as_str(),
            &[],
            &time::format(now),
            &self.call.salt(),
        )?;
        let intent = self.call.intend_plain(&open.lock, entry, &[], what)?;
        marker.map_or(Ok(()), Prepared::commit)?;
        ready.place()?;
        // A topic may be called by a person's name, and a folder by the topic.
        [&live, &archived].into_iter().filter_map(|path| path.parent()).for_each(files::remove_empty_folder);
        let mut places: Vec<String> = files
            .iter()
            .zip(before)
            .filter(|(path, before)| std::fs::read(path).ok() != *before)
            .map(|(path, _)| self.call.project().shown(path))
            .collect();
        if Access::new(self.call.project().local()?.folder()).forget(id.as_str())? {
            places.push("access statistics".to_owned());
        }
        self.call.forget_trust(id.as_str())?;
        if self.call.inbox()?.sweep(now, Some(id.as_str()))? > 0 {
            places.push("review inbox".to_owned());
        }
        intent.done();
        // A failed commit is said by the next `sync`; the text is gone from the files.
        let _ = sync_git::after_write(self.call, open, id);
        Ok(Forgotten { id: id.clone(), places, in_git })
    }

    fn verify(&self) -> Result<Vec<Problem>> {
        self.problems()
    }

    fn redact_stored(&self, entry: Entry) -> Result<Vec<String>> {
        self.redact_files(entry)
    }
}

impl Topics<'_> {
    fn move_out(&self, open: &Open, batch: &mut Batch, held: &Held, retired: Option<String>) -> Result<()> {
        let (path, page) = store::live_page(&open.stock, &held.topic, &held.subtopic)?;
        // A leftover copy would be taken for the entry itself and keep its old line.
        store::clear_leftovers(&open.stock, batch, &held.topic, &held.subtopic, &page)?;
        store::to_archive(&open.stock, batch, &held.topic, &[store::leaving(held, retired)])?;
        store::write_live(batch, &held.topic, &held.subtopic, &path, &page.without(&[held.at]));
        store::update_index(&open.stock, batch, &held.topic, &held.subtopic, Some(&held.lesson.title))
    }

    fn move_back(&self, id: &MemoryId, from: Status, entry: Entry, action: &'static str) -> Result<Done> {
        let open = self.open()?;
        let held = open.stock.find(id).ok_or_else(|| unknown(id.as_str()))?;
        if held.status != from {
            let code = if from == Status::Retired { Code::Restore } else { Code::Unarchive };
            return Err(Fault::new(code, format!("`{id}` is {}, not {}", held.status.name(), from.name()))
                .fact("id", id.as_str()));
        }
        let (path, mut page) = store::live_page(&open.stock, &held.topic, &held.subtopic)?;
        page.insert(held.lesson.date, &held.plain);
        let mut batch = Batch::default();
        store::write_live(&mut batch, &held.topic, &held.subtopic, &path, &page);
        store::clear_leftovers(&open.stock, &mut batch, &held.topic, &held.subtopic, &page)?;
        store::update_index(&open.stock, &mut batch, &held.topic, &held.subtopic, None)?;
        self.finish(open, batch, &held, action, Status::Active, entry)
    }

    /// The files of a lesson whose earlier versions git holds. Lessons may live in a repository of their own.
    fn in_history(&self, id: &MemoryId) -> Result<Vec<String>> {
        let stock = self.stock();
        let Some(held) = stock.find(id) else { return Ok(Vec::new()) };
        let live = stock.live_path(&held.topic, &held.subtopic)?;
        let archived = stock.archive_path(&held.topic, held.lesson.date.year())?;
        let known = |path: &PathBuf| path.parent().is_some_and(|folder| git::has_history(folder, path));
        let files = [live, archived, stock.index_path()];
        Ok(files.iter().filter(|path| known(path)).map(|path| self.call.project().shown(path)).collect())
    }

    /// Puts a move in place: what the lesson says, and therefore its trust, stays as it is.
    fn finish(
        &self,
        open: Open,
        batch: Batch,
        held: &Held,
        action: &'static str,
        leaves: Status,
        entry: Entry,
    ) -> Result<Done> {
        let ready = batch.prepare()?;
        let what = Written {
            body: "",
            action,
            shelf: ShelfName::Topics,
            id: held.id.as_str(),
            hash: &held.hash,
            before: Some(&held.hash),
            size: held.plain.len(),
            was: Was::Text { id: held.id.as_str(), bytes: held.plain.as_bytes(), status: held.status },
            leaves,
        };
        let intent = self.call.intend_plain(&open.lock, entry, &[], what)?;
        ready.place()?;
        intent.done();
        let status = match action {
            "memory_restore" => "restored",
            "memory_unarchive" => "unarchived",
            "memory_archive" => "archived",
            _ => "retired",
        };
        let path = open.stock.find(&held.id).map_or_else(|| held.path.clone(), |held| held.path);
        let mut done = self.done(status, held.id.clone(), &open, &path);
        done.notes.extend(sync_git::after_write(self.call, open, &held.id));
        Ok(done)
    }
}
