//! The vault file as it is, in memory: every line found, every id resolved to the line that counts.
//!
//! Comes in: the file's bytes. Goes out: for each id the line with the highest version (the earlier one of two with the same), in
//! the order the ids first appear; every line that cannot be read; every line that lost to a different one of the same version.
//! Never here: changing anything, or failing because of one line.

use super::record::Record;
use super::scan::{Id, Part, Place, glance};
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// A line of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) bytes: &'a [u8],
    /// Counted from 1, blank lines included.
    pub(super) number: usize,
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

/// Every id with the line that counts. The lines are known to be readable and are read again by whoever asks, so that a vault
/// costs memory only for what is wanted of it.
#[derive(Debug)]
pub struct Resolved<'a> {
    /// By the number of the id, each with whether its memory is in use; nothing for an id no line of which can be read.
    lines: Vec<Option<(Line<'a>, bool)>>,
    /// Lines that cannot be read, in order. Lines that would not count anyway are looked at by [`Image::broken`] only.
    pub broken: Vec<Broken<'a>>,
}

impl<'a> Resolved<'a> {
    /// How many ids there are.
    pub fn len(&self) -> usize {
        self.lines.iter().flatten().count()
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tombstones included, in order of first appearance.
    pub fn all(&self) -> impl Iterator<Item = Held<'a>> {
        self.lines.iter().flatten().filter_map(|(line, _)| line.read().ok())
    }

    /// What is in use.
    pub fn active(&self) -> impl Iterator<Item = Held<'a>> {
        self.lines_in_use().filter_map(|line| line.read().ok())
    }

    pub(super) fn lines_in_use(&self) -> impl Iterator<Item = Line<'a>> {
        self.lines.iter().flatten().filter(|(_, in_use)| *in_use).map(|(line, _)| *line)
    }

    /// The line that counts for the id of that number.
    pub(super) fn line(&self, number: u32) -> Option<Line<'a>> {
        self.lines.get(number as usize)?.map(|(line, _)| line)
    }
}

impl<'a> Line<'a> {
    pub(super) fn read(self) -> Result<Held<'a>, Broken<'a>> {
        match Record::parse(self.bytes) {
            Ok(record) => Ok(Held { record, bytes: self.bytes, number: self.number }),
            Err(why) => Err(Broken { number: self.number, why, bytes: self.bytes }),
        }
    }
}

/// The file, indexed.
#[derive(Debug)]
pub struct Image<'a> {
    bytes: &'a [u8],
    part: Part,
}

impl<'a> Image<'a> {
    /// Finds every line and the one that counts for each id.
    pub fn of(bytes: &'a [u8]) -> Image<'a> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        Image { bytes, part: Part::of(bytes) }
    }

    /// How many lines there are, blank ones left out.
    pub fn lines(&self) -> usize {
        self.part.lines
    }

    /// Whether an id was ever used.
    pub fn knows(&self, id: &str) -> bool {
        self.part.knows(id)
    }

    /// What the scan found.
    pub(super) fn part(&self) -> &Part {
        &self.part
    }

    fn line(&self, place: Place) -> Line<'a> {
        let start = place.start as usize;
        Line { bytes: &self.bytes[start..start + place.len as usize], number: place.number as usize }
    }

    /// The line that counts for each id. Where that line turns out to be unreadable, the next best one counts.
    pub fn resolve(&self) -> Resolved<'a> {
        let counted = |line: Line<'a>| Record::in_use(line.bytes).ok().map(|in_use| (line, in_use));
        let mut lines: Vec<Option<(Line<'a>, bool)>> =
            self.part.best.iter().map(|best| counted(self.line(best.place))).collect();
        let wrong: HashSet<u32> =
            (0..).zip(&lines).filter(|(_, line)| line.is_none()).map(|(at, _)| at).collect();
        let mut broken: Vec<Broken<'a>> = self
            .part
            .broken
            .iter()
            .map(|(place, why)| {
                let Line { bytes, number } = self.line(*place);
                Broken { number, why: why.clone(), bytes }
            })
            .collect();
        if !wrong.is_empty() {
            let mut next_best = self.next_best(&wrong, &mut broken);
            for at in wrong {
                lines[at as usize] = next_best.remove(&at).and_then(counted);
            }
        }
        broken.sort_by_key(|line| line.number);
        Resolved { lines, broken }
    }

    /// For ids whose best line cannot be read, the best one that can.
    fn next_best(&self, wrong: &HashSet<u32>, broken: &mut Vec<Broken<'a>>) -> HashMap<u32, Line<'a>> {
        let mut next: HashMap<u32, (i64, Line<'a>)> = HashMap::new();
        for line in self.every_line() {
            let Ok((id, version)) = glance(line.bytes) else { continue };
            let Some(at) = self.part.number(&id).filter(|at| wrong.contains(at)) else { continue };
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

    /// The lines that are not blank, without white space at their ends.
    fn every_line(&self) -> impl Iterator<Item = Line<'a>> {
        let lines = self.bytes.split(|b| *b == b'\n').enumerate();
        lines
            .map(|(at, line)| Line { bytes: line.trim_ascii(), number: at + 1 })
            .filter(|line| !line.bytes.is_empty())
    }

    /// Every readable line, in file order.
    pub fn readable(&self) -> impl Iterator<Item = Held<'a>> {
        self.every_line().filter_map(|line| line.read().ok())
    }

    /// Every line that cannot be read, also among those that would not count.
    pub fn broken(&self) -> Vec<Broken<'a>> {
        self.every_line().filter_map(|line| line.read().err()).collect()
    }

    /// Every readable line of an id, oldest version first.
    pub fn versions(&self, id: &str) -> Vec<Held<'a>> {
        let wanted = Id::of(Cow::Borrowed(id.as_bytes()));
        let of_it = |line: &Line<'a>| glance(line.bytes).is_ok_and(|(seen, _)| seen == wanted);
        let mut all: Vec<Held<'a>> =
            self.every_line().filter(of_it).filter_map(|line| line.read().ok()).collect();
        all.sort_by_key(|held| (held.record.version, held.number));
        all
    }

    /// Lines that have the id and version of an earlier line and say something else, each after the line that counts.
    pub fn twins(&self) -> Vec<(Held<'a>, Held<'a>)> {
        let mut first: HashMap<(Id<'a>, i64), Line<'a>> = HashMap::with_capacity(self.lines());
        let mut twins = Vec::new();
        for line in self.every_line() {
            let Ok((id, version)) = glance(line.bytes) else { continue };
            let known = match first.entry((id, version)) {
                Entry::Vacant(place) => {
                    place.insert(line);
                    continue;
                }
                Entry::Occupied(known) => known,
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

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;
