//! Cursors of answers that come in parts: where to go on, and for which question.
//!
//! Comes in: a place, and what was asked. Goes out: an opaque text, or the place it stands for. A cursor holds only for the question it was made for.
//! Never here: the cursors of `list`, which its verb makes.

use heirloom_core::{Code, Fault, fault::Result, hash};

/// A place in an answer: an item, and how far into its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Spot {
    pub(crate) item: usize,
    pub(crate) at: usize,
}

/// The cursor of a place for whoever asked this.
pub(crate) fn write(spot: Spot, asked: &str) -> String {
    format!("{}.{}.{}", spot.item, spot.at, mark(asked))
}

/// The place of a cursor; the beginning without one.
pub(crate) fn read(cursor: Option<&str>, asked: &str) -> Result<Spot> {
    let Some(cursor) = cursor else { return Ok(Spot::default()) };
    let mut parts = cursor.splitn(3, '.');
    let mut number = || parts.next().and_then(|part| part.parse().ok());
    let spot = number().zip(number()).map(|(item, at)| Spot { item, at });
    match (spot, parts.next()) {
        (Some(spot), Some(of)) if of == mark(asked) => Ok(spot),
        _ => Err(Fault::new(Code::Usage, "the cursor does not belong to this question").hint(
            "copy `next` whole from the last answer and keep the same arguments; leave it out to start again",
        )),
    }
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
}
