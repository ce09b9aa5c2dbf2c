//! What a terminal must not be sent as it is, spelled out.
//!
//! Comes in: any text. Goes out: the same with control characters, invisible ones and marks of direction written as `\u{200b}`, so that what is
//! shown is what is stored. Line breaks and tabs stay. Never here: our own colours, which the printer puts in after this.

use heirloom_core::text::is_invisible;
use std::borrow::Cow;
use std::fmt::Write as _;

fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || is_invisible(c)
}

/// The text with everything visible.
pub(crate) fn spelled(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Text as the printer shows it, for those who must know how wide it is or who print past it.
pub(crate) fn visible(text: &str) -> String {
    spelled(text).into_owned()
}

/// JSON that means the same with everything visible: JSON has its own way to spell a character.
pub(super) fn spelled_json(json: &str) -> Cow<'_, str> {
    // Outside its strings JSON holds nothing hidden, so every one of them may be escaped.
    if !json.chars().any(is_hidden) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_hides_is_left() {
        let text = "a\u{200b}b\u{9b}31m\u{85}\u{202e}c\u{1b}[2J\r\u{7f}\u{e0041}\u{feff}\td\n";
        let shown = spelled(text);
        assert_eq!(
            shown,
            "a\\u{200b}b\\u{9b}31m\\u{85}\\u{202e}c\\u{1b}[2J\\u{d}\\u{7f}\\u{e0041}\\u{feff}\td\n"
        );
        assert_eq!(spelled("Grüße, 世界 🎉"), "Grüße, 世界 🎉");
        assert!(matches!(spelled("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_stays_json_and_says_the_same() {
        let value = serde_json::json!({ "a\u{200b}": "\u{1b}\u{9b}\u{e0041} \u{202e}x\n" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = spelled_json(&text);
        assert!(!shown.chars().any(is_hidden));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
