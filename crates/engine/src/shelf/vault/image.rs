//! The vault file as it is: every line found, every id resolved to the line that counts.
//!
//! Comes in: the file's bytes. Goes out: for each id the line with the highest version (the earlier one of two with the same), in
//! the order the ids first appear; every line that cannot be read; every line that lost to a different one of the same version.
//! Never here: changing anything, or failing because of one line.
//!
//! A vault of many versions is mostly lines that no longer count. Of those only id and version are looked at, where the layout of
//! our own lines puts them; a line of any other layout is read whole. Large files are scanned in two halves at once.

use super::record::Record;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The longest line that is read: far above any text the gate lets in.
const MAX_LINE: usize = 1 << 20;

/// From this size on a second thread costs less than it saves.
const LARGE: usize = 4 << 20;

/// A line of the file.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    bytes: &'a [u8],
    /// Counted from 1, blank lines included.
    number: usize,
}

/// The line that counts for an id, so far.
#[derive(Debug, Clone, Copy)]
struct Best<'a> {
    line: Line<'a>,
    version: i64,
    /// The id, if it is short; joining two stretches then touches no line.
    key: Option<Key>,
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken<'a> {
    /// Counted from 1.
    pub number: usize,
    /// What is wrong with it.
    pub why: String,
    /// The line itself: kept as it is, never shown.
    pub bytes: &'a [u8],
}

/// A line that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held<'a> {
    /// What it says.
    pub record: Record<'a>,
    /// The line itself, without its line break.
    pub bytes: &'a [u8],
    /// Counted from 1.
    pub number: usize,
}

/// The file, indexed.
#[derive(Debug)]
pub struct Image<'a> {
    bytes: &'a [u8],
    part: Part<'a>,
}

/// Every id with the line that counts. The lines are known to be readable and are read again by whoever asks, so that a vault
/// costs memory only for what is wanted of it.
#[derive(Debug)]
pub struct Resolved<'a> {
    lines: Vec<Line<'a>>,
    /// Lines that cannot be read, in order. Lines that would not count anyway are looked at by [`Image::broken`] only.
    pub broken: Vec<Broken<'a>>,
}

impl<'a> Resolved<'a> {
    /// How many ids there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Tombstones included, in order of first appearance.
    pub fn all(&self) -> impl Iterator<Item = Held<'a>> {
        self.lines.iter().filter_map(|line| line.read().ok())
    }

    /// What is in use.
    pub fn active(&self) -> impl Iterator<Item = Held<'a>> {
        self.all().filter(|held| held.record.is_active())
    }
}

impl<'a> Line<'a> {
    fn read(self) -> Result<Held<'a>, Broken<'a>> {
        match Record::parse(self.bytes) {
            Ok(record) => Ok(Held { record, bytes: self.bytes, number: self.number }),
            Err(why) => Err(Broken { number: self.number, why, bytes: self.bytes }),
        }
    }
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

/// The ids seen so far, numbered. An id as short as ours is its own key, so that looking it up touches nothing else of the file.
#[derive(Debug, Default)]
struct Ids<'a> {
    short: HashMap<Key, u32>,
    long: HashMap<Cow<'a, [u8]>, u32>,
}

impl<'a> Ids<'a> {
    fn get(&self, id: &[u8]) -> Option<u32> {
        match Key::of(id) {
            Some(key) => self.short.get(&key).copied(),
            None => self.long.get(id).copied(),
        }
    }
}

/// A stretch of the file, scanned.
#[derive(Debug, Default)]
struct Part<'a> {
    ids: Ids<'a>,
    /// In order of first appearance.
    best: Vec<Best<'a>>,
    broken: Vec<Broken<'a>>,
    /// Lines that are not blank.
    lines: usize,
    /// Line breaks.
    numbers: usize,
}

impl<'a> Part<'a> {
    fn of(bytes: &'a [u8]) -> Part<'a> {
        let mut part = Part::default();
        for line in all_lines(bytes) {
            part.numbers = line.number - 1;
            if !line.bytes.is_empty() {
                part.lines += 1;
                part.take(line);
            }
        }
        part
    }

    fn take(&mut self, line: Line<'a>) {
        let (id, version) = match glance(line) {
            Ok(seen) => seen,
            Err(broken) => return self.broken.push(broken),
        };
        match Key::of(&id) {
            Some(key) => self.count_short(key, line, version),
            None => self.count_long(id, line, version),
        }
    }

    fn count_short(&mut self, key: Key, line: Line<'a>, version: i64) {
        let next = self.best.len() as u32;
        let at = *self.ids.short.entry(key).or_insert(next);
        self.count(at, Best { line, version, key: Some(key) });
    }

    fn count_long(&mut self, id: Cow<'a, [u8]>, line: Line<'a>, version: i64) {
        let next = self.best.len() as u32;
        let at = *self.ids.long.entry(id).or_insert(next);
        self.count(at, Best { line, version, key: None });
    }

    fn count(&mut self, at: u32, new: Best<'a>) {
        match self.best.get_mut(at as usize) {
            None => self.best.push(new),
            Some(best) if new.version > best.version => *best = new,
            Some(_) => {}
        }
    }

    /// Adds the stretch that follows this one.
    fn join(&mut self, after: Part<'a>) {
        let shift = self.numbers;
        self.ids.short.reserve(after.ids.short.len());
        self.best.reserve(after.best.len());
        for Best { line, version, key } in after.best {
            let line = Line { number: line.number + shift, ..line };
            match key {
                Some(key) => self.count_short(key, line, version),
                None => self.take(line),
            }
        }
        self.broken.extend(after.broken.into_iter().map(|b| Broken { number: b.number + shift, ..b }));
        self.lines += after.lines;
        self.numbers += after.numbers;
    }
}

impl<'a> Image<'a> {
    /// Finds every line and the one that counts for each id.
    pub fn of(bytes: &'a [u8]) -> Image<'a> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let middle = memchr::memchr(b'\n', &bytes[bytes.len() / 2..]).map(|at| bytes.len() / 2 + at + 1);
        let part = match middle.filter(|_| bytes.len() >= LARGE) {
            None => Part::of(bytes),
            Some(middle) => {
                let (first, second) = bytes.split_at(middle);
                let (mut first, second) = both(|| Part::of(first), || Part::of(second));
                first.join(second);
                first
            }
        };
        Image { bytes, part }
    }

    /// How many lines there are, blank ones left out.
    pub fn lines(&self) -> usize {
        self.part.lines
    }

    /// Whether an id was ever used.
    pub fn knows(&self, id: &str) -> bool {
        self.part.ids.get(id.as_bytes()).is_some()
    }

    /// The line that counts for each id. Where that line turns out to be unreadable, the next best one counts.
    pub fn resolve(&self) -> Resolved<'a> {
        let best = &self.part.best;
        let unreadable = |from: usize, to: usize| -> Vec<usize> {
            (from..to).filter(|at| Record::parse(best[*at].line.bytes).is_err()).collect()
        };
        let (half, all) = (best.len() / 2, best.len());
        let wrong = if self.bytes.len() >= LARGE {
            let (mut first, second) = both(|| unreadable(0, half), || unreadable(half, all));
            first.extend(second);
            first
        } else {
            unreadable(0, all)
        };
        let mut broken = self.part.broken.clone();
        let mut lines: Vec<Option<Line<'a>>> = best.iter().map(|best| Some(best.line)).collect();
        if !wrong.is_empty() {
            let mut next_best = self.next_best(&wrong, &mut broken);
            for at in wrong {
                lines[at] = next_best.remove(&(at as u32));
            }
        }
        broken.sort_by_key(|line| line.number);
        Resolved { lines: lines.into_iter().flatten().collect(), broken }
    }

    /// For ids whose best line cannot be read, the best one that can.
    fn next_best(&self, wrong: &[usize], broken: &mut Vec<Broken<'a>>) -> HashMap<u32, Line<'a>> {
        let wanted: HashSet<u32> = wrong.iter().map(|at| *at as u32).collect();
        let mut next: HashMap<u32, (i64, Line<'a>)> = HashMap::new();
        for line in lines(self.bytes) {
            let Ok((id, version)) = glance(line) else { continue };
            let Some(at) = self.part.ids.get(&id).filter(|at| wanted.contains(at)) else { continue };
            match line.read() {
                Err(unreadable) => broken.push(unreadable),
                Ok(_) if next.get(&at).is_none_or(|(known, _)| version > *known) => {
                    next.insert(at, (version, line));
                }
                Ok(_) => {}
            }
        }
        next.into_iter().map(|(at, (_, line))| (at, line)).collect()
    }

    /// Every readable line, in file order.
    pub fn readable(&self) -> impl Iterator<Item = Held<'a>> {
        lines(self.bytes).filter_map(|line| line.read().ok())
    }

    /// Every line that cannot be read, also among those that would not count.
    pub fn broken(&self) -> Vec<Broken<'a>> {
        lines(self.bytes).filter_map(|line| line.read().err()).collect()
    }

    /// Every readable line of an id, oldest version first.
    pub fn versions(&self, id: &str) -> Vec<Held<'a>> {
        let of_it = |line: &Line<'a>| glance(*line).is_ok_and(|(seen, _)| seen.as_ref() == id.as_bytes());
        let mut all: Vec<Held<'a>> =
            lines(self.bytes).filter(of_it).filter_map(|line| line.read().ok()).collect();
        all.sort_by_key(|held| (held.record.version, held.number));
        all
    }

    /// Lines that have the id and version of an earlier line and say something else, each after the line that counts.
    pub fn twins(&self) -> Vec<(Held<'a>, Held<'a>)> {
        let mut first: HashMap<(Cow<'a, [u8]>, i64), Line<'a>> = HashMap::with_capacity(self.lines());
        let mut twins = Vec::new();
        for line in lines(self.bytes) {
            let Ok((id, version)) = glance(line) else { continue };
            let known = match first.entry((id, version)) {
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(line);
                    continue;
                }
                std::collections::hash_map::Entry::Occupied(known) => known,
            };
            match (known.get().read(), line.read()) {
                (Ok(counts), Ok(other)) if counts.record != other.record => twins.push((counts, other)),
                // An unreadable line never counts: the next one takes its place.
                (Err(_), Ok(_)) => *known.into_mut() = line,
                _ => {}
            }
        }
        twins
    }
}

/// Two pieces of work at once.
fn both<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(first);
        let second = second();
        match thread.join() {
            Ok(first) => (first, second),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The lines that are not blank, without white space at their ends.
fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    all_lines(bytes).filter(|line| !line.bytes.is_empty())
}

/// All lines, without white space at their ends; what follows the last line break is a line too.
fn all_lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', bytes)
        .chain(std::iter::once(bytes.len()))
        .enumerate()
        .map(move |(at, end)| {
            let line = Line { bytes: bytes[start..end].trim_ascii(), number: at + 1 };
            start = end + 1;
            line
        })
}

/// Id and version of a line, without reading more of it than needed.
fn glance(line: Line<'_>) -> Result<(Cow<'_, [u8]>, i64), Broken<'_>> {
    if line.bytes.len() > MAX_LINE {
        let why = format!("longer than {MAX_LINE} bytes");
        return Err(Broken { number: line.number, why, bytes: line.bytes });
    }
    if let Some((id, version)) = at_a_glance(line.bytes) {
        return Ok((Cow::Borrowed(id), version));
    }
    let held = line.read()?;
    let id = match held.record.id {
        Cow::Borrowed(id) => Cow::Borrowed(id.as_bytes()),
        Cow::Owned(id) => Cow::Owned(id.into_bytes()),
    };
    Ok((id, held.record.version))
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

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;
