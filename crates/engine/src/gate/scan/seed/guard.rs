//! The personal-data guard of the vault: number shapes and words followed by a colon. In: the text.
//! Out: all violations. `\d`, `\b` and lower-casing are Unicode-aware, as in the original.

use regex::Regex;
use std::sync::OnceLock;

/// Why the guard refuses a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Three, two and four digits with hyphens.
    SsnDashed,
    /// Exactly nine digits in a row.
    SsnNineDigits,
    /// 13 to 19 digits with any blanks or hyphens between them.
    CardNumber,
    /// A word of the list, with its mark.
    Keyword(&'static str),
}

impl Violation {
    /// The word of the list, or for a number the name of its kind.
    pub const fn word(self) -> &'static str {
        match self {
            Violation::Keyword(word) => word,
            number => number.kind(),
        }
    }

    /// The neutral name of the kind.
    pub const fn kind(self) -> &'static str {
        match self {
            Violation::SsnDashed => "ssn_dashed",
            Violation::SsnNineDigits => "ssn_nine_digits",
            Violation::CardNumber => "card_number",
            Violation::Keyword(_) => "keyword",
        }
    }
}

/// Words that count when a colon follows directly, in list order.
const WORDS: [&str; 12] = [
    "password",
    "passwd",
    "api_key",
    "apikey",
    "api key",
    "secret_key",
    "secretkey",
    "secret key",
    "access_token",
    "auth_token",
    "ssn",
    "social security number",
];

#[allow(clippy::expect_used, reason = "constant patterns; a test compiles each of them")]
fn numbers() -> &'static [(Violation, Regex); 3] {
    static CELL: OnceLock<[(Violation, Regex); 3]> = OnceLock::new();
    CELL.get_or_init(|| {
        let build = |pattern: &str| Regex::new(pattern).expect("a constant pattern that the tests compile");
        [
            (Violation::SsnDashed, build(r"\b\d{3}-\d{2}-\d{4}\b")),
            (Violation::SsnNineDigits, build(r"\b\d{9}\b")),
            (Violation::CardNumber, build(r"\b(?:\d[ -]*){12,18}\d\b")),
        ]
    })
}

/// Everything the guard objects to; empty means the text passes.
pub fn violations(text: &str) -> Vec<Violation> {
    let folded = text.to_lowercase();
    let shapes = numbers().iter().filter(|(_, regex)| regex.is_match(text)).map(|(violation, _)| *violation);
    let words = WORDS
        .into_iter()
        .filter(|word| folded.match_indices(word).any(|(at, _)| folded[at + word.len()..].starts_with(':')));
    let bearer = folded.contains("bearer ").then_some("bearer");
    shapes.chain(words.chain(bearer).map(Violation::Keyword)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_need_word_boundaries() {
        assert_eq!(violations("219-09-9999-1"), [Violation::SsnDashed]);
        assert_eq!(violations("(219099999)"), [Violation::SsnNineDigits]);
        assert!(violations("219099999a").is_empty());
        assert_eq!(violations("4111  -  1111 1111 1111"), [Violation::CardNumber]);
        assert!(violations("41111111111111111111").is_empty());
        assert!(violations("4111_1111_1111_1111").is_empty());
    }

    #[test]
    fn words_need_their_colon() {
        assert_eq!(violations("PASSWORD:x"), [Violation::Keyword("password")]);
        assert!(violations("password = x").is_empty());
        assert_eq!(violations("the bearer of news"), [Violation::Keyword("bearer")]);
        assert!(violations("bearer\tabc").is_empty());
    }
}
