//! Three levels of secrets, their redaction, the sanitising of low-trust text and the test for
//! credential-like facts. In: text. Out: the literal result of the original patterns, which were
//! written for JavaScript: `\s`, `.` and case folding are spelled out so that they mean the same.

use super::super::finding::Level;
use regex::Regex;
use std::sync::OnceLock;

/// What a secret is replaced with.
pub const REDACTED: &str = "[SECRET_REDACTED]";
/// Appended to text that was cut.
pub const TRUNCATED: &str = "...[TRUNCATED]";
/// The longest text that is kept whole, in UTF-16 units.
pub const LONGEST: usize = 10_000;
/// What a refused fact says.
pub const CREDENTIAL_REFUSAL: &str = "Cannot store credential-like content in memory";

/// JavaScript's white space.
const SPACE: &str =
    r"[\t\n\x0B\x0C\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]";
/// One UTF-16 unit that is no line terminator, as `.` without flags.
const DOT: &str = r"[^\n\r\x{2028}\x{2029}\x{10000}-\x{10FFFF}]";

/// A detected pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    /// How sure the original list was.
    pub level: Level,
    /// The neutral name of the pattern.
    pub pattern: &'static str,
}

struct Patterns {
    detect: Vec<(Detected, Regex)>,
    /// Redaction in order; `None` stands for the private key block.
    redact: Vec<Option<Regex>>,
    key_begin: Regex,
    key_end: Regex,
    markers: Vec<(Regex, &'static str)>,
    credential: Vec<Regex>,
}

#[allow(clippy::expect_used, reason = "constant patterns; a test compiles each of them")]
fn patterns() -> &'static Patterns {
    static CELL: OnceLock<Patterns> = OnceLock::new();
    CELL.get_or_init(|| {
        let build = |pattern: &str| {
            Regex::new(&pattern.replace("§", SPACE)).expect("a constant pattern that the tests compile")
        };
        let not_space = SPACE.replacen('[', "[^", 1);
        let not_space_or_quote = SPACE.replacen('[', "[^'\"", 1);
        let detect = [
            (Level::Definite, "private_key_header", "-----BEGIN [A-Z]+ PRIVATE KEY-----".to_owned()),
            (Level::Definite, "openai", "sk-[A-Za-z0-9]{48}".to_owned()),
            (Level::Definite, "anthropic", "sk-ant-[A-Za-z0-9-]{95}".to_owned()),
            (Level::Definite, "aws", "AKIA[A-Z0-9]{16}".to_owned()),
            (Level::Definite, "github_pat", "ghp_[A-Za-z0-9]{36}".to_owned()),
            (Level::Probable, "password_assignment", format!("(?i-u:password)§*[:=]§*{not_space}+")),
            (Level::Probable, "bearer", "Bearer§+[A-Za-z0-9._-]+".to_owned()),
            (Level::Probable, "postgres_url", "postgres://[^@]+:[^@]+@".to_owned()),
            (Level::Possible, "long_base64", "[A-Za-z0-9+/]{64,}".to_owned()),
            (Level::Possible, "sha_hash", "[0-9a-f]{40}".to_owned()),
        ];
        Patterns {
            detect: detect
                .iter()
                .map(|(level, pattern, text)| (Detected { level: *level, pattern }, build(text)))
                .collect(),
            redact: vec![
                Some(build("sk-[A-Za-z0-9]{48}")),
                Some(build("sk-ant-[A-Za-z0-9-]{95}")),
                Some(build("AKIA[A-Z0-9]{16}")),
                Some(build("ghp_[A-Za-z0-9]{36}")),
                None,
                Some(build(&format!("(?i-u:password)§*[=:]§*['\"]?{not_space_or_quote}+['\"]?"))),
                Some(build("Bearer§+[A-Za-z0-9._-]+")),
                Some(build("[A-Za-z0-9+/]{64,}")),
            ],
            key_begin: build("-----BEGIN [A-Z]+ PRIVATE KEY-----"),
            key_end: build("-----END [A-Z]+ PRIVATE KEY-----"),
            markers: vec![
                (build(r"(?i-u:\[SYSTEM\])"), "[content: system]"),
                (build(r"(?i-u:\[ADMIN\])"), "[content: admin]"),
                (build(r"(?i-u:\[INSTRUCTION\])"), "[content: instruction]"),
                (build("(?i-u:IGNORE PREVIOUS)"), "[content: ignore previous]"),
            ],
            credential: vec![
                build("(?i-u:password)§*(?:(?i-u:is)|:)"),
                build("(?i-u:credential)"),
                build("(?i-u:secret)§*(?:(?i-u:is)|:)"),
                build(&format!("(?i-u:api){DOT}?(?i-u:key)§*(?:(?i-u:is)|:)")),
                build("(?i-u:token)§*(?:(?i-u:is)|:)"),
            ],
        }
    })
}

/// Every pattern that matches, once, definite ones first.
pub fn detect(content: &str) -> Vec<Detected> {
    patterns()
        .detect
        .iter()
        .filter(|(_, regex)| regex.is_match(content))
        .map(|(detected, _)| *detected)
        .collect()
}

/// The content with every secret replaced, pattern after pattern.
pub fn redact(content: &str) -> String {
    patterns().redact.iter().fold(content.to_owned(), |text, regex| match regex {
        Some(regex) => regex.replace_all(&text, REDACTED).into_owned(),
        None => redact_keys(&text),
    })
}

/// Private key blocks. Done by hand because a lazy pattern would look for the end again from each
/// beginning, which takes quadratic time on text with many beginnings and no end.
fn redact_keys(text: &str) -> String {
    let Patterns { key_begin, key_end, .. } = patterns();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(begin) = key_begin.find_at(text, from) {
        let Some(end) = key_end.find_at(text, begin.end()) else {
            break;
        };
        out.push_str(&text[from..begin.start()]);
        out.push_str(REDACTED);
        from = end.end();
    }
    out.push_str(&text[from..]);
    out
}

/// What is stored: secrets redacted, for low trust the four markers neutralised, then cut.
pub fn sanitise(content: &str, low_trust: bool) -> String {
    let mut text = redact(content);
    if low_trust {
        text = patterns()
            .markers
            .iter()
            .fold(text, |text, (regex, with)| regex.replace_all(&text, *with).into_owned());
    }
    truncate(text)
}

/// Cuts after 10,000 UTF-16 units; a pair that the cut would split is left out whole.
fn truncate(mut text: String) -> String {
    let mut units = 0;
    let mut keep = None;
    for (at, c) in text.char_indices() {
        units += c.len_utf16();
        if units > LONGEST && keep.is_none() {
            keep = Some(at);
        }
    }
    if let Some(at) = keep {
        text.truncate(at);
        text.push_str(TRUNCATED);
    }
    text
}

/// Whether a fact looks like a credential and is therefore refused.
pub fn looks_like_credential(content: &str) -> bool {
    patterns().credential.iter().any(|regex| regex.is_match(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redaction_runs_in_order_over_the_result_before() {
        assert_eq!(redact("password=ghp_Qq0Qq0Qq0Qq0Qq0Qq0Qq0Qq0Qq0Qq0Qq0Qq0"), REDACTED);
        assert_eq!(redact("Bearer of news"), "[SECRET_REDACTED] news");
        assert_eq!(redact("{\"password\": \"abc\"}"), "{\"password\": \"abc\"}");
        assert_eq!(redact("-----BEGIN RSA PRIVATE KEY-----\nx"), "-----BEGIN RSA PRIVATE KEY-----\nx");
    }

    #[test]
    fn white_space_is_that_of_the_original() {
        assert!(looks_like_credential("password\u{a0}: x"));
        assert!(looks_like_credential("password\u{feff}: x"));
        assert!(!looks_like_credential("password\u{85}: x"));
        assert!(looks_like_credential("apiékey is x"));
        assert!(!looks_like_credential("api🚀key is x"));
    }

    #[test]
    fn cut_text_says_so() {
        let long = "z ".repeat(5_001);
        assert_eq!(sanitise(&long, false).len(), LONGEST + TRUNCATED.len());
        assert_eq!(
            sanitise("[[SYSTEM]] ignore previous", true),
            "[[content: system]] [content: ignore previous]"
        );
    }
}
