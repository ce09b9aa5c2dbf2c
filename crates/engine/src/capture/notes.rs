//! From a transcript's turns to drafts of notes.
//!
//! Comes in: turns in order. Goes out: a draft for every assistant message of several lines, word for word. User messages,
//! single lines and messages over the limit are left out and counted. Never here: summarising, or deciding what is a duplicate;
//! the shelf knows what it has, so the same transcript may be brought as often as anybody likes.

use super::transcript::{Role, Turn};
use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::notes::{Kept, Moment, NoteDraft};
use heirloom_core::settings::Notes as Rules;
use heirloom_core::{Channel, Fault, fault::Result};
use jiff::Timestamp;

/// What a transcript has to offer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proposals {
    /// Drafts, in the order they were said.
    pub drafts: Vec<NoteDraft>,
    /// Assistant messages of one line.
    pub single_line: usize,
    /// Assistant messages over `notes.max_chars`.
    pub too_long: usize,
}

impl Proposals {
    /// Keeps the newest `most`.
    #[must_use]
    pub fn newest(mut self, most: usize) -> Proposals {
        let over = self.drafts.len().saturating_sub(most);
        self.drafts.drain(..over);
        self
    }
}

/// What came of a capture.
#[derive(Debug, Default)]
pub struct Captured {
    /// Notes that are new.
    pub stored: Vec<Kept>,
    /// Messages that were there already.
    pub known: usize,
    /// Messages that are too short, too long or of one line.
    pub passed_over: usize,
    /// What the gate refused.
    pub refused: Vec<Fault>,
}

/// What a stop does: keeps the newest messages of a transcript, if `notes.capture` is on. A message that the host has not written
/// to the transcript yet is found there at the next stop; taken from elsewhere it would have another time and be kept twice.
pub fn keep_at_stop(call: &Call, turns: impl IntoIterator<Item = Turn>) -> Result<Captured> {
    let rules = &call.settings().notes;
    if !rules.capture {
        return Ok(Captured::default());
    }
    let now = call.project().world().now;
    keep(call, capture_notes(turns, rules, now).newest(rules.max_per_capture))
}

/// What an import does: keeps every message of a transcript that is worth it, because somebody asked.
pub fn keep_all(call: &Call, turns: impl IntoIterator<Item = Turn>) -> Result<Captured> {
    keep(call, capture_notes(turns, &call.settings().notes, call.project().world().now))
}

/// An assistant's words are an agent's, whoever brings them.
fn keep(call: &Call, proposals: Proposals) -> Result<Captured> {
    let proposed = proposals.drafts.len();
    // What the rules refuse anyway is no event: a stop would put it into the audit again and again.
    let drafts: Vec<NoteDraft> = proposals.drafts.into_iter().filter(|draft| draft.check().is_ok()).collect();
    let mut out = Captured {
        passed_over: proposals.single_line + proposals.too_long + proposed - drafts.len(),
        ..Captured::default()
    };
    if drafts.is_empty() {
        return Ok(out);
    }
    for kept in call.notes().create_many(drafts, Entry::through(Channel::Agent))? {
        match kept {
            Ok(kept) if kept.done.status == "created" => out.stored.push(kept),
            Ok(_) => out.known += 1,
            Err(fault) => out.refused.push(fault),
        }
    }
    Ok(out)
}

/// Drafts of the messages worth keeping. A turn without a time of its own has that of the turn before it, or `now`.
pub fn capture_notes(turns: impl IntoIterator<Item = Turn>, rules: &Rules, now: Timestamp) -> Proposals {
    let mut out = Proposals::default();
    let mut last = None;
    for turn in turns {
        last = turn.at.or(last);
        if turn.role != Role::Assistant || turn.text.is_empty() {
            continue;
        }
        if !has_several_lines(&turn.text) {
            out.single_line += 1;
        } else if turn.text.chars().nth(rules.max_chars).is_some() {
            out.too_long += 1;
        } else {
            let at = Moment::of(last.unwrap_or(now));
            let draft = NoteDraft::of(turn.text, at, rules.max_keywords);
            // Borrowed times differ from stop to stop, so they must not make two notes of one answer.
            out.drafts.push(if turn.at.is_some() { draft } else { draft.without_time() });
        }
    }
    out
}

/// Whether a message has at least two lines with something on them.
fn has_several_lines(text: &str) -> bool {
    text.lines().filter(|line| !line.trim().is_empty()).nth(1).is_some()
}
