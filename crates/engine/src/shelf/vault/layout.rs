//! The quick way to read a line: by the layout our own lines have.
//!
//! Comes in: a line. Goes out: its record, or only whether its memory is in use, or nothing if anything about the line is unusual
//! (another order, another spacing, an escape, a key nobody knows). Never here: deciding that a line is wrong; the JSON parser does
//! that.

use super::record::Record;
use std::borrow::Cow;

/// The record of a line laid out like ours without any escape.
pub(super) fn read(line: &[u8]) -> Option<Record<'_>> {
    let places = places(line)?;
    let line = std::str::from_utf8(line).ok()?;
    let text = |place: Place| Cow::Borrowed(&line[place.0..place.1]);
    let maybe = |place: Option<Place>| place.map(text);
    Some(Record {
        id: text(places.id),
        version: places.version,
        created_at: text(places.created_at),
        updated_at: maybe(places.updated_at),
        tier: text(places.tier),
        topic_id: maybe(places.topic_id),
        source: maybe(places.source),
        scope: text(places.scope),
        category: text(places.category),
        // No text holds a quotation mark, so every second piece is one.
        tags: line[places.tags.0..places.tags.1].split('"').skip(1).step_by(2).map(Cow::Borrowed).collect(),
        deleted_at: maybe(places.deleted_at),
        text: text(places.text),
    })
}

/// Whether the memory of a line laid out like ours is in use, without the cost of its record.
pub(super) fn in_use(line: &[u8]) -> Option<bool> {
    let places = places(line)?;
    (places.ascii || std::str::from_utf8(line).is_ok()).then_some(places.deleted_at.is_none())
}

/// Where a text begins and ends. The quotation marks are outside, so this never splits a character.
type Place = (usize, usize);

/// Where the values of a line are.
struct Places {
    ascii: bool,
    id: Place,
    version: i64,
    created_at: Place,
    updated_at: Option<Place>,
    tier: Place,
    topic_id: Option<Place>,
    source: Option<Place>,
    scope: Place,
    category: Place,
    /// What is between the brackets.
    tags: Place,
    deleted_at: Option<Place>,
    text: Place,
}

#[inline(always)]
fn places(line: &[u8]) -> Option<Places> {
    // One look at the whole line instead of one at each text. A bare control character is no JSON: the parser says so.
    let (mut odd, mut every) = (false, 0);
    for byte in line {
        odd |= (*byte < b' ') | (*byte == b'\\');
        every |= byte;
    }
    if odd {
        return None;
    }
    let mut rest = Rest { line, at: 0 };
    let id = rest.skip(b"{\"id\": ")?.text()?;
    let version = rest.skip(b", \"version\": ")?.number()?;
    let created_at = rest.skip(b", \"created_at\": ")?.text()?;
    let updated_at = rest.skip(b", \"updated_at\": ")?.maybe()?;
    let tier = rest.skip(b", \"tier\": ")?.text()?;
    let topic_id = match rest.skip(b", \"topic_id\": ") {
        Some(rest) => Some(rest.text()?),
        None => None,
    };
    let source = rest.skip(b", \"source\": ")?.maybe()?;
    let scope = rest.skip(b", \"scope\": ")?.text()?;
    let category = rest.skip(b", \"category\": ")?.text()?;
    let tags = rest.skip(b", \"tags\": ")?.list()?;
    let deleted_at = rest.skip(b", \"deleted_at\": ")?.maybe()?;
    let text = rest.skip(b", \"text\": ")?.text()?;
    let whole = &line[rest.at..] == b"}" && id.0 < id.1;
    whole.then_some(Places {
        ascii: every.is_ascii(),
        id,
        version,
        created_at,
        updated_at,
        tier,
        topic_id,
        source,
        scope,
        category,
        tags,
        deleted_at,
        text,
    })
}

/// A line, and how far it was read.
struct Rest<'a> {
    line: &'a [u8],
    at: usize,
}

impl Rest<'_> {
    #[inline(always)]
    fn skip<const N: usize>(&mut self, mark: &[u8; N]) -> Option<&mut Self> {
        let next = self.line[self.at..].first_chunk::<N>()?;
        (next == mark).then(|| {
            self.at += N;
            self
        })
    }

    /// A quoted text without escapes.
    #[inline(always)]
    fn text(&mut self) -> Option<Place> {
        let start = self.skip(b"\"")?.at;
        let end = start + quote(&self.line[start..])?;
        self.at = end + 1;
        Some((start, end))
    }

    #[inline(always)]
    fn maybe(&mut self) -> Option<Option<Place>> {
        match self.skip(b"null") {
            Some(_) => Some(None),
            None => self.text().map(Some),
        }
    }

    #[inline]
    fn number(&mut self) -> Option<i64> {
        let left = &self.line[self.at..];
        let digits = left.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 || digits > 18 || (digits > 1 && left[0] == b'0') {
            return None;
        }
        self.at += digits;
        Some(left[..digits].iter().fold(0, |n, b| n * 10 + i64::from(b - b'0')))
    }

    /// What is between the brackets of a list of texts.
    #[inline]
    fn list(&mut self) -> Option<Place> {
        let start = self.skip(b"[")?.at;
        if self.skip(b"]").is_none() {
            self.text()?;
            while self.skip(b"]").is_none() {
                self.skip(b", ")?.text()?;
            }
        }
        Some((start, self.at - 1))
    }
}

/// Where the next quotation mark is. Most texts of a line are short, which a call to a search for long ones would not make up for.
#[inline]
fn quote(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const NEAR: usize = 3;
    let (words, _) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().take(NEAR).enumerate() {
        // The lowest byte that is a quotation mark becomes zero, and its top bit the lowest one that is set.
        let word = u64::from_le_bytes(*word) ^ (ONES * u64::from(b'"'));
        let found = word.wrapping_sub(ONES) & !word & (ONES << 7);
        if found != 0 {
            return Some(n * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    let from = words.len().min(NEAR) * 8;
    Some(from + memchr::memchr(b'"', &bytes[from..])?)
}
