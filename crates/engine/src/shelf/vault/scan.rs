//! Scanning vault lines: where each line is, and for each id which one counts.
//!
//! Comes in: bytes, in one piece or as they come from a file. Goes out: a [`Part`], by offsets, so that nothing of the file need stay
//! in memory. Never here: what a line says beyond its id and version, where the layout of our own lines puts them; a line of any other
//! layout is read whole.

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

/// No value of twelve hex digits.
const OTHER: u64 = u64::MAX;

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

/// A stretch of the file, scanned.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// Most lines are looked up here, so the hash is a quick one; its seed differs from process to process.
    ours: HashMap<u64, u32, foldhash::fast::RandomState>,
    others: HashMap<Vec<u8>, u32>,
    /// For each id the line that counts, in order of first appearance.
    pub(super) best: Vec<Best>,
    /// The ids themselves in the same order; [`OTHER`] for one that is not ours.
    keys: Vec<u64>,
    /// Lines that cannot be read, and why.
    pub(super) broken: Vec<(Place, String)>,
    /// Lines that are not blank.
    pub(super) lines: usize,
    /// Line breaks.
    breaks: u32,
}

impl Part {
    /// Scans bytes in one piece.
    pub(super) fn of(bytes: &[u8]) -> Part {
        let mut part = Part::default();
        let whole = part.feed(bytes, 0);
        part.end(&bytes[whole..], whole as u64);
        part
    }

    /// Takes the whole lines of what comes next, which begins at `base`. Returns how many bytes they are.
    pub(super) fn feed(&mut self, bytes: &[u8], base: u64) -> usize {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.take(&bytes[start..end], base + start as u64);
            self.breaks += 1;
            start = end + 1;
        }
        start
    }

    /// Makes room for the ids of what is still to come, by the lines so far: where nearly each one brought a new id, the next ones
    /// will too, and growing step by step would cost as much again. Where ids repeat, tables stay small and quick.
    pub(super) fn expect(&mut self, bytes_so_far: u64, bytes_to_come: u64) {
        let (ids, lines) = (self.best.len(), self.lines);
        if ids * 8 >= lines * 7 && bytes_so_far > 0 {
            let more = (bytes_to_come.saturating_mul(lines as u64) / bytes_so_far) as usize;
            self.ours.reserve(more);
            self.best.reserve(more);
            self.keys.reserve(more);
        }
    }

    /// Takes what follows the last line break.
    pub(super) fn end(&mut self, rest: &[u8], base: u64) {
        self.take(rest, base);
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
        let (key, at) = match id {
            Id::Ours(value) => (value, *self.ours.entry(value).or_insert(next)),
            Id::Other(id) => match self.others.get(id.as_ref()) {
                Some(&at) => (OTHER, at),
                None => (OTHER, *self.others.entry(id.into_owned()).or_insert(next)),
            },
        };
        match self.best.get_mut(at as usize) {
            None => {
                self.best.push(new);
                self.keys.push(key);
            }
            Some(best) if new.version > best.version => *best = new,
            Some(_) => {}
        }
    }

    /// Adds the stretch that follows this one, scanned with its own line numbers.
    pub(super) fn join(&mut self, after: Part) {
        let shift = self.breaks;
        let moved = |place: Place| Place { number: place.number + shift, ..place };
        let mut others: HashMap<u32, Vec<u8>> = after.others.into_iter().map(|(id, at)| (at, id)).collect();
        for (at, (key, best)) in (0..).zip(after.keys.into_iter().zip(after.best)) {
            let id = match key {
                // Every number was given to an id when it was first seen.
                OTHER => Id::Other(Cow::Owned(others.remove(&at).unwrap_or_default())),
                ours => Id::Ours(ours),
            };
            self.count(id, Best { place: moved(best.place), ..best });
        }
        self.broken.extend(after.broken.into_iter().map(|(place, why)| (moved(place), why)));
        self.lines += after.lines;
        self.breaks += after.breaks;
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

/// Two pieces of work at once.
pub(super) fn both<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(first);
        let second = second();
        match thread.join() {
            Ok(first) => (first, second),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Id and version of a line, without reading more of it than needed.
pub(super) fn glance(line: &[u8]) -> Result<(Id<'_>, i64), String> {
    if let Some(seen) = at_a_glance(line).filter(|_| line.len() <= MAX_LINE) {
        return Ok(seen);
    }
    let record = Record::parse(line)?;
    let id = match record.id {
        Cow::Borrowed(id) => Cow::Borrowed(id.as_bytes()),
        Cow::Owned(id) => Cow::Owned(id.into_bytes()),
    };
    Ok((Id::of(id), record.version))
}

/// Id and version of a line that begins like ours: `{"id": "<12 hex digits>", "version": n,`.
fn at_a_glance(line: &[u8]) -> Option<(Id<'_>, i64)> {
    let (before, rest) = line.split_first_chunk()?;
    let (id, rest) = rest.split_first_chunk()?;
    let (between, rest) = rest.split_first_chunk()?;
    if before != b"{\"id\": \"" || between != b"\", \"version\": " {
        return None;
    }
    let id = hex(id)?;
    let digits = rest.iter().take(18).position(|b| !b.is_ascii_digit())?;
    let plain = digits > 0 && rest[digits] == b',' && (rest[0] != b'0' || digits == 1);
    let version = rest[..digits].iter().fold(0i64, |n, b| n * 10 + i64::from(b - b'0'));
    plain.then_some((Id::Ours(id), version))
}
