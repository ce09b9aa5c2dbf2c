//! The vault as a shelf like every other: its records as memories, its versions as history.
//!
//! Comes in: ids and filters. Goes out: [`Memory`] values. An id names the memory, whatever its tier is now: `register:x` still
//! finds what was promoted to `canon:x`. Never here: a write's rules.

use super::image::{Held, Image};
use super::record::Record;
use super::store::Vault;
use super::write::Write;
use crate::gate::Entry;
use crate::gate::trust::Standing;
use crate::shelf::forgets::Forgets;
use crate::shelf::provenance;
use crate::shelf::{Change, Done, Forgotten, Listing, Problem, Shelf, unknown};
use heirloom_core::{Code, Kind, Memory, MemoryId, Scope, ShelfName, Status, fault::Result, hash, text};
use serde_json::{Map, Value, json};

/// The longest title made from a text, in characters.
const TITLE_MAX: usize = 80;

/// Names of the vault that were forgotten, whichever tier they had then.
#[derive(Debug, Clone, Default)]
pub(super) struct Gone(Forgets);

impl Gone {
    pub(super) fn contains(&self, name: &str) -> bool {
        !self.0.is_empty()
            && [Kind::Canon, Kind::Register]
                .iter()
                .any(|kind| self.0.contains(MemoryId::new(kind, name).as_str()))
    }
}

impl Vault<'_> {
    /// What is known of a line.
    pub(super) fn standing(&self, held: &Held<'_>) -> Result<Standing> {
        self.call.standing_of(held.record.memory_id().as_str(), &hash::sha256(held.bytes), &held.record.text)
    }

    /// Ids that were forgotten here and may have come back by a merge.
    pub(super) fn forgotten(&self) -> Result<Gone> {
        provenance::forgotten(self.call.project().root()).map(Gone)
    }

    /// The memories of these lines that are wanted.
    fn listed<'a>(&self, wanted: &Listing, lines: impl Iterator<Item = Held<'a>>) -> Result<Vec<Memory>> {
        let forgotten = self.forgotten()?;
        let fits = |record: &Record<'_>| {
            let status = if record.is_active() { Status::Active } else { Status::Retired };
            wanted.status.is_none_or(|s| s == status)
                && wanted.kind.as_ref().is_none_or(|kind| *kind == record.kind())
                && !forgotten.contains(record.id.as_ref())
        };
        lines.filter(|held| fits(&held.record)).map(|held| self.memory(&held.record, held.bytes)).collect()
    }

    fn memory(&self, record: &Record<'_>, line: &[u8]) -> Result<Memory> {
        let content_hash = hash::sha256(line);
        let standing = self.call.standing_of(record.memory_id().as_str(), &content_hash, &record.text)?;
        let said = |time: &str| (!time.is_empty()).then(|| time.to_owned());
        Ok(Memory {
            id: record.memory_id(),
            kind: record.kind(),
            title: title(record),
            body: record.text.to_string(),
            tags: record.tags.iter().map(|tag| tag.to_string()).collect(),
            applies_to: Vec::new(),
            scope: Scope::Agent(record.scope.to_string()),
            owner: None,
            source: standing.source(),
            trust: standing.trust(),
            status: if record.is_active() { Status::Active } else { Status::Retired },
            version: content_hash.clone(),
            occurred_at: None,
            created_at: said(&record.created_at),
            updated_at: record.updated_at.as_deref().and_then(said),
            expires_at: None,
            content_hash,
            confidence: None,
            path: Some(self.call.project().shown(&self.path())),
            fields: fields(record),
        })
    }

    /// The memories in use or retired under these names, with one look at the file.
    pub(crate) fn several(&self, names: &[String]) -> Result<Vec<Memory>> {
        let current = self.current()?;
        let view = current.view();
        let active = view.active().filter(|held| names.iter().any(|name| held.record.id == name.as_str()));
        let mut found =
            active.map(|held| self.memory(&held.record, held.bytes)).collect::<Result<Vec<_>>>()?;
        for name in names {
            if let Some(one) = view.retired(name).filter(|_| !found.iter().any(|m| m.id.name() == name)) {
                found.push(self.memory(&one.record, &one.bytes)?);
            }
        }
        Ok(found)
    }

    fn done(&self, status: &'static str, id: MemoryId) -> Done {
        Done { status, id, path: Some(self.call.project().shown(&self.path())), notes: Vec::new() }
    }
}

/// What only the vault's memories have, in the words of its lines.
fn fields(record: &Record<'_>) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("category".to_owned(), json!(record.category));
    if let Some(topic) = record.topic() {
        fields.insert("topic_id".to_owned(), json!(topic));
    }
    if let Some(source) = &record.source {
        fields.insert("source".to_owned(), json!(source));
    }
    fields.insert("revision".to_owned(), json!(record.version));
    fields
}

/// A register by its topic, everything else by how it begins.
fn title(record: &Record<'_>) -> String {
    if let Some(topic) = record.topic().filter(|_| record.is_register()) {
        return text::clean_title(topic);
    }
    let line = text::clean_title(&text::one_line(&record.text));
    match line.char_indices().nth(TITLE_MAX) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

impl Shelf for Vault<'_> {
    fn name(&self) -> ShelfName {
        ShelfName::Vault
    }

    fn list(&self, wanted: &Listing) -> Result<Vec<Memory>> {
        if wanted.status == Some(Status::Active) {
            return self.listed(wanted, self.current()?.view().active());
        }
        let bytes = self.bytes()?;
        self.listed(wanted, Image::of(&bytes).resolve().all())
    }

    fn get(&self, id: &MemoryId) -> Result<Option<Memory>> {
        let current = self.current()?;
        let view = current.view();
        if let Some(held) = view.active().find(|held| held.record.id == id.name()) {
            return self.memory(&held.record, held.bytes).map(Some);
        }
        view.retired(id.name()).map(|one| self.memory(&one.record, &one.bytes)).transpose()
    }

    fn raw(&self, id: &MemoryId) -> Result<Option<String>> {
        let current = self.current()?;
        let view = current.view();
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if let Some(held) = view.active().find(|held| held.record.id == id.name()) {
            return Ok(Some(shown(held.bytes)));
        }
        Ok(view.retired(id.name()).map(|one| shown(&one.bytes)))
    }

    fn history(&self, id: &MemoryId) -> Result<Vec<Change>> {
        let bytes = self.bytes()?;
        let versions = Image::of(&bytes).versions(id.name());
        if versions.is_empty() {
            return Err(unknown(id.as_str()));
        }
        let mut changes: Vec<Change> = Vec::new();
        let mut counts: Option<&Record<'_>> = None;
        for held in &versions {
            let (change, winner) = step(counts, &held.record);
            changes.push(change);
            counts = Some(winner);
        }
        Ok(changes)
    }

    fn retire(&self, id: &MemoryId, _reason: &str, entry: Entry) -> Result<Done> {
        match self.write(Write::Retire { id: id.name().to_owned() }, entry) {
            Ok(stored) => Ok(self.done("retired", stored.id)),
            Err(fault) if fault.code == Code::NotFound => match self.get(id)? {
                Some(memory) => Ok(self.done("already_retired", memory.id)),
                None => Err(unknown(id.as_str())),
            },
            Err(fault) => Err(fault),
        }
    }

    fn restore(&self, id: &MemoryId, entry: Entry) -> Result<Done> {
        let stored = self.write(Write::Restore { id: id.name().to_owned() }, entry)?;
        Ok(self.done("restored", stored.id))
    }

    fn forget(&self, id: &MemoryId, entry: Entry) -> Result<Forgotten> {
        self.forget_memory(id, entry)
    }

    fn verify(&self) -> Result<Vec<Problem>> {
        self.problems()
    }

    fn redact_stored(&self, entry: Entry) -> Result<Vec<String>> {
        self.redact_lines(entry)
    }
}

/// One version in the history: what it changed of the one before it, and the one that counts after both.
fn step<'r, 'a>(before: Option<&'r Record<'a>>, record: &'r Record<'a>) -> (Change, &'r Record<'a>) {
    let at = record.deleted_at.as_ref().or(record.updated_at.as_ref()).unwrap_or(&record.created_at);
    let mut change = Change {
        at: at.to_string(),
        summary: format!("version {}: created", record.version),
        field: None,
        old: None,
        new: None,
    };
    let Some(before) = before else { return (change, record) };
    if before.version == record.version {
        change.summary = if before == record {
            format!("version {}: the same line once more", record.version)
        } else {
            change.field = Some("text".to_owned());
            change.new = Some(json!(record.text));
            format!("version {}: a second line of this version, which does not count", record.version)
        };
        return (change, before);
    }
    let what = match (before.is_active(), record.is_active()) {
        (true, false) => "retired",
        (false, true) => "restored",
        _ if before.kind() == Kind::Register && record.kind() == Kind::Canon => "promoted to canon",
        _ => "updated",
    };
    change.summary = format!("version {}: {what}", record.version);
    let fields = [
        ("text", json!(before.text), json!(record.text)),
        ("tier", json!(before.tier), json!(record.tier)),
        ("topic_id", json!(before.topic_id), json!(record.topic_id)),
        ("category", json!(before.category), json!(record.category)),
        ("tags", json!(before.tags), json!(record.tags)),
        ("deleted_at", json!(before.deleted_at), json!(record.deleted_at)),
    ];
    if let Some((field, old, new)) = fields.into_iter().find(|(_, old, new)| old != new) {
        change.field = Some(field.to_owned());
        change.old = Some(old);
        change.new = Some(new);
    }
    (change, record)
}
