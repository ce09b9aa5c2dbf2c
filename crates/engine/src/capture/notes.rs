//! From a transcript's turns to drafts of notes.
//!
//! Comes in: turns in order. Goes out: a draft for every assistant message of several lines, word for word. User messages,
//! single lines and messages over the limit are left out and counted. Never here: summarising, or deciding what is a duplicate.

use super::transcript::{Role, Turn};
use crate::shelf::notes::{Moment, NoteDraft};
use heirloom_core::settings::Notes as Rules;
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
            out.drafts.push(NoteDraft::of(turn.text, at, rules.max_keywords));
        }
    }
    out
}

/// Whether a message has at least two lines with something on them.
fn has_several_lines(text: &str) -> bool {
    text.lines().filter(|line| !line.trim().is_empty()).nth(1).is_some()
}
