//! Cursors of answers that come in parts: where to go on, and for which question.
//!
//! Comes in: a place, and what was asked. Goes out: an opaque text, or the place it stands for. A cursor holds only for the question it was made for.
//! Never here: the cursors of `list`, which carry their place in an order of their own.

use heirloom_core::{Code, Fault, fault::Result, hash};
use std::collections::HashSet;

/// A place in an answer: an item, and how far into its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spot {
    /// How many items come before it, or the number of the item behind which to go on.
    pub item: usize,
    /// Bytes of its text that were given already.
    pub at: usize,
}

/// The cursor of a place for whoever asked this.
pub fn write(spot: Spot, asked: &str) -> String {
    format!("{}.{}.{}", spot.item, spot.at, mark(asked))
}

/// The place of a cursor; the beginning without one.
pub fn read(cursor: Option<&str>, asked: &str) -> Result<Spot> {
    let Some(cursor) = cursor else { return Ok(Spot::default()) };
    let mut parts = cursor.splitn(3, '.');
    let mut number = || parts.next().and_then(|part| part.parse().ok());
    let spot = number().zip(number()).map(|(item, at)| Spot { item, at });
    match (spot, parts.next()) {
        (Some(spot), Some(of)) if of == mark(asked) => Ok(spot),
        _ => Err(unknown()),
    }
}

/// What somebody has of an answer whose order may change between two pages: a short mark of each id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Seen {
    marks: Vec<String>,
    known: HashSet<String>,
}

/// Characters of the mark of an id: 36 bits.
const OF_ID: usize = 9;

impl Seen {
    /// What a cursor says; nothing without one.
    pub(super) fn read(cursor: Option<&str>, asked: &str) -> Result<Seen> {
        let Some(cursor) = cursor else { return Ok(Seen::default()) };
        let (marks, of) = cursor.split_once('.').ok_or_else(unknown)?;
        let whole = marks.len().is_multiple_of(OF_ID) && marks.bytes().all(|byte| byte.is_ascii_hexdigit());
        if of != mark(asked) || !whole || marks.is_empty() {
            return Err(unknown());
        }
        let marks: Vec<String> =
            marks.as_bytes().chunks(OF_ID).map(|one| String::from_utf8_lossy(one).into_owned()).collect();
        Ok(Seen { known: marks.iter().cloned().collect(), marks })
    }

    pub(super) fn len(&self) -> usize {
        self.marks.len()
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.known.contains(&of_id(id))
    }

    pub(super) fn add(&mut self, id: &str) {
        let one = of_id(id);
        if self.known.insert(one.clone()) {
            self.marks.push(one);
        }
    }

    pub(super) fn write(&self, asked: &str) -> String {
        format!("{}.{}", self.marks.concat(), mark(asked))
    }
}

fn of_id(id: &str) -> String {
    hash::sha256(id.as_bytes())[..OF_ID].to_owned()
}

fn unknown() -> Fault {
    Fault::new(Code::Usage, "the cursor does not belong to this question").hint(
        "copy `next` whole from the last answer and keep the same arguments; leave it out to start again",
    )
}

fn mark(asked: &str) -> String {
    hash::sha256(asked.as_bytes())[..12].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_back_to_its_place_and_serves_no_other_question() {
        let spot = Spot { item: 3, at: 8000 };
        let cursor = write(spot, "x");
        assert_eq!(read(Some(&cursor), "x"), Ok(spot));
        assert_eq!(read(None, "x"), Ok(Spot::default()));
        for (cursor, asked) in
            [(cursor.as_str(), "y"), ("", "x"), ("3", "x"), ("3.x.y", "x"), ("-1.0.a", "x")]
        {
            assert_eq!(read(Some(cursor), asked).unwrap_err().code, Code::Usage, "{cursor}");
        }
    }

    #[test]
    fn what_was_seen_comes_back_from_a_cursor_of_the_same_question() {
        let mut seen = Seen::default();
        ["decision:a", "note:b", "decision:a"].into_iter().for_each(|id| seen.add(id));
        assert_eq!(seen.len(), 2);
        let cursor = seen.write("x");
        let again = Seen::read(Some(&cursor), "x").unwrap();
        assert_eq!(again, seen);
        assert!(again.has("note:b") && !again.has("note:c"));
        for (cursor, asked) in
            [(cursor.as_str(), "y"), ("", "x"), (".", "x"), (&cursor[1..], "x"), ("zzzzzzzzz.0", "x")]
        {
            assert_eq!(Seen::read(Some(cursor), asked).unwrap_err().code, Code::Usage, "{cursor}");
        }
    }
}
