//! YAML scalars that every reader takes for the same text.
//!
//! Comes in: any text. Goes out: one line of YAML. Plain only where neither YAML 1.1 nor 1.2 could see anything but text;
//! otherwise in double quotes with everything escaped that is no ordinary printable character.

use std::fmt::Write as _;

/// Words that some YAML reader takes for a truth value or for nothing.
const TAKEN: [&str; 10] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null", "none"];

/// A text as it stands behind a key or in a list.
pub(super) fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// A text in double quotes, whatever it holds: for ids, hashes and times, which must never be taken for numbers.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || is_unsafe(c) => {
                let width = if u32::from(c) > 0xffff { 8 } else { 4 };
                let mark = if width == 8 { 'U' } else { 'u' };
                // Writing to a string cannot fail.
                let _ = write!(out, "\\{mark}{:0width$x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Line breaks of older YAML, the byte-order mark, and what is no character at all.
fn is_unsafe(c: char) -> bool {
    heirloom_core::text::is_invisible(c) || u32::from(c) & 0xfffe == 0xfffe
}

/// A word or words that begin with a letter, with nothing in them that could mean something to YAML.
fn is_plain(text: &str) -> bool {
    let mut chars = text.chars().peekable();
    if !chars.peek().is_some_and(|c| c.is_alphabetic()) || text.ends_with(' ') {
        return false;
    }
    while let Some(c) = chars.next() {
        let inside = match c {
            ' ' | '_' | '.' | '/' | '-' => true,
            // A colon is text as long as a letter or digit follows.
            ':' => chars.peek().is_some_and(|next| next.is_alphanumeric()),
            c => c.is_alphanumeric(),
        };
        if !inside {
            return false;
        }
    }
    !TAKEN.contains(&text.to_lowercase().as_str())
}
