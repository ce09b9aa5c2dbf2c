//! The vault as it counts now, without keeping what no longer does.
//!
//! Comes in: the file. Goes out: the line that counts for each id. A large vault is mostly lines that no longer count, so it is read
//! through a small buffer, in two halves at once, and only the lines that count are kept. As soon as anything is unusual (a line that
//! cannot be read, a byte-order mark, a file that changes meanwhile) the file is taken whole and looked at line by line. Never here: an answer other than [`Image`]'s.

use super::image::{Image, Line, Resolved};
use super::record::Record;
use super::scan::{MAX_LINE, Part, Place, both};
use crate::files;
use heirloom_core::fault::Result;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// From this size on reading through a buffer costs less than reading whole.
const LARGE: u64 = 4 << 20;

/// The buffer: large enough that calls do not count, small enough to stay in the processor's own memory.
const BUFFER: usize = 256 << 10;

/// Lines nearer to each other than this are fetched together.
const GAP: u64 = 32 << 10;

/// The largest vault that is read.
pub(super) const MAX_VAULT: u64 = 1 << 30;

/// What counts, in memory.
#[derive(Debug)]
pub struct Current {
    kept: Vec<u8>,
    /// Where the lines that count are in `kept`; nothing if `kept` is the whole file.
    picked: Option<(Vec<Place>, Part)>,
}

impl Current {
    /// Reads a vault; a file that is not there is an empty one.
    pub fn read(path: &Path) -> Result<Current> {
        let picked = match files::open_if_there(path)? {
            Some((file, size)) if (LARGE..=MAX_VAULT).contains(&size) => pick(&file, size),
            _ => None,
        };
        if let Some((kept, places, part)) = picked {
            return Ok(Current { kept, picked: Some((places, part)) });
        }
        let kept = files::read_if_there(path, MAX_VAULT)?.unwrap_or_default();
        Ok(Current { kept, picked: None })
    }

    /// The line that counts for each id.
    pub fn view(&self) -> View<'_> {
        match &self.picked {
            None => {
                let image = Image::of(&self.kept);
                View { resolved: image.resolve(), lines: image.lines(), known: Known::Image(image) }
            }
            Some((places, part)) => {
                let line = |place: &Place| {
                    let start = place.start as usize;
                    Line {
                        bytes: &self.kept[start..start + place.len as usize],
                        number: place.number as usize,
                    }
                };
                let resolved = Resolved { lines: places.iter().map(line).collect(), broken: Vec::new() };
                View { resolved, lines: part.lines, known: Known::Part(part) }
            }
        }
    }
}

/// A vault's lines that count, and what is known of the others.
#[derive(Debug)]
pub struct View<'a> {
    /// The lines that count.
    pub resolved: Resolved<'a>,
    /// How many lines there are, blank ones left out.
    pub lines: usize,
    known: Known<'a>,
}

#[derive(Debug)]
enum Known<'a> {
    Image(Image<'a>),
    Part(&'a Part),
}

impl View<'_> {
    /// Whether an id was ever used.
    pub fn knows(&self, id: &str) -> bool {
        match &self.known {
            Known::Image(image) => image.knows(id),
            Known::Part(part) => part.knows(id),
        }
    }
}

/// The lines that count, their places among themselves, and the scan; nothing if anything is unusual.
fn pick(file: &File, size: u64) -> Option<(Vec<u8>, Vec<Place>, Part)> {
    let middle = line_start(file, size / 2, size)?;
    let (first, second) = both(|| scan(file, 0, middle), || scan(file, middle, size));
    let mut part = first?;
    part.join(second?);
    if !part.broken.is_empty() {
        return None;
    }
    let (kept, places) = fetch(file, &part)?;
    let half = places.len() / 2;
    let readable = |places: &[Place]| {
        places.iter().all(|place| {
            let start = place.start as usize;
            Record::parse(&kept[start..start + place.len as usize]).is_ok()
        })
    };
    let (first, second) = both(|| readable(&places[..half]), || readable(&places[half..]));
    (first && second).then_some((kept, places, part))
}

/// The first place after `from` at which a line begins.
fn line_start(file: &File, from: u64, size: u64) -> Option<u64> {
    let mut buffer = vec![0; MAX_LINE.min((size - from) as usize)];
    file.read_exact_at(&mut buffer, from).ok()?;
    memchr::memchr(b'\n', &buffer).map(|at| from + at as u64 + 1)
}

/// Scans a stretch of the file that begins and ends with a line. A line longer than the buffer is unusual.
fn scan(file: &File, from: u64, to: u64) -> Option<Part> {
    let mut part = Part::default();
    let mut buffer = vec![0; BUFFER];
    let (mut at, mut kept) = (from, 0);
    while at < to {
        let room = (BUFFER - kept).min((to - at) as usize);
        let got = file.read_at(&mut buffer[kept..kept + room], at).ok().filter(|got| *got > 0)?;
        let base = at - kept as u64;
        if base == 0 && buffer.starts_with(b"\xef\xbb\xbf") {
            return None;
        }
        at += got as u64;
        let filled = kept + got;
        let taken = part.feed(&buffer[..filled], base);
        buffer.copy_within(taken..filled, 0);
        kept = filled - taken;
        if kept == BUFFER {
            return None;
        }
    }
    part.end(&buffer[..kept], to - kept as u64);
    Some(part)
}

/// The lines that count, fetched in as few reads as make sense; their places in the order of the ids.
fn fetch(file: &File, part: &Part) -> Option<(Vec<u8>, Vec<Place>)> {
    let mut order: Vec<u32> = (0..part.best.len() as u32).collect();
    order.sort_unstable_by_key(|&at| part.best[at as usize].place.start);
    let place = |at: &u32| part.best[*at as usize].place;
    let end = |place: Place| place.start + u64::from(place.len);
    let mut kept = Vec::new();
    let mut places: Vec<Place> = part.best.iter().map(|best| best.place).collect();
    for run in order.chunk_by(|a, b| place(b).start - end(place(a)) < GAP) {
        let (from, to) = (place(run.first()?).start, end(place(run.last()?)));
        let base = kept.len();
        kept.resize(base + (to - from) as usize, 0);
        file.read_exact_at(&mut kept[base..], from).ok()?;
        for at in run {
            places[*at as usize].start = base as u64 + (place(at).start - from);
        }
    }
    Some((kept, places))
}

#[cfg(test)]
#[path = "current_tests.rs"]
mod tests;
