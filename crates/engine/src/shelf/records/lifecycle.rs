//! Retire, archive, unarchive, restore: the moves of a record's life.
//!
//! Comes in: a target and a reason. Goes out: the record with its new status and one more change entry, the index in step. Moves
//! are idempotent where the format says so. Never here: changing what a record says.

use super::document::{Document, change, short};
use super::replace::Change;
use super::scan::Found;
use super::store::Records;
use super::target::Target;
use super::write::Said;
use crate::files::{Lock, Mode, Placed, Prepared};
use crate::gate::Entry;
use crate::shelf::door::change::{Was, Written};
use heirloom_core::settings::Category;
use heirloom_core::{Code, Fault, May, MemoryId, ShelfName, Status, Verb, fault::Result, time};
use serde_json::{Value, json};
use std::path::Path;

const NO_REASON: &str = "No reason provided";

/// Days after which a restored record deserves a second look.
const STALE_DAYS: i64 = 7;

impl Records<'_> {
    /// Takes a record out of use; its file stays until the grace period is over.
    pub fn retire_target(&self, target: &Target, reason: Option<&str>, entry: Entry) -> Result<Value> {
        let lock = self.call.lock()?;
        let (document, bytes) = self.there(target, Code::Delete, "File does not exist.")?;
        match document.status() {
            Some(Status::Retired) => {
                return Ok(json!({ "status": "already_retired", "target": target.shown }));
            }
            Some(Status::Archived) => {
                return Err(Fault::new(Code::Delete, format!("`{}` is archived", target.shown))
                    .fact("target", target.shown.as_str())
                    .hint(
                        "Archived memories must be unarchived before retiring. Use --action unarchive first.",
                    ));
            }
            _ => {}
        }
        let reason = self.reason(reason)?;
        let placed = self.retire_document(&lock, target, document, &bytes, &reason, entry)?;
        drop(lock);
        placed.sync()?;
        Ok(json!({ "status": "retired", "target": target.shown, "reason": reason }))
    }

    fn retire_document(
        &self,
        lock: &Lock,
        target: &Target,
        mut document: Document,
        bytes: &[u8],
        reason: &str,
        entry: Entry,
    ) -> Result<Placed> {
        document.set("record_status", "retired");
        document.set("retired_at", self.now());
        document.set("retired_reason", reason);
        document.remove("archived_at");
        document.remove("archived_reason");
        self.moved(lock, target, document, bytes, &format!("Retired: {reason}"), "active", "retired", entry)
    }

    /// Keeps a record for the record, out of recall.
    pub fn archive_target(&self, target: &Target, reason: Option<&str>, entry: Entry) -> Result<Value> {
        let lock = self.call.lock()?;
        let (mut document, bytes) = self.there(target, Code::Archive, "File does not exist.")?;
        match document.status() {
            Some(Status::Archived) => {
                return Ok(json!({ "status": "already_archived", "target": target.shown }));
            }
            Some(Status::Active) => {}
            _ => {
                return Err(wrong_status(
                    Code::Archive,
                    target,
                    &document,
                    "Only active memories can be archived.",
                ));
            }
        }
        let reason = self.reason(reason)?;
        document.set("record_status", "archived");
        document.set("archived_at", self.now());
        document.set("archived_reason", reason.as_str());
        document.remove("retired_at");
        document.remove("retired_reason");
        let summary = format!("Archived: {reason}");
        let placed = self.moved(&lock, target, document, &bytes, &summary, "active", "archived", entry)?;
        drop(lock);
        placed.sync()?;
        Ok(json!({ "status": "archived", "target": target.shown, "reason": reason }))
    }

    /// Puts an archived record back into use.
    pub fn unarchive_target(&self, target: &Target, entry: Entry) -> Result<Value> {
        let lock = self.call.lock()?;
        let (mut document, bytes) = self.there(target, Code::Unarchive, "File does not exist.")?;
        if document.status() != Some(Status::Archived) {
            let fix = "Only archived memories can be unarchived.";
            return Err(wrong_status(Code::Unarchive, target, &document, fix));
        }
        document.set("record_status", "active");
        document.remove("archived_at");
        document.remove("archived_reason");
        let placed =
            self.moved(&lock, target, document, &bytes, "Unarchived", "archived", "active", entry)?;
        drop(lock);
        placed.sync()?;
        Ok(json!({ "status": "unarchived", "target": target.shown }))
    }

    /// Puts a retired record back into use, within the grace period.
    pub fn restore_target(&self, target: &Target, entry: Entry, said: &mut Said) -> Result<Value> {
        let lock = self.call.lock()?;
        let (mut document, bytes) = self.there(target, Code::Restore, "File does not exist.")?;
        match document.status() {
            Some(Status::Active) => return Ok(json!({ "status": "already_active", "target": target.shown })),
            Some(Status::Retired) => {}
            _ => {
                let fix =
                    "Only retired memories can be restored. Use --action unarchive for archived memories.";
                return Err(wrong_status(Code::Restore, target, &document, fix));
            }
        }
        let grace = self.call.settings().delete.grace_period_days;
        let retired = document.text("retired_at").and_then(time::parse);
        let days = retired.map(|at| time::days_between(at, self.call.project().world().now));
        if let Some(days) = days.filter(|days| *days >= i64::from(grace)) {
            return Err(Fault::new(Code::Restore, format!("`{}` was retired {days} days ago", target.shown))
                .fact("target", target.shown.as_str())
                .hint(format!(
                    "The grace period of {grace} days is over; save it again, or raise delete.grace_period_days first."
                )));
        }
        if let Some(days) = days.filter(|days| *days > STALE_DAYS) {
            said.warnings.push(format!("retired {days} days ago; check that it still holds"));
        }
        document.set("record_status", "active");
        document.remove("retired_at");
        document.remove("retired_reason");
        let placed = self.moved(&lock, target, document, &bytes, "Restored", "retired", "active", entry)?;
        drop(lock);
        placed.sync()?;
        Ok(json!({ "status": "restored", "target": target.shown }))
    }

    /// Retires the oldest active records of a category above its window. `newest` is the one just created.
    pub(super) fn keep_window(
        &self,
        lock: &Lock,
        category: &Category,
        newest: &Path,
        entry: Entry,
        said: &mut Said,
    ) -> Result<()> {
        let Some(max) = category.max_retained else { return Ok(()) };
        let mut active: Vec<_> = self
            .scan_folder(category)
            .found
            .into_iter()
            .filter(|f| f.status() == Some(Status::Active))
            .collect();
        active.sort_by_cached_key(|f| {
            let created = f.document.text("created_at").and_then(time::parse);
            (f.path == newest, created, f.path.clone())
        });
        let surplus = active.len().saturating_sub(max as usize);
        for found in active.into_iter().take(surplus) {
            let shown = self.call.project().shown(&found.path);
            // A window is a setting of the project's, which an agent can change: it retires nothing that `retire` would not.
            if !self.may_retire(&found)? {
                said.warnings.push(format!("`{shown}` stays: a person stands behind it"));
                continue;
            }
            let open = ["next_actions", "blockers", "in_progress"]
                .iter()
                .filter_map(|key| found.document.content()?.get(*key)?.as_array())
                .map(Vec::len)
                .sum::<usize>();
            if open > 0 {
                said.warnings.push(format!(
                    "`{shown}` still lists {open} open points; see `heirloom show` before it goes"
                ));
            }
            let reason = format!("Window of {max} newest {} records", category.name());
            let target = Target { path: found.path, shown: shown.clone() };
            self.retire_document(lock, &target, found.document, &found.bytes, &reason, entry)?.sync()?;
            said.warnings.push(format!("`{shown}` retired: only the newest {max} are kept"));
        }
        Ok(())
    }

    /// Whether the caller may take a record out of use without asking anybody.
    pub(super) fn may_retire(&self, found: &Found) -> Result<bool> {
        let owner = self.call.owner_of(&self.memory(found)?)?;
        Ok(self.call.asks(Verb::Retire, ShelfName::Records, owner).is_ok_and(|may| may == May::Does))
    }

    fn there(&self, target: &Target, code: Code, fix: &str) -> Result<(Document, Vec<u8>)> {
        self.load(&target.path, &target.shown)?.ok_or_else(|| {
            Fault::new(code, format!("there is no record `{}`", target.shown))
                .fact("target", target.shown.as_str())
                .hint(fix)
        })
    }

    /// A reason is stored text: it passes the redactor and has a limit.
    fn reason(&self, reason: Option<&str>) -> Result<String> {
        let reason = reason.filter(|r| !r.trim().is_empty()).unwrap_or(NO_REASON);
        if let Some(rule) = self.call.screen().would_refuse(reason, crate::gate::policy::Row::Records) {
            return Err(Fault::new(Code::GateRefused, "the reason holds what must not be stored")
                .fact("field", "reason")
                .fact("rule", rule)
                .hint("give the reason without the secret"));
        }
        Ok(short(reason))
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "one private place where every lifecycle move is written down"
    )]
    fn moved(
        &self,
        lock: &Lock,
        target: &Target,
        mut document: Document,
        before: &[u8],
        summary: &str,
        was: &str,
        is: &str,
        entry: Entry,
    ) -> Result<Placed> {
        let now = self.now();
        document.set("updated_at", now.as_str());
        document.push_change(change(&now, summary, "record_status", json!(was), json!(is)));
        let bytes = document.to_bytes();
        let line = (is == "active").then(|| self.entry(&document, &target.path));
        let kind = heirloom_core::Kind::named(self.category_named(&document, &target.path));
        let id = MemoryId::new(&kind, &target.stem());
        let written = Written {
            body: "",
            action: match is {
                "retired" => "memory_retire",
                "archived" => "memory_archive",
                _ => "memory_restore",
            },
            shelf: ShelfName::Records,
            id: id.as_str(),
            hash: &Document::token(&bytes),
            before: Some(&Document::token(before)),
            size: bytes.len(),
            was: Was::Text {
                id: id.as_str(),
                bytes: before,
                status: Status::named(was).unwrap_or(Status::Active),
            },
            leaves: Status::named(is).unwrap_or(Status::Active),
        };
        let record = Prepared::new(&target.path, &bytes, Mode::Shared)?;
        let change = Change { path: &target.path, record, line, renamed: None };
        self.replace(lock, change, || self.call.intend_plain(lock, entry, &[], written))
    }
}

fn wrong_status(code: Code, target: &Target, document: &Document, fix: &str) -> Fault {
    let status = document.text("record_status").unwrap_or("active").to_owned();
    Fault::new(code, format!("`{}` is {status}", target.shown))
        .fact("target", target.shown.as_str())
        .fact("record_status", status)
        .hint(fix)
}
