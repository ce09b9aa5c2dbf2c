//! One pass over `index.md` for the lines that hold a word of the prompt.
//!
//! Comes in: the file's bytes, as they are. Goes out: the entries that earn points, best first, as places in the file. Lines without any of
//! the words are passed over many bytes at a time, and no line is copied. Never here: reading records, or anything about an entry
//! that its line does not say.

use super::words::Words;
use crate::shelf::records::EntryLine;
use aho_corasick::packed;
use std::borrow::Cow;
use std::ops::Range;

/// How much is folded to lower case at a time: small enough to stay near the processor.
const STRETCH: usize = 32 << 10;

/// The two characters beyond ASCII whose lower case is an ASCII letter. A line that has one may hold a word that its bytes do not show.
const FOLDS_TO_ASCII: [&str; 2] = ["\u{212a}", "\u{130}"];

/// An entry that earned points.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// Best first.
    score: std::cmp::Reverse<u32>,
    priority: u8,
    start: usize,
    end: usize,
}

impl Candidate {
    /// Its line in the file.
    pub(super) fn line(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The entries that earn points: `worth` says how many, with their category's priority, or that an entry does not count. `every_line` looks at
/// each of them, for prompts that give points to whole categories.
pub(super) fn sift(
    index: &[u8],
    words: &mut Words,
    every_line: bool,
    worth: &impl Fn(&EntryLine<'_>, &mut Words) -> Option<(u32, u8)>,
) -> Vec<Candidate> {
    // Without the processor's help, or for very many words, every line is looked at.
    let searcher = if every_line { None } else { searcher(words) };
    let mut found = Vec::new();
    let mut see = |line: Range<usize>| {
        let text = line_text(&index[line.clone()]);
        let Some(entry) = EntryLine::parse(text.trim()) else { return };
        if let Some((score, priority)) = worth(&entry, words).filter(|(score, _)| *score > 0) {
            let Range { start, end } = line;
            found.push(Candidate { score: std::cmp::Reverse(score), priority, start, end });
        }
    };
    match searcher {
        None => lines(index).for_each(&mut see),
        Some(searcher) => {
            let mut lower = Vec::with_capacity(STRETCH.min(index.len()));
            let mut start = 0;
            while start < index.len() {
                let least = (start + STRETCH).min(index.len());
                let end = memchr::memchr(b'\n', &index[least..]).map_or(index.len(), |at| least + at + 1);
                lower.clear();
                lower.extend_from_slice(&index[start..end]);
                lower.make_ascii_lowercase();
                with_hits(&lower, &searcher, |line| see(start + line.start..start + line.end));
                start = end;
            }
        }
    }
    found.sort_unstable();
    found
}

fn searcher(words: &Words) -> Option<packed::Searcher> {
    packed::Searcher::new(words.all().iter().map(String::as_str).chain(FOLDS_TO_ASCII))
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
pub(super) fn line_text(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line)
}
