//! Picking the lines in use out of a large vault, without keeping the rest.
//!
//! Comes in: the file. Goes out: [`Picked`], or nothing as soon as anything is unusual: a line that cannot be read or is very long, a
//! byte-order mark, too many short lines, or too many ids of another make. The file is taken in stretches by two threads, each the next one that is
//! left, so that a thread that has to wait for a processor costs little. Twice: once for ids and versions of all lines, and once for
//! the lines that count, to see whether they can be read and are in use. A vault of 100,000 lines is to be opened 50 times as quickly as by Python's `json` (docs/benchmarks.md); that is what
//! this room is for. Never here: making sense of what is unusual.

use super::record::Record;
use super::scan::{Id, at_a_glance, glance};
use super::tally::{Dealer, Rows, Spot, Tally, Winner};
use crate::threads::both;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A stretch: large enough that calls do not count, small enough to stay in the processor's own memory.
const STRETCH: usize = 256 << 10;

/// So far a line may reach into the next stretch.
const REACH: usize = 64 << 10;

/// What is read at once of a line that goes on in the next stretch.
const STEP: usize = 2 << 10;

/// Lines nearer to each other than this are fetched together.
const GAP: u32 = 8 << 10;

/// Fewer bytes for each line are unusual, our own have three times as many: what is remembered of the lines stays smaller than the file.
const LEAST: usize = 64;

/// The lines in use, and where the line of every other memory is.
#[derive(Debug)]
pub(super) struct Picked {
    /// The bytes of the lines in use: those from each thread, which are never moved together.
    bytes: [Vec<u8>; 2],
    /// In order of first appearance of their ids.
    in_use: Vec<Found>,
    /// Lines that are not blank.
    pub(super) lines: usize,
    tally: Tally,
    file: File,
}

/// A line in use.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// Where its id first appears.
    first: u32,
    /// Where it is among the bytes of its thread.
    start: u32,
    len: u32,
    number: u32,
    thread: u8,
}

impl Picked {
    /// Reads a file of that size, which is at most [`super::current::MAX_VAULT`]: offsets fit in 32 bits.
    pub(super) fn of(file: File, size: u64) -> Option<Picked> {
        let dealer = Dealer::default();
        let next = AtomicUsize::new(0);
        let work = || Seen::of(&file, size, &next, dealer);
        let (one, two) = both(work, work);
        let (one, two) = (one?, two?);
        let lines = one.lines + two.lines;
        let before = lines_before(size, one.begun.iter().chain(&two.begun));
        let tally = Tally::of(&[one.rows, two.rows]);
        let counting = Counting::of(&tally, size);
        let next = AtomicUsize::new(0);
        let work = || sift(&file, &next, &counting, &before);
        let (one, two) = both(work, work);
        let ((one, mut in_use), (two, others)) = (one?, two?);
        in_use.extend(others.into_iter().map(|found| Found { thread: 1, ..found }));
        // Stretch by stretch they are mostly in order already, which a stable sort makes use of.
        in_use.sort_by_key(|found| found.first);
        Some(Picked { bytes: [one, two], in_use, lines, tally, file })
    }

    /// How many ids there are.
    pub(super) fn ids(&self) -> usize {
        self.tally.ids()
    }

    /// Whether an id was seen.
    pub(super) fn knows(&self, id: &Id<'_>) -> bool {
        self.tally.get(id).is_some()
    }

    /// The lines in use, each with its number.
    pub(super) fn in_use(&self) -> impl Iterator<Item = (&[u8], usize)> {
        self.in_use.iter().map(|found| {
            let start = found.start as usize;
            let bytes = &self.bytes[usize::from(found.thread)][start..start + found.len as usize];
            (bytes, found.number as usize)
        })
    }

    /// The line that counts for an id, from the file.
    pub(super) fn line(&self, id: &Id<'_>) -> Option<Vec<u8>> {
        let Spot { start, len, .. } = self.tally.get(id)?.spot;
        let mut bytes = vec![0; len as usize];
        self.file.read_exact_at(&mut bytes, u64::from(start)).ok()?;
        Some(bytes.trim_ascii().to_owned())
    }
}

/// What one thread saw of all lines.
struct Seen {
    rows: Rows,
    /// Lines that are not blank.
    lines: usize,
    /// Of each of its stretches, how many lines begin there.
    begun: Vec<(usize, u32)>,
}

impl Seen {
    fn of(file: &File, size: u64, next: &AtomicUsize, dealer: Dealer) -> Option<Seen> {
        let mut seen = Seen { rows: Rows::new(dealer), lines: 0, begun: Vec::new() };
        let mut buffer = vec![0; 1 + STRETCH + REACH];
        let count = stretches(size);
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return Some(seen);
            }
            if seen.stretch(file, size, at, &mut buffer).is_none() {
                // Whatever the other thread still finds would not be used.
                next.store(count, Ordering::Relaxed);
                return None;
            }
        }
    }

    /// Takes the lines that begin in a stretch.
    fn stretch(&mut self, file: &File, size: u64, at: usize, buffer: &mut [u8]) -> Option<()> {
        // With the byte before it, which may be the line break that makes its first byte the beginning of a line.
        let base = (at * STRETCH).saturating_sub(1);
        let end = ((at + 1) * STRETCH).min(size as usize);
        let len = end - base;
        file.read_exact_at(buffer.get_mut(..len)?, base as u64).ok()?;
        if at == 0 && buffer.starts_with(b"\xef\xbb\xbf") {
            return None;
        }
        let first = match at {
            0 => 0,
            _ => memchr::memchr(b'\n', &buffer[..len]).map_or(len, |found| found + 1),
        };
        let (mut from, mut nth, lines) = (first, 0, self.lines);
        for found in memchr::memchr_iter(b'\n', &buffer[first..len]) {
            self.line(&buffer[from..first + found], base + from, nth)?;
            nth += 1;
            from = first + found + 1;
        }
        if from < len {
            let whole = line_end(file, size, base, from, len, buffer)?;
            self.line(&buffer[from..whole], base + from, nth)?;
            nth += 1;
        }
        if nth as usize > len / LEAST + 1 || self.rows.is_crowded() {
            return None;
        }
        if self.begun.is_empty() {
            // Half of what is left is the other thread's.
            self.rows.expect((self.lines - lines) * (stretches(size) - at).div_ceil(2));
        }
        self.begun.push((at, nth));
        Some(())
    }

    #[inline]
    fn line(&mut self, raw: &[u8], start: usize, nth: u32) -> Option<()> {
        let line = raw.trim_ascii();
        if !line.is_empty() {
            self.lines += 1;
            let spot = Spot { start: start as u32, len: raw.len() as u32, nth };
            match at_a_glance(line) {
                Some((id, version)) => self.rows.push(id, version, spot),
                None => {
                    let (id, version) = glance(line).ok()?;
                    self.rows.push_any(id, version, spot);
                }
            }
        }
        Some(())
    }
}

/// How many stretches a file of that size has.
fn stretches(size: u64) -> usize {
    (size as usize).div_ceil(STRETCH)
}

/// Reads on until the line that begins at `from` ends, and says where. The buffer holds what begins at `base`, filled up to `filled`.
fn line_end(
    file: &File,
    size: u64,
    base: usize,
    from: usize,
    mut filled: usize,
    buffer: &mut [u8],
) -> Option<usize> {
    while base + filled < size as usize {
        let to = (filled + STEP).min(size as usize - base);
        let more = buffer.get_mut(filled..to)?;
        file.read_exact_at(more, (base + filled) as u64).ok()?;
        if let Some(found) = memchr::memchr(b'\n', more) {
            return Some(filled + found);
        }
        filled = to;
    }
    (from < filled).then_some(filled)
}

/// For each stretch, how many lines begin before it.
fn lines_before<'a>(size: u64, begun: impl Iterator<Item = &'a (usize, u32)>) -> Vec<u32> {
    let mut of_stretch = vec![0; stretches(size)];
    begun.for_each(|(at, lines)| of_stretch[*at] = *lines);
    let mut before = 0;
    for lines in &mut of_stretch {
        before += std::mem::replace(lines, before);
    }
    of_stretch
}

/// The lines that count, by the stretch they begin in.
struct Counting {
    winners: Vec<Winner>,
    /// Where the winners of each stretch end.
    ends: Vec<usize>,
    bytes: usize,
}

impl Counting {
    fn of(tally: &Tally, size: u64) -> Counting {
        let stretch = |winner: &Winner| winner.spot.start as usize / STRETCH;
        let mut ends = vec![0; stretches(size)];
        let mut bytes = 0;
        for winner in tally.winners() {
            ends[stretch(winner)] += 1;
            bytes += winner.spot.len as usize;
        }
        let mut sum = 0;
        for count in &mut ends {
            sum += std::mem::replace(count, sum);
        }
        // From here on `ends` holds where the next winner of a stretch goes, and when all are placed, where they end.
        let mut winners = vec![Winner::default(); sum];
        for winner in tally.winners() {
            let next = &mut ends[stretch(winner)];
            winners[*next] = *winner;
            *next += 1;
        }
        Counting { winners, ends, bytes }
    }

    /// The winners of a stretch in the order of the file. Each is the only one with its number, so they are laid out instead of sorted.
    fn in_order(&self, at: usize, winners: &mut Vec<Winner>, order: &mut Vec<u32>) {
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let all = &self.winners[from..self.ends[at]];
        let lines = all.iter().map(|one| one.spot.nth as usize + 1).max().unwrap_or(0);
        order.clear();
        order.resize(lines, 0);
        (1..).zip(all).for_each(|(n, one)| order[one.spot.nth as usize] = n);
        winners.clear();
        winners.extend(order.iter().filter(|n| **n > 0).map(|n| all[*n as usize - 1]));
    }
}

/// Looks at the lines that count, in as few reads as make sense, and keeps those in use. Nothing if one of them cannot be read.
fn sift(
    file: &File,
    next: &AtomicUsize,
    counting: &Counting,
    before: &[u32],
) -> Option<(Vec<u8>, Vec<Found>)> {
    let end = |one: &Winner| one.spot.start + one.spot.len;
    let mut buffer = vec![0; STRETCH + REACH];
    // Room that is never touched costs nothing; growing would.
    let mut kept = Vec::with_capacity(counting.bytes);
    let mut in_use = Vec::new();
    let (mut winners, mut order) = (Vec::new(), Vec::new());
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(before) = before.get(at) else { return Some((kept, in_use)) };
        counting.in_order(at, &mut winners, &mut order);
        for run in winners.chunk_by(|one, after| after.spot.start - end(one) < GAP) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let from = first.spot.start;
            let bytes = buffer.get_mut(..(end(last) - from) as usize)?;
            file.read_exact_at(bytes, u64::from(from)).ok()?;
            for one in run {
                let raw = bytes.get((one.spot.start - from) as usize..(end(one) - from) as usize)?;
                let line = raw.trim_ascii();
                if Record::in_use(line).ok()? {
                    let start = kept.len() as u32;
                    kept.extend_from_slice(line);
                    let number = before + one.spot.nth + 1;
                    in_use.push(Found { first: one.first, start, len: line.len() as u32, number, thread: 0 });
                }
            }
        }
    }
}
