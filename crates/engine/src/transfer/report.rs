//! The report of an import: what arrived, what was here, what waits, what was left out or refused and why.
//!
//! Comes in: what became of each file, statement and memory, and what the person wants otherwise. Goes out: the answer of the verb. Never here: deciding any
//! of it.

use super::sort::Source;
use crate::call::Call;
use heirloom_core::{Code, Fault, ShelfName, fault::Result, text};
use serde::Serialize;

/// How much of a line is shown that nothing was made of, in characters.
const LEFT_SHOWN: usize = 200;

/// What an import did, or would do.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub struct Imported {
    /// Whether nothing was really stored.
    pub dry_run: bool,
    /// Files that were looked at.
    pub files: usize,
    /// What arrived, shelf by shelf.
    pub shelves: Vec<Arrivals>,
    /// What was not taken, and why.
    pub refused: Vec<Refused>,
    /// Files that are nothing Heirloom knows.
    pub not_recognised: Vec<String>,
    /// What else there is to say.
    pub notes: Vec<String>,
    /// Each memory that was made of a statement or of a file, in the order of the files.
    pub memories: Vec<Arriving>,
    /// Each line that nothing was made of, and why.
    pub left_out: Vec<Left>,
    /// What the person wants otherwise.
    #[serde(skip)]
    pub(super) choice: Choice,
}

/// A memory that arrives.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Arriving {
    /// By which it can be dropped or changed: the file, and the line in it.
    pub from: String,
    /// Its kind.
    pub kind: String,
    /// Its title.
    pub title: String,
}

/// A line that nothing was made of.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Left {
    /// The file, and the line in it.
    pub from: String,
    /// How it begins.
    pub text: String,
    /// Why.
    pub why: String,
}

/// What a person wants otherwise than it was shown to them, by `from`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What is not to arrive.
    #[serde(default)]
    pub dropped: Vec<String>,
    /// What is to arrive in other words or as another kind.
    #[serde(default)]
    pub changed: Vec<Changed>,
}

/// Other words, or another kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// Which one.
    pub from: String,
    /// The kind it is to be.
    pub kind: String,
    /// What it is to say.
    pub text: String,
}

impl Choice {
    pub(super) fn drops(&self, from: &str) -> bool {
        self.dropped.iter().any(|dropped| dropped == from)
    }

    pub(super) fn change(&self, from: &str) -> Option<&Changed> {
        self.changed.iter().find(|changed| changed.from == from)
    }
}

/// What arrived on a shelf.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Arrivals {
    /// The shelf.
    pub shelf: ShelfName,
    /// Memories that are new here.
    pub new: Vec<String>,
    /// Memories that were here already.
    pub known: usize,
    /// Memories that wait for a person's yes.
    pub waiting: usize,
    /// What was left out on purpose: retired memories, messages of one line.
    pub left_out: usize,
}

/// Something that was not taken.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Refused {
    /// The file, and the place in it.
    pub from: String,
    /// The error code.
    pub code: &'static str,
    /// Why.
    pub message: String,
    /// What to do.
    pub next: String,
}

impl Imported {
    /// New memories on all shelves.
    pub fn new_count(&self) -> usize {
        self.shelves.iter().map(|shelf| shelf.new.len()).sum()
    }

    pub(super) fn at(&mut self, shelf: ShelfName) -> &mut Arrivals {
        let at = self.shelves.iter().position(|one| one.shelf == shelf).unwrap_or_else(|| {
            self.shelves.push(Arrivals { shelf, new: Vec::new(), known: 0, waiting: 0, left_out: 0 });
            self.shelves.len() - 1
        });
        &mut self.shelves[at]
    }

    /// A memory arrived.
    pub(super) fn arrives(&mut self, from: &str, kind: &str, title: &str) {
        self.memories.push(Arriving {
            from: from.to_owned(),
            kind: kind.to_owned(),
            title: text::one_line(title),
        });
    }

    /// Nothing was made of a line.
    pub(super) fn leave(&mut self, shelf: ShelfName, from: &str, line: &str, why: &str) {
        self.at(shelf).left_out += 1;
        self.left_out.push(Left {
            from: from.to_owned(),
            text: text::cut(&text::one_line(line), LEFT_SHOWN).to_owned(),
            why: why.to_owned(),
        });
    }

    /// Nothing was made of some of a file's memories.
    pub(super) fn leave_some(
        &mut self,
        shelf: ShelfName,
        source: &Source,
        count: usize,
        what: &str,
        why: &str,
    ) {
        if count > 0 {
            self.at(shelf).left_out += count;
            let (from, text) = (source.shown.clone(), format!("{count} {what}"));
            self.left_out.push(Left { from, text, why: why.to_owned() });
        }
    }

    /// A file may be named after what nobody should read.
    pub(super) fn clean(&mut self, call: &Call) {
        let clean = |text: &mut String| *text = call.screen().redacted(text);
        self.not_recognised.iter_mut().chain(&mut self.notes).for_each(clean);
        for one in &mut self.refused {
            [&mut one.from, &mut one.message, &mut one.next].into_iter().for_each(clean);
        }
        for one in &mut self.left_out {
            [&mut one.from, &mut one.text].into_iter().for_each(clean);
        }
        for one in &mut self.memories {
            [&mut one.from, &mut one.title].into_iter().for_each(clean);
        }
    }

    /// Counts what is only waiting, lists what was refused, and ends the import for what concerns the store itself.
    pub(super) fn refuse(&mut self, shelf: ShelfName, from: String, fault: Fault) -> Result<()> {
        match fault.code {
            Code::Io | Code::LockBusy => return Err(fault),
            Code::NeedsConfirmation => self.at(shelf).waiting += 1,
            code => self.refused.push(Refused {
                from,
                code: code.name(),
                next: fault.next_step().to_owned(),
                message: fault.message,
            }),
        }
        Ok(())
    }
}

/// Why something is left out that a person dropped.
pub(super) const DROPPED: &str = "dropped by you";

/// Why a record is left out that is out of use where it comes from.
pub(super) const RETIRED: &str = "it is retired there";
