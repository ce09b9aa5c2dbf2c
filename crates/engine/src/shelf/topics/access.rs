//! Access statistics: how often each lesson was loaded, kept on this machine.
//!
//! Comes in: ids that were loaded. Goes out: counts. One line per load in `.local`, added up now and then. Never here: a byte of a
//! committed file; reading a lesson leaves the repository as it was.

use crate::files::{self, LOCK_LIMIT, Lock, Mode};
use heirloom_core::{fault::Result, json, time};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LIMIT: u64 = 64 << 20;

/// From this size on the lines are added up.
const ADD_UP: u64 = 256 << 10;

/// How often a lesson was loaded, and when last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Uses {
    /// How often.
    pub count: u64,
    /// When last.
    pub last: String,
}

/// The statistics of a store.
#[derive(Debug)]
pub(super) struct Access {
    path: PathBuf,
}

impl Access {
    pub(super) fn new(local: &Path) -> Access {
        Access { path: local.join("lesson-access.jsonl") }
    }

    /// A lock of its own: counting never waits for a write to the store.
    fn lock(&self) -> Result<Lock> {
        Lock::acquire(&self.path.with_extension("lock"), LOCK_LIMIT)
    }

    /// Notes loads.
    pub(super) fn note(&self, ids: &[&str], now: Timestamp) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        for id in ids {
            let line = json!({ "id": id, "at": time::format(now) }).to_string();
            files::append_line(&self.path, &line, Mode::Private)?;
        }
        if std::fs::metadata(&self.path).is_ok_and(|meta| meta.len() > ADD_UP) {
            self.rewrite(&self.read()?)?;
        }
        Ok(())
    }

    /// The counts; a line that cannot be read costs only itself.
    pub(super) fn read(&self) -> Result<BTreeMap<String, Uses>> {
        let bytes = files::read_if_there(&self.path, LIMIT)?.unwrap_or_default();
        let mut out: BTreeMap<String, Uses> = BTreeMap::new();
        for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            let Ok(value) = json::parse(line) else { continue };
            let Some(id) = value.get("id").and_then(Value::as_str) else { continue };
            let uses = out.entry(id.to_owned()).or_default();
            uses.count = uses.count.saturating_add(value.get("n").and_then(Value::as_u64).unwrap_or(1));
            let at = value.get("at").and_then(Value::as_str).unwrap_or_default();
            if at > uses.last.as_str() {
                uses.last = at.to_owned();
            }
        }
        Ok(out)
    }

    /// Drops everything about an id. Says whether there was something.
    pub(super) fn forget(&self, id: &str) -> Result<bool> {
        let _lock = self.lock()?;
        let mut counts = self.read()?;
        let known = counts.remove(id).is_some();
        if known {
            self.rewrite(&counts)?;
        }
        Ok(known)
    }

    fn rewrite(&self, counts: &BTreeMap<String, Uses>) -> Result<()> {
        let mut text = String::new();
        for (id, uses) in counts {
            text.push_str(&json!({ "id": id, "n": uses.count, "at": uses.last }).to_string());
            text.push('\n');
        }
        files::write(&self.path, text.as_bytes(), Mode::Private)
    }
}
