//! The vault file as it is: every line found, every id resolved to the line that counts.
//!
//! Comes in: the file's bytes. Goes out: for each id the line with the highest version (the earlier one of two with the same), in
//! the order the ids first appear; every line that cannot be read; every line that lost to a different one of the same version.
//! Never here: changing anything, or failing because of one line.
//!
//! A vault of many versions is mostly lines that no longer count. Of those only id and version are looked at, where the layout of
//! our own lines puts them; a line of any other layout is read whole.

use super::record::Record;
use std::collections::HashMap;

/// The longest line that is read: far above any text the gate lets in.
const MAX_LINE: usize = 1 << 20;

/// A line of the file.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: usize,
    end: usize,
    /// Counted from 1, blank lines included.
    number: usize,
    id: u32,
    version: i64,
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

/// A line that counts, or did.
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
    places: Vec<Place>,
    /// For each id the place that counts, in order of first appearance.
    best: Vec<u32>,
    ids: HashMap<&'a [u8], u32>,
    /// Ids of lines that are not laid out like ours and had to be unescaped.
    odd_ids: HashMap<String, u32>,
    broken: Vec<Broken<'a>>,
    lines: usize,
}

/// Every id with the line that counts.
#[derive(Debug)]
pub struct Resolved<'a> {
    /// Tombstones included, in order of first appearance.
    pub held: Vec<Held<'a>>,
    /// Lines that cannot be read, in order. Lines that would not count anyway are looked at by [`Image::broken`] only.
    pub broken: Vec<Broken<'a>>,
}

impl<'a> Resolved<'a> {
    /// What is in use.
    pub fn active(&self) -> impl Iterator<Item = &Held<'a>> {
        self.held.iter().filter(|held| held.record.is_active())
    }
}

impl<'a> Image<'a> {
    /// Finds every line and the one that counts for each id.
    pub fn of(bytes: &'a [u8]) -> Image<'a> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut image = Image {
            bytes,
            places: Vec::with_capacity(bytes.len() / 256),
            best: Vec::new(),
            ids: HashMap::new(),
            odd_ids: HashMap::new(),
            broken: Vec::new(),
            lines: 0,
        };
        let mut start = 0;
        let mut number = 0;
        let ends = memchr::memchr_iter(b'\n', bytes).chain(std::iter::once(bytes.len()));
        for end in ends {
            number += 1;
            let line = bytes[start..end].trim_ascii();
            if !line.is_empty() {
                image.lines += 1;
                // The trimmed line lies inside the bytes; its place is the distance between the two.
                let from = start + (bytes[start..end].len() - bytes[start..end].trim_ascii_start().len());
                image.take(line, from, number);
            }
            start = end + 1;
        }
        image
    }

    fn take(&mut self, line: &'a [u8], start: usize, number: usize) {
        if line.len() > MAX_LINE {
            let why = format!("longer than {MAX_LINE} bytes");
            return self.broken.push(Broken { number, why, bytes: line });
        }
        let (id, version) = match at_a_glance(line) {
            Some((id, version)) => (self.id_of(id), version),
            None => match Record::parse(line) {
                Ok(record) => (self.id_of_odd(&record.id), record.version),
                Err(why) => return self.broken.push(Broken { number, why, bytes: line }),
            },
        };
        let at = self.places.len() as u32;
        self.places.push(Place { start, end: start + line.len(), number, id, version });
        match self.best.get_mut(id as usize) {
            None => self.best.push(at),
            Some(best) if version > self.places[*best as usize].version => *best = at,
            Some(_) => {}
        }
    }

    /// The number of an id, a new one if it was not seen before; the caller adds the place at once.
    fn id_of(&mut self, id: &'a [u8]) -> u32 {
        let next = self.best.len() as u32;
        if !self.odd_ids.is_empty()
            && let Some(&known) = std::str::from_utf8(id).ok().and_then(|id| self.odd_ids.get(id))
        {
            return known;
        }
        *self.ids.entry(id).or_insert(next)
    }

    fn id_of_odd(&mut self, id: &str) -> u32 {
        if let Some(&known) = self.ids.get(id.as_bytes()) {
            return known;
        }
        let next = self.best.len() as u32;
        *self.odd_ids.entry(id.to_owned()).or_insert(next)
    }

    fn line(&self, place: Place) -> &'a [u8] {
        &self.bytes[place.start..place.end]
    }

    fn held(&self, place: Place) -> Result<Held<'a>, Broken<'a>> {
        let bytes = self.line(place);
        match Record::parse(bytes) {
            Ok(record) => Ok(Held { record, bytes, number: place.number }),
            Err(why) => Err(Broken { number: place.number, why, bytes }),
        }
    }

    /// How many lines there are, blank ones left out.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Whether an id was ever used.
    pub fn knows(&self, id: &str) -> bool {
        self.ids.contains_key(id.as_bytes()) || self.odd_ids.contains_key(id)
    }

    /// The line that counts for each id. Where that line turns out to be unreadable, the next best one counts.
    pub fn resolve(&self) -> Resolved<'a> {
        let mut broken = self.broken.clone();
        let mut held = Vec::with_capacity(self.best.len());
        let mut order: Option<Vec<u32>> = None;
        for &best in &self.best {
            match self.held(self.places[best as usize]) {
                Ok(one) => held.push(one),
                Err(line) => {
                    broken.push(line);
                    let order = order.get_or_insert_with(|| self.order());
                    held.extend(self.next_best(order, best, &mut broken));
                }
            }
        }
        broken.sort_by_key(|line| line.number);
        Resolved { held, broken }
    }

    /// All places by id, then from the highest version down, the earlier line first.
    fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.places.len() as u32).collect();
        order.sort_by_key(|&at| {
            let place = self.places[at as usize];
            (place.id, std::cmp::Reverse(place.version), at)
        });
        order
    }

    fn next_best(&self, order: &[u32], best: u32, broken: &mut Vec<Broken<'a>>) -> Option<Held<'a>> {
        let id = self.places[best as usize].id;
        let from = order.partition_point(|&at| self.places[at as usize].id < id);
        for &at in order[from..].iter().take_while(|&&at| self.places[at as usize].id == id) {
            if at == best {
                continue;
            }
            match self.held(self.places[at as usize]) {
                Ok(one) => return Some(one),
                Err(line) => broken.push(line),
            }
        }
        None
    }

    /// Every readable line of an id, oldest version first.
    pub fn versions(&self, id: &str) -> Vec<Held<'a>> {
        let Some(&wanted) = self.ids.get(id.as_bytes()).or_else(|| self.odd_ids.get(id)) else {
            return Vec::new();
        };
        let mut all: Vec<Held<'a>> = self
            .places
            .iter()
            .filter(|place| place.id == wanted)
            .filter_map(|place| self.held(*place).ok())
            .collect();
        all.sort_by_key(|held| (held.record.version, held.number));
        all
    }

    /// Every readable line, in file order.
    pub fn readable(&self) -> impl Iterator<Item = Held<'a>> {
        self.places.iter().filter_map(|place| self.held(*place).ok())
    }

    /// Every line that cannot be read, also among those that would not count.
    pub fn broken(&self) -> Vec<Broken<'a>> {
        let mut broken = self.broken.clone();
        broken.extend(self.places.iter().filter_map(|place| self.held(*place).err()));
        broken.sort_by_key(|line| line.number);
        broken
    }

    /// Lines that have the id and version of an earlier line and say something else: the line that counts among them first.
    pub fn twins(&self) -> Vec<(Held<'a>, Held<'a>)> {
        let order = self.order();
        let mut twins = Vec::new();
        let same = |a: &u32, b: &u32| {
            let (a, b) = (self.places[*a as usize], self.places[*b as usize]);
            a.id == b.id && a.version == b.version
        };
        for group in order.chunk_by(same).filter(|group| group.len() > 1) {
            let mut readable = group.iter().filter_map(|&at| self.held(self.places[at as usize]).ok());
            let Some(first) = readable.next() else { continue };
            for other in readable {
                if other.record != first.record {
                    twins.push((first.clone(), other));
                }
            }
        }
        twins.sort_by_key(|(_, other)| other.number);
        twins
    }
}

/// Id and version of a line laid out like ours: `{"id": "…", "version": n,`.
fn at_a_glance(line: &[u8]) -> Option<(&[u8], i64)> {
    let rest = line.strip_prefix(b"{\"id\": \"")?;
    let end = rest.iter().take(64).position(|b| !b.is_ascii_alphanumeric() && *b != b'-')?;
    let (id, rest) = rest.split_at(end);
    let rest = rest.strip_prefix(b"\", \"version\": ")?;
    let digits = rest.iter().take(18).position(|b| !b.is_ascii_digit())?;
    let plain = digits > 0 && !id.is_empty() && rest[digits] == b',' && (rest[0] != b'0' || digits == 1);
    let version = rest[..digits].iter().fold(0i64, |n, b| n * 10 + i64::from(b - b'0'));
    plain.then_some((id, version))
}

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;
