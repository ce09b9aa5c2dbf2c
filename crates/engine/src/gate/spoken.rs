//! Secrets said in plain words: "the password is hunter2".
//!
//! Comes in: a text. Goes out: the spans that such a sentence gives away. Too coarse for what is stored, where "the password is required" must
//! stay what it is; right for drafts and for what is handed to a model, which lie on the disk before anybody has looked at them. Never here: what the rules
//! of the gate find.

use super::scan::{Class, Finding, Level};
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The name of this rule in reasons.
pub(super) const RULE: &str = "secret-in-words";

static SAID: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = r"(?P<name>pass[ -]?(?:word|wort|phrase|code)|pwd|pin|secret|token|(?:api|access|secret)[ _-]?key|credentials?)s?";
    let about = r"(?:\s+(?:for|of|to|on|at|in)\s+(?:(?:the|an?|my|our|your|his|her|their|its|this)\s+)?[^\s,;:=]{1,60}){0,2}";
    let verb = r"\s*(?:\bis\b|\bwas\b|\bare\b|\bwill\s+be\b|\bto\b|[:=]|->|\x{2192})\s*(?:\bnow\b\s*|\bstill\b\s*|[:=]\s*)?";
    Regex::new(&format!(r#"(?i)\b{name}{about}{verb}(?P<open>["'`\x{{201c}}\x{{2018}}]?)(?P<value>[^\s"'`\x{{201c}}\x{{201d}}\x{{2018}}\x{{2019}}]{{3,}})"#)).ok()
});

/// What a word after "is" ends in if it says how something is, not what.
const PLAIN_ENDS: [&str; 22] = [
    "ed", "ing", "en", "al", "ory", "ary", "able", "ible", "ful", "less", "ive", "ic", "ous", "ly", "ent",
    "ant", "ete", "ere", "own", "ept", "eld", "ung",
];
/// Words of which the same is true.
const PLAIN: [&str; 44] = [
    "not", "never", "the", "our", "your", "their", "his", "her", "its", "this", "that", "what", "where",
    "when", "who", "set", "long", "short", "weak", "strong", "empty", "safe", "unsafe", "secure", "wrong",
    "right", "valid", "invalid", "correct", "too", "only", "also", "for", "from", "with", "and", "all",
    "any", "one", "part", "per", "sent", "secret", "public",
];

/// The spans of a text that give a secret away in words.
pub fn spoken(text: &str) -> Vec<Finding> {
    let Some(said) = SAID.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    for hit in said.captures_iter(text) {
        let (Some(name), Some(value)) = (hit.name("name"), hit.name("value")) else { continue };
        let quoted = hit.name("open").is_some_and(|open| !open.is_empty());
        let trimmed = value.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}']);
        let ends = trimmed.len() < value.as_str().len() || value.end() == text.len();
        if !trimmed.starts_with('[')
            && gives_away(name.as_str(), trimmed, quoted, ends || text[value.end()..].starts_with('\n'))
        {
            // Its last mark may belong to it: rather too much than a rest.
            let span = value.start()..value.start() + trimmed.len();
            found.push(Finding {
                class: Class::Secret,
                level: Level::Probable,
                rule: Cow::Borrowed(RULE),
                span,
            });
        }
    }
    found
}

/// Whether what follows the name of a secret is one.
fn gives_away(name: &str, value: &str, quoted: bool, last: bool) -> bool {
    let word = value.to_lowercase();
    let digit = value.chars().any(|c| c.is_ascii_digit());
    let letter = value.chars().any(char::is_alphabetic);
    let pass = name.len() >= 3 && name.to_lowercase().starts_with('p');
    if value.chars().count() < 3 || value.starts_with(['$', '<', '{', '%', '/', '~']) || value.contains("://")
    {
        return false;
    }
    if !pass {
        // "The token is 4096 long" says nothing; "the token is a1b2c3" does.
        return digit && letter && value.chars().count() >= 6;
    }
    let plain = PLAIN.contains(&word.as_str()) || PLAIN_ENDS.iter().any(|end| word.ends_with(end));
    digit
        || value.chars().any(|c| c.is_ascii_punctuation() && !matches!(c, '-' | '\'' | '_' | '/'))
        || ((quoted || last) && !plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        spoken(text).into_iter().map(|found| &text[found.span]).collect()
    }

    #[test]
    fn a_password_in_a_sentence_is_found() {
        for (text, value) in [
            ("The user's password is hunter2", "hunter2"),
            ("The user's password is hunter2.", "hunter2"),
            ("Password: swordfish", "swordfish"),
            ("my password for the router is 'opensesame' at home", "opensesame"),
            ("The passphrase was Tr0ub4dor&3, I think", "Tr0ub4dor&3"),
            ("his PIN is 4711", "4711"),
            ("the api key is zx81spectrum", "zx81spectrum"),
            ("password=letmein1", "letmein1"),
            ("changed the password to winter24!", "winter24"),
        ] {
            assert_eq!(cut(text), [value], "{text}");
        }
    }

    #[test]
    fn sentences_about_passwords_stay_what_they_are() {
        for text in [
            "The password is required",
            "the password is kept in the vault",
            "the password is stored by the keychain",
            "A token is 4096 characters long at most",
            "the secret is not to try",
            "password: $PASS",
            "password: <yours>",
            "The password is [SECRET_REDACTED]",
            "the pin is the third one from the left",
            "the token is https://example.org/a1",
        ] {
            assert_eq!(cut(text), [""; 0], "{text}");
        }
    }
}
