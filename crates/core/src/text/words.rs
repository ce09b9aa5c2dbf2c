//! Words: tokens for matching, slugs for names, how far two titles differ.
//!
//! Comes in: any text. Goes out: lower-case ASCII tokens or a kebab-case slug. Tokens are what seed scoring is
//! defined on, so other scripts yield none here; the recall index has a tokeniser of its own.

use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;

/// The longest slug.
pub(crate) const SLUG_MAX: usize = 80;

/// Words that say nothing about what a text is about.
pub const STOP_WORDS: [&str; 87] = [
    "a", "about", "also", "an", "and", "are", "at", "be", "been", "being", "but", "by", "can", "could",
    "did", "do", "does", "else", "for", "from", "get", "go", "had", "has", "have", "he", "help", "how", "i",
    "if", "in", "into", "is", "it", "just", "know", "let", "like", "make", "may", "me", "might", "must",
    "my", "need", "no", "not", "of", "on", "or", "out", "please", "see", "shall", "she", "should", "so",
    "that", "the", "then", "these", "they", "think", "this", "those", "to", "too", "up", "use", "very",
    "want", "was", "we", "were", "what", "when", "where", "which", "who", "whom", "why", "will", "with",
    "would", "yes", "you", "your",
];

/// The words of a text that can match: runs of `a-z0-9` in lower case, at least three long, no stop words.
pub fn tokens(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() > 2 && STOP_WORDS.binary_search(word).is_err())
        .map(str::to_owned)
        .collect()
}

/// A kebab-case name: decomposed, ASCII only, at most 80 long; empty if nothing is left.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.nfkd().filter(char::is_ascii) {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(SLUG_MAX);
    out.truncate(out.trim_end_matches('-').len());
    out
}

/// The lower-case words of a text, split at white space.
pub fn words(text: &str) -> BTreeSet<String> {
    text.to_lowercase().split_whitespace().map(str::to_owned).collect()
}

/// How far two titles differ: words in only one of them, over all words of both. 0 for two empty ones.
pub fn difference_ratio(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    let all = a.union(&b).count();
    if all == 0 { 0.0 } else { a.symmetric_difference(&b).count() as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stop_words_are_sorted_so_that_they_can_be_searched() {
        assert!(STOP_WORDS.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn slugs_decompose_accents_and_never_end_in_a_hyphen() {
        assert_eq!(slug("Café: Déjà-vu & Co!"), "cafe-deja-vu-co");
        assert_eq!(slug("日本語"), "");
        assert_eq!(slug(&format!("{} tail", "b".repeat(79))), "b".repeat(79));
    }

    #[test]
    fn a_title_differs_by_the_words_only_one_side_has() {
        assert_eq!(difference_ratio("Use JWT tokens", "use jwt TOKENS"), 0.0);
        assert_eq!(difference_ratio("Use JWT tokens", "Use JWT cookies"), 0.5);
        assert_eq!(difference_ratio("", ""), 0.0);
    }

    proptest! {
        #[test]
        fn a_slug_of_a_slug_is_the_same_slug(text in ".{0,200}") {
            let once = slug(&text);
            prop_assert_eq!(slug(&once), once.clone());
            prop_assert!(once.len() <= SLUG_MAX && !once.starts_with('-') && !once.ends_with('-'));
        }

        #[test]
        fn tokens_are_ascii_words_of_three_letters_or_more(text in ".{0,200}") {
            for token in tokens(&text) {
                prop_assert!(token.len() > 2);
                prop_assert!(token.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
            }
        }
    }
}
