//! Aliases: the ids a record had before it was renamed.
//!
//! Comes in: an old id. Goes out: the id it has now. The file `.aliases.jsonl` beside the records is meant to be committed, one line
//! per rename, and merges by union. Never here: text of a record.

use super::store::Records;
use crate::budget;
use crate::files::{self, Lock, Mode};
use heirloom_core::{MemoryId, fault::Result, json};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

const MAX: u64 = 16 << 20;

/// Longest chain of renames that is followed; a circle in a hand-edited file ends here.
const MAX_STEPS: usize = 64;

impl Records<'_> {
    fn alias_path(&self) -> PathBuf {
        self.root().join(".aliases.jsonl")
    }

    /// The id an old id stands for now.
    pub(super) fn alias(&self, old: &MemoryId) -> Result<Option<MemoryId>> {
        let pairs = self.alias_pairs()?;
        // What was said last counts.
        let renamed: HashMap<&str, &str> =
            pairs.iter().map(|(was, is)| (was.as_str(), is.as_str())).collect();
        let mut now = old.as_str();
        for _ in 0..MAX_STEPS {
            match renamed.get(now) {
                Some(next) => now = next,
                None => break,
            }
        }
        Ok((now != old.as_str()).then(|| MemoryId::parse(now)).flatten())
    }

    fn alias_pairs(&self) -> Result<Vec<(String, String)>> {
        let bytes = files::read_if_there(&self.alias_path(), budget::limit(MAX, budget::RENAMES))?
            .unwrap_or_default();
        let pairs = bytes.split(|b| *b == b'\n').filter_map(|line| {
            let value = json::parse(line).ok()?;
            let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
            Some((text("was")?, text("is")?))
        });
        Ok(pairs.collect())
    }

    /// Every rename, oldest first: the id before and the id after.
    pub(crate) fn renames(&self) -> Result<Vec<(String, String)>> {
        self.alias_pairs()
    }

    /// Remembers a rename.
    pub(super) fn remember_alias(&self, _lock: &Lock, was: &MemoryId, is: &MemoryId) -> Result<()> {
        let line = json!({ "was": was, "is": is }).to_string();
        files::append_lines(&self.alias_path(), [line.as_str()], Mode::Shared)
    }

    /// Every id that this one ever had, whatever the order of the renames.
    pub(super) fn earlier_ids(&self, id: &MemoryId) -> Result<Vec<MemoryId>> {
        let pairs = self.alias_pairs()?;
        let names = names_of(&pairs, id.as_str());
        Ok(names
            .iter()
            .filter(|name| **name != id.as_str())
            .filter_map(|name| MemoryId::parse(name))
            .collect())
    }

    /// Forgets every alias of an id, also those of its earlier ids. Returns whether there were any.
    pub(super) fn drop_aliases(&self, _lock: &Lock, id: &MemoryId) -> Result<bool> {
        let pairs = self.alias_pairs()?;
        let names = names_of(&pairs, id.as_str());
        let kept: Vec<String> = pairs
            .iter()
            .filter(|(was, is)| !names.contains(was.as_str()) && !names.contains(is.as_str()))
            .map(|(was, is)| json!({ "was": was, "is": is }).to_string() + "\n")
            .collect();
        if kept.len() == pairs.len() {
            return Ok(false);
        }
        if kept.is_empty() {
            files::remove(&self.alias_path())?;
        } else {
            files::write(&self.alias_path(), kept.concat().as_bytes(), Mode::Shared)?;
        }
        Ok(true)
    }
}

/// The id and everything that was renamed to it, directly or by steps.
fn names_of<'a>(pairs: &'a [(String, String)], id: &'a str) -> BTreeSet<&'a str> {
    let mut renamed_to: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (was, is) in pairs {
        renamed_to.entry(is).or_default().push(was);
    }
    let mut names = BTreeSet::from([id]);
    let mut open = vec![id];
    while let Some(name) = open.pop() {
        for was in renamed_to.get(name).into_iter().flatten() {
            if names.insert(was) {
                open.push(was);
            }
        }
    }
    names
}
