//! `provenance.jsonl`: what the shelves' own formats have no field for, one JSON object per line.
//!
//! Comes in: an id and a fact about it. Goes out: lines that merge by union. So far: ids that were forgotten. Never here: text of a
//! memory, and nothing that raises trust; the file comes with the repository and may say anything.

use crate::files::{self, Lock, Mode};
use heirloom_core::{MemoryId, fault::Result, json, time};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const MAX: u64 = 64 << 20;

/// Notes that an id was forgotten.
pub fn mark_forgotten(root: &Path, _lock: &Lock, id: &MemoryId, now: jiff::Timestamp) -> Result<()> {
    let line = json!({ "id": id, "forgotten_at": time::format(now) }).to_string();
    files::append_lines(&root.join("provenance.jsonl"), [line.as_str()], Mode::Shared)
}

/// The ids that were forgotten, and when.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forgotten(BTreeMap<String, jiff::Timestamp>);

/// Reads what was forgotten; a line that cannot be read costs only itself.
pub fn forgotten(root: &Path) -> Result<Forgotten> {
    let bytes = files::read_if_there(&root.join("provenance.jsonl"), MAX)?.unwrap_or_default();
    let mut found = BTreeMap::new();
    for line in bytes.split(|b| *b == b'\n') {
        let Ok(value) = json::parse(line) else { continue };
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let (Some(id), Some(at)) = (text("id"), text("forgotten_at").and_then(time::parse)) else { continue };
        let latest = found.entry(id.to_owned()).or_insert(at);
        *latest = at.max(*latest);
    }
    Ok(Forgotten(found))
}

impl Forgotten {
    /// Whether a memory is one that was forgotten and came back, perhaps with a merge. One that was saved anew under the same id
    /// afterwards is not.
    pub fn came_back(&self, id: &str, created_at: Option<&str>) -> bool {
        let Some(forgotten_at) = self.0.get(id) else { return false };
        created_at.and_then(time::parse).is_none_or(|created| created < *forgotten_at)
    }
}
