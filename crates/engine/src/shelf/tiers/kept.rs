//! What a change of a user's facts replaced, kept beside them for a while so that the change can be taken back.
//!
//! Comes in: each row a write touched, as it was and as the write left it. Goes out: the same, to `undo`. It lies in the store that the rows are
//! in, is part of the write's own transaction, and goes after thirty days or with the memory. A text never changes in place here, so none is
//! kept: the row itself has it. Never here: turns of a conversation as they arrive, of which there are thousands; putting anything back.

use super::Stored;
use crate::gate::inbox::Waiting;
use heirloom_core::{hash, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a write says of itself so that it can be taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// What was done: the action of its audit line.
    pub action: String,
    /// Who did it.
    pub by: String,
    /// Whether that was a person.
    pub person: bool,
    /// The number of the first change of the same call, if this is not the first.
    pub group: Option<u64>,
    /// The change that this one takes back.
    pub undoes: Option<u64>,
    /// The drafts that were decided about.
    pub drafts: Vec<Waiting>,
}

/// A memory that a write touched.
#[derive(Debug, Clone, PartialEq)]
pub struct Touched {
    /// The row as it was; nothing if there was none.
    pub before: Option<Stored>,
    /// The row as it is now.
    pub after: Stored,
}

/// One thing that a change did, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptRow {
    /// The number of the change in the user's audit chain.
    pub seq: u64,
    /// The number of the first change of the same call: they are taken back together.
    pub group: u64,
    /// When.
    pub at: String,
    /// The same in microseconds: two chains are put in one order by it.
    pub when: i64,
    /// The memory.
    pub id: String,
    /// What was done.
    pub action: String,
    /// Who did it.
    pub by: String,
    /// Whether that was a person.
    pub person: bool,
    /// The change it takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// The row as it was, but for its text; nothing if the change made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Box<Stored>>,
    /// What the change left, by [`Stored::stamp`]; empty if this is a decision about a draft.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub left: String,
    /// The draft that was decided about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Waiting>,
}

/// A row that is to become what it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Back {
    /// The memory.
    pub id: String,
    /// What it must be now, by [`Stored::stamp`].
    pub left: String,
    /// What it was; out of use if there was nothing.
    pub before: Option<Box<Stored>>,
}

impl Back {
    /// The row as it is to be; `None` if it is not what the change left.
    pub fn row(&self, now: &Stored, at: Timestamp) -> Option<Stored> {
        if now.stamp() != self.left {
            return None;
        }
        let row = match &self.before {
            Some(before) => Stored { content: now.content.clone(), ..(**before).clone() },
            None => Stored { status: super::LifeStatus::Retired, ..now.clone() },
        };
        Some(Stored { updated_at: at, ..row })
    }
}

impl Mark {
    /// What is to be kept of a write whose first audit line has this number.
    pub fn rows(&self, seq: u64, at: Timestamp, touched: &[Touched]) -> Vec<KeptRow> {
        let row = |id: &str| KeptRow {
            seq,
            group: self.group.unwrap_or(seq),
            at: time::format(at),
            when: at.as_microsecond(),
            id: id.to_owned(),
            action: self.action.clone(),
            by: self.by.clone(),
            person: self.person,
            undoes: self.undoes,
            before: None,
            left: String::new(),
            draft: None,
        };
        let decided =
            self.drafts.iter().map(|draft| KeptRow { draft: Some(draft.clone()), ..row(&draft.id) });
        let changed = touched.iter().map(|one| KeptRow {
            before: one.before.as_ref().map(|was| Box::new(Stored { content: String::new(), ..was.clone() })),
            left: one.after.stamp(),
            ..row(&one.after.id)
        });
        decided.chain(changed).collect()
    }
}

/// From when on changes are kept, seen from a moment.
pub fn kept_since(now: Timestamp) -> Timestamp {
    time::days_before(now, crate::undo::KEPT_DAYS)
}

impl Stored {
    /// What tells this row, text and all, from any other. When it was last written tells nothing: a row that was changed and put back says
    /// what it said before.
    pub fn stamp(&self) -> String {
        let timeless = Stored { updated_at: Timestamp::UNIX_EPOCH, ..self.clone() };
        hash::sha256(serde_json::to_string(&timeless).unwrap_or_default().as_bytes())
    }
}
