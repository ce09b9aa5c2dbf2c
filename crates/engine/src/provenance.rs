//! `provenance.jsonl`: what the shelves' own formats have no field for, one JSON object per line.
//!
//! Comes in: an id and a fact about it. Goes out: lines that merge by union. So far: ids that were forgotten. Never here: text of a
//! memory, and nothing that raises trust; the file comes with the repository and may say anything.

use crate::files::{self, Lock, Mode};
use heirloom_core::{MemoryId, fault::Result, json, time};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const MAX: u64 = 64 << 20;

/// Notes that an id was forgotten.
pub fn mark_forgotten(root: &Path, _lock: &Lock, id: &MemoryId, now: jiff::Timestamp) -> Result<()> {
    let line = json!({ "id": id, "forgotten_at": time::format(now) }).to_string();
    files::append_lines(&root.join("provenance.jsonl"), [line.as_str()], Mode::Shared)
}

/// The ids that were forgotten.
pub fn forgotten(root: &Path) -> Result<BTreeSet<String>> {
    let bytes = files::read_if_there(&root.join("provenance.jsonl"), MAX)?.unwrap_or_default();
    let ids = bytes.split(|b| *b == b'\n').filter_map(|line| {
        let value = json::parse(line).ok()?;
        value.get("forgotten_at")?;
        value.get("id").and_then(Value::as_str).map(str::to_owned)
    });
    Ok(ids.collect())
}
