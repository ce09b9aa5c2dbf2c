//! One pass over `index.md` for the lines that hold a word of the prompt.
//!
//! Comes in: the index, read stretch by stretch. Goes out: the lines that earn points, best first. Lines without any of the words are
//! passed over many bytes at a time, and no line is kept before it is asked for. Never here: reading records, or anything about an entry
//! that its line does not say.

use super::words::Words;
use crate::budget::{self, Left};
use crate::shelf::records::{EntryLine, IndexSource};
use aho_corasick::packed;
use heirloom_core::fault::Result;
use std::borrow::Cow;
use std::ops::Range;

/// How much is read and folded to lower case at a time: small enough to stay near the processor.
const STRETCH: usize = 32 << 10;

/// The longest line that a hook looks into.
const LINE: usize = 1 << 20;

/// The two characters beyond ASCII whose lower case is an ASCII letter. A line that has one may hold a word that its bytes do not show.
const FOLDS_TO_ASCII: [&str; 2] = ["\u{212a}", "\u{130}"];

/// An entry that earned points. The order is best first, then by priority, then as the index has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    score: std::cmp::Reverse<u32>,
    priority: u8,
    start: u64,
    len: u32,
}

/// The entries that earned points, best first. Only as many are sorted as are asked for.
#[derive(Debug)]
pub(super) struct Candidates<'i> {
    index: &'i IndexSource,
    all: Vec<Candidate>,
    next: usize,
    sorted: usize,
}

/// So many are sorted first; then twice as many, and so on.
const SORTED_FIRST: usize = 64;

impl Iterator for Candidates<'_> {
    type Item = String;

    /// The line of the next best entry.
    fn next(&mut self) -> Option<String> {
        if self.next == self.sorted {
            let rest = &mut self.all[self.sorted..];
            let more = SORTED_FIRST.max(self.sorted).min(rest.len());
            if more == 0 {
                return None;
            }
            if more < rest.len() {
                rest.select_nth_unstable(more);
            }
            rest[..more].sort_unstable();
            self.sorted += more;
        }
        let found = self.all[self.next];
        self.next += 1;
        let mut line = vec![0; found.len as usize];
        // It was there a moment ago; a line that cannot be read any more says nothing.
        let read = self.index.read_at(&mut line, found.start).unwrap_or(0);
        Some(line_text(&line[..read]).into_owned())
    }
}

/// The entries that earn points: `worth` says how many, with their category's priority, or that an entry does not count. `every_line` looks at
/// each of them, for prompts that give points to whole categories.
pub(super) fn sift<'i>(
    index: &'i IndexSource,
    words: &mut Words,
    every_line: bool,
    worth: &impl Fn(&EntryLine<'_>, &mut Words) -> Option<(u32, u8)>,
) -> Result<Candidates<'i>> {
    // Without the processor's help, or for very many words, every line is looked at.
    let searchers = if every_line { None } else { searchers(words) };
    let mut all = Vec::new();
    let mut see = |line: &[u8], start: u64| {
        let text = line_text(line);
        let Some(entry) = EntryLine::parse(text.trim()) else { return };
        if let Some((score, priority)) = worth(&entry, words).filter(|(score, _)| *score > 0) {
            // An index is smaller than that.
            let len = u32::try_from(line.len()).unwrap_or(u32::MAX);
            all.push(Candidate { score: std::cmp::Reverse(score), priority, start, len });
        }
    };
    let mut lower = Vec::with_capacity(STRETCH);
    stretches(index, |stretch, start| match &searchers {
        None => lines(stretch).for_each(|line| see(&stretch[line.clone()], start + line.start as u64)),
        Some((plain, folding)) => {
            // One pass for both, many bytes at a time.
            let mut seen = 0;
            lower.resize(stretch.len(), 0);
            for (to, from) in lower.iter_mut().zip(stretch) {
                *to = from.to_ascii_lowercase();
                seen |= from;
            }
            let searcher = if seen.is_ascii() { plain } else { folding };
            with_hits(&lower, searcher, |line| see(&stretch[line.clone()], start + line.start as u64));
        }
    })?;
    Ok(Candidates { index, all, next: 0, sorted: 0 })
}

/// The index in stretches of whole lines, each with where it begins. One buffer serves them all.
fn stretches(index: &IndexSource, mut each: impl FnMut(&[u8], u64)) -> Result<()> {
    let mut buffer = vec![0; STRETCH];
    let (mut start, mut filled) = (0u64, 0);
    loop {
        if !budget::goes_on_or_leaves(Left::Index) {
            return Ok(());
        }
        let read = index.read_at(&mut buffer[filled..], start + filled as u64)?;
        let end = filled + read;
        if end < buffer.len() {
            each(&buffer[..end], start);
            return Ok(());
        }
        match memchr::memrchr(b'\n', &buffer) {
            Some(at) => {
                each(&buffer[..at], start);
                buffer.copy_within(at + 1.., 0);
                start += at as u64 + 1;
                filled = end - at - 1;
            }
            // No title and no tags are that long.
            None if budget::is_bounded() && end > LINE => {
                budget::leave_out(Left::Index, 1);
                start += end as u64;
                filled = 0;
            }
            // A line longer than a stretch.
            None => {
                filled = end;
                buffer.resize(2 * end, 0);
            }
        }
    }
}

/// One for plain stretches, and one that also stops at what folds to a letter; the shorter its shortest word, the slower a searcher is.
fn searchers(words: &Words) -> Option<(packed::Searcher, packed::Searcher)> {
    let plain = || words.all().iter().map(String::as_str);
    Some((packed::Searcher::new(plain())?, packed::Searcher::new(plain().chain(FOLDS_TO_ASCII))?))
}

/// The lines of a stretch in which something is found.
fn with_hits(text: &[u8], searcher: &packed::Searcher, mut each: impl FnMut(Range<usize>)) {
    let mut at = 0;
    while let Some(hit) = searcher.find_in(text, (at..text.len()).into()) {
        let start = memchr::memrchr(b'\n', &text[at..hit.start()]).map_or(at, |found| at + found + 1);
        let end = memchr::memchr(b'\n', &text[hit.end()..]).map_or(text.len(), |found| hit.end() + found);
        each(start..end);
        at = (end + 1).min(text.len());
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', text).chain(std::iter::once(text.len())).map(move |end| {
        let line = start..end;
        start = end + 1;
        line
    })
}

/// A line as text; what is no UTF-8 becomes replacement characters, as when the whole file is read so.
fn line_text(line: &[u8]) -> Cow<'_, str> {
    // Replacing is slow even where there is nothing to replace.
    std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed)
}
