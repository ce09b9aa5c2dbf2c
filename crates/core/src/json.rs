//! JSON as people and programs really write it.
//!
//! Comes in: bytes. Goes out: a value, or where and why it is none. The literals `NaN`, `Infinity`, `-Infinity`
//! and numbers too large for a float, which many writers produce and the standard does not know, are read as
//! the texts "NaN", "Infinity" and "-Infinity": whoever expects a finite number refuses those anyway.

use serde_json::Value;

/// Why a text is no JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct NotJson {
    /// What the parser expected.
    pub message: String,
    /// First line is 1.
    pub line: usize,
    /// First column is 1; 0 if the text ended.
    pub column: usize,
}

impl std::fmt::Display for NotJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (line {}, column {})", self.message, self.line, self.column)
    }
}

/// Reads one JSON value; a leading byte-order mark is skipped.
pub fn parse(bytes: &[u8]) -> Result<Value, NotJson> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match serde_json::from_slice(bytes) {
        Ok(value) => Ok(value),
        // The second look costs only texts that are already known to be unusual.
        Err(first) => match std::str::from_utf8(bytes).ok().and_then(spell_out_non_finite) {
            Some(text) => serde_json::from_str(&text).map_err(|_| not_json(&first)),
            None => Err(not_json(&first)),
        },
    }
}

fn not_json(error: &serde_json::Error) -> NotJson {
    let full = error.to_string();
    let message = full.split(" at line ").next().unwrap_or_default().to_owned();
    NotJson { message, line: error.line(), column: error.column() }
}

/// The text with non-finite literals outside strings turned into strings; `None` if there are none.
fn spell_out_non_finite(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut found = false;
    while let Some(c) = rest.chars().next() {
        if c == '"' {
            let end = string_end(rest)?;
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        if let Some((literal, len)) = non_finite_at(rest) {
            found = true;
            out.push('"');
            out.push_str(literal);
            out.push('"');
            rest = &rest[len..];
            continue;
        }
        let len = token_len(rest).max(c.len_utf8());
        out.push_str(&rest[..len]);
        rest = &rest[len..];
    }
    found.then_some(out)
}

/// Length of the quoted string at the start of `text`, quotes included.
fn string_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes()
        .enumerate()
        .skip(1)
        .find(|&(_, b)| {
            let ends = b == b'"' && !escaped;
            escaped = b == b'\\' && !escaped;
            ends
        })
        .map(|(at, _)| at + 1)
}

fn token_len(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b)).count()
}

fn non_finite_at(text: &str) -> Option<(&'static str, usize)> {
    let len = token_len(text);
    let token = &text[..len];
    match token {
        "NaN" => Some(("NaN", len)),
        "Infinity" => Some(("Infinity", len)),
        "-Infinity" => Some(("-Infinity", len)),
        _ if token.starts_with(|c: char| c.is_ascii_digit() || c == '-') => match token.parse::<f64>() {
            Ok(n) if n == f64::INFINITY => Some(("Infinity", len)),
            Ok(n) if n == f64::NEG_INFINITY => Some(("-Infinity", len)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn non_finite_literals_are_read_as_text_and_strings_are_left_alone() {
        let value =
            parse(br#"{"a": NaN, "b": [-Infinity, 1e999], "c": "NaN, \"Infinity", "d": -1.5e3}"#).unwrap();
        assert_eq!(
            value,
            json!({"a": "NaN", "b": ["-Infinity", "Infinity"], "c": "NaN, \"Infinity", "d": -1500.0})
        );
    }

    #[test]
    fn broken_text_says_where() {
        let error = parse(b"{\n  broken").unwrap_err();
        assert_eq!(error.line, 2);
        assert!(parse(b"").is_err());
        assert!(parse(b"\"open").is_err());
        assert!(parse(b"\xff\xfe").is_err());
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert_eq!(parse(b"\xef\xbb\xbf{}").unwrap(), json!({}));
    }
}
