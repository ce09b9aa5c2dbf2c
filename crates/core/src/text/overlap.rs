//! Words as the vault counts them: runs of letters, digits and underscores in any script, and how far two sets overlap.
//!
//! Comes in: any text. Goes out: sorted tokens without repetition, shares of them. These are the `\w` and `str.strip` of
//! Python: combining marks part a word, numbers of every sort belong to one, symbols that merely look like letters do not.

use unicode_normalization::char::is_combining_mark;

/// Whether a character belongs to a word.
pub fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    c.is_alphanumeric() && !is_combining_mark(c) && !is_letter_like(c)
}

/// Circled and squared letters: alphabetic by property, symbols by category.
fn is_letter_like(c: char) -> bool {
    matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f149}' | '\u{1f150}'..='\u{1f169}'
        | '\u{1f170}'..='\u{1f189}')
}

/// Without white space at both ends, the four separators of ASCII included.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'))
}

/// The words of a text that is already in lower case, sorted, each once.
pub fn word_set(lower: &str) -> Vec<&str> {
    let mut words: Vec<&str> = lower.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// How many words two sets share; both must be sorted and without repetition.
pub fn shared(a: &[&str], b: &[&str]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                count += 1;
                i += 1;
                j += 1;
            }
        }
    }
    count
}

/// Shared words over the smaller set; 0 if one of them is empty.
pub fn overlap(a: &[&str], b: &[&str]) -> f64 {
    share(shared(a, b), a.len().min(b.len()))
}

/// A part of a whole, 0 of nothing.
pub fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn marks_part_a_word_and_numbers_of_every_sort_belong_to_one() {
        assert_eq!(word_set("cafe\u{301} caf\u{e9}"), ["cafe", "caf\u{e9}"]);
        assert_eq!(word_set("x\u{b2} \u{bd} \u{2460}"), ["x\u{b2}", "\u{bd}", "\u{2460}"]);
        assert_eq!(word_set("\u{24d0} \u{1f170} a\u{203f}b"), ["a", "b"]);
        assert_eq!(word_set("__init__ don't"), ["__init__", "don", "t"]);
    }

    #[test]
    fn trimming_takes_the_ascii_separators_too() {
        assert_eq!(trim("\u{1f} a\u{1c}\u{a0}\n"), "a");
    }

    #[test]
    fn overlap_counts_against_the_smaller_set() {
        let (a, b) = (word_set("billing worker"), word_set("the billing worker retries"));
        assert_eq!(overlap(&a, &b), 1.0);
        assert_eq!(overlap(&a, &[]), 0.0);
    }

    proptest! {
        #[test]
        fn overlap_is_a_symmetric_share(a in "[a-d ]{0,20}", b in "[a-d ]{0,20}") {
            let (a, b) = (word_set(&a), word_set(&b));
            prop_assert_eq!(overlap(&a, &b), overlap(&b, &a));
            prop_assert!((0.0..=1.0).contains(&overlap(&a, &b)));
        }
    }
}
