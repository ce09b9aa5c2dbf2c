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

/// Where a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: u64,
    pub(super) len: u32,
    /// Counted from 1, blank lines included.
    pub(super) number: usize,
}

/// The line that counts for an id, so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Best {
    pub(super) place: Place,
    pub(super) version: i64,
    /// The id, if it is short: joining two stretches then needs no second look.
    key: Option<Key>,
}

/// The bytes of an id of at most fifteen, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key(u128);

impl Key {
    fn of(id: &[u8]) -> Option<Key> {
        let mut bytes = [0; 16];
        bytes[..15].get_mut(..id.len())?.copy_from_slice(id);
        bytes[15] = id.len() as u8;
        Some(Key(u128::from_le_bytes(bytes)))
    }
}

/// A stretch of the file, scanned.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Part {
    /// An id as short as ours is its own key, so that looking it up touches nothing else.
    short: HashMap<Key, u32>,
    long: HashMap<Vec<u8>, u32>,
    /// For each id the line that counts, in order of first appearance.
    pub(super) best: Vec<Best>,
    /// Lines that cannot be read, and why.
    pub(super) broken: Vec<(Place, String)>,
    /// Lines that are not blank.
    pub(super) lines: usize,
    /// Line breaks.
    breaks: usize,
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
            Ok((id, version)) => self.count(&id, Best { place, version, key: Key::of(&id) }),
            Err(why) => self.broken.push((place, why)),
        }
    }

    fn count(&mut self, id: &[u8], new: Best) {
        let next = self.best.len() as u32;
        let at = match new.key {
            Some(key) => *self.short.entry(key).or_insert(next),
            None => match self.long.get(id) {
                Some(&at) => at,
                None => {
                    self.long.insert(id.to_owned(), next);
                    next
                }
            },
        };
        match self.best.get_mut(at as usize) {
            None => self.best.push(new),
            Some(best) if new.version > best.version => *best = new,
            Some(_) => {}
        }
    }

    /// Adds the stretch that follows this one, scanned with its own line numbers.
    pub(super) fn join(&mut self, after: Part) {
        let shift = self.breaks;
        let moved = |place: Place| Place { number: place.number + shift, ..place };
        let long: HashMap<u32, Vec<u8>> = after.long.into_iter().map(|(id, at)| (at, id)).collect();
        self.short.reserve(after.short.len());
        for (at, best) in (0..).zip(after.best) {
            let id = long.get(&at).map(Vec::as_slice).unwrap_or_default();
            self.count(id, Best { place: moved(best.place), ..best });
        }
        self.broken.extend(after.broken.into_iter().map(|(place, why)| (moved(place), why)));
        self.lines += after.lines;
        self.breaks += after.breaks;
    }

    /// The number of an id.
    pub(super) fn number(&self, id: &[u8]) -> Option<u32> {
        match Key::of(id) {
            Some(key) => self.short.get(&key).copied(),
            None => self.long.get(id).copied(),
        }
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
pub(super) fn glance(line: &[u8]) -> Result<(Cow<'_, [u8]>, i64), String> {
    if let Some((id, version)) = at_a_glance(line).filter(|_| line.len() <= MAX_LINE) {
        return Ok((Cow::Borrowed(id), version));
    }
    let record = Record::parse(line)?;
    let id = match record.id {
        Cow::Borrowed(id) => Cow::Borrowed(id.as_bytes()),
        Cow::Owned(id) => Cow::Owned(id.into_bytes()),
    };
    Ok((id, record.version))
}

/// Id and version of a line laid out like ours: `{"id": "…", "version": n,`.
fn at_a_glance(line: &[u8]) -> Option<(&[u8], i64)> {
    let (before, rest) = line.split_first_chunk()?;
    if before != b"{\"id\": \"" {
        return None;
    }
    let end = rest.iter().take(64).position(|b| !b.is_ascii_alphanumeric() && *b != b'-')?;
    let (id, rest) = rest.split_at(end);
    let (between, rest) = rest.split_first_chunk()?;
    if between != b"\", \"version\": " {
        return None;
    }
    let digits = rest.iter().take(18).position(|b| !b.is_ascii_digit())?;
    let plain = digits > 0 && !id.is_empty() && rest[digits] == b',' && (rest[0] != b'0' || digits == 1);
    let version = rest[..digits].iter().fold(0i64, |n, b| n * 10 + i64::from(b - b'0'));
    plain.then_some((id, version))
}
