//! The quick way to read a line: by the layout our own lines have.
//!
//! Comes in: a line. Goes out: its record, or nothing if anything about the line is unusual (another order, another spacing, an
//! escape, a key nobody knows). Never here: deciding that a line is wrong; the JSON parser does that.

use super::record::Record;
use std::borrow::Cow;

/// The record of a line laid out like ours without any escape.
pub(super) fn read(line: &[u8]) -> Option<Record<'_>> {
    let mut rest = Rest(std::str::from_utf8(line).ok()?);
    let id = rest.skip("{\"id\": ")?.text()?;
    let version = rest.skip(", \"version\": ")?.number()?;
    let created_at = rest.skip(", \"created_at\": ")?.text()?;
    let updated_at = rest.skip(", \"updated_at\": ")?.maybe()?;
    let tier = rest.skip(", \"tier\": ")?.text()?;
    let topic_id = match rest.skip(", \"topic_id\": ") {
        Some(rest) => Some(Cow::Borrowed(rest.text()?)),
        None => None,
    };
    let source = rest.skip(", \"source\": ")?.maybe()?;
    let scope = rest.skip(", \"scope\": ")?.text()?;
    let category = rest.skip(", \"category\": ")?.text()?;
    let tags = rest.skip(", \"tags\": ")?.list()?;
    let deleted_at = rest.skip(", \"deleted_at\": ")?.maybe()?;
    let text = rest.skip(", \"text\": ")?.text()?;
    let whole = rest.0 == "}" && !id.is_empty();
    whole.then_some(Record {
        id: Cow::Borrowed(id),
        version,
        created_at: Cow::Borrowed(created_at),
        updated_at,
        tier: Cow::Borrowed(tier),
        topic_id,
        source,
        scope: Cow::Borrowed(scope),
        category: Cow::Borrowed(category),
        tags,
        deleted_at,
        text: Cow::Borrowed(text),
    })
}

/// What is left of a line.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn skip(&mut self, mark: &str) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(mark)?;
        Some(self)
    }

    /// A quoted text without escapes.
    fn text(&mut self) -> Option<&'a str> {
        let inner = self.0.strip_prefix('"')?;
        let end = memchr::memchr2(b'"', b'\\', inner.as_bytes())?;
        let (text, rest) = inner.split_at(end);
        // A bare control character is no JSON: the parser says so.
        if text.bytes().any(|b| b < b' ') {
            return None;
        }
        self.0 = rest.strip_prefix('"')?;
        Some(text)
    }

    fn maybe(&mut self) -> Option<Option<Cow<'a, str>>> {
        match self.0.strip_prefix("null") {
            Some(rest) => {
                self.0 = rest;
                Some(None)
            }
            None => Some(Some(Cow::Borrowed(self.text()?))),
        }
    }

    fn number(&mut self) -> Option<i64> {
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        if number.len() > 1 && number.starts_with('0') { None } else { number.parse().ok() }
    }

    fn list(&mut self) -> Option<Vec<Cow<'a, str>>> {
        let mut items = Vec::new();
        self.skip("[")?;
        if self.skip("]").is_some() {
            return Some(items);
        }
        loop {
            items.push(Cow::Borrowed(self.text()?));
            if self.skip("]").is_some() {
                return Some(items);
            }
            self.skip(", ")?;
        }
    }
}
