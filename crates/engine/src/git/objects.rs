//! The first commit of what is checked out, read from the objects themselves.
//!
//! Comes in: a repository's place. Goes out: the commit without a parent that the line of first parents ends at. That is the same in every
//! clone, and a library whose history was merged in does not change it. Never here: a process, so nothing that the repository could have
//! run; an object fetched from elsewhere; more work than the limits below, whatever lies in the folder.

use super::inflate::inflate;
use super::place::{Place, is_object_name};
use crate::files;
use std::cell::Cell;
use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The longest line of commits that is followed. It is followed once for every place on this machine, at most a quarter of a second long.
const MOST_COMMITS: usize = 50_000;
/// The largest object that another one is described by.
const MOST_BYTES: usize = 1 << 20;
/// Descriptions of descriptions.
const MOST_STEPS: usize = 128;
/// Folders of objects, with those that they borrow from.
const MOST_FOLDERS: usize = 16;
/// Packs that are looked into.
const MOST_PACKS: usize = 512;
/// Names of packs and what lies beside them that are read.
const MOST_NAMES: usize = 8 * MOST_PACKS;
/// All the work there is: bytes unpacked, and what a look into a pack costs of them.
const MOST_WORK: usize = 32 << 20;
const LOOK: usize = 64;
/// A commit begins with its tree and its parents; that is as much as is needed of it.
const BEGINNING: usize = 176;
/// So many packed bytes hold the beginning, with the tables in front of it.
const PACKED_BEGINNING: usize = 2048;

/// What could be found out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// The first commit.
    Commit(String),
    /// Nothing was committed yet.
    None,
    /// There is a history that cannot be read here: too long, incomplete, or kept in another way.
    Unreadable,
}

/// The first commit of what is checked out.
pub(crate) fn first_commit(place: &Place) -> First {
    let Some(mut at) = place.head() else { return First::None };
    let cut_off = files::read_text(&place.common.join("shallow"), 1 << 20).ok().flatten().unwrap_or_default();
    let cut_off: HashSet<&str> = cut_off.lines().collect();
    let mut store = Store::open(&place.common.join("objects"), at.len() / 2);
    for _ in 0..MOST_COMMITS {
        if cut_off.contains(at.as_str()) {
            return First::Commit(at);
        }
        let parent = match store.commit(&at) {
            None => return First::Unreadable,
            Some(commit) => first_parent(&commit),
        };
        match parent {
            None => return First::Commit(at),
            Some(parent) => at = parent,
        }
    }
    First::Unreadable
}

fn first_parent(commit: &[u8]) -> Option<String> {
    let mut lines = commit.split(|b| *b == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    lines.next()?;
    let parent = lines.next()?.strip_prefix("parent ")?;
    is_object_name(parent).then(|| parent.to_owned())
}

/// Where objects are: each in a file of its own, or many in a pack.
struct Store {
    folders: Vec<PathBuf>,
    packs: Vec<Pack>,
    /// How much work may still be done.
    left: Cell<usize>,
}

impl Store {
    fn open(folder: &Path, width: usize) -> Store {
        let mut folders = vec![folder.to_owned()];
        let mut at = 0;
        while let Some(folder) = folders.get(at).cloned() {
            let borrowed = files::read_text(&folder.join("info/alternates"), 1 << 16).ok().flatten();
            for line in borrowed.iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with('#')) {
                let other = folder.join(line);
                if folders.len() < MOST_FOLDERS && !line.is_empty() && !folders.contains(&other) {
                    folders.push(other);
                }
            }
            at += 1;
        }
        let packs =
            folders.iter().flat_map(|folder| std::fs::read_dir(folder.join("pack")).into_iter().flatten());
        let mut indexes: Vec<PathBuf> = packs
            .flatten()
            .take(MOST_NAMES)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "idx"))
            .collect();
        indexes.sort();
        let packs = indexes.iter().take(MOST_PACKS).filter_map(|path| Pack::open(path, width)).collect();
        Store { folders, packs, left: Cell::new(MOST_WORK) }
    }

    /// The beginning of a commit.
    fn commit(&mut self, name: &str) -> Option<Vec<u8>> {
        if let Some(whole) = self.loose(name, BEGINNING + 32) {
            return whole.strip_prefix(b"commit ").and_then(after_size);
        }
        let (pack, offset) = self.find(&bytes_of(name)?)?;
        let (kind, bytes) = self.packed(pack, offset, BEGINNING, 0)?;
        // The next one is most likely in the same pack.
        self.packs.swap(0, pack);
        (kind == COMMIT).then_some(bytes)
    }

    /// The beginning of an object that has a file of its own, with its kind and size in front.
    fn loose(&self, name: &str, wanted: usize) -> Option<Vec<u8>> {
        let (folder, rest) = name.split_at_checked(2)?;
        let mut found = self.folders.iter().filter_map(|objects| {
            let (file, size) = files::open_if_there(&objects.join(folder).join(rest)).ok().flatten()?;
            let mut packed = vec![0; (size as usize).min(wanted + wanted / 4 + PACKED_BEGINNING)];
            file.read_exact_at(&mut packed, 0).ok()?;
            inflate(&packed, wanted)
        });
        found.next()
    }

    fn find(&self, name: &[u8]) -> Option<(usize, u64)> {
        for (at, pack) in self.packs.iter().enumerate() {
            self.spend(LOOK)?;
            if let Some(offset) = pack.offset(name) {
                return Some((at, offset));
            }
        }
        None
    }

    fn spend(&self, work: usize) -> Option<()> {
        self.left.set(self.left.get().checked_sub(work)?);
        Some(())
    }

    /// An object of a pack: its kind and its beginning.
    fn packed(&self, at: usize, offset: u64, wanted: usize, step: usize) -> Option<(u8, Vec<u8>)> {
        let pack = self.packs.get(at)?;
        let head = pack.read(offset, 64)?;
        let (kind, size, mut used) = entry(&head)?;
        if kind != OFFSET && kind != NAMED {
            self.spend(wanted.min(size))?;
            let bytes = pack.unpacked(offset + used as u64, wanted.min(size))?;
            return Some((kind, bytes));
        }
        if size > MOST_BYTES || step >= MOST_STEPS {
            return None;
        }
        let (base_pack, base_offset) = if kind == OFFSET {
            let (back, length) = distance(head.get(used..)?)?;
            used += length;
            (at, offset.checked_sub(back)?)
        } else {
            let name = head.get(used..used + pack.width)?;
            used += pack.width;
            self.find(name)?
        };
        self.spend(size)?;
        let changes = pack.unpacked(offset + used as u64, size)?;
        let (kind, base) = self.packed(base_pack, base_offset, MOST_BYTES, step + 1)?;
        Some((kind, apply(&base, &changes)?))
    }
}

fn after_size(rest: &[u8]) -> Option<Vec<u8>> {
    let end = rest.iter().position(|b| *b == 0)?;
    rest.get(end + 1..).map(<[u8]>::to_vec)
}

fn bytes_of(name: &str) -> Option<Vec<u8>> {
    (0..name.len()).step_by(2).map(|at| u8::from_str_radix(name.get(at..at + 2)?, 16).ok()).collect()
}

const COMMIT: u8 = 1;
/// An object described by what it changes of one that lies before it in the pack.
const OFFSET: u8 = 6;
/// The same, of one that is named.
const NAMED: u8 = 7;

/// Kind and size in front of an object, and how many bytes they take.
fn entry(head: &[u8]) -> Option<(u8, usize, usize)> {
    let first = *head.first()?;
    let (mut size, mut shift, mut used) = (usize::from(first & 0x0f), 4, 1);
    let mut more = first & 0x80 != 0;
    while more {
        let byte = *head.get(used)?;
        size |= usize::from(byte & 0x7f).checked_shl(shift).filter(|_| shift < 60)?;
        (shift, used, more) = (shift + 7, used + 1, byte & 0x80 != 0);
    }
    Some((first >> 4 & 7, size, used))
}

/// How far back the described object lies, and how many bytes say so.
fn distance(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut back = u64::from(bytes.first()? & 0x7f);
    let mut used = 1;
    while bytes.get(used - 1)? & 0x80 != 0 {
        back = back.checked_add(1)?.checked_mul(128)? | u64::from(bytes.get(used)? & 0x7f);
        used += 1;
        if used > 9 {
            return None;
        }
    }
    Some((back, used))
}

/// Makes an object from another one and what changes.
fn apply(base: &[u8], changes: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = changes.iter().copied();
    let size = |bytes: &mut dyn Iterator<Item = u8>| {
        let (mut size, mut shift) = (0usize, 0u32);
        loop {
            let byte = bytes.next()?;
            size |= usize::from(byte & 0x7f).checked_shl(shift).filter(|_| shift < 60)?;
            if byte & 0x80 == 0 {
                return Some(size);
            }
            shift += 7;
        }
    };
    let (from, to) = (size(&mut bytes)?, size(&mut bytes)?);
    if from != base.len() || to > MOST_BYTES {
        return None;
    }
    let mut out = Vec::with_capacity(to);
    while let Some(what) = bytes.next() {
        if what & 0x80 == 0 {
            // So many bytes follow; none is no instruction.
            for _ in 0..(what != 0).then_some(what)? {
                out.push(bytes.next()?);
            }
        } else {
            let mut number = |bits: std::ops::Range<u32>| {
                let mut value = 0usize;
                for (place, bit) in bits.enumerate() {
                    if what >> bit & 1 == 1 {
                        value |= usize::from(bytes.next()?) << (8 * place);
                    }
                }
                Some(value)
            };
            let (start, length) = (number(0..4)?, number(4..7)?);
            let length = if length == 0 { 0x1_0000 } else { length };
            out.extend_from_slice(base.get(start..start.checked_add(length)?)?);
        }
        if out.len() > to {
            return None;
        }
    }
    (out.len() == to).then_some(out)
}

/// A pack and its index.
struct Pack {
    index: File,
    pack: File,
    size: u64,
    /// How many objects there are up to each first byte of a name.
    counts: Vec<u32>,
    /// Bytes of a name.
    width: usize,
}

impl Pack {
    /// Where the names begin: after a mark, a version, and the counts.
    const NAMES: u64 = 8 + 256 * 4;

    fn open(index: &Path, width: usize) -> Option<Pack> {
        let (pack, size) = files::open_if_there(&index.with_extension("pack")).ok().flatten()?;
        let (index, _) = files::open_if_there(index).ok().flatten()?;
        let mut head = [0u8; Pack::NAMES as usize];
        index.read_exact_at(&mut head, 0).ok()?;
        let (mark, counts) = head.split_at_checked(8)?;
        if mark != [0xff, b't', b'O', b'c', 0, 0, 0, 2] {
            return None;
        }
        let counts: Vec<u32> = counts.chunks_exact(4).map(number).collect();
        if counts.windows(2).any(|pair| pair[0] > pair[1]) {
            return None;
        }
        Some(Pack { index, pack, size, counts, width })
    }

    fn read(&self, offset: u64, most: usize) -> Option<Vec<u8>> {
        let length = usize::try_from(self.size.checked_sub(offset)?).ok()?.min(most);
        let mut bytes = vec![0; length];
        self.pack.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    }

    fn unpacked(&self, offset: u64, wanted: usize) -> Option<Vec<u8>> {
        let wanted = wanted.min(MOST_BYTES);
        // What cannot be packed grows a little.
        let packed = self.read(offset, wanted + wanted / 8 + PACKED_BEGINNING)?;
        inflate(&packed, wanted)
    }

    /// Where an object begins.
    fn offset(&self, name: &[u8]) -> Option<u64> {
        if name.len() != self.width {
            return None;
        }
        let first = usize::from(*name.first()?);
        let (mut low, mut high) =
            (first.checked_sub(1).map_or(0, |before| self.counts[before]), self.counts[first]);
        let mut own = vec![0; self.width];
        while low < high {
            let middle = low + (high - low) / 2;
            self.index.read_exact_at(&mut own, Pack::NAMES + u64::from(middle) * self.width as u64).ok()?;
            match own.as_slice().cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset_of(u64::from(middle)),
            }
        }
        None
    }

    fn offset_of(&self, object: u64) -> Option<u64> {
        let count = u64::from(*self.counts.last()?);
        let offsets = Pack::NAMES + count * (self.width as u64 + 4);
        let mut bytes = [0u8; 8];
        self.index.read_exact_at(&mut bytes[..4], offsets + object * 4).ok()?;
        let offset = number(&bytes[..4]);
        if offset & 0x8000_0000 == 0 {
            return Some(u64::from(offset));
        }
        let large = offsets + count * 4 + u64::from(offset & 0x7fff_ffff) * 8;
        self.index.read_exact_at(&mut bytes, large).ok()?;
        Some(u64::from_be_bytes(bytes))
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}
