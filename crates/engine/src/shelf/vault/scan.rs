//! Scanning vault lines: where each line is, and for each id which one counts.
//!
//! Comes in: the bytes of a file. Goes out: a [`Part`], by offsets. Never here: what a line says beyond its id and version, where the
//! layout of our own lines puts them; a line of any other layout is read whole.

use super::record::Record;
use std::borrow::Cow;
use std::collections::HashMap;

/// The longest line that is read: far above any text the gate lets in.
pub(super) const MAX_LINE: usize = 1 << 20;

/// Where a line is. As small as can be: a scan goes back and forth in thousands of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: u64,
    pub(super) len: u32,
    /// Counted from 1, blank lines included.
    pub(super) number: u32,
}

/// The line that counts for an id, so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Best {
    pub(super) place: Place,
    pub(super) version: i64,
}

/// An id as a scan knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Id<'a> {
    /// Twelve hex digits in lower case, as ids made here are, by their value.
    Ours(u64),
    /// Any other.
    Other(Cow<'a, [u8]>),
}

impl<'a> Id<'a> {
    pub(super) fn of(id: Cow<'a, [u8]>) -> Id<'a> {
        match id.as_ref().try_into().ok().and_then(hex) {
            Some(value) => Id::Ours(value),
            None => Id::Other(id),
        }
    }
}

/// The value of twelve hex digits in lower case.
fn hex(digits: &[u8; 12]) -> Option<u64> {
    let (high, low) = digits.split_first_chunk::<8>()?;
    let low: [u8; 4] = low.try_into().ok()?;
    let high = nibbles(u64::from_be_bytes(*high))?;
    let low = nibbles(u64::from(u32::from_be_bytes(low)) | 0x3030_3030_0000_0000)?;
    Some(high << 16 | low)
}

/// The value of eight hex digits in lower case, all eight at once: this is asked for every line of a file.
fn nibbles(digits: u64) -> Option<u64> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    if digits & TOPS != 0 {
        return None;
    }
    // The top bit of a byte says whether it is at least that large; no byte is above 127, so nothing carries over.
    let at_least = |least: u64| (digits + ONES * (128 - least)) & TOPS;
    let digit = at_least(0x30) & !at_least(0x3a);
    let letter = at_least(0x61) & !at_least(0x67);
    if digit | letter != TOPS {
        return None;
    }
    // `a` is 0x61: its low half says 1, and 9 more makes it 10.
    let mut value = (digits & (ONES * 0x0f)) + (letter >> 7) * 9;
    value = (value | value >> 4) & 0x00ff_00ff_00ff_00ff;
    value = (value | value >> 8) & 0x0000_ffff_0000_ffff;
    Some((value | value >> 16) & 0xffff_ffff)
}

/// The file, scanned.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// Most lines are looked up here, so the hash is a quick one; its seed differs from process to process.
    ours: HashMap<u64, u32, foldhash::fast::RandomState>,
    others: HashMap<Vec<u8>, u32>,
    /// For each id the line that counts, in order of first appearance.
    pub(super) best: Vec<Best>,
    /// Lines that cannot be read, and why.
    pub(super) broken: Vec<(Place, String)>,
    /// Lines that are not blank.
    pub(super) lines: usize,
    /// Line breaks.
    breaks: u32,
}

impl Part {
    /// Scans a file.
    pub(super) fn of(bytes: &[u8]) -> Part {
        let mut part = Part::default();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            part.take(&bytes[start..end], start as u64);
            part.breaks += 1;
            start = end + 1;
        }
        part.take(&bytes[start..], start as u64);
        part
    }

    fn take(&mut self, raw: &[u8], start: u64) {
        let line = raw.trim_ascii();
        if line.is_empty() {
            return;
        }
        self.lines += 1;
        let skipped = (raw.len() - raw.trim_ascii_start().len()) as u64;
        let place = Place { start: start + skipped, len: line.len() as u32, number: self.breaks + 1 };
        match glance(line) {
            Ok((id, version)) => self.count(id, Best { place, version }),
            Err(why) => self.broken.push((place, why)),
        }
    }

    fn count(&mut self, id: Id<'_>, new: Best) {
        let next = self.best.len() as u32;
        let at = match id {
            Id::Ours(value) => *self.ours.entry(value).or_insert(next),
            Id::Other(id) => match self.others.get(id.as_ref()) {
                Some(&at) => at,
                None => *self.others.entry(id.into_owned()).or_insert(next),
            },
        };
        match self.best.get_mut(at as usize) {
            None => self.best.push(new),
            Some(best) if new.version > best.version => *best = new,
            Some(_) => {}
        }
    }

    /// The number of an id.
    pub(super) fn number(&self, id: &Id<'_>) -> Option<u32> {
        match id {
            Id::Ours(value) => self.ours.get(value).copied(),
            Id::Other(id) => self.others.get(id.as_ref()).copied(),
        }
    }

    /// Whether an id was seen.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.number(&Id::of(Cow::Borrowed(id.as_bytes()))).is_some()
    }
}

/// Id and version of a line, without reading more of it than needed.
pub(super) fn glance(line: &[u8]) -> Result<(Id<'_>, i64), String> {
    if let Some((id, version)) = at_a_glance(line) {
        return Ok((Id::Ours(id), version));
    }
    let record = Record::parse(line)?;
    let id = match record.id {
        Cow::Borrowed(id) => Cow::Borrowed(id.as_bytes()),
        Cow::Owned(id) => Cow::Owned(id.into_bytes()),
    };
    Ok((Id::of(id), record.version))
}

/// The value of the id and the version of a line that begins like ours: `{"id": "<12 hex digits>", "version": n,`.
#[inline]
pub(super) fn at_a_glance(line: &[u8]) -> Option<(u64, i64)> {
    let (before, rest) = line.split_first_chunk()?;
    let (id, rest) = rest.split_first_chunk()?;
    let (between, rest) = rest.split_first_chunk()?;
    if before != b"{\"id\": \"" || between != b"\", \"version\": " {
        return None;
    }
    let (version, len) = number(rest)?;
    let id = hex(id)?;
    (rest.get(len) == Some(&b',') && line.len() <= MAX_LINE).then_some((id, version))
}

/// A number as JSON has it, not negative and of at most 18 digits, and how many it has.
#[inline]
pub(super) fn number(bytes: &[u8]) -> Option<(i64, usize)> {
    let short = bytes.first_chunk().and_then(|bytes| short_number(u64::from_le_bytes(*bytes)));
    short.or_else(|| {
        let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
        let plain = (1..=18).contains(&digits) && (bytes[0] != b'0' || digits == 1);
        let value = || bytes[..digits].iter().fold(0, |n, b| n * 10 + i64::from(b - b'0'));
        plain.then(|| (value(), digits))
    })
}

/// The same for up to seven digits and a comma among eight bytes, all at once: how many digits there are differs from line to line,
/// which a loop would have to guess.
#[inline]
fn short_number(bytes: u64) -> Option<(i64, usize)> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let comma = bytes ^ (ONES * u64::from(b','));
    // The lowest byte that is a comma becomes zero, and its top bit the lowest one that is set.
    let found = comma.wrapping_sub(ONES) & !comma & TOPS;
    let bits = found.trailing_zeros() & !7;
    // Neither none nor eight; a zero in front is left to the loop.
    if !(8..64).contains(&bits) || (bytes & 0xff == u64::from(b'0') && bits > 8) {
        return None;
    }
    // The digits move to the upper end, zeros come before them.
    let digits = (bytes ^ (ONES * u64::from(b'0'))) << (64 - bits);
    if (digits | digits.wrapping_add(ONES * 0x76)) & TOPS != 0 {
        return None;
    }
    // Pairs, then fours, then all eight; the first digit is the lowest byte.
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let value = (fours * 10_000 + (fours >> 32)) & 0xffff_ffff;
    Some((value as i64, bits as usize / 8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_quick_number_is_the_plain_one(text in "[0-9]{0,20}[,. \u{e9}]?[0-9,]{0,9}") {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let plain = (1..=18).contains(&digits) && (digits == 1 || !text.starts_with('0'));
            let expected = plain.then(|| (text[..digits].parse().unwrap(), digits));
            prop_assert_eq!(number(text.as_bytes()), expected);
        }
    }
}
