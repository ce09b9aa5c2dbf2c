//! The audit: an append-only, hash-chained list of what the gate and the shelves did.
//!
//! Comes in: an [`Event`] and the lock. Goes out: a line that carries the hash of the line before it. Never here: content.
//! An event names ids, rules, counts and sizes; there is no field that could hold a memory's text.
//!
//! A change has two lines: its intent, before the store is touched, and its outcome, which names the intent by its number. Intents at the end of
//! the chain that have no outcome are those of a process that was stopped; whoever writes next says what became of them. Lines of 0.1 have no
//! second line and stand for themselves.

use crate::files::{self, Lock, Mode};
use crate::gate::Remark;
use heirloom_core::{Channel, Code, Fault, fault::Result, hash, json, time};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The first line's predecessor.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// How much of the file's end is read to find the last line.
const TAIL: u64 = 64 << 10;

/// The action of a line that says what became of an intent.
const OUTCOME: &str = "outcome";

/// The action of a line behind which ids were replaced.
const CHECKPOINT: &str = "checkpoint";

/// That the lines before it were rewritten once, with keyed hashes in the place of ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Checkpoint {
    /// When.
    pub at: String,
    /// How many lines stand before it.
    pub lines: u64,
    /// The hash of the last of them, as it was before.
    pub was: String,
}

/// A chain that is whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Walked {
    /// How many entries there are.
    pub entries: u64,
    /// Where ids were replaced.
    pub checkpoints: Vec<Checkpoint>,
}

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
    /// Whether it is only about to happen, and its outcome follows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub intent: bool,
    /// The number of the change that this one takes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
}

/// What became of an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It happened.
    Done,
    /// It did not.
    Failed,
    /// The process was stopped, and what is there now does not tell.
    Unknown,
}

impl Outcome {
    /// The word in the audit.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::Failed => "failed",
            Outcome::Unknown => "unknown",
        }
    }
}

/// An intent without an outcome, at the end of the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    /// Its number.
    pub seq: u64,
    /// What it wanted to do.
    pub action: String,
    /// To which memory.
    pub id: String,
}

/// The end of the chain, to which lines are added. Nothing is written before [`Chain::write`].
#[derive(Debug)]
pub struct Chain {
    path: PathBuf,
    at: String,
    seq: u64,
    prev: String,
    open: Vec<Open>,
    lines: Vec<String>,
}

impl Chain {
    /// Reads the end. The lock keeps the chain in one piece. A last line that was cut off by a full disk or a kill is taken away: nothing
    /// happened because of it.
    pub fn end(path: &Path, _lock: &Lock, now: Timestamp) -> Result<Chain> {
        let mut chain = Chain {
            path: path.to_owned(),
            at: time::format(now),
            seq: 0,
            prev: GENESIS.to_owned(),
            open: Vec::new(),
            lines: Vec::new(),
        };
        let mut limit = TAIL;
        while let Some(tail) = files::read_tail(path, limit)? {
            let torn = tail.rsplit(|b| *b == b'\n').next().unwrap_or_default();
            if !torn.is_empty() && (torn.len() as u64) < limit && json::parse(torn).is_err() {
                files::cut_tail(path, torn.len() as u64)?;
                continue;
            }
            let reached_start = (tail.len() as u64) < limit;
            if chain.take_end(&tail) || reached_start {
                break;
            }
            limit *= 2;
        }
        Ok(chain)
    }

    /// Takes number, hash and open intents from the last lines. `false` if more of the file is needed to see all of them.
    fn take_end(&mut self, tail: &[u8]) -> bool {
        self.open.clear();
        let lines = tail.split(|b| *b == b'\n').rev();
        let mut lines = lines.filter_map(|line| json::parse(line).ok().filter(Value::is_object));
        let Some(mut line) = lines.next() else { return true };
        self.seq = line.get("seq").and_then(Value::as_u64).unwrap_or_default();
        self.prev = line.get("hash").and_then(Value::as_str).unwrap_or(GENESIS).to_owned();
        while is_intent(&line) {
            let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let seq = line.get("seq").and_then(Value::as_u64).unwrap_or_default();
            self.open.insert(0, Open { seq, action: text("action"), id: text("id") });
            match lines.next() {
                Some(before) => line = before,
                None => return false,
            }
        }
        true
    }

    /// What a stopped process left open.
    pub fn open(&self) -> &[Open] {
        &self.open
    }

    /// The number the next line gets.
    pub fn next(&self) -> u64 {
        self.seq + 1
    }

    /// Adds an event and returns its number.
    pub fn push(&mut self, event: &Event<'_>) -> u64 {
        match serde_json::to_value(event) {
            Ok(Value::Object(fields)) => self.add(fields),
            // Every field of an event is text, a number or a list of such.
            _ => self.add(Map::new()),
        }
    }

    /// Adds what became of the intents with these numbers.
    pub fn settle(&mut self, from: u64, to: u64, outcome: Outcome) {
        let mut fields = Map::new();
        fields.insert("action".into(), json!(OUTCOME));
        fields.insert("of".into(), json!(from));
        if to > from {
            fields.insert("to".into(), json!(to));
        }
        fields.insert("outcome".into(), json!(outcome.name()));
        self.add(fields);
    }

    fn add(&mut self, fields: Map<String, Value>) -> u64 {
        self.seq += 1;
        let mut line = Map::new();
        line.insert("seq".into(), json!(self.seq));
        line.insert("at".into(), json!(self.at));
        line.extend(fields);
        line.insert("prev".into(), json!(self.prev));
        self.prev = line_hash(&line);
        line.insert("hash".into(), json!(self.prev));
        self.lines.push(Value::Object(line).to_string());
        self.seq
    }

    /// Writes what was added, in one piece.
    pub fn write(self) -> Result<()> {
        files::append_passing(&self.path, self.lines.iter().map(String::as_str), Mode::Private)
    }
}

fn is_intent(line: &Value) -> bool {
    line.get("intent") == Some(&Value::Bool(true))
}

fn line_hash(line: &Map<String, Value>) -> String {
    hash::sha256(Value::Object(line.clone()).to_string().as_bytes())
}

/// All entries, oldest first; lines that cannot be read are left out (verify names them). A change is one entry: what became of it stands in
/// `outcome`, which is `open` if nobody has said so yet.
pub fn entries(path: &Path) -> Result<Vec<Value>> {
    let Some(text) = read_all(path)? else { return Ok(Vec::new()) };
    let mut entries: Vec<Value> = Vec::new();
    let mut intents: HashMap<u64, usize> = HashMap::new();
    let number = |line: &Value, key: &str| line.get(key).and_then(Value::as_u64);
    for mut line in text.lines().filter_map(|line| json::parse(line.as_bytes()).ok()).filter(Value::is_object)
    {
        if action(&line) == Some(CHECKPOINT) {
            continue;
        }
        if is_outcome(&line) {
            let from = number(&line, "of").unwrap_or_default();
            let to = number(&line, "to").unwrap_or(from);
            // Only numbers that there are: a forged span must not make anybody count to the end of the world.
            for seq in from..=to.min(from.saturating_add(intents.len() as u64)) {
                if let Some(at) = intents.get(&seq) {
                    entries[*at]["outcome"] = line["outcome"].clone();
                }
            }
            continue;
        }
        if is_intent(&line) {
            if let Value::Object(fields) = &mut line {
                fields.shift_remove("intent");
            }
            line["outcome"] = json!("open");
            intents.insert(number(&line, "seq").unwrap_or_default(), entries.len());
        }
        entries.push(line);
    }
    Ok(entries)
}

fn is_outcome(line: &Value) -> bool {
    action(line) == Some(OUTCOME)
}

fn action(line: &Value) -> Option<&str> {
    line.get("action").and_then(Value::as_str)
}

/// Whether what an entry speaks of happened, as far as anybody knows.
pub fn happened(entry: &Value) -> bool {
    match entry.get("outcome").and_then(Value::as_str) {
        Some(outcome) => outcome == Outcome::Done.name(),
        None => true,
    }
}

/// Walks the chain: how many entries there are (an outcome belongs to its intent and is none of its own) and where ids were replaced, or the
/// first line that was altered, removed or put elsewhere.
pub fn verify(path: &Path) -> Result<Walked> {
    let mut walked = Walked::default();
    let Some(text) = read_all(path)? else { return Ok(walked) };
    let mut prev = GENESIS.to_owned();
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
        let said = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match said("action").as_str() {
            OUTCOME => {}
            CHECKPOINT => {
                let (at, was) = (said("at"), said("was"));
                let lines = entry.get("lines").and_then(Value::as_u64).unwrap_or_default();
                walked.checkpoints.push(Checkpoint { at, lines, was });
            }
            _ => walked.entries += 1,
        }
    }
    Ok(walked)
}

/// The first line.
pub(crate) fn first(path: &Path) -> Result<Option<Value>> {
    use std::io::{BufRead as _, BufReader, Read as _};
    let Some((file, _)) = files::open_if_there(path)? else { return Ok(None) };
    let mut line = Vec::new();
    BufReader::new(file.take(TAIL)).read_until(b'\n', &mut line).map_err(|e| Fault::io(path, "read", &e))?;
    Ok(json::parse(&line).ok())
}

/// Rewrites the lines with other names for their ids, and says so at the end, with the hash the chain had. Numbers, times and everything else stay.
/// A chain that is not whole stays as it is.
pub(crate) fn rename(
    path: &Path,
    _lock: &Lock,
    now: Timestamp,
    name: &dyn Fn(&str) -> Result<Option<String>>,
) -> Result<()> {
    if verify(path).is_err() {
        return Ok(());
    }
    let Some(text) = read_all(path)? else { return Ok(()) };
    let mut chain = Chain {
        path: path.to_owned(),
        at: String::new(),
        seq: 0,
        prev: GENESIS.to_owned(),
        open: Vec::new(),
        lines: Vec::new(),
    };
    let (mut was, mut renamed) = (GENESIS.to_owned(), false);
    for line in text.lines() {
        let Ok(Value::Object(mut fields)) = json::parse(line.as_bytes()) else { return Ok(()) };
        if let Some(Value::String(hash)) = fields.shift_remove("hash") {
            was = hash;
        }
        let other = fields.get("id").and_then(Value::as_str).map(name).transpose()?.flatten();
        if let Some(other) = other {
            fields.insert("id".into(), json!(other));
            renamed = true;
        }
        chain.seq = fields.get("seq").and_then(Value::as_u64).unwrap_or(chain.seq + 1);
        fields.insert("prev".into(), json!(chain.prev));
        chain.prev = line_hash(&fields);
        fields.insert("hash".into(), json!(chain.prev));
        chain.lines.push(Value::Object(fields).to_string());
    }
    if !renamed {
        return Ok(());
    }
    let lines = chain.lines.len();
    chain.at = time::format(now);
    chain.add(Map::from_iter([
        ("action".to_owned(), json!(CHECKPOINT)),
        ("lines".to_owned(), json!(lines)),
        ("was".to_owned(), json!(was)),
    ]));
    let text = chain.lines.join("\n") + "\n";
    files::write(path, text.as_bytes(), Mode::Private)
}

fn read_all(path: &Path) -> Result<Option<String>> {
    const LIMIT: u64 = 1 << 30;
    files::read_text(path, LIMIT)
}
