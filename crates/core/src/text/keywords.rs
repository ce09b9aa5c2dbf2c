//! Keywords and subjects: what a message is about, derived from its own words.
//!
//! Comes in: any text, in any script. Goes out: the most frequent telling words, and one line that names the text. Never here:
//! whether the text is worth keeping, or how long a stored keyword may be (the notes shelf).

use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The longest derived subject, in characters.
const SUBJECT_MAX: usize = 200;

/// How many keywords are taken and which words count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeywordRules {
    /// The most keywords.
    pub max: usize,
    /// The shortest word, in characters.
    pub min_length: usize,
    /// Words that say nothing here, besides the built-in ones; case does not matter.
    pub more_stop_words: Vec<String>,
}

impl Default for KeywordRules {
    fn default() -> KeywordRules {
        KeywordRules { max: 10, min_length: 3, more_stop_words: Vec::new() }
    }
}

/// English words that say nothing about what a message is about. The list belongs to the notes format and is longer than
/// the one that recall matches with.
pub const KEYWORD_STOP_WORDS: [&str; 197] = [
    "a",
    "about",
    "above",
    "across",
    "after",
    "again",
    "against",
    "all",
    "along",
    "also",
    "although",
    "an",
    "and",
    "any",
    "are",
    "around",
    "as",
    "ask",
    "asked",
    "asking",
    "at",
    "be",
    "because",
    "been",
    "before",
    "behind",
    "being",
    "below",
    "between",
    "beyond",
    "both",
    "but",
    "by",
    "came",
    "can",
    "come",
    "coming",
    "could",
    "dare",
    "did",
    "do",
    "does",
    "doing",
    "down",
    "during",
    "each",
    "else",
    "every",
    "except",
    "few",
    "following",
    "for",
    "from",
    "further",
    "gave",
    "get",
    "getting",
    "give",
    "giving",
    "go",
    "going",
    "got",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "keep",
    "keeping",
    "kept",
    "knew",
    "know",
    "knowing",
    "let",
    "lets",
    "look",
    "looked",
    "looking",
    "made",
    "make",
    "making",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "myself",
    "need",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "ought",
    "our",
    "ourselves",
    "out",
    "over",
    "own",
    "plus",
    "put",
    "putting",
    "said",
    "same",
    "saw",
    "say",
    "saying",
    "see",
    "seeing",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "such",
    "take",
    "taking",
    "tell",
    "telling",
    "than",
    "that",
    "the",
    "their",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "think",
    "thinking",
    "this",
    "those",
    "though",
    "thought",
    "through",
    "to",
    "told",
    "too",
    "took",
    "tried",
    "try",
    "trying",
    "under",
    "up",
    "us",
    "use",
    "used",
    "using",
    "very",
    "want",
    "wanted",
    "wanting",
    "was",
    "we",
    "went",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "you",
    "your",
    "yourself",
];

/// The words a text is about, most frequent first, first seen first among equals.
pub fn keywords(text: &str, rules: &KeywordRules) -> Vec<String> {
    let lower: String = text.to_lowercase().nfc().collect();
    let more: Vec<String> = rules.more_stop_words.iter().map(|word| word.to_lowercase()).collect();
    let mut seen: HashMap<&str, (usize, usize)> = HashMap::new();
    for (at, word) in lower.split(|c: char| !is_word_part(c)).enumerate() {
        let tells = !word.chars().all(char::is_numeric)
            && word.chars().count() >= least(word, rules.min_length)
            && KEYWORD_STOP_WORDS.binary_search(&word).is_err()
            && !more.iter().any(|stop| stop == word);
        if tells {
            seen.entry(word).or_insert((0, at)).0 += 1;
        }
    }
    let mut found: Vec<(&str, (usize, usize))> = seen.into_iter().collect();
    found.sort_unstable_by_key(|&(_, (count, first))| (std::cmp::Reverse(count), first));
    found.into_iter().take(rules.max).map(|(word, _)| word.to_owned()).collect()
}

/// The first words of a text whatever they are: for a text that has no telling ones.
pub fn any_words(text: &str, max: usize) -> Vec<String> {
    let lower: String = text.to_lowercase().nfc().collect();
    let mut found: Vec<String> = Vec::new();
    for word in lower.split(|c: char| !is_word_part(c)).filter(|word| word.contains(char::is_alphanumeric)) {
        if found.len() == max {
            break;
        }
        if !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// Letters and digits of every script, and the marks that belong to a letter.
fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Two characters are a whole word where a character is a syllable or an idea.
fn least(word: &str, min_length: usize) -> usize {
    let dense = |c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{20000}'..='\u{3ffff}');
    if word.chars().any(dense) { min_length.min(2) } else { min_length }
}

/// One line that names a text: its first line, or of a single line its first sentence; at most 200 characters.
pub fn subject(text: &str) -> String {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let line = match text.split_once('\n') {
        Some((first, _)) => first.trim(),
        None => first_sentence(text),
    };
    match line.char_indices().nth(SUBJECT_MAX) {
        None => line.to_owned(),
        Some(_) => line.chars().take(SUBJECT_MAX - 3).chain("...".chars()).collect(),
    }
}

/// The text before the first full stop that ends a sentence: `v1.2` goes on, `done. Next` does not.
fn first_sentence(text: &str) -> &str {
    let ends = |(at, c): &(usize, char)| match c {
        '.' => text[at + 1..].chars().next().is_none_or(char::is_whitespace),
        '。' | '।' => true,
        _ => false,
    };
    let end = text.char_indices().find(ends).map_or(text.len(), |(at, _)| at);
    // A text that begins with its full stop has no sentence before it.
    if end == 0 { text } else { &text[..end] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(text: &str) -> Vec<String> {
        keywords(text, &KeywordRules::default())
    }

    #[test]
    fn stop_words_are_sorted_so_that_they_can_be_searched() {
        assert!(KEYWORD_STOP_WORDS.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn frequent_words_come_first_and_ties_keep_their_order() {
        assert_eq!(plain("zeta alpha zeta alpha beta"), ["zeta", "alpha", "beta"]);
        assert_eq!(plain("The 42 retries of 100ms"), ["retries", "100ms"]);
        let few = KeywordRules { max: 1, more_stop_words: vec!["QUEUE".into()], ..KeywordRules::default() };
        assert_eq!(keywords("queue queue worker", &few), ["worker"]);
    }

    #[test]
    fn words_of_every_script_stay_whole() {
        assert_eq!(plain("Größe naïve café"), ["größe", "naïve", "café"]);
        assert_eq!(plain("数据库 backup 数据库"), ["数据库", "backup"]);
        assert_eq!(plain("缓存 失败"), ["缓存", "失败"]);
        assert_eq!(plain("हिन्दी में"), ["हिन्दी", "में"]);
        assert_eq!(plain("cafe\u{301} café"), ["café"]);
    }

    #[test]
    fn any_words_are_found_where_none_tell() {
        assert_eq!(plain("it is\nto be"), [""; 0]);
        assert_eq!(any_words("it is\nto be, it is", 3), ["it", "is", "to"]);
        assert_eq!(any_words("— … 🚀", 3), [""; 0]);
    }

    #[test]
    fn a_subject_is_the_first_line_or_the_first_sentence() {
        assert_eq!(subject("  \n\n  Padded first line  \nnext"), "Padded first line");
        assert_eq!(subject("v1.2.3 released today"), "v1.2.3 released today");
        assert_eq!(subject("Question? Yes. No."), "Question? Yes");
        assert_eq!(subject("缓存失败。重试"), "缓存失败");
        assert_eq!(subject("...and so on"), "...and so on");
        assert_eq!(subject(". x"), ". x");
        assert_eq!(subject(&"y".repeat(250)), format!("{}...", "y".repeat(197)));
        assert_eq!(subject(" \n "), "");
    }

    proptest! {
        #[test]
        fn a_subject_is_one_line_of_at_most_two_hundred_characters(text in "(.|\n){0,300}") {
            let subject = subject(&text);
            prop_assert!(subject.chars().count() <= 200 && !subject.contains('\n'));
            prop_assert_eq!(subject.is_empty(), text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty());
        }

        #[test]
        fn keywords_are_distinct_words_and_no_more_than_asked_for(text in ".{0,300}", max in 0usize..8) {
            let found = keywords(&text, &KeywordRules { max, ..KeywordRules::default() });
            prop_assert!(found.len() <= max);
            let distinct: std::collections::HashSet<&String> = found.iter().collect();
            prop_assert_eq!(distinct.len(), found.len());
        }
    }
}
