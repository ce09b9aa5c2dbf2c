//! The words of a prompt, kept so that one search finds every one of them that a title word or tag begins with.
//!
//! Comes in: a prompt's words, then titles and tags. Goes out: which words each of them holds. A title or tag costs time by its own length, however
//! many words the prompt has. Never here: what a match is worth.

use heirloom_core::text::STOP_WORDS;
use std::collections::BTreeSet;

/// Shortest word that may match the beginning of another.
const PREFIX_MIN: usize = 4;

const IN_TITLE: u8 = 1;
const IN_TAGS: u8 = 2;
const BEGINS: u8 = 4;

/// A prompt's words, and where the last entry that was looked at has them.
#[derive(Debug)]
pub struct Words {
    /// Sorted.
    words: Vec<String>,
    /// The bytes that words begin with: most words of an entry end here.
    firsts: [bool; 256],
    /// For each word the longest other word it begins with.
    shorter: Vec<Option<usize>>,
    /// Where the entry at hand has each word; all zero between two entries.
    places: Vec<u8>,
    /// Which words it has.
    found: Vec<usize>,
    /// A title or tag in lower case.
    lower: String,
}

/// Where an entry has a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The title has it.
    pub title: bool,
    /// It is a tag.
    pub tag: bool,
}

impl Words {
    /// Of these words, as [`heirloom_core::text::tokens`] gives them.
    pub fn new(words: &BTreeSet<String>) -> Words {
        let words: Vec<String> = words.iter().cloned().collect();
        let mut shorter = Vec::with_capacity(words.len());
        let mut open: Vec<usize> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            while open.last().is_some_and(|last| !word.starts_with(words[*last].as_str())) {
                open.pop();
            }
            shorter.push(open.last().copied());
            open.push(at);
        }
        let places = vec![0; words.len()];
        let mut firsts = [false; 256];
        words
            .iter()
            .filter_map(|word| word.bytes().next())
            .for_each(|first| firsts[usize::from(first)] = true);
        Words { words, firsts, shorter, places, found: Vec::new(), lower: String::new() }
    }

    /// All of them, sorted.
    pub fn all(&self) -> &[String] {
        &self.words
    }

    /// Looks for the words in a title and tags, and calls `each` for every one that is there, in no order. A word that is neither in the title
    /// nor a tag begins one of them.
    pub fn look<'t>(
        &mut self,
        title: &str,
        tags: impl Iterator<Item = &'t str>,
        mut each: impl FnMut(&str, Place),
    ) {
        let mut lower = std::mem::take(&mut self.lower);
        lowered(title, &mut lower);
        // What is not ASCII separates words, so bytes will do.
        for word in lower.as_bytes().split(|b| !b.is_ascii_alphanumeric()).filter(|word| word.len() > 2) {
            self.note(word, IN_TITLE);
        }
        for tag in tags {
            lowered(tag, &mut lower);
            self.note(lower.as_bytes(), IN_TAGS);
        }
        self.lower = lower;
        for at in self.found.drain(..) {
            let place = std::mem::take(&mut self.places[at]);
            each(&self.words[at], Place { title: place & IN_TITLE != 0, tag: place & IN_TAGS != 0 });
        }
    }

    /// Notes every word that `text` is or begins with.
    fn note(&mut self, text: &[u8], place: u8) {
        if !text.first().is_some_and(|first| self.firsts[usize::from(*first)]) {
            return;
        }
        let at_most = self.words.partition_point(|word| word.as_bytes() <= text);
        let Some(nearest) = at_most.checked_sub(1) else { return };
        let shared = shared_prefix(self.words[nearest].as_bytes(), text);
        // Every word that begins `text` also begins the nearest one that is not after it.
        let mut next = Some(nearest);
        while let Some(at) = next {
            next = self.shorter[at];
            let word = &self.words[at];
            if word.len() > shared {
                continue;
            }
            let how = if word.len() == text.len() {
                place
            } else if word.len() < PREFIX_MIN || (place == IN_TITLE && is_stop_word(text)) {
                continue;
            } else {
                BEGINS
            };
            if self.places[at] == 0 {
                self.found.push(at);
            }
            self.places[at] |= how;
        }
    }
}

/// A title's stop words are no words of it.
fn is_stop_word(word: &[u8]) -> bool {
    STOP_WORDS.binary_search_by(|known| known.as_bytes().cmp(word)).is_ok()
}

fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn lowered(text: &str, into: &mut String) {
    into.clear();
    if text.is_ascii() {
        into.push_str(text);
        into.make_ascii_lowercase();
    } else {
        into.push_str(&text.to_lowercase());
    }
}
