//! Text to terms: what is indexed and what is looked up.
//!
//! In: text. Out: terms (lower case, accents off, stemmed) with the weight of the way they were found.
//! Identifiers give their parts and, at a lower weight, themselves as a whole; Chinese and Japanese give
//! pairs of characters. Words that every text has are left out. Linear in the length of the text.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::stem::stem;

/// Longest term kept, in bytes: longer runs are encoded blobs, not words.
const LONGEST: usize = 64;
/// How much a whole identifier counts beside its parts.
const WHOLE: f32 = 0.5;

/// Words that carry no topic, questions included. Sorted.
const STOPS: &[&str] = &[
    "a",
    "about",
    "after",
    "again",
    "ago",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "arent",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "cant",
    "could",
    "couldnt",
    "did",
    "didnt",
    "do",
    "does",
    "doesnt",
    "doing",
    "dont",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "hadnt",
    "has",
    "hasnt",
    "have",
    "havent",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "hes",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "id",
    "if",
    "ill",
    "im",
    "in",
    "into",
    "is",
    "isnt",
    "it",
    "its",
    "itself",
    "ive",
    "just",
    "ll",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "myself",
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
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "re",
    "s",
    "same",
    "shall",
    "she",
    "shes",
    "should",
    "shouldnt",
    "so",
    "some",
    "such",
    "t",
    "than",
    "that",
    "thats",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "theyre",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "us",
    "ve",
    "very",
    "was",
    "wasnt",
    "we",
    "well",
    "were",
    "werent",
    "weve",
    "what",
    "whats",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "wont",
    "would",
    "wouldnt",
    "you",
    "youd",
    "youll",
    "your",
    "youre",
    "yours",
    "yourself",
    "yourselves",
    "youve",
];

/// The stops of up to eight letters as numbers that sort as they do; of longer ones the first eight.
const PACKED: [u64; STOPS.len()] = {
    let mut out = [0; STOPS.len()];
    let mut i = 0;
    while i < STOPS.len() {
        let word = STOPS[i].as_bytes();
        let mut at = 0;
        while at < 8 && at < word.len() {
            out[i] |= (word[at] as u64) << (56 - 8 * at);
            at += 1;
        }
        i += 1;
    }
    out
};

/// Whether a lower-case word carries no topic.
pub(crate) fn is_stop(word: &str) -> bool {
    // The longest stop has ten letters; whole numbers settle nearly all the rest.
    word.len() <= 10
        && PACKED.binary_search(&super::postings::head(word.as_bytes())).is_ok()
        && STOPS.binary_search(&word).is_ok()
}

/// What a byte is to a run: 0 no part of one, 1 a small letter or digit, 2 a capital, 3 a mark within words, 4 a part of a character that
/// has to be looked at.
const CLASSES: [u8; 256] = {
    let mut out = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        out[byte] = match byte as u8 {
            b'a'..=b'z' | b'0'..=b'9' => 1,
            b'A'..=b'Z' => 2,
            b'_' | b'\'' => 3,
            128.. => 4,
            _ => 0,
        };
        byte += 1;
    }
    out
};

/// A run of letters, digits and marks, as it stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run<'t> {
    /// Small letters and digits, perhaps behind one capital: by far the most.
    Plain(&'t str),
    /// With capitals, marks, underscores or foreign letters.
    Mixed(&'t str),
}

/// Calls `found` with every run of `text`, in order.
pub(crate) fn each_run<'t>(text: &'t str, mut found: impl FnMut(Run<'t>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        let start = at;
        if matches!(CLASSES[usize::from(*first)], 1 | 2) {
            at += 1;
            at += bytes[at..].iter().position(|b| CLASSES[usize::from(*b)] != 1).unwrap_or(bytes.len() - at);
            if bytes.get(at).is_none_or(|b| CLASSES[usize::from(*b)] == 0) {
                found(Run::Plain(&text[start..at]));
                at += 1;
                continue;
            }
        }
        // The rest of the run, by characters where bytes do not tell.
        while let Some(byte) = bytes.get(at) {
            match CLASSES[usize::from(*byte)] {
                0 => break,
                4 => match text[at..].chars().next().filter(|c| c.is_alphanumeric() || *c == '’') {
                    Some(c) => at += c.len_utf8(),
                    None => break,
                },
                _ => at += 1,
            }
        }
        let run = text[start..at].trim_matches(['_', '\'', '’']);
        if !run.is_empty() && run.len() <= LONGEST * 4 {
            found(Run::Mixed(run));
        }
        // What ended it is no part of the next.
        at += text[at..].chars().next().map_or(1, char::len_utf8);
    }
}

/// Calls `found` with every term of a run and its weight, in order.
pub(crate) fn of_run(run: Run<'_>, buffer: &mut String, found: &mut impl FnMut(&str, f32)) {
    match run {
        Run::Plain(run) => emit(run, buffer, found),
        Run::Mixed(run) => compound(run, buffer, found),
    }
}

/// Calls `found` with every term of `text` and its weight, in order.
pub(crate) fn each(text: &str, mut found: impl FnMut(&str, f32)) {
    let mut buffer = String::with_capacity(32);
    each_run(text, |run| of_run(run, &mut buffer, &mut found));
}

/// A run with capitals, marks, underscores or foreign letters.
fn compound(run: &str, buffer: &mut String, found: &mut impl FnMut(&str, f32)) {
    // What's and don't: the ending of a genitive goes, other marks are dropped.
    let plain: Cow<'_, str> = match run.strip_suffix("'s").or_else(|| run.strip_suffix("’s")) {
        Some(rest) => Cow::Borrowed(rest),
        None if run.contains(['\'', '’']) => run.chars().filter(|c| *c != '\'' && *c != '’').collect(),
        None => Cow::Borrowed(run),
    };
    let mut parts = 0;
    for word in plain.split('_').filter(|w| !w.is_empty()) {
        for part in humps(word) {
            parts += 1;
            if part.is_ascii() {
                emit(part, buffer, found);
            } else {
                foreign(part, buffer, found);
            }
        }
    }
    if parts > 1 && plain.is_ascii() && plain.len() <= LONGEST {
        buffer.clear();
        buffer.push_str(&plain);
        buffer.make_ascii_lowercase();
        found(buffer, WHOLE);
    }
}

/// Parts of a camelCase word: cut before a capital that follows a small letter, and before the last of several capitals.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let starts = |bytes: &[u8], i: usize| {
        let (before, here) = (bytes[i - 1], bytes[i]);
        let after_small = before.is_ascii_lowercase() && here.is_ascii_uppercase();
        let last_capital = before.is_ascii_uppercase()
            && here.is_ascii_uppercase()
            && bytes.get(i + 1).is_some_and(u8::is_ascii_lowercase);
        // A plural as in "APIs" is no new word.
        let plural = last_capital && &bytes[i + 1..] == b"s";
        (after_small || last_capital) && !plural
    };
    let (mut from, ascii) = (0, word.is_ascii());
    std::iter::from_fn(move || {
        let bytes = word.as_bytes();
        if from >= bytes.len() {
            return None;
        }
        let next = (from + 1..bytes.len()).find(|i| ascii && starts(bytes, *i)).unwrap_or(bytes.len());
        let part = &word[from..next];
        from = next;
        Some(part)
    })
}

/// Letters beyond ASCII: accents off; scripts without spaces as pairs of characters.
fn foreign(word: &str, buffer: &mut String, found: &mut impl FnMut(&str, f32)) {
    let folded: String =
        word.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect();
    let mut rest = folded.as_str();
    while let Some(first) = rest.chars().next() {
        let dense = is_dense(first);
        let end = rest.find(|c| is_dense(c) != dense).unwrap_or(rest.len());
        let (here, after) = rest.split_at(end);
        rest = after;
        if !dense {
            emit(here, buffer, found);
            continue;
        }
        let ends: Vec<usize> = here.char_indices().map(|(i, c)| i + c.len_utf8()).collect();
        let mut from = 0;
        for (i, end) in ends.iter().enumerate() {
            let to = ends.get(i + 1).unwrap_or(end);
            if i == 0 || *to > *end {
                found(&here[from..*to], 1.0);
            }
            from = *end;
        }
    }
}

fn is_dense(c: char) -> bool {
    matches!(u32::from(c), 0x2E80..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF | 0x0E00..=0x0E7F)
}

fn emit(word: &str, buffer: &mut String, found: &mut impl FnMut(&str, f32)) {
    if word.is_empty() || word.len() > LONGEST {
        return;
    }
    buffer.clear();
    buffer.push_str(word);
    buffer.make_ascii_lowercase();
    if is_stop(buffer) {
        return;
    }
    stem(buffer);
    found(buffer, 1.0);
}

/// The terms of a question, each once, in order.
pub(crate) fn of_question(text: &str) -> Vec<(String, f32)> {
    let mut out: Vec<(String, f32)> = Vec::new();
    each(text, |term, weight| {
        if out.len() < 64 && !out.iter().any(|(t, _)| t == term) {
            out.push((term.to_owned(), weight));
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        each(text, |t, _| out.push(t.to_owned()));
        out
    }

    #[test]
    fn the_stop_list_is_sorted_so_that_it_can_be_searched() {
        assert!(STOPS.is_sorted());
    }

    #[test]
    fn words_are_folded_stemmed_and_stripped_of_stops() {
        assert_eq!(terms("What did the Databases' owner decide?"), ["databas", "owner", "decid"]);
        assert_eq!(terms("Zoë's café, don't"), ["zoe", "cafe"]);
    }

    #[test]
    fn an_identifier_gives_its_parts_and_itself() {
        assert_eq!(terms("getUserName"), ["get", "user", "name", "getusername"]);
        assert_eq!(terms("max_retained_days"), ["max", "retain", "dai", "max_retained_days"]);
        assert_eq!(terms("HTTPServer APIs v2"), ["http", "server", "httpserver", "api", "v2"]);
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(terms("日本語"), ["日本", "本語"]);
        assert_eq!(terms("日"), ["日"]);
    }

    proptest! {
        #[test]
        fn runs_are_what_stands_between_other_characters(text in "([a-zA-Z0-9_'’é日 .,\u{301}-]|\\PC){0,60}") {
            let cut = |c: char| !(c.is_alphanumeric() || c == '_' || c == '\'' || c == '’');
            let want: Vec<&str> = text.split(cut).map(|run| run.trim_matches(['_', '\'', '’'])).filter(|run| !run.is_empty()).collect();
            let mut got = Vec::new();
            each_run(&text, |run| got.push(run));
            let plain = |run: &str| run.starts_with(|c: char| c.is_ascii_alphanumeric()) && run[1..].bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
            for (run, want) in got.iter().zip(&want) {
                match run {
                    Run::Plain(run) => prop_assert!(plain(run) && run == want),
                    Run::Mixed(run) => prop_assert_eq!(run, want),
                }
            }
            prop_assert_eq!(got.len(), want.len());
        }

        #[test]
        fn any_text_gives_only_short_terms_in_lower_case(text in ".{0,400}") {
            each(&text, |t, w| {
                assert!(!t.is_empty() && t.len() <= LONGEST * 4 && w > 0.0);
                assert!(!t.chars().any(|c| c.is_ascii_uppercase()));
            });
        }
    }
}
