//! The vector file of one space: flat, mapped, never parsed.
//!
//! In: unit vectors by document number. Out: cosines. The file is cut into extents, each of which belongs
//! to one owner, so that searching one of a thousand owners touches only that owner's pages. An extent with
//! room for R vectors holds R scales (`f32`, 0 means "no vector"), R rows of sign bits, R rows of offset
//! bytes. Which extents there are is in the database, written in the same transaction as the documents:
//! a slot is filled before a document that uses it can be seen, and never used twice.

use std::fs::File;
use std::path::Path as FilePath;
use std::sync::Arc;

use memmap2::Mmap;

use super::embed::minilm::Path;
use super::error::IndexError;
use super::nearest::EXHAUSTIVE;
use super::{mapped, simd};

/// A run of slots of one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) first: u32,
    pub(crate) room: u32,
    pub(crate) at: u64,
}

/// Room of the extent that follows one of `before` slots: doubling, so that small owners stay small.
pub(crate) fn next_room(before: u32) -> u32 {
    (before * 2).clamp(64, 1 << 16)
}

/// Length of a row in bytes: 64 at a time.
pub(crate) fn padded(dims: usize) -> usize {
    dims.next_multiple_of(64)
}

/// Bytes an extent takes in the file.
pub(crate) fn extent_bytes(room: u32, dims: usize) -> u64 {
    u64::from(room) * (4 + padded(dims) as u64 / 8 + padded(dims) as u64)
}

/// A vector as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slot {
    scale: f32,
    bits: Vec<u8>,
    cells: Vec<u8>,
}

impl Slot {
    /// Cuts a vector to 8 bits and 1 bit per dimension.
    pub(crate) fn of(vector: &[f32]) -> Self {
        let width = padded(vector.len());
        let high = vector.iter().fold(0f32, |m, x| m.max(x.abs()));
        let scale = if high.is_finite() { high / 127.0 } else { 0.0 };
        let inverse = if scale > 0.0 { scale.recip() } else { 0.0 };
        let mut cells = vec![128u8; width];
        let mut bits = vec![0u8; width / 8];
        for (i, x) in vector.iter().enumerate() {
            cells[i] = ((x * inverse).round_ties_even().clamp(-127.0, 127.0) as i32 + 128) as u8;
            bits[i / 8] |= u8::from(*x > 0.0) << (i % 8);
        }
        Self { scale, bits, cells }
    }

    /// What a wiped slot holds.
    pub(crate) fn empty(dims: usize) -> Self {
        Self { scale: 0.0, bits: vec![0; padded(dims) / 8], cells: vec![0; padded(dims)] }
    }
}

impl Slot {
    /// Bytes of a slot: scale, sign bits, cells.
    pub(crate) fn length(dims: usize) -> usize {
        4 + padded(dims) / 8 + padded(dims)
    }

    /// A slot as [`Extent::places`] finds it in a file; `None` if there are too few bytes or too many.
    pub(crate) fn from_bytes(bytes: &[u8], dims: usize) -> Option<Slot> {
        let (scale, rest) = bytes.split_first_chunk::<4>()?;
        let (bits, cells) = rest.split_at_checked(padded(dims) / 8)?;
        (cells.len() == padded(dims)).then(|| Slot {
            scale: f32::from_le_bytes(*scale),
            bits: bits.to_vec(),
            cells: cells.to_vec(),
        })
    }
}

impl Extent {
    /// Where the three parts of a slot lie, each with its length.
    pub(crate) fn places(&self, number: u32, dims: usize) -> [(u64, usize); 3] {
        let (room, i) = (u64::from(self.room), u64::from(number - self.first));
        let (bits, cells) = (padded(dims) / 8, padded(dims));
        let bits_at = self.at + room * 4;
        let cells_at = bits_at + room * bits as u64;
        [(self.at + i * 4, 4), (bits_at + i * bits as u64, bits), (cells_at + i * cells as u64, cells)]
    }
}

/// Writes the slots of `number` and those after it, all of one extent, at their place in the file.
pub(crate) fn put<'s>(
    file: &File,
    extent: &Extent,
    number: u32,
    slots: impl Iterator<Item = &'s Slot>,
) -> Result<(), IndexError> {
    let (mut bits, mut cells, mut scales) = (Vec::new(), Vec::new(), Vec::new());
    for slot in slots {
        bits.extend_from_slice(&slot.bits);
        cells.extend_from_slice(&slot.cells);
        scales.extend(slot.scale.to_le_bytes());
    }
    let count = (scales.len() / 4).max(1) as u64;
    let (room, i) = (u64::from(extent.room), u64::from(number - extent.first));
    let (bit_row, cell_row) = (bits.len() as u64 / count, cells.len() as u64 / count);
    let bits_at = extent.at + room * 4;
    let cells_at = bits_at + room * bit_row;
    write_at(file, &bits, bits_at + i * bit_row)?;
    write_at(file, &cells, cells_at + i * cell_row)?;
    // The scales last: they are what says that there are vectors.
    write_at(file, &scales, extent.at + i * 4)?;
    Ok(())
}

pub(super) fn write_at(file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
    }
    #[cfg(not(unix))]
    {
        use std::io::{Seek, SeekFrom, Write};
        let mut file = file;
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }
}

pub(super) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
    }
    #[cfg(not(unix))]
    {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = file;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(bytes)
    }
}

/// A question's vector, ready to be compared.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(super) cells: Vec<i8>,
    /// What the offset of stored bytes adds to every product.
    offset: i32,
    pub(super) scale: f32,
    pub(super) bits: Vec<u8>,
}

impl Probe {
    pub(crate) fn of(vector: &[f32]) -> Self {
        let slot = Slot::of(vector);
        let cells: Vec<i8> = slot.cells.iter().map(|c| (i32::from(*c) - 128) as i8).collect();
        Self { offset: simd::offset(&cells), cells, scale: slot.scale, bits: slot.bits }
    }
}

/// Up to this many vectors all that is looked at is mapped; beyond, a page that is mapped for one row of bytes costs more than reading that row.
const MAPPED: u32 = 50_000;
/// Up to this many the sign bits are mapped: they are all looked at, one after the other, and pages that lie together are mapped together. Beyond, two
/// threads copy them in less time than it takes to give so many pages back.
const BITS_MAPPED: u32 = 400_000;

/// How the process is going to look at vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// For one question: of many vectors single rows are read.
    Once,
    /// Again and again: pages once mapped stay.
    Often,
}

/// An owner's vectors of one space, mapped.
#[derive(Debug)]
pub(crate) struct Vectors {
    pub(super) map: Option<Arc<Mmap>>,
    /// The file, where single rows are read from it.
    rows: Option<File>,
    pub(super) extents: Vec<Extent>,
    pub(super) dims: usize,
    pub(super) path: Path,
    /// Documents there are, so that unused room at the end is not read.
    pub(super) count: u32,
}

impl Vectors {
    /// Maps what `extents` cover; a file that is missing or too short holds no vectors there.
    pub(crate) fn open(
        file: &FilePath,
        extents: Vec<Extent>,
        dims: usize,
        count: u32,
        access: Access,
    ) -> Self {
        let end = extents.iter().map(|e| e.at + extent_bytes(e.room, dims)).max().unwrap_or(0);
        let file = File::open(file).ok().filter(|_| end > 0);
        let map = file.as_ref().and_then(|f| mapped::map(f, end).ok()).map(Arc::new);
        let rows = file.filter(|_| access == Access::Once && count > MAPPED);
        let vectors = Self { map, rows, extents, dims, path: Path::detect(), count };
        if access == Access::Once {
            vectors.fetch();
        }
        vectors
    }

    /// Has at hand what every question looks at where there are few vectors: all of them.
    fn fetch(&self) {
        let Some(map) = self.map.as_ref().filter(|_| self.count as usize <= EXHAUSTIVE) else { return };
        for extent in &self.extents {
            if let Ok(at) = usize::try_from(self.cells_at(extent, 0)) {
                mapped::fetch(map, at, self.used(extent) * padded(self.dims));
            }
        }
    }

    fn section(&self, at: u64, len: usize) -> &[u8] {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        self.map.as_ref().and_then(|m| m.get(at..at.checked_add(len)?)).unwrap_or_default()
    }

    pub(super) fn used(&self, extent: &Extent) -> usize {
        self.count.saturating_sub(extent.first).min(extent.room) as usize
    }

    fn scales(&self, extent: &Extent) -> &[u8] {
        self.section(extent.at, self.used(extent) * 4)
    }

    /// Rows of sign bits from a place of an extent on. Where they are read they are copied into the same room again and again.
    pub(super) fn bits<'b>(
        &'b self,
        extent: &Extent,
        from: usize,
        rows: usize,
        room: &'b mut Vec<u8>,
    ) -> &'b [u8] {
        let width = padded(self.dims) / 8;
        let at = extent.at + u64::from(extent.room) * 4 + (from * width) as u64;
        match self.rows.as_ref().filter(|_| self.count > BITS_MAPPED) {
            None => self.section(at, rows * width),
            Some(file) => {
                room.resize(rows * width, 0);
                if read_at(file, room, at).is_ok() { room } else { &[] }
            }
        }
    }

    fn cells(&self, extent: &Extent, from: usize, count: usize) -> &[u8] {
        self.section(self.cells_at(extent, from), count * padded(self.dims))
    }

    /// Where a row of cells begins.
    fn cells_at(&self, extent: &Extent, row: usize) -> u64 {
        let width = padded(self.dims) as u64;
        extent.at + u64::from(extent.room) * (4 + width / 8) + row as u64 * width
    }

    fn scale(scales: &[u8], i: usize) -> f32 {
        scales.as_chunks::<4>().0.get(i).map_or(0.0, |s| f32::from_le_bytes(*s))
    }

    /// How many documents have a vector.
    pub(crate) fn filled(&self) -> usize {
        self.extents
            .iter()
            .map(|e| {
                self.scales(e).as_chunks::<4>().0.iter().filter(|s| f32::from_le_bytes(**s) > 0.0).count()
            })
            .sum()
    }

    /// Whether a document has a vector.
    pub(crate) fn has(&self, number: u32) -> bool {
        self.place(number).is_some_and(|(extent, i)| Self::scale(self.scales(extent), i) > 0.0)
    }

    fn place(&self, number: u32) -> Option<(&Extent, usize)> {
        let i = self.extents.partition_point(|e| e.first <= number).checked_sub(1)?;
        let extent = self.extents.get(i)?;
        let offset = (number - extent.first) as usize;
        (offset < self.used(extent)).then_some((extent, offset))
    }

    /// Whether there is a file to look into.
    pub(super) fn are_there(&self) -> bool {
        self.map.is_some()
    }

    /// Cosine between the question and one document, if it has a vector.
    pub(crate) fn cosine(&self, probe: &Probe, number: u32) -> Option<f32> {
        let (extent, i) = self.place(number)?;
        let mut found = None;
        self.compare(probe, extent, i, 1, |_, cosine| found = Some(cosine));
        found
    }

    /// Calls `found` with the number and the cosine of every vector among the `count` that begin at place `from` of an extent.
    pub(super) fn compare(
        &self,
        probe: &Probe,
        extent: &Extent,
        from: usize,
        count: usize,
        mut found: impl FnMut(u32, f32),
    ) {
        let mut read = Vec::new();
        let rows = match &self.rows {
            None => self.cells(extent, from, count),
            Some(file) => {
                read.resize(count * padded(self.dims), 0);
                if read_at(file, &mut read, self.cells_at(extent, from)).is_ok() { &read } else { &[][..] }
            }
        };
        let scales = self.scales(extent).as_chunks::<4>().0;
        let mut number = extent.first + from as u32;
        let mut scales = scales.get(from..).unwrap_or_default().iter();
        simd::dots(self.path, rows, &probe.cells, probe.offset, |dot| {
            let scale = scales.next().map_or(0.0, |scale| f32::from_le_bytes(*scale));
            if scale > 0.0 {
                found(number, dot as f32 * scale * probe.scale);
            }
            number += 1;
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn rows_that_are_read_are_those_that_are_mapped(
            vectors in proptest::collection::vec(proptest::collection::vec(-1f32..1.0, 64), 1..300),
            question in proptest::collection::vec(-1f32..1.0, 64),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("vectors");
            let file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
            let extent = Extent { first: 0, room: 1 << 16, at: 0 };
            file.set_len(extent_bytes(extent.room, 64)).unwrap();
            let slots: Vec<Slot> = vectors.iter().map(|v| Slot::of(v)).collect();
            put(&file, &extent, 17, slots.iter()).unwrap();
            let open = |access| Vectors::open(&path, vec![extent], 64, MAPPED + 1, access);
            let (once, often) = (open(Access::Once), open(Access::Often));
            prop_assert!(once.rows.is_some() && often.rows.is_none());
            let probe = Probe::of(&question);
            prop_assert_eq!(once.nearest(&probe, 10, None), often.nearest(&probe, 10, None));
            for number in 0..400 {
                prop_assert_eq!(once.cosine(&probe, number), often.cosine(&probe, number));
            }
        }
    }
}
