//! The part of a text that shows why it was found, with the matching words marked.
//!
//! In: a text and the terms it was found by. Out: a cut of at most the wanted length, at word boundaries, and
//! where in it the matches lie. Escaping is left to whoever shows it. Linear in the length of the text.

use std::collections::HashMap;
use std::ops::Range;

use crate::index::each_term;

/// A cut of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The cut, one line.
    pub text: String,
    /// Byte ranges of matching words in it.
    pub marks: Vec<Range<usize>>,
    /// Whether something before it was left out.
    pub cut_before: bool,
    /// Whether something after it was left out.
    pub cut_after: bool,
}

/// The cut of `text` of at most `room` characters that holds the most of `terms` (stemmed, with weights).
pub fn snippet(text: &str, terms: &[(String, f32)], room: usize) -> Snippet {
    let weights: HashMap<&str, f32> = terms.iter().map(|(t, w)| (t.as_str(), *w)).collect();
    // Words with their length in characters and what they are worth.
    let words: Vec<(&str, usize, f32)> = text
        .split_whitespace()
        .map(|word| {
            let mut worth = 0f32;
            each_term(word, |term, _| worth = worth.max(weights.get(term).copied().unwrap_or(0.0)));
            (word, word.chars().count() + 1, worth)
        })
        .collect();
    let (mut best, mut best_worth) = (0..0, -1f32);
    let (mut from, mut length, mut worth) = (0, 0, 0f32);
    for to in 0..words.len() {
        length += words[to].1;
        worth += words[to].2;
        while length > room + 1 && from < to {
            length -= words[from].1;
            worth -= words[from].2;
            from += 1;
        }
        // Of equal windows the first wins, which keeps the beginning of a text that matches nowhere.
        if worth > best_worth + 1e-6 || (best.start == from && worth >= best_worth - 1e-6) {
            (best, best_worth) = (from..to + 1, worth);
        }
    }
    let mut out =
        Snippet { cut_before: best.start > 0, cut_after: best.end < words.len(), ..Snippet::default() };
    for (word, _, worth) in &words[best] {
        if !out.text.is_empty() {
            out.text.push(' ');
        }
        let start = out.text.len();
        out.text.extend(word.chars().take(room));
        if *worth > 0.0 {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let lead = word.find(bare).unwrap_or(0);
            out.marks.push(start + lead..(start + lead + bare.len()).min(out.text.len()));
        }
    }
    out.marks.retain(|m| {
        out.text.is_char_boundary(m.start) && out.text.is_char_boundary(m.end) && m.start < m.end
    });
    out
}

/// [`snippet`] for somebody who marks nothing: a text that fits needs no cut, and its words need not be looked at.
pub(crate) fn excerpt(text: &str, terms: &[(String, f32)], room: usize) -> Snippet {
    if text.len() > room {
        return Snippet { marks: Vec::new(), ..snippet(text, terms, room) };
    }
    let mut whole = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !whole.is_empty() {
            whole.push(' ');
        }
        whole.push_str(word);
    }
    Snippet { text: whole, ..Snippet::default() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(list: &[&str]) -> Vec<(String, f32)> {
        list.iter().map(|t| ((*t).to_owned(), 1.0)).collect()
    }

    #[test]
    fn the_cut_shows_the_matching_words_marked() {
        let text = "A long start that says nothing of interest at all. Then we chose Postgres (finally) for the queues.";
        let s = snippet(text, &terms(&["postgr", "queue"]), 50);
        let marked: Vec<&str> = s.marks.iter().map(|m| &s.text[m.clone()]).collect();
        assert_eq!(marked, ["Postgres", "queues"]);
        assert!(s.cut_before && !s.cut_after && s.text.chars().count() <= 51);
    }

    #[test]
    fn a_text_that_matches_nowhere_shows_its_beginning() {
        let s = snippet("one two three four five", &terms(&["zebra"]), 9);
        assert_eq!(s.text, "one two");
        assert!(s.marks.is_empty() && s.cut_after);
    }

    proptest! {
        #[test]
        fn an_excerpt_is_a_snippet_without_marks(text in "[a-d é\n]{0,60}", room in 1usize..80) {
            let terms = terms(&["a", "b"]);
            let marked = snippet(&text, &terms, room);
            prop_assert_eq!(excerpt(&text, &terms, room), Snippet { marks: Vec::new(), ..marked });
        }

        #[test]
        fn any_text_gives_a_cut_within_its_room(text in ".{0,300}", room in 1usize..80) {
            let s = snippet(&text, &terms(&["a", "the"]), room);
            prop_assert!(s.text.chars().count() <= room + 1);
            for m in &s.marks {
                prop_assert!(s.text.get(m.clone()).is_some());
            }
        }
    }
}
