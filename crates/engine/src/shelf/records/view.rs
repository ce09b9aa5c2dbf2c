//! Records as memories: the read model, and what every shelf can do.
//!
//! Comes in: documents. Goes out: [`Memory`] values with a readable body and the trust this user's book knows. Never here: writing,
//! which the shelf's own operations do.

use super::document::Document;
use super::scan::Found;
use super::store::Records;
use super::write::Said;
use crate::gate::Entry;
use crate::shelf::{Change, Done, Forgotten, Listing, Problem, Shelf, unknown};
use heirloom_core::{Kind, Memory, MemoryId, Scope, ShelfName, Status, fault::Result};
use serde_json::Value;
use std::fmt::Write as _;

impl Records<'_> {
    pub(super) fn memory(&self, found: &Found) -> Result<Memory> {
        let document = &found.document;
        let stem = found.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let category = document.category().unwrap_or(&found.folder_category);
        let kind = Kind::named(category);
        let id = MemoryId::new(&kind, &stem);
        let hash = Document::token(&found.bytes);
        let body = body(document);
        let standing = self.call.standing_of(id.as_str(), &hash, &body)?;
        let text = |key: &str| document.text(key).map(str::to_owned);
        let list = |key: &str| {
            let items = document.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        Ok(Memory {
            id,
            kind,
            title: text("title").unwrap_or(stem),
            body,
            tags: list("tags"),
            applies_to: list("related_files"),
            scope: Scope::Global,
            owner: None,
            source: standing.source(),
            trust: standing.trust(),
            status: document.status().unwrap_or(heirloom_core::Status::Active),
            version: hash.clone(),
            occurred_at: None,
            created_at: text("created_at"),
            updated_at: text("updated_at"),
            expires_at: document
                .content()
                .and_then(|c| c.get("expires"))
                .and_then(Value::as_str)
                .map(str::to_owned),
            content_hash: hash,
            confidence: document.get("confidence").and_then(Value::as_f64),
            path: Some(self.call.project().shown(&found.path)),
            fields: document.content().cloned().unwrap_or_default(),
        })
    }

    /// The active records of these kinds, from the folders of their categories; other folders are not looked into.
    pub fn active_in(&self, kinds: &[Kind]) -> Result<Vec<Memory>> {
        let mut memories = Vec::new();
        for category in self.call.settings().categories.iter().filter(|c| kinds.contains(&c.kind)) {
            for found in self.scan_folder(category).found {
                let memory = self.memory(&found)?;
                if memory.status == Status::Active && kinds.contains(&memory.kind) {
                    memories.push(memory);
                }
            }
        }
        Ok(memories)
    }

    /// The memory in a file of a category's folder; `None` if there is no file.
    pub fn memory_at(&self, path: &std::path::Path, category: &str) -> Result<Option<Memory>> {
        let shown = self.call.project().shown(path);
        let Some((document, bytes)) = self.load(path, &shown)? else { return Ok(None) };
        let found = Found { path: path.to_owned(), document, bytes, folder_category: category.to_owned() };
        self.memory(&found).map(Some)
    }

    /// The stored document of a record.
    pub fn document(&self, id: &MemoryId) -> Result<Option<Document>> {
        let target = match self.locate(id) {
            Ok(target) => target,
            Err(fault) if fault.code == heirloom_core::Code::NotFound => return Ok(None),
            Err(fault) => return Err(fault),
        };
        Ok(self.load(&target.path, &target.shown)?.map(|(document, _)| document))
    }

    fn found(&self, id: &MemoryId) -> Result<Option<Found>> {
        let target = match self.locate(id) {
            Ok(target) => target,
            Err(fault) if fault.code == heirloom_core::Code::NotFound => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let loaded = self.load(&target.path, &target.shown)?;
        Ok(loaded.map(|(document, bytes)| Found {
            path: target.path,
            document,
            bytes,
            folder_category: id.kind().name().to_owned(),
        }))
    }

    fn done(&self, answer: &Value, id: &MemoryId, said: Said) -> Done {
        const STATUS: [&str; 7] = [
            "retired",
            "already_retired",
            "archived",
            "already_archived",
            "unarchived",
            "restored",
            "already_active",
        ];
        let status = answer.get("status").and_then(Value::as_str).unwrap_or_default();
        Done {
            status: STATUS.into_iter().find(|s| *s == status).unwrap_or_default(),
            id: id.clone(),
            path: answer.get("target").and_then(Value::as_str).map(str::to_owned),
            notes: said.warnings,
        }
    }
}

/// The content as people read it: a line per field, a bullet per item.
pub(super) fn body(document: &Document) -> String {
    let mut out = String::new();
    for (key, value) in document.content().into_iter().flatten() {
        let name = key.replace('_', " ");
        match value {
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            Value::Array(items) if items.iter().all(|item| item.as_str() == Some("")) => {}
            Value::Array(items) => {
                let _ = writeln!(out, "{name}:");
                for item in items.iter().filter(|item| item.as_str() != Some("")) {
                    let line = match item.as_object() {
                        Some(map) => map.values().map(plain).collect::<Vec<_>>().join(": "),
                        None => plain(item),
                    };
                    let _ = writeln!(out, "- {line}");
                }
            }
            Value::Object(map) => {
                for (inner, list) in map {
                    let _ = writeln!(out, "{name}, {inner}: {}", plain(list));
                }
            }
            other => {
                let _ = writeln!(out, "{name}: {}", plain(other));
            }
        }
    }
    out.truncate(out.trim_end().len());
    out
}

impl Shelf for Records<'_> {
    fn name(&self) -> ShelfName {
        ShelfName::Records
    }

    fn list(&self, wanted: &Listing) -> Result<Vec<Memory>> {
        let mut memories = Vec::new();
        for found in self.scan().found {
            let memory = self.memory(&found)?;
            if wanted.wants(&memory) {
                memories.push(memory);
            }
        }
        Ok(memories)
    }

    fn get(&self, id: &MemoryId) -> Result<Option<Memory>> {
        self.found(id)?.map(|found| self.memory(&found)).transpose()
    }

    fn raw(&self, id: &MemoryId) -> Result<Option<String>> {
        let target = self.target_of(id)?;
        let found = self.load(&target.path, &target.shown)?;
        Ok(found.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn history(&self, id: &MemoryId) -> Result<Vec<Change>> {
        let document = self.document(id)?.ok_or_else(|| unknown(id.as_str()))?;
        let created = document.text("created_at").map(|at| Change {
            at: at.to_owned(),
            summary: "Created".to_owned(),
            field: None,
            old: None,
            new: None,
        });
        let text = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        let changes = document.changes().iter().map(|entry| Change {
            at: text(entry, "date").unwrap_or_default(),
            summary: text(entry, "summary").unwrap_or_default(),
            field: text(entry, "field"),
            old: entry.get("old_value").filter(|v| !v.is_null()).cloned(),
            new: entry.get("new_value").filter(|v| !v.is_null()).cloned(),
        });
        Ok(created.into_iter().chain(changes).collect())
    }

    fn retire(&self, id: &MemoryId, reason: &str, entry: Entry) -> Result<Done> {
        let answer = self.retire_target(&self.locate(id)?, Some(reason), entry)?;
        Ok(self.done(&answer, id, Said::default()))
    }

    fn restore(&self, id: &MemoryId, entry: Entry) -> Result<Done> {
        let mut said = Said::default();
        let answer = self.restore_target(&self.locate(id)?, entry, &mut said)?;
        Ok(self.done(&answer, id, said))
    }

    fn archive(&self, id: &MemoryId, reason: &str, entry: Entry) -> Result<Done> {
        let answer = self.archive_target(&self.locate(id)?, Some(reason), entry)?;
        Ok(self.done(&answer, id, Said::default()))
    }

    fn unarchive(&self, id: &MemoryId, entry: Entry) -> Result<Done> {
        let answer = self.unarchive_target(&self.locate(id)?, entry)?;
        Ok(self.done(&answer, id, Said::default()))
    }

    fn forget(&self, id: &MemoryId, entry: Entry) -> Result<Forgotten> {
        self.forget_record(id, entry)
    }

    fn verify(&self) -> Result<Vec<Problem>> {
        self.verify_records()
    }

    fn redact_stored(&self, entry: Entry) -> Result<Vec<String>> {
        self.redact_refused(entry)
    }
}

/// A value as plain text; lists joined with "; ".
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}
