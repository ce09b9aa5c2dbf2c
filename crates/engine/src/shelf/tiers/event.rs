//! Audit events of one user, chained.
//!
//! Comes in: what happened, in ids, counts, sizes, rules. Goes out: lines that each carry the hash of the one before, and the verdict whether a
//! list of them is whole. Never here: content. [`Metadata`] has no field for a memory's text, and the words somebody removed memories by stand in it as a
//! hash and a number, unless the user's settings want the words themselves.

use heirloom_core::{Code, Fault, fault::Result, hash, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The first line's predecessor.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Most ids that one line names; beyond that the count speaks.
const MOST_IDS: usize = 100;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each action is named after what happened")]
pub enum Action {
    MemoryWrite,
    MemoryRead,
    MemoryChange,
    MemoryDelete,
    MemoryBulkDelete,
    MemoryTtlCleanup,
    SecretRedacted,
    PoisoningAttemptBlocked,
    WriteRefused,
    ConfirmationRequired,
    ReviewDecision,
    AccessRefused,
    AccountChange,
    MemoryExport,
    MemoryImport,
    AuditCheckpoint,
}

impl Action {
    /// The name on paper.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// The facts of an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// `working`, `episodic`, `semantic` or `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The source in the words stored with a memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How many memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// How many bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How sure a rule was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The rule that matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The field it matched in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// `search`, `list`, `show`, `context`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_type: Option<String>,
    /// What was removed by its words: a salt, and the hash of salt and words. Who knows the words can tell that they were these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_hash: Option<String>,
    /// How many words those were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_words: Option<u64>,
    /// The words themselves, where `tiers.audit_queries` is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The ids, the first hundred.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory_ids: Vec<String>,
    /// Who acted: the account or the token, and the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// A checkpoint's last dropped line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<u64>,
    /// That line's hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through_hash: Option<String>,
}

/// An event that is not in the chain yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// What happened.
    pub action: Action,
    /// When.
    pub at: Timestamp,
    /// The facts.
    pub metadata: Metadata,
}

impl Event {
    /// An event.
    pub fn new(action: Action, at: Timestamp, metadata: Metadata) -> Event {
        Event { action, at, metadata }
    }

    /// The same event about these memories.
    #[must_use]
    pub fn about<'a>(mut self, ids: impl IntoIterator<Item = &'a str>) -> Event {
        let mut count = 0;
        for id in ids {
            if count < MOST_IDS {
                self.metadata.memory_ids.push(id.to_owned());
            }
            count += 1;
        }
        self.metadata.count = Some(count as u64);
        self
    }

    /// The line that follows `head`.
    pub fn after(&self, user: &str, head: &Head) -> Line {
        let mut line = Line {
            seq: head.seq + 1,
            at: time::format(self.at),
            user: user.to_owned(),
            action: self.action,
            metadata: self.metadata.clone(),
            prev: head.hash.clone(),
            hash: String::new(),
        };
        line.hash = line.digest();
        line
    }
}

/// The end of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Number of the last line; 0 before the first.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

impl Default for Head {
    fn default() -> Head {
        Head { seq: 0, hash: GENESIS.to_owned() }
    }
}

/// A line of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its number, from 1.
    pub seq: u64,
    /// When.
    pub at: String,
    /// Whose chain.
    pub user: String,
    /// What happened.
    pub action: Action,
    /// The facts.
    pub metadata: Metadata,
    /// The hash of the line before.
    pub prev: String,
    /// The hash of this one.
    pub hash: String,
}

impl Line {
    /// Where the chain stands after this line.
    pub fn head(&self) -> Head {
        Head { seq: self.seq, hash: self.hash.clone() }
    }

    fn digest(&self) -> String {
        let facts = serde_json::to_string(&self.metadata).unwrap_or_default();
        let text = format!(
            "{}\n{}\n{}\n{}\n{facts}\n{}",
            self.seq,
            self.at,
            self.user,
            self.action.name(),
            self.prev
        );
        hash::sha256(text.as_bytes())
    }
}

/// Walks a chain line by line.
#[derive(Debug, Default)]
pub struct Walk {
    first: Option<Head>,
    last: Option<Head>,
    count: u64,
    checkpoints: Vec<Head>,
    sealed: Option<Head>,
    seal_met: bool,
}

impl Walk {
    /// A walk that must meet the sealed head.
    pub fn new(sealed: Option<Head>) -> Walk {
        Walk { sealed, ..Walk::default() }
    }

    /// The next line. An altered, removed, doubled or moved one is named.
    pub fn step(&mut self, user: &str, line: &Line) -> Result<()> {
        if line.user != user || line.digest() != line.hash {
            return Err(broken(line.seq, "was altered"));
        }
        match &self.last {
            None => {
                // What stood before was dropped by retention, if a later checkpoint says so.
                self.first = (line.seq != 1).then(|| Head { seq: line.seq - 1, hash: line.prev.clone() });
                if line.seq == 1 && line.prev != GENESIS {
                    return Err(broken(line.seq, "does not begin the chain"));
                }
            }
            Some(last) if line.seq != last.seq + 1 || line.prev != last.hash => {
                return Err(broken(line.seq, "does not follow the line before it"));
            }
            Some(_) => {}
        }
        if line.action == Action::AuditCheckpoint
            && let (Some(seq), Some(hash)) = (line.metadata.through, &line.metadata.through_hash)
        {
            self.checkpoints.push(Head { seq, hash: hash.clone() });
        }
        if let Some(sealed) = &self.sealed
            && sealed.seq == line.seq
        {
            if sealed.hash != line.hash {
                return Err(broken(line.seq, "is not the one that was sealed"));
            }
            self.seal_met = true;
        }
        self.last = Some(line.head());
        self.count += 1;
        Ok(())
    }

    /// The end of the walk: how many lines there are.
    pub fn end(self) -> Result<u64> {
        if let Some(first) = &self.first
            && !self.checkpoints.contains(first)
        {
            return Err(broken(first.seq, "and what stood before it are gone, and no checkpoint says why"));
        }
        if let Some(sealed) = &self.sealed
            && sealed.seq > 0
            && !self.seal_met
        {
            return Err(broken(sealed.seq, "was sealed and is gone"));
        }
        Ok(self.count)
    }
}

fn broken(seq: u64, why: &str) -> Fault {
    Fault::new(Code::Damaged, format!("audit line {seq} {why}"))
        .fact("line", seq.to_string())
        .hint("the audit was changed outside Heirloom, or the disk lost a line; keep the database and compare backups")
}
