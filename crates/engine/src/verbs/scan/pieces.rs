//! A stream in pieces, to its end.
//!
//! Comes in: a stream. Goes out: pieces of whole lines, each but the first beginning with the last lines of the one before it, so that nothing
//! is missed where two meet. Never more than two pieces in memory, and never a stream that is read only in part.

use std::io::Read;

/// How long a piece is; shorter in tests, which look at more than one.
pub(super) const PIECE: usize = if cfg!(test) { 256 << 10 } else { 16 << 20 };
/// How much of it the next one begins with, at most.
const AGAIN: usize = 64 << 10;

/// A part of a stream.
pub(super) struct Piece<'b> {
    /// Its bytes.
    pub(super) bytes: &'b [u8],
    /// The number of its first line.
    pub(super) first_line: usize,
    /// How many of its bytes the piece before it had too.
    pub(super) seen: usize,
}

/// Shows every piece of a stream.
pub(super) fn each(from: &mut dyn Read, look: &mut dyn FnMut(Piece<'_>)) -> std::io::Result<()> {
    each_of(from, PIECE, AGAIN, look)
}

fn each_of(
    from: &mut dyn Read,
    piece: usize,
    again: usize,
    look: &mut dyn FnMut(Piece<'_>),
) -> std::io::Result<()> {
    let (mut held, mut first_line, mut seen) = (Vec::new(), 1, 0);
    loop {
        let wanted = (piece + seen).saturating_sub(held.len()) as u64;
        let read = (&mut *from).take(wanted.max(1)).read_to_end(&mut held)?;
        let ended = (read as u64) < wanted.max(1);
        if ended {
            if held.len() > seen || first_line == 1 && seen == 0 {
                look(Piece { bytes: &held, first_line, seen });
            }
            return Ok(());
        }
        // A line that is longer than a piece is cut where the piece ends.
        let end = held[seen..].iter().rposition(|b| *b == b'\n').map_or(held.len(), |at| seen + at + 1);
        look(Piece { bytes: &held[..end], first_line, seen });
        let from_end = end.saturating_sub(again);
        let keep = held[from_end..end].iter().position(|b| *b == b'\n').map_or(end, |at| from_end + at + 1);
        // A last line that is longer than that begins again in its middle; its number is still right.
        let keep = if keep == end && held[..end].last() != Some(&b'\n') { from_end } else { keep };
        first_line += held[..keep].iter().filter(|b| **b == b'\n').count();
        seen = end - keep;
        held.drain(..keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_whole_and_know_their_lines() {
        let text: String = (1..=500).map(|n| format!("{n}\n")).collect();
        for (piece, again) in [(10, 4), (50, 20), (100, 100), (1 << 20, 10), (7, 0)] {
            let (mut whole, mut pieces) = (Vec::new(), 0);
            each_of(&mut text.as_bytes(), piece, again, &mut |one| {
                assert!(one.seen <= one.bytes.len());
                whole.extend_from_slice(&one.bytes[one.seen..]);
                let shown = String::from_utf8_lossy(one.bytes).into_owned();
                assert_eq!(shown.lines().next().unwrap(), one.first_line.to_string(), "{piece} {again}");
                pieces += 1;
            })
            .unwrap();
            assert_eq!(whole, text.as_bytes(), "{piece} {again}");
            assert!(pieces > 1 || piece == 1 << 20);
        }
    }

    #[test]
    fn a_line_without_an_end_is_read_to_its_end() {
        let text = "x".repeat(1_000);
        let mut whole = Vec::new();
        let mut look = |one: Piece<'_>| {
            assert_eq!(one.first_line, 1);
            whole.extend_from_slice(&one.bytes[one.seen..]);
        };
        each_of(&mut text.as_bytes(), 64, 16, &mut look).unwrap();
        assert_eq!(whole, text.as_bytes());
        let mut count = 0;
        each_of(&mut "".as_bytes(), 64, 16, &mut |one| count += 1 + one.bytes.len()).unwrap();
        assert_eq!(count, 1, "an empty stream is a text too");
    }
}
