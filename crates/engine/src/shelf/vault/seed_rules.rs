//! The literal rules the vault's format came with: journal signals, and the words and number shapes of its personal-data guard.
//!
//! Comes in: text. Goes out: which rule speaks. Used by `gate.profile: seed` alone, except for the journal signals, which are the
//! vault's own in every profile. Never here: judging whether a number really is a card; the measured rules do that.

use heirloom_core::text::is_word;

/// What belongs into a journal, not into a memory. Found anywhere in the lower-cased text.
const JOURNAL_SIGNALS: [&str; 10] = [
    "tick marker",
    "runtime snapshot",
    "check-in",
    "heartbeat",
    "burst tick",
    "no changes",
    "nothing to report",
    "status unchanged",
    "routine scan",
    "ephemeral",
];

/// Words that announce a secret, each directly followed by its mark.
const WORDS: [(&str, char); 13] = [
    ("password", ':'),
    ("passwd", ':'),
    ("api_key", ':'),
    ("apikey", ':'),
    ("api key", ':'),
    ("secret_key", ':'),
    ("secretkey", ':'),
    ("secret key", ':'),
    ("access_token", ':'),
    ("auth_token", ':'),
    ("bearer", ' '),
    ("ssn", ':'),
    ("social security number", ':'),
];

/// Whether a number of some shape begins at a place.
type Shape = fn(&[char], usize) -> bool;

/// The number shapes.
const SHAPES: [(&str, Shape); 3] =
    [("ssn_dashed", dashed), ("ssn_nine_digits", nine_digits), ("card_number", card)];

/// Something the guard blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// `keyword`, `ssn_dashed`, `ssn_nine_digits`, `card_number`.
    pub kind: &'static str,
    /// The word of the list, for a keyword.
    pub word: Option<&'static str>,
}

/// The first journal signal in a text.
pub fn journal_signal(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    JOURNAL_SIGNALS.into_iter().find(|signal| lower.contains(signal))
}

/// Everything in a text that the guard blocks, each kind once.
pub fn violations(text: &str) -> Vec<Violation> {
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    for (word, mark) in WORDS {
        if lower.match_indices(word).any(|(at, _)| lower[at + word.len()..].starts_with(mark)) {
            found.push(Violation { kind: "keyword", word: Some(word) });
        }
    }
    let chars: Vec<char> = text.chars().collect();
    for (kind, fits) in SHAPES {
        if (0..chars.len()).any(|at| starts_number(&chars, at) && fits(&chars, at)) {
            found.push(Violation { kind, word: None });
        }
    }
    found
}

/// A digit with a word boundary before it.
fn starts_number(chars: &[char], at: usize) -> bool {
    is_digit(chars[at]) && (at == 0 || !is_word(chars[at - 1]))
}

fn ends_word(chars: &[char], after: usize) -> bool {
    chars.get(after).is_none_or(|c| !is_word(*c))
}

/// 3-2-4 digits with hyphens.
fn dashed(chars: &[char], at: usize) -> bool {
    let fits = |(i, c): (usize, &char)| if i == 3 || i == 6 { *c == '-' } else { is_digit(*c) };
    chars.len() >= at + 11 && chars[at..at + 11].iter().enumerate().all(fits) && ends_word(chars, at + 11)
}

fn nine_digits(chars: &[char], at: usize) -> bool {
    chars[at..].iter().take_while(|c| is_digit(**c)).take(10).count() == 9 && ends_word(chars, at + 9)
}

/// 13 to 19 digits with any blanks and hyphens between them. Looks at no more than 19 digits from each start.
fn card(chars: &[char], at: usize) -> bool {
    let mut digits = 0;
    for (i, c) in chars.iter().enumerate().skip(at) {
        if is_digit(*c) {
            digits += 1;
            if digits > 19 {
                return false;
            }
            if digits >= 13 && ends_word(chars, i + 1) {
                return true;
            }
        } else if *c != ' ' && *c != '-' {
            return false;
        }
    }
    false
}

/// A decimal digit of any script.
fn is_digit(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    let c = c as u32;
    let at = ZEROS.partition_point(|zero| *zero <= c);
    at > 0 && c - ZEROS[at - 1] < 10
}

/// The zero of every script; its other nine digits follow it (Unicode 14, category Nd).
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50,
    0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40,
    0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066,
    0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950,
    0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6,
    0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<&'static str> {
        violations(text).into_iter().map(|v| v.word.unwrap_or(v.kind)).collect()
    }

    #[test]
    fn words_count_only_with_their_mark() {
        assert_eq!(kinds("the password: x"), ["password"]);
        assert_eq!(kinds("the password policy"), Vec::<&str>::new());
        assert_eq!(kinds("forbearer x"), ["bearer"]);
        assert_eq!(kinds("the BEARER"), Vec::<&str>::new());
    }

    #[test]
    fn numbers_need_word_boundaries() {
        assert_eq!(kinds("219-09-9999-1"), ["ssn_dashed"]);
        assert_eq!(kinds("219099999a"), Vec::<&str>::new());
        assert_eq!(kinds("(219099999)"), ["ssn_nine_digits"]);
        assert_eq!(kinds("4111 1111 1111 1"), ["card_number"]);
        assert_eq!(kinds("41111111111111111111"), Vec::<&str>::new());
        assert_eq!(kinds("4111 1111 1111 1111 1111"), ["card_number"]);
        assert_eq!(
            kinds("\u{662}\u{661}\u{669}-\u{660}\u{669}-\u{669}\u{669}\u{669}\u{669}"),
            ["ssn_dashed"]
        );
    }

    #[test]
    fn zeros_are_sorted_so_that_they_can_be_searched() {
        assert!(ZEROS.windows(2).all(|w| w[0] + 10 <= w[1]));
    }
}
