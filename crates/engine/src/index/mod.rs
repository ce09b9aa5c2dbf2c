//! What can be searched: keywords, vectors and metadata of documents, per owner.
//!
//! In: documents, changed or removed by id. Out: a [`Reader`] on one owner's part. Everything here is derived
//! and can be deleted at any time: a folder that is missing, damaged or of another version becomes an empty
//! index whose marks are gone, which tells the caller to feed it again from the shelves. Any number of
//! processes may read and write at once.

mod batch;
mod cards;
pub mod document;
pub mod embed;
mod embedding_cache;
pub mod error;
mod fold;
mod late;
mod mapped;
mod matches;
mod nearest;
mod numbered;
mod postings;
mod put;
mod read;
mod simd;
mod stem;
mod store;
mod terms;
mod top;
mod trusted;
mod typo;
mod vectors;
mod words;
mod write;

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use rusqlite::OptionalExtension;

pub use document::{Document, Role, Status, Trust};
pub use error::IndexError;
pub use read::Reader;
pub use write::{Applied, Change};

pub(crate) use document::Card;
pub(crate) use late::{LateProbe, pack as packed_pieces};
pub(crate) use matches::Matches;
pub(crate) use nearest::{Ahead, Nearest};
pub(crate) use numbered::ByNumber;
pub(crate) use postings::{Bag, rarity, saturated};
pub(crate) use put::name_of;
pub(crate) use read::Member;
#[cfg(test)]
pub(crate) use terms::is_stop;
pub(crate) use terms::{each as each_term, of_question};
pub(crate) use vectors::Probe;
pub(crate) use write::{Missing, fingerprint};

use embed::Space;
use store::Store;
use vectors::Access;

/// What every system reads ahead in one call.
const AHEAD: u64 = 128 << 10;

/// An open index.
#[derive(Debug)]
pub struct Index {
    store: Store,
    /// Whether a question was asked before.
    asked: bool,
    /// What was mapped for a glance: giving pages back is left to whoever abandons it, or to the end of the process.
    maps: Vec<Arc<Mmap>>,
}

/// Key of a document: the part in the upper half, the number in the lower, so that a part lies together.
fn key_of(part: i64, number: u32) -> i64 {
    (part << 32) | i64::from(number)
}

fn number_of(key: i64) -> u32 {
    (key & 0xFFFF_FFFF) as u32
}

impl Index {
    /// Opens the index in `folder`, making it if needed.
    pub fn open(folder: &Path) -> Result<Self, IndexError> {
        Ok(Self { store: Store::open(folder)?, asked: false, maps: Vec::new() })
    }

    /// The index as it lies there, for one question, if at this time, in nanoseconds since 1970, nobody writes to it. What it says counts only if it
    /// [`held_still`](Self::held_still).
    pub(crate) fn glance(folder: &Path, now: i128) -> Option<Self> {
        Some(Self { store: Store::glance(folder, now)?, asked: false, maps: Vec::new() })
    }

    /// Whether it is read as it lies there.
    pub(crate) fn is_glance(&self) -> bool {
        self.store.is_glance()
    }

    /// Whether everything read so far was of one moment.
    pub(crate) fn held_still(&self) -> bool {
        self.store.held_still()
    }

    /// Throws everything away and starts empty.
    pub fn renew(&mut self) -> Result<(), IndexError> {
        self.store.renew()
    }

    /// What the caller last noted under `name`, such as the state of a shelf the index reflects.
    ///
    /// Marks are set by [`Index::apply`] together with the documents; an index that had to be made anew has none.
    pub fn mark(&mut self, name: &str) -> Result<Option<String>, IndexError> {
        self.store.follow()?;
        let mut statement = self.store.db.prepare_cached("select value from mark where name = ?1")?;
        Ok(statement.query_row([name], |r| r.get(0)).optional()?)
    }

    /// All marks whose names begin with `prefix`, in order.
    pub fn marks(&mut self, prefix: &str) -> Result<Vec<(String, String)>, IndexError> {
        self.store.follow()?;
        let mut statement = self
            .store
            .db
            .prepare_cached("select name, value from mark where name >= ?1 and name < ?1 || char(1114111)")?;
        let rows = statement.query_map([prefix], |r| Ok((r.get(0)?, r.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// All marks but those of files and whole shelves, of which there may be very many.
    pub(crate) fn few_marks(&mut self) -> Result<BTreeMap<String, String>, IndexError> {
        self.store.follow()?;
        let mut statement = self.store.db.prepare_cached("select name, value from mark where name < '~'")?;
        let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A snapshot of one owner's documents, with the vectors of `space` if there are any.
    pub fn reader(&mut self, owner: &str, space: Option<&Space>) -> Result<Reader<'_>, IndexError> {
        self.store.follow()?;
        let access = if std::mem::replace(&mut self.asked, true) {
            self.store.map()?;
            Access::Often
        } else {
            Access::Once
        };
        let reader = Reader::open(&self.store.db, &self.store.folder, owner, space, access)?;
        if self.store.is_glance() {
            self.maps = reader.maps().collect();
        }
        Ok(reader)
    }

    /// Asks the system to have the files of a folder in memory when the next question comes, at most so many bytes of them; says whether that was all.
    ///
    /// Asking costs about a millisecond for every megabyte that has to come from the disk. Where this process has an index open its database is left
    /// alone: what is open is in use, and closing the file here would take the connection's locks from it.
    pub fn warm(folder: &Path, most: u64) -> bool {
        let mut left = most;
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(long) = entry.metadata().map(|meta| meta.len()) else { continue };
            let now = long.min(left);
            if store::is_locked_by_sqlite(&entry.file_name().to_string_lossy()) {
                store::unless_open(|| read_ahead(&entry.path(), now));
            } else {
                read_ahead(&entry.path(), now);
            }
            left -= now;
            if now < long {
                return false;
            }
        }
        true
    }
}

/// Asks the system for the first bytes of a file.
fn read_ahead(path: &Path, long: u64) {
    let Ok(file) = std::fs::File::open(path) else { return };
    // Systems take only so much of one call, and say nothing about the rest.
    for at in (0..long).step_by(AHEAD as usize) {
        // A system that cannot do it reads the files when they are needed.
        let _ = rustix::fs::fadvise(&file, at, NonZeroU64::new(AHEAD), rustix::fs::Advice::WillNeed);
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
