//! Putting a record back as it was: a new version with the old content.
//!
//! Comes in: the bytes before a change, and the version that the change left. Goes out: a record with that content and status, its list of
//! changes longer by one. Never here: whether it may be put back; text that the gate refuses today.

use super::document::{Document, change};
use super::draft::RecordDraft;
use super::replace::Renamed;
use super::schema::Stage;
use super::store::Records;
use super::write::Said;
use crate::files::{Mode, Prepared};
use crate::gate::Entry;
use crate::shelf::door::change::Was;
use crate::shelf::{Done, unknown};
use heirloom_core::{Code, Fault, MemoryId, ShelfName, Status, fault::Result};
use serde_json::{Value, json};

impl Records<'_> {
    /// Puts an earlier text in place of the present one, whose version must be `version`.
    pub(crate) fn put_back(
        &self,
        id: &MemoryId,
        text: &str,
        version: &str,
        why: &str,
        entry: Entry,
    ) -> Result<Done> {
        let lock = self.call.lock()?;
        let target = self.target_of(id)?;
        let (now, bytes) = self.load(&target.path, &target.shown)?.ok_or_else(|| unknown(id.as_str()))?;
        if Document::token(&bytes) != version {
            return Err(Fault::new(Code::OccConflict, format!("`{id}` changed since it was read"))
                .fact("id", id.as_str()));
        }
        let mut old = Document::parse(text.as_bytes()).map_err(|why| {
            Fault::new(Code::Damaged, format!("the earlier text of `{id}` cannot be read: {why}"))
                .fact("id", id.as_str())
        })?;
        let category = self.category_of(&now, &target)?;
        let status = |document: &Document| document.status().unwrap_or(Status::Active);
        let mut changes = now.changes().to_vec();
        let (was, is) = (json!(status(&now).name()), json!(status(&old).name()));
        changes.push(match was == is {
            true => json!({ "date": self.now(), "summary": why }),
            false => change(&self.now(), why, "record_status", was, is),
        });
        old.set_changes(changes);
        old.set("times_updated", now.times_updated().saturating_add(1));
        old.set("updated_at", self.now());
        old.set("id", target.stem());
        let mut said = Said::default();
        let place = self.renamed(&now, &mut old, &target, &mut said);
        self.expect_valid(&old, category, Stage::Stored)?;
        let name = old.text("id").unwrap_or_default().to_owned();
        let draft = RecordDraft { document: old, category, given: Vec::new() };
        let passed = self
            .call
            .pass(&lock, ShelfName::Records, draft, entry, |d| Value::Object(d.document.0.clone()))?;
        let present = MemoryId::new(&category.kind, &target.stem());
        let back = MemoryId::new(&category.kind, &name);
        let renamed = (place.path != target.path).then(|| Renamed {
            path: &target.path,
            was: present.clone(),
            is: back.clone(),
        });
        let was = Was::Text { id: present.as_str(), bytes: &bytes, status: status(&now) };
        let stored = passed.draft().document.to_bytes();
        let record = Prepared::new(&place.path, &stored, Mode::Shared)?;
        let placed = self.store(&lock, &passed, &stored, record, &place.path, renamed, was)?;
        drop(lock);
        placed.sync()?;
        Ok(Done { status: "put_back", id: back, path: Some(place.shown), notes: said.warnings })
    }
}
