//! Create and update.
//!
//! Comes in: a target and a JSON object. Goes out: the record stored and the index in step, or an error and nothing changed. The
//! order of the checks is the format's: path, file, input, schema, merge rules, new change entry, schema again, version.

use super::document::Document;
use super::draft::{self, RecordDraft, full, wrong_fields};
use super::fix::{self, Doing};
use super::merge;
use super::replace::{Change, Renamed};
use super::schema::{self, Stage};
use super::store::Records;
use super::target::Target;
use crate::files::{self, Lock, Mode, Placed, Prepared};
use crate::gate::{Decision, Draft as _, Entry, Passed, admit};
use crate::shelf::door::change::{Was, Written};
use heirloom_core::settings::Category;
use heirloom_core::{
    Code, Fault, MemoryId, Owner, ShelfName, Status, Trust, fault::Result, hash, text, time,
};
use serde_json::{Value, json};
use std::path::Path;

/// What an operation has to say beside its answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// Corrections, `field: what`.
    pub fixes: Vec<String>,
    /// Allowed, but worth a word.
    pub warnings: Vec<String>,
}

/// The version a caller believes it is changing.
#[derive(Debug, Clone, PartialEq)]
pub enum Version {
    /// Whatever is there.
    Any,
    /// The content token, or the MD5 of the file that older callers hold.
    Exactly(String),
}

/// What only an earlier life of a record can have.
const LEFT_BEHIND: [&str; 4] = ["retired_at", "retired_reason", "archived_at", "archived_reason"];

/// An update that may go to the gate.
struct Ready<'c> {
    new: Document,
    category: &'c Category,
    place: Target,
    times: u64,
    /// What is there now.
    before: Vec<u8>,
    status: Status,
}

/// Seconds during which a retired name stays taken.
const COOL_DOWN: i64 = 86_400;

impl Records<'_> {
    pub(super) fn now(&self) -> String {
        time::format(self.call.project().world().now)
    }

    /// Stores a new record.
    pub fn create(
        &self,
        target: &Target,
        category: &Category,
        input: Document,
        entry: Entry,
        said: &mut Said,
    ) -> Result<Value> {
        let draft = self.drafted(target, category, input, entry, said)?;
        let stem = target.stem();
        let to_item = |d: &RecordDraft<'_>| Value::Object(d.document.0.clone());
        let lock = || self.call.lock();
        let passed = self.call.pass_before_lock(lock, ShelfName::Records, draft, entry, to_item)?;
        let title = passed.draft().document.text("title").unwrap_or_default().to_owned();
        if let Some(folder) = target.path.parent() {
            files::make_folder(folder, Mode::Shared)?;
        }
        let bytes = passed.draft().document.to_bytes();
        // On disk before the lock: writers wait for the disk side by side, and for each other only for the renames.
        let record = Prepared::new(&target.path, &bytes, Mode::Shared)?;
        let lock = self.call.lock()?;
        self.expect_free(target)?;
        if let Err(fault) = self.check_capacity(category) {
            self.call.refused(&lock, ShelfName::Records, &passed.draft().id(), entry, &fault)?;
            return Err(fault);
        }
        // A name that was retired long ago is free, and what stood under it can be had back.
        let old = files::read_if_there(&target.path, files::MAX_FILE)?;
        let id = passed.draft().id();
        let was = match &old {
            Some(bytes) => Was::Text { id: &id, bytes, status: Status::Retired },
            None => Was::Nothing,
        };
        let placed = self.store(&lock, &passed, &bytes, record, &target.path, None, was)?;
        if let Err(fault) = self.keep_window(&lock, category, &target.path, entry, said) {
            // The record is stored; that an older one could not be retired does not undo it.
            said.warnings.push(format!("the window of newest records was not kept: {}", fault.message));
        }
        drop(lock);
        placed.sync()?;
        Ok(json!({ "status": "created", "target": target.shown, "id": stem, "title": title }))
    }

    /// Whether [`Records::create`] would store this, found out without writing anything; what would wait is the fault that says so. How much
    /// still fits is the caller's to count, who may ask about many.
    pub(crate) fn would_create(
        &self,
        target: &Target,
        category: &Category,
        input: Document,
        entry: Entry,
    ) -> Result<()> {
        let draft = self.drafted(target, category, input, entry, &mut Said::default())?;
        match admit(draft, entry, self.call.screen()) {
            Decision::Passed(_) => Ok(()),
            Decision::Refused(fault) => Err(fault),
            Decision::Waits { .. } => {
                Err(Fault::new(Code::NeedsConfirmation, "it would wait for a person's yes"))
            }
        }
    }

    /// How many more records of a category fit, where the settings limit them.
    pub(crate) fn room(&self, category: &Category) -> Option<usize> {
        let max = self.call.settings().max_memories_per_category? as usize;
        let found = self.scan_folder(category).found;
        Some(max.saturating_sub(found.iter().filter(|f| f.status() == Some(Status::Active)).count()))
    }

    /// The refusal for one that does not fit.
    pub(crate) fn no_room(&self, category: &Category) -> Fault {
        let max = self.call.settings().max_memories_per_category.unwrap_or_default() as usize;
        full(category, max, max)
    }

    /// A new record as it goes to the gate: put right, valid, and with a place that is free.
    fn drafted<'c>(
        &self,
        target: &Target,
        category: &'c Category,
        input: Document,
        entry: Entry,
        said: &mut Said,
    ) -> Result<RecordDraft<'c>> {
        let mut document = input;
        let given = draft::given(&document);
        fix::auto_fix(&mut document, Doing::Create, &self.now(), &mut said.fixes);
        document.set("record_status", "active");
        for key in LEFT_BEHIND {
            document.remove(key);
        }
        if document.0.contains_key("times_updated") {
            self.expect_valid(&document, category, Stage::Input)?;
            document.set("times_updated", 0);
        }
        if document.text("category") != Some(category.name()) {
            document.set("category", category.name());
            said.fixes.push(format!("category: set to '{}'", category.name()));
        }
        self.expect_valid(&document, category, Stage::Input)?;
        let stem = target.stem();
        if document.text("id") != Some(stem.as_str()) {
            document.set("id", stem.as_str());
            said.fixes.push(format!("id: set to the file name '{stem}'"));
        }
        document.set_changes_if_any();
        self.expect_valid(&document, category, Stage::Stored)?;
        if !category.enabled {
            return Err(switched_off(category));
        }
        self.expect_record_folder(target, category, said)?;
        self.expect_free(target)?;
        self.check_nobodys(target, category, entry)?;
        Ok(RecordDraft { document, category, given })
    }

    /// A document that waits, as [`Records::create`] would store it.
    pub fn settled(&self, mut document: Document) -> Value {
        fix::auto_fix(&mut document, Doing::Create, &self.now(), &mut Vec::new());
        document.set("record_status", "active");
        for key in LEFT_BEHIND {
            document.remove(key);
        }
        Value::Object(document.0)
    }

    /// Changes a record.
    pub fn update(
        &self,
        target: &Target,
        input: Document,
        version: &Version,
        cwd: &Path,
        entry: Entry,
        said: &mut Said,
    ) -> Result<Value> {
        let lock = self.call.lock()?;
        let given = draft::given(&input);
        let Ready { new, category, place, times, before, status } =
            self.ready(target, input, version, cwd, said)?;
        let title = new.text("title").unwrap_or_default().to_owned();
        let id = new.text("id").unwrap_or_default().to_owned();
        let draft = RecordDraft { document: new, category, given };
        let passed = self
            .call
            .pass(&lock, ShelfName::Records, draft, entry, |d| Value::Object(d.document.0.clone()))?;
        let renamed = (place.path != target.path).then(|| Renamed {
            path: &target.path,
            was: MemoryId::new(&category.kind, &target.stem()),
            is: MemoryId::new(&category.kind, &id),
        });
        let mut answer = json!({ "status": "updated", "target": place.shown, "id": id, "title": title, "times_updated": times });
        if renamed.is_some() {
            answer["renamed_from"] = json!(target.shown);
        }
        let before_id = MemoryId::new(&category.kind, &target.stem());
        let was = Was::Text { id: before_id.as_str(), bytes: &before, status };
        let bytes = passed.draft().document.to_bytes();
        let record = Prepared::new(&place.path, &bytes, Mode::Shared)?;
        let placed = self.store(&lock, &passed, &bytes, record, &place.path, renamed, was)?;
        drop(lock);
        placed.sync()?;
        Ok(answer)
    }

    /// Every check of an update, without the gate and without writing. For changes that wait: only what could be stored is worth a person's
    /// look.
    pub(crate) fn expect_update(
        &self,
        target: &Target,
        input: Document,
        version: &Version,
        cwd: &Path,
        said: &mut Said,
    ) -> Result<()> {
        self.ready(target, input, version, cwd, said).map(drop)
    }

    /// An update as it would be stored.
    fn ready(
        &self,
        target: &Target,
        input: Document,
        version: &Version,
        cwd: &Path,
        said: &mut Said,
    ) -> Result<Ready<'_>> {
        let Some((old, bytes)) = self.load(&target.path, &target.shown)? else {
            return Err(Fault::new(Code::Update, format!("there is no record `{}`", target.shown))
                .fact("target", target.shown.as_str())
                .hint("File does not exist. Use --action create instead."));
        };
        let category = self.category_of(&old, target)?;
        let mut old_tags: Vec<String> = old.tags().into_iter().map(text::clean_tag).collect();
        old_tags.retain(|tag| !tag.is_empty());
        old_tags.sort();
        old_tags.dedup();
        let brings = merge::fixed_in(&input);
        let mut new = input;
        fix::auto_fix(&mut new, Doing::Update(&old_tags), &self.now(), &mut said.fixes);
        keep_fixed(&old, &mut new);
        self.expect_valid(&new, category, Stage::Input)?;
        let exists = |file: &str| cwd.join(file).exists();
        merge::check_fixed(&old, &brings)?;
        let merged = merge::check(&old, &new, &self.now(), &exists)?;
        said.warnings.extend(merged.warnings);
        let mut changes = new.changes().to_vec();
        changes.extend(merged.entries);
        merge::check_new_entry(&old, changes.len())?;
        new.set_changes(changes);
        let times = old.times_updated().saturating_add(1);
        new.set("times_updated", times);
        new.set("updated_at", self.now());
        let place = self.renamed(&old, &mut new, target, said);
        self.expect_valid(&new, category, Stage::Stored)?;
        check_version(version, &bytes, target)?;
        let status = old.status().unwrap_or(Status::Active);
        Ok(Ready { new, category, place, times, before: bytes, status })
    }

    /// Puts what passed the gate in place, with index, trust book and audit in step.
    #[allow(
        clippy::too_many_arguments,
        reason = "one private place where every new text of a record is stored"
    )]
    pub(super) fn store(
        &self,
        lock: &Lock,
        passed: &Passed<RecordDraft<'_>>,
        bytes: &[u8],
        record: Prepared,
        path: &Path,
        renamed: Option<Renamed<'_>>,
        was: Was<'_>,
    ) -> Result<Placed> {
        let document = &passed.draft().document;
        let active = document.status() == Some(Status::Active);
        let line = active.then(|| self.entry(document, path));
        let id = passed.draft().id();
        let body = super::view::body(document);
        let written = Written {
            body: &body,
            action: "memory_write",
            shelf: ShelfName::Records,
            id: &id,
            hash: &Document::token(bytes),
            before: None,
            size: bytes.len(),
            was,
            leaves: document.status().unwrap_or(Status::Active),
        };
        let change = Change { path, record, line, renamed };
        self.replace(lock, change, || self.call.intend(lock, passed, written))
    }

    /// A record is read from the folders of categories and from nowhere else. One in another category's folder is taken, with a word.
    fn expect_record_folder(&self, target: &Target, category: &Category, said: &mut Said) -> Result<()> {
        let is = |one: &Category| {
            let folder = self.call.project().root().resolve(&self.folder(one));
            folder.is_ok_and(|folder| target.path.parent() == Some(folder.as_path()))
        };
        let place = self.call.project().shown(&self.folder(category));
        if is(category) {
            return Ok(());
        }
        if self.call.settings().categories.iter().any(is) {
            said.warnings
                .push(format!("a {} belongs into {place}/; `heirloom verify` will name it", category.name()));
            return Ok(());
        }
        Err(Fault::new(Code::Path, format!("`{}` is not a path for a {}", target.shown, category.name()))
            .fact("target", target.shown.as_str())
            .hint(format!("A {} belongs directly into {place}/", category.name())))
    }

    /// The error for a document that is not valid; shown values pass the redactor.
    pub(super) fn expect_valid(&self, document: &Document, category: &Category, stage: Stage) -> Result<()> {
        let wrong = schema::validate(document, category, stage);
        if wrong.is_empty() {
            return Ok(());
        }
        Err(wrong_fields(&wrong, |got| self.call.screen().redacted(got)))
    }

    /// The category a stored record belongs to: its own word, else its folder's.
    pub(super) fn category_of(&self, document: &Document, target: &Target) -> Result<&Category> {
        let settings = self.call.settings();
        let folder = target.path.parent().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
        document
            .text("category")
            .and_then(|name| settings.category(name))
            .or_else(|| settings.category_of_folder(folder.as_deref().unwrap_or_default()))
            .ok_or_else(|| {
                Fault::new(Code::Read, format!("`{}` has an unknown category", target.shown))
                    .fact("target", target.shown.as_str())
                    .fact("error", "unknown category")
                    .hint("add the category with `heirloom config category add`, or move the file")
            })
    }

    /// A name is free if nothing is there, or something retired more than a day ago.
    pub(crate) fn expect_free(&self, target: &Target) -> Result<()> {
        let taken = |what: &str| {
            Fault::new(Code::Create, format!("there is already {what} at `{}`", target.shown))
                .fact("target", target.shown.as_str())
                .hint("Use --action update to change it, or choose another name.")
        };
        let document = match self.load(&target.path, &target.shown) {
            Ok(None) => return Ok(()),
            Ok(Some((document, _))) => document,
            Err(_) => return Err(taken("a file that cannot be read")),
        };
        if document.status() != Some(Status::Retired) {
            return Err(taken("a record"));
        }
        let Some(retired_at) = document.text("retired_at") else { return Ok(()) };
        let age =
            time::parse(retired_at).map(|at| self.call.project().world().now.as_second() - at.as_second());
        match age {
            Some(age) if (0..COOL_DOWN).contains(&age) => Err(Fault::new(
                Code::AntiResurrection,
                format!("`{}` was retired less than a day ago", target.shown),
            )
            .fact("target", target.shown.as_str())
            .fact("retired_at", retired_at)
            .hint("Restore it with --action restore, wait a day, or choose another name.")),
            _ => Ok(()),
        }
    }

    /// A retired record that is a person's, or that a person withdrew, is not written over by anybody else. Verbs ask first and let it wait;
    /// this is for every other way here.
    fn check_nobodys(&self, target: &Target, category: &Category, entry: Entry) -> Result<()> {
        if entry.trust() == Trust::High || self.call.caller().is_person() {
            return Ok(());
        }
        match self.memory_at(&target.path, category.name())? {
            Some(memory) if self.call.stands_behind(&memory)? == Owner::Person => Err(Fault::new(
                Code::Create,
                format!("there is a record at `{}` that a person retired or wrote", target.shown),
            )
            .fact("target", target.shown.as_str())
            .hint("Choose another name.")),
            _ => Ok(()),
        }
    }

    /// Whether one more fits. Counted under the lock, so that two writers cannot both take the last place.
    fn check_capacity(&self, category: &Category) -> Result<()> {
        let Some(max) = self.call.settings().max_memories_per_category else { return Ok(()) };
        let active =
            self.scan_folder(category).found.iter().filter(|f| f.status() == Some(Status::Active)).count();
        if active < max as usize { Ok(()) } else { Err(full(category, active, max as usize)) }
    }

    /// Where an updated record goes: to a new name if its title is no longer the old one.
    pub(super) fn renamed(
        &self,
        old: &Document,
        new: &mut Document,
        target: &Target,
        said: &mut Said,
    ) -> Target {
        let (before, after) = (old.text("title").unwrap_or_default(), new.text("title").unwrap_or_default());
        let name = text::slug(after);
        if text::difference_ratio(before, after) <= 0.5 || name.is_empty() || name == target.stem() {
            return target.clone();
        }
        let path = target.path.with_file_name(format!("{name}.json"));
        if std::fs::symlink_metadata(&path).is_ok() {
            said.warnings
                .push(format!("title: `{name}` is taken, the record keeps the name `{}`", target.stem()));
            return target.clone();
        }
        new.set("id", name.as_str());
        let shown = match target.shown.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{name}.json"),
            None => format!("{name}.json"),
        };
        Target { path, shown }
    }
}

fn switched_off(category: &Category) -> Fault {
    Fault::new(Code::Config, format!("the category `{}` is switched off", category.name()))
        .fact("category", category.name())
        .hint(format!("`heirloom config category enable {}` switches it on", category.name()))
}

/// What an update never changes.
fn keep_fixed(old: &Document, new: &mut Document) {
    for key in ["created_at", "schema_version", "category", "id", "record_status"] {
        if let Some(value) = old.0.get(key) {
            new.set(key, value.clone());
        }
    }
    // The dates of a lifecycle belong to the lifecycle's own actions.
    for key in ["retired_at", "retired_reason", "archived_at", "archived_reason"] {
        match old.0.get(key) {
            Some(value) => new.set(key, value.clone()),
            None => new.remove(key),
        }
    }
}

fn check_version(version: &Version, bytes: &[u8], target: &Target) -> Result<()> {
    let Version::Exactly(expected) = version else { return Ok(()) };
    let current = if expected.len() == 64 { Document::token(bytes) } else { hash::md5(bytes) };
    if current == *expected {
        return Ok(());
    }
    Err(Fault::new(Code::OccConflict, format!("`{}` changed since it was read", target.shown))
        .fact("target", target.shown.as_str())
        .fact("expected_hash", expected.as_str())
        .fact("current_hash", current)
        .hint("Read the file again and repeat the change on what is there now."))
}
