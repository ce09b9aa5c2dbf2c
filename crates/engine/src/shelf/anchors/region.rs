//! Lines of a file as they are compared.
//!
//! Comes in: bytes of any kind. Goes out: lines without the blanks at their ends, so that a checkout with other line ends says the same; a
//! hash of a range of them; and where in a file a range with a known fingerprint stands. One pass, whatever the file and the range.

use heirloom_core::hash;
use std::ops::Range;

/// Places with the wanted fingerprint that are compared in full.
const TRIED: usize = 4;

/// A base that is odd and has its bits spread; products wrap.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// The lines of a file.
pub(super) struct Lines<'t> {
    lines: Vec<&'t [u8]>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(bytes: &'t [u8]) -> Lines<'t> {
        let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let lines = match whole.is_empty() {
            true => Vec::new(),
            false => whole.split(|b| *b == b'\n').map(|line| line.trim_ascii_end()).collect(),
        };
        Lines { lines }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&'t [u8]> {
        self.lines.get(at).copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'t [u8]> {
        self.lines.iter().copied()
    }

    /// The hash of a range; `None` if the file is shorter.
    pub(super) fn hash(&self, range: Range<usize>) -> Option<String> {
        Some(hash::sha256(&self.lines.get(range)?.join(&b'\n')))
    }

    /// The hash of all lines.
    pub(super) fn hash_all(&self) -> String {
        hash::sha256(&self.lines.join(&b'\n'))
    }

    /// The fingerprint of a range.
    pub(super) fn roll(&self, range: Range<usize>) -> u64 {
        let lines = self.lines.get(range).unwrap_or_default();
        lines.iter().fold(0u64, |roll, line| roll.wrapping_mul(BASE).wrapping_add(of_line(line)))
    }

    /// Where `count` lines with this fingerprint and hash stand, nearest to line `near`.
    pub(super) fn find(&self, count: usize, roll: u64, hash: &str, near: usize) -> Option<Range<usize>> {
        if count == 0 || count > self.len() {
            return None;
        }
        let each: Vec<u64> = self.iter().map(of_line).collect();
        // What the line that leaves the window weighs.
        let top = (1..count).fold(1u64, |top, _| top.wrapping_mul(BASE));
        let mut now = 0u64;
        let mut starts = Vec::new();
        for (at, line) in each.iter().enumerate() {
            if at >= count {
                now = now.wrapping_sub(each[at - count].wrapping_mul(top));
            }
            now = now.wrapping_mul(BASE).wrapping_add(*line);
            if at + 1 >= count && now == roll {
                starts.push(at + 1 - count);
            }
        }
        starts.sort_by_key(|start| start.abs_diff(near));
        let same = |start: &usize| self.hash(*start..start + count).as_deref() == Some(hash);
        starts.into_iter().take(TRIED).find(same).map(|start| start..start + count)
    }
}

fn of_line(line: &[u8]) -> u64 {
    line.iter().fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01B3))
}
