//! The vault as it counts now, without keeping what no longer does.
//!
//! Comes in: the file. Goes out: the line that counts for each id whose memory is in use, and on demand the one of a retired memory.
//! A large vault is mostly lines that no longer count, so the lines in use are picked out of it and nothing else is kept. As soon as
//! anything is unusual the file is taken whole and looked at line by line. Never here: an answer other than [`Image`]'s.

use super::image::{Held, Image, Line, Resolved};
use super::pick::Picked;
use super::record::Record;
use super::scan::Id;
use crate::budget::{self, Left};
use crate::files;
use heirloom_core::fault::Result;
use std::borrow::Cow;
use std::path::Path;

/// From this size on reading through a buffer costs less than reading whole.
const LARGE: u64 = 4 << 20;

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

impl Current {
    /// Reads a vault; a file that is not there is an empty one.
    pub fn read(path: &Path) -> Result<Current> {
        let limit = budget::limit(MAX_VAULT, budget::VAULT);
        let picked = match files::open_if_there(path)? {
            // A hook that has no room for it goes on without.
            Some((_, size)) if budget::is_bounded() && (size > limit || !budget::may_read(size)) => {
                budget::leave_out(Left::Vault, 1);
                return Ok(Current(Kept::Whole(Vec::new())));
            }
            Some((file, size)) if (LARGE..=MAX_VAULT).contains(&size) => Picked::of(file, size),
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
                active: picked.in_use().map(|(bytes, number)| Line { bytes, number }).collect(),
                lines: picked.lines,
                ids: picked.ids(),
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

    /// The lines in use, not read yet, in the same order.
    pub(super) fn lines_in_use(&self) -> &[Line<'a>] {
        &self.active
    }

    /// How many memories are in use.
    pub fn in_use(&self) -> usize {
        self.active.len()
    }

    /// How many lines cannot be read, also among those that would not count. Lines that were picked out can all be read.
    pub fn unreadable(&self) -> usize {
        match &self.known {
            Known::Image(known) => known.0.broken().len(),
            Known::Picked(_) => 0,
        }
    }

    /// Whether an id was ever used.
    pub fn knows(&self, id: &str) -> bool {
        match &self.known {
            Known::Image(known) => known.0.knows(id),
            Known::Picked(picked) => picked.knows(&Id::of(Cow::Borrowed(id.as_bytes()))),
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
            Known::Picked(picked) => Cow::Owned(picked.line(&named)?),
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

#[cfg(test)]
#[path = "current_tests.rs"]
mod tests;
