//! Porter's stemmer (M. F. Porter, 1980), for English words in lower case.
//!
//! In: a word of ASCII letters. Out: its stem, in place. Anything else is left alone. Linear: every rule
//! looks at the end of the word once.

/// Shortens `word` to its stem.
pub(crate) fn stem(word: &mut String) {
    if word.len() < 3 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return;
    }
    let mut w = std::mem::take(word).into_bytes();
    plural(&mut w);
    past(&mut w);
    final_y(&mut w);
    for rules in [&SECOND[..], &THIRD[..]] {
        if let Some((end, put)) = rules.iter().find(|(end, _)| w.ends_with(end.as_bytes()))
            && measure(&w[..w.len() - end.len()]) > 0
        {
            swap(&mut w, end, put);
        }
    }
    fourth(&mut w);
    last_e(&mut w);
    // Only ASCII letters were there and only ASCII letters were put, so this cannot fail.
    *word = String::from_utf8(w).unwrap_or_default();
}

/// Ending, replacement, nothing: pairs of steps 2 and 3, longest ending of each family first.
type Rule = (&'static str, &'static str);

const SECOND: [Rule; 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
];

const THIRD: [Rule; 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

const FOURTH: [&str; 18] = [
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
];

fn consonant(w: &[u8], i: usize) -> bool {
    match w[i] {
        b'a' | b'e' | b'i' | b'o' | b'u' => false,
        b'y' => i == 0 || !consonant_before_y(w, i),
        _ => true,
    }
}

/// A `y` is a vowel after a consonant; runs of `y` alternate, so look back to where the run starts.
fn consonant_before_y(w: &[u8], i: usize) -> bool {
    let start = w[..i].iter().rposition(|b| *b != b'y').map_or(0, |p| p + 1);
    let run = i - start;
    let first = if start == 0 { true } else { matches!(w[start - 1], b'a' | b'e' | b'i' | b'o' | b'u') };
    // `first` tells whether the first y of the run is a consonant; the letter before `i` is number run - 1.
    if run == 0 {
        !matches!(w[i - 1], b'a' | b'e' | b'i' | b'o' | b'u')
    } else {
        first == (run - 1).is_multiple_of(2)
    }
}

/// How many vowel-consonant sequences there are.
fn measure(w: &[u8]) -> usize {
    let mut count = 0;
    let mut vowel = false;
    for i in 0..w.len() {
        let now = !consonant(w, i);
        count += usize::from(vowel && !now);
        vowel = now;
    }
    count
}

fn has_vowel(w: &[u8]) -> bool {
    (0..w.len()).any(|i| !consonant(w, i))
}

fn doubled(w: &[u8]) -> bool {
    let n = w.len();
    n >= 2 && w[n - 1] == w[n - 2] && consonant(w, n - 1)
}

/// Consonant, vowel, consonant at the end, the last one not w, x or y.
fn short_end(w: &[u8]) -> bool {
    let n = w.len();
    n >= 3
        && consonant(w, n - 3)
        && !consonant(w, n - 2)
        && consonant(w, n - 1)
        && !matches!(w[n - 1], b'w' | b'x' | b'y')
}

fn swap(w: &mut Vec<u8>, end: &str, put: &str) {
    w.truncate(w.len() - end.len());
    w.extend_from_slice(put.as_bytes());
}

fn plural(w: &mut Vec<u8>) {
    if w.ends_with(b"sses") || w.ends_with(b"ies") {
        w.truncate(w.len() - 2);
    } else if w.ends_with(b"s") && !w.ends_with(b"ss") {
        w.pop();
    }
}

fn past(w: &mut Vec<u8>) {
    if w.ends_with(b"eed") {
        if measure(&w[..w.len() - 3]) > 0 {
            w.pop();
        }
        return;
    }
    let cut = if w.ends_with(b"ed") {
        2
    } else if w.ends_with(b"ing") {
        3
    } else {
        return;
    };
    if !has_vowel(&w[..w.len() - cut]) {
        return;
    }
    w.truncate(w.len() - cut);
    if w.ends_with(b"at") || w.ends_with(b"bl") || w.ends_with(b"iz") {
        w.push(b'e');
    } else if doubled(w) && !matches!(w.last(), Some(b'l' | b's' | b'z')) {
        w.pop();
    } else if measure(w) == 1 && short_end(w) {
        w.push(b'e');
    }
}

fn final_y(w: &mut [u8]) {
    let n = w.len();
    if n > 1 && w[n - 1] == b'y' && has_vowel(&w[..n - 1]) {
        w[n - 1] = b'i';
    }
}

fn fourth(w: &mut Vec<u8>) {
    let found = FOURTH.iter().find(|end| w.ends_with(end.as_bytes())).copied();
    let ion = w.ends_with(b"sion") || w.ends_with(b"tion");
    let Some(end) = found.or(ion.then_some("ion")) else { return };
    if measure(&w[..w.len() - end.len()]) > 1 {
        w.truncate(w.len() - end.len());
    }
}

fn last_e(w: &mut Vec<u8>) {
    if w.ends_with(b"e") {
        let rest = &w[..w.len() - 1];
        let m = measure(rest);
        if m > 1 || (m == 1 && !short_end(rest)) {
            w.pop();
        }
    }
    if w.ends_with(b"ll") && measure(w) > 1 {
        w.pop();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stemmed(word: &str) -> String {
        let mut word = word.to_owned();
        stem(&mut word);
        word
    }

    #[test]
    fn words_of_the_published_examples_get_their_stems() {
        for (word, want) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("digitizer", "digit"),
            ("operator", "oper"),
            ("triplicate", "triplic"),
            ("hopefulness", "hope"),
            ("goodness", "good"),
            ("revival", "reviv"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("cease", "ceas"),
            ("controll", "control"),
            ("roll", "roll"),
            ("migrations", "migrat"),
            ("migrating", "migrat"),
            ("databases", "databas"),
        ] {
            assert_eq!(stemmed(word), want, "{word}");
        }
    }

    proptest! {
        #[test]
        fn any_word_keeps_letters_and_never_grows_by_more_than_one(word in "[a-z]{0,30}") {
            let got = stemmed(&word);
            prop_assert!(got.len() <= word.len() + 1);
            prop_assert!(got.bytes().all(|b| b.is_ascii_lowercase()));
        }

        #[test]
        fn other_text_is_left_alone(word in "\\PC{0,20}") {
            prop_assume!(!word.bytes().all(|b| b.is_ascii_lowercase()));
            prop_assert_eq!(stemmed(&word), word);
        }
    }
}
