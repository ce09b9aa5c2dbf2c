//! The vault as it counts now, without keeping what no longer does.
//!
//! Comes in: the file. Goes out: the line that counts for each id whose memory is in use, and on demand the one of a retired memory.
//! A large vault is mostly lines that no longer count, so it is read through a small buffer, in two halves at once, and only the
//! lines in use are kept. As soon as anything is unusual (a line that cannot be read, a byte-order mark, a file that changes
//! meanwhile) the file is taken whole and looked at line by line. Never here: an answer other than [`Image`]'s.

use super::image::{Held, Image, Line, Resolved};
use super::record::Record;
use super::scan::{Id, MAX_LINE, Part, Place, both};
use crate::files;
use heirloom_core::fault::Result;
use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// From this size on reading through a buffer costs less than reading whole.
const LARGE: u64 = 4 << 20;

/// The buffer: large enough that calls do not count, small enough to stay in the processor's own memory.
const BUFFER: usize = 128 << 10;

/// So many lines say whether the next ones will bring new ids.
const SAMPLE: usize = 4096;

/// Lines nearer to each other than this are fetched together.
const GAP: u64 = 32 << 10;

/// The largest vault that is read.
pub(super) const MAX_VAULT: u64 = 1 << 30;

/// What counts, in memory.
#[derive(Debug)]
pub struct Current(Kept);

#[derive(Debug)]
enum Kept {
    /// The file as it is.
    Whole(Vec<u8>),
    /// The lines in use alone.
    Picked(Box<Picked>),
}

#[derive(Debug)]
struct Picked {
    /// The bytes of the lines in use: those from each half of the work, which are never moved together.
    bytes: [Vec<u8>; 2],
    /// Where the lines in use are, in order of first appearance of their ids.
    in_use: Vec<Found>,
    part: Part,
    file: File,
}

impl Current {
    /// Reads a vault; a file that is not there is an empty one.
    pub fn read(path: &Path) -> Result<Current> {
        let picked = match files::open_if_there(path)? {
            Some((file, size)) if (LARGE..=MAX_VAULT).contains(&size) => pick(file, size),
            _ => None,
        };
        if let Some(picked) = picked {
            return Ok(Current(Kept::Picked(Box::new(picked))));
        }
        Ok(Current(Kept::Whole(files::read_if_there(path, MAX_VAULT)?.unwrap_or_default())))
    }

    /// What counts, to be asked.
    pub fn view(&self) -> View<'_> {
        match &self.0 {
            Kept::Whole(bytes) => {
                let image = Image::of(bytes);
                let resolved = image.resolve();
                View {
                    active: resolved.lines_in_use().collect(),
                    lines: image.lines(),
                    ids: resolved.len(),
                    known: Known::Image(Box::new((image, resolved))),
                }
            }
            Kept::Picked(picked) => View {
                active: picked.in_use.iter().map(|found| found.line(&picked.bytes)).collect(),
                lines: picked.part.lines,
                ids: picked.part.best.len(),
                known: Known::Picked(picked),
            },
        }
    }
}

/// A vault's lines in use, and what is known of the others.
#[derive(Debug)]
pub struct View<'a> {
    active: Vec<Line<'a>>,
    /// How many lines there are, blank ones left out.
    pub lines: usize,
    /// How many ids there are, retired ones included.
    pub ids: usize,
    known: Known<'a>,
}

#[derive(Debug)]
enum Known<'a> {
    Image(Box<(Image<'a>, Resolved<'a>)>),
    Picked(&'a Picked),
}

impl<'a> View<'a> {
    /// What is in use, in order of first appearance.
    pub fn active(&self) -> impl Iterator<Item = Held<'a>> {
        self.active.iter().filter_map(|line| line.read().ok())
    }

    /// How many memories are in use.
    pub fn in_use(&self) -> usize {
        self.active.len()
    }

    /// Whether an id was ever used.
    pub fn knows(&self, id: &str) -> bool {
        match &self.known {
            Known::Image(known) => known.0.knows(id),
            Known::Picked(picked) => picked.part.knows(id),
        }
    }

    /// The line that counts for a memory that is no longer in use.
    pub fn retired(&self, id: &str) -> Option<Retired<'a>> {
        let named = Id::of(Cow::Borrowed(id.as_bytes()));
        let bytes: Cow<'a, [u8]> = match &self.known {
            Known::Image(known) => {
                let (image, resolved) = known.as_ref();
                Cow::Borrowed(resolved.line(image.part().number(&named)?)?.bytes)
            }
            Known::Picked(picked) => {
                let number = picked.part.number(&named)?;
                let place = picked.part.best.get(number as usize)?.place;
                let mut bytes = vec![0; place.len as usize];
                picked.file.read_exact_at(&mut bytes, place.start).ok()?;
                Cow::Owned(bytes)
            }
        };
        let record = match &bytes {
            Cow::Borrowed(bytes) => Record::parse(bytes).ok()?,
            Cow::Owned(bytes) => Record::parse(bytes).ok()?.into_owned(),
        };
        (record.id == id && !record.is_active()).then_some(Retired { record, bytes })
    }
}

/// The line of a memory that is no longer in use.
#[derive(Debug)]
pub struct Retired<'a> {
    /// What it says.
    pub record: Record<'a>,
    /// The line itself, without its line break.
    pub bytes: Cow<'a, [u8]>,
}

/// The lines in use and the scan; nothing if anything is unusual.
fn pick(file: File, size: u64) -> Option<Picked> {
    let middle = line_start(&file, size / 2, size)?;
    let (mut one, mut two) = (vec![0; BUFFER], vec![0; BUFFER]);
    let (first, second) = both(|| scan(&file, 0, middle, &mut one), || scan(&file, middle, size, &mut two));
    let mut part = first?;
    part.join(second?);
    if !part.broken.is_empty() {
        return None;
    }
    let mut order: Vec<u32> = (0..part.best.len() as u32).collect();
    order.sort_unstable_by_key(|&at| part.best[at as usize].place.start);
    let (early, late) = order.split_at(order.len() / 2);
    let (first, second) = both(|| sift(&file, &part, early, &mut one), || sift(&file, &part, late, &mut two));
    let ((one, mut in_use), (two, others)) = (first?, second?);
    in_use.extend(others.into_iter().map(|found| Found { half: 1, ..found }));
    // The two halves are mostly in order already, which a stable sort makes use of.
    in_use.sort_by_key(|found| found.id);
    Some(Picked { bytes: [one, two], in_use, part, file })
}

/// The first place after `from` at which a line begins.
fn line_start(file: &File, from: u64, size: u64) -> Option<u64> {
    let mut buffer = vec![0; MAX_LINE.min((size - from) as usize)];
    file.read_exact_at(&mut buffer, from).ok()?;
    memchr::memchr(b'\n', &buffer).map(|at| from + at as u64 + 1)
}

/// Scans a stretch of the file that begins and ends with a line. A line longer than the buffer is unusual.
fn scan(file: &File, from: u64, to: u64, buffer: &mut [u8]) -> Option<Part> {
    let mut part = Part::default();
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
        let few = part.lines < SAMPLE;
        let taken = part.feed(&buffer[..filled], base);
        if few && part.lines >= SAMPLE {
            part.expect(at - from, to - at);
        }
        buffer.copy_within(taken..filled, 0);
        kept = filled - taken;
        if kept == BUFFER {
            return None;
        }
    }
    part.end(&buffer[..kept], to - kept as u64);
    Some(part)
}

/// A line in use.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// The number of its id.
    id: u32,
    half: u8,
    /// Where it is among the bytes of its half.
    place: Place,
}

impl Found {
    fn line<'a>(&self, bytes: &'a [Vec<u8>; 2]) -> Line<'a> {
        let start = self.place.start as usize;
        let bytes = &bytes[usize::from(self.half)][start..start + self.place.len as usize];
        Line { bytes, number: self.place.number as usize }
    }
}

/// Looks at the lines that count for these ids, which are in the order of the file, in as few reads as make sense. Nothing if one of
/// them cannot be read.
fn sift(file: &File, part: &Part, ids: &[u32], buffer: &mut [u8]) -> Option<(Vec<u8>, Vec<Found>)> {
    let place = |id: &u32| part.best[*id as usize].place;
    let end = |place: Place| place.start + u64::from(place.len);
    // Room that is never touched costs nothing; growing would.
    let mut kept = Vec::with_capacity(ids.iter().map(|id| place(id).len as usize).sum());
    let mut in_use = Vec::with_capacity(ids.len());
    let mut ids = ids;
    while let Some(first) = ids.first() {
        let from = place(first).start;
        let mut to = from;
        let near = |id: &&u32| {
            let next = place(id);
            let fits = end(next) - from <= BUFFER as u64 && next.start.saturating_sub(to) < GAP;
            if fits {
                to = end(next);
            }
            fits
        };
        let count = ids.iter().take_while(near).count();
        let (run, later) = ids.split_at_checked(count.max(1))?;
        let bytes = buffer.get_mut(..(to - from) as usize)?;
        file.read_exact_at(bytes, from).ok()?;
        for id in run {
            let place = place(id);
            let at = (place.start - from) as usize;
            let line = bytes.get(at..at + place.len as usize)?;
            if Record::in_use(line).ok()? {
                let place = Place { start: kept.len() as u64, ..place };
                kept.extend_from_slice(line);
                in_use.push(Found { id: *id, half: 0, place });
            }
        }
        ids = later;
    }
    Some((kept, in_use))
}

#[cfg(test)]
#[path = "current_tests.rs"]
mod tests;
