//! The audit: an append-only, hash-chained list of what the gate and the shelves did.
//!
//! Comes in: an [`Event`] and the lock. Goes out: a line that carries the hash of the line before it. Never here: content.
//! An event names ids, rules, counts and sizes; there is no field that could hold a memory's text.

use crate::files::{self, Lock, Mode};
use crate::gate::Remark;
use heirloom_core::{Channel, Code, Fault, fault::Result, hash, json, time};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The first line's predecessor.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// How much of the file's end is read to find the last line.
const TAIL: u64 = 64 << 10;

/// What happened.
#[derive(Debug, Clone, Serialize)]
pub struct Event<'a> {
    /// `memory_write`, `memory_retire`, `memory_forget`, `gate_refused`, …
    pub action: &'static str,
    /// What the gate said.
    pub verdict: &'static str,
    /// The shelf.
    pub shelf: &'static str,
    /// The id, or ids.
    pub id: &'a str,
    /// Who acted: the account or the token, and the agent.
    pub by: &'a str,
    /// Through which channel.
    pub channel: Channel,
    /// Bytes stored, or memories touched.
    pub size: usize,
    /// The rules that spoke, with what was done.
    pub remarks: &'a [Remark],
    /// The error code of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
}

/// Appends an event. The lock keeps the chain in one piece.
pub fn append(path: &Path, _lock: &Lock, now: Timestamp, event: &Event<'_>) -> Result<()> {
    let (seq, prev) = last(path)?;
    let mut line = Map::new();
    line.insert("seq".into(), json!(seq + 1));
    line.insert("at".into(), json!(time::format(now)));
    if let Ok(Value::Object(fields)) = serde_json::to_value(event) {
        line.extend(fields);
    }
    line.insert("prev".into(), json!(prev));
    let hash = line_hash(&line);
    line.insert("hash".into(), json!(hash));
    files::append_line(path, &Value::Object(line).to_string(), Mode::Private)
}

fn line_hash(line: &Map<String, Value>) -> String {
    hash::sha256(Value::Object(line.clone()).to_string().as_bytes())
}

/// Sequence number and hash of the last whole line.
fn last(path: &Path) -> Result<(u64, String)> {
    let Some(tail) = files::read_tail(path, TAIL)? else { return Ok((0, GENESIS.to_owned())) };
    let line =
        tail.split(|b| *b == b'\n').rev().find_map(|line| json::parse(line).ok().filter(Value::is_object));
    let Some(line) = line else { return Ok((0, GENESIS.to_owned())) };
    let seq = line.get("seq").and_then(Value::as_u64).unwrap_or_default();
    let hash = line.get("hash").and_then(Value::as_str).unwrap_or(GENESIS);
    Ok((seq, hash.to_owned()))
}

/// All entries, oldest first; lines that cannot be read are left out (verify names them).
pub fn entries(path: &Path) -> Result<Vec<Value>> {
    let Some(text) = read_all(path)? else { return Ok(Vec::new()) };
    Ok(text.lines().filter_map(|line| json::parse(line.as_bytes()).ok()).filter(Value::is_object).collect())
}

/// Walks the chain: how many entries there are, or the first line that was altered, removed or put elsewhere.
pub fn verify(path: &Path) -> Result<u64> {
    let Some(text) = read_all(path)? else { return Ok(0) };
    let mut prev = GENESIS.to_owned();
    let mut count = 0;
    for (at, line) in text.lines().enumerate() {
        let broken = |why: &str| {
            Fault::new(Code::Damaged, format!("audit line {} {why}", at + 1))
                .fact("path", path.display().to_string())
                .fact("line", (at + 1).to_string())
                .hint("the audit was changed outside Heirloom, or the disk lost a line; keep the file and compare backups")
        };
        let Ok(Value::Object(mut entry)) = json::parse(line.as_bytes()) else {
            return Err(broken("cannot be read"));
        };
        let Some(Value::String(hash)) = entry.shift_remove("hash") else { return Err(broken("has no hash")) };
        if entry.get("prev").and_then(Value::as_str) != Some(prev.as_str()) {
            return Err(broken("does not follow the line before it"));
        }
        if line_hash(&entry) != hash {
            return Err(broken("was altered"));
        }
        prev = hash;
        count += 1;
    }
    Ok(count)
}

fn read_all(path: &Path) -> Result<Option<String>> {
    const LIMIT: u64 = 1 << 30;
    files::read_text(path, LIMIT)
}
