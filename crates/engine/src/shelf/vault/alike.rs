//! How alike two texts of the vault are, and how well one answers a question.
//!
//! Comes in: texts. Goes out: the two measures of the duplicate gate, a search score, pairs worth merging. All comparisons are in
//! lower case; the new text, the question or the earlier record comes first. Never here: deciding what happens to a pair.

use super::record::Record;
use crate::threads::both;
use heirloom_core::text::{Probe, is_word, overlap, share, shared, word_set};
use serde::Serialize;

/// Two measures of how alike two texts are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Likeness {
    /// Shared words over the smaller set of words.
    pub overlap: f64,
    /// The sequence ratio.
    pub sequence: f64,
}

/// How alike two texts are.
pub fn likeness(first: &str, second: &str) -> Likeness {
    let (first, second) = (first.to_lowercase(), second.to_lowercase());
    Likeness {
        overlap: overlap(&word_set(&first), &word_set(&second)),
        sequence: Probe::new(&first).ratio(&second),
    }
}

/// From so many texts on, two threads compare faster than one.
const MANY: usize = 1000;

/// The first of these records that a new text duplicates: as many words in common, or as alike in sequence, as the floors say.
pub(super) fn duplicate_of<'r, 'a>(
    text: &str,
    among: impl Iterator<Item = &'r Record<'a>>,
    overlap_floor: f64,
    ratio_floor: f64,
) -> Option<&'r Record<'a>>
where
    'a: 'r,
{
    let lower = text.to_lowercase();
    let words = Words::of(&lower);
    let probe = Probe::new(&lower);
    let first_in = |records: &[&'r Record<'a>]| {
        let mut stored = String::new();
        let alike = |record: &&&'r Record<'a>| {
            lower_into(&record.text, &mut stored);
            words.overlap_reaches(&stored, overlap_floor) || probe.reaches(&stored, ratio_floor).is_some()
        };
        records.iter().find(alike).copied()
    };
    let among: Vec<&'r Record<'a>> = among.collect();
    if among.len() < MANY {
        return first_in(&among);
    }
    let (early, late) = among.split_at(among.len() / 2);
    let (first, second) = both(|| first_in(early), || first_in(late));
    first.or(second)
}

/// The lower-case form of a text, in a buffer that is used again for the next one.
fn lower_into(text: &str, buffer: &mut String) {
    if text.is_ascii() {
        buffer.clear();
        buffer.push_str(text);
        buffer.make_ascii_lowercase();
    } else {
        *buffer = text.to_lowercase();
    }
}

/// A set of words with a mark for each, so that most words that are not in it are known without a search.
struct Words<'a> {
    sorted: Vec<&'a [u8]>,
    marks: Marks,
}

impl<'a> Words<'a> {
    fn of(lower: &'a str) -> Words<'a> {
        let sorted: Vec<&[u8]> = word_set(lower).into_iter().map(str::as_bytes).collect();
        let mut marks = Marks::default();
        sorted.iter().for_each(|word| marks.set(word));
        Words { sorted, marks }
    }

    /// Whether the overlap with a stored text reaches the floor. Sorting the stored words is left to texts that could reach it: hits
    /// with repetition are at least the shared words, and different marks are at most the different words, so the bound is never too
    /// low.
    fn overlap_reaches(&self, stored: &str, floor: f64) -> bool {
        let mut hits = 0;
        let mut marks = Marks::default();
        each_word(stored, |word| {
            marks.set(word);
            hits += usize::from(self.marks.has(word) && self.sorted.binary_search(&word).is_ok());
        });
        let bound = share(hits, self.sorted.len().min(marks.count()));
        bound >= floor && {
            let mine: Vec<&str> = self.sorted.iter().filter_map(|word| str::from_utf8(word).ok()).collect();
            overlap(&mine, &word_set(stored)) >= floor
        }
    }
}

/// Which bytes of an ASCII text belong to a word.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128u8 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    table
};

/// The words of a text, repeated ones too.
fn each_word<'t>(text: &'t str, mut tell: impl FnMut(&'t [u8])) {
    if text.is_ascii() {
        let words = text.as_bytes().split(|byte| !IN_WORD[usize::from(*byte)]);
        words.filter(|word| !word.is_empty()).for_each(tell);
    } else {
        let words = text.split(|c| !is_word(c)).filter(|word| !word.is_empty());
        words.for_each(|word| tell(word.as_bytes()));
    }
}

/// One bit for each of 256 marks.
#[derive(Default)]
struct Marks([u64; 4]);

impl Marks {
    /// The mark of a word: from its length and three of its bytes.
    fn of(word: &[u8]) -> (usize, u64) {
        let len = word.len();
        let at = |i: usize| u32::from(word.get(i).copied().unwrap_or_default());
        let mix = (at(0) * 37) ^ (at(len.saturating_sub(1)) * 101) ^ (at(len / 2) * 17) ^ (len as u32 * 59);
        ((mix >> 6 & 3) as usize, 1 << (mix & 63))
    }

    fn set(&mut self, word: &[u8]) {
        let (row, bit) = Marks::of(word);
        self.0[row] |= bit;
    }

    fn has(&self, word: &[u8]) -> bool {
        let (row, bit) = Marks::of(word);
        self.0[row] & bit != 0
    }

    fn count(&self) -> usize {
        self.0.iter().map(|row| row.count_ones() as usize).sum()
    }
}

/// A question, ready to be held against many texts.
#[derive(Debug)]
pub struct Question {
    lower: String,
    probe: Probe,
}

impl Question {
    /// Prepares a question.
    pub fn new(query: &str) -> Question {
        let lower = query.to_lowercase();
        let probe = Probe::new(&lower);
        Question { lower, probe }
    }

    /// The score of a text, or nothing if it shares no word with the question: the share of the question's words it has,
    /// 0.3 if it holds the question as it stands, and 0.4 of the sequence ratio, added in that order.
    pub fn score(&self, text: &str) -> Option<f64> {
        let text = text.to_lowercase();
        let words = word_set(&self.lower);
        let common = shared(&words, &word_set(&text));
        if common == 0 {
            return None;
        }
        let mut score = share(common, words.len());
        if text.contains(&self.lower) {
            score += 0.3;
        }
        Some(score + 0.4 * self.probe.ratio(&text))
    }
}

/// Two active memories of one scope that may be one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The earlier one.
    pub a: String,
    /// The later one.
    pub b: String,
    /// The larger of the two measures.
    pub score: f64,
}

/// Pairs of the same scope whose larger measure reaches the floor, best first.
pub(super) fn pairs(records: &[&Record<'_>], floor: f64) -> Vec<Pair> {
    let lower: Vec<String> = records.iter().map(|r| r.text.to_lowercase()).collect();
    let words: Vec<Vec<&str>> = lower.iter().map(|text| word_set(text)).collect();
    let mut found = Vec::new();
    for (i, first) in records.iter().enumerate() {
        let probe = Probe::new(&lower[i]);
        for (j, second) in records.iter().enumerate().skip(i + 1) {
            if first.scope != second.scope {
                continue;
            }
            let common = overlap(&words[i], &words[j]);
            // The ratio matters only where it is the larger one.
            let score = probe.reaches(&lower[j], floor.max(common)).unwrap_or(common);
            if score >= floor {
                found.push(Pair { a: first.id.to_string(), b: second.id.to_string(), score });
            }
        }
    }
    found.sort_by(|x, y| y.score.total_cmp(&x.score));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_quick_overlap_is_the_plain_one(
            a in "([abc\u{e9}]{1,3} ){0,8}", b in "([abc\u{e9}]{1,3} ){0,8}", floor in 0.0f64..1.1,
        ) {
            let plain = overlap(&word_set(&a), &word_set(&b)) >= floor;
            prop_assert_eq!(Words::of(&a).overlap_reaches(&b, floor), plain);
        }
    }

    #[test]
    fn a_text_without_a_word_of_the_question_is_no_answer() {
        let question = Question::new("go");
        assert_eq!(question.score("The nightly importer"), None);
        assert!(question.score("Written in Go").is_some_and(|score| score > 1.3));
        assert_eq!(Question::new("   ").score("a"), None);
    }

    #[test]
    fn the_better_pair_comes_first_and_scopes_do_not_mix() {
        let record = |id: &str, scope: &str, text: &str| {
            let line = format!(r#"{{"id":"{id}","scope":"{scope}","text":"{text}"}}"#);
            Record::parse(line.as_bytes()).unwrap().into_owned()
        };
        let all = [
            record("a", "shared", "one two three four"),
            record("b", "shared", "one two five six"),
            record("c", "shared", "one two three four"),
            record("d", "orion", "one two three four"),
        ];
        let found = pairs(&all.iter().collect::<Vec<_>>(), 0.5);
        let names: Vec<(&str, &str)> = found.iter().map(|p| (p.a.as_str(), p.b.as_str())).collect();
        assert_eq!(names[0], ("a", "c"));
        assert!(!names.iter().any(|(a, b)| *a == "d" || *b == "d"));
    }
}
