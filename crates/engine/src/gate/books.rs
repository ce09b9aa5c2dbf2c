//! Trust books that stay in memory: a process that lives long reads of a book only what was added since it last looked.
//!
//! Comes in: where a book lies. Goes out: the book as it is on disk now. A book only ever grows at its end or is replaced whole; which of the two
//! happened is seen by its stamp. A process that makes one call pays for one reading, as if nothing were kept. Never here: writing a book, or one
//! book's reading while others wait for another book.

use super::book::{Book, LIMIT};
use crate::files;
use heirloom_core::{Fault, fault::Result};
use std::fs::Metadata;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Books that are kept.
const MOST: usize = 64;

/// Bytes of all books that are kept; the one that was asked for last stays in any case.
const MOST_BYTES: u64 = 256 << 20;

/// How much of the end of what was read is compared before the rest is taken for its continuation: nobody but an editor writes over a book in place.
const SEAM: usize = 4 << 10;

/// The books of a process, the one asked for last at the end.
#[derive(Debug, Default)]
pub(crate) struct Books {
    kept: Mutex<Vec<Arc<Known>>>,
}

/// A book and where it lies.
#[derive(Debug)]
pub(crate) struct Known {
    path: PathBuf,
    size: AtomicU64,
    read: RwLock<Reading>,
}

/// How far a book was read.
#[derive(Debug, Default)]
struct Reading {
    book: Book,
    stamp: Option<Stamp>,
    /// Bytes of the file that were taken in, whole lines only.
    through: u64,
    /// The last of them.
    seam: Vec<u8>,
    /// Whether it was ever read.
    begun: bool,
}

/// By what a file is known to be unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(meta: &Metadata) -> Stamp {
        Stamp {
            file: (meta.dev(), meta.ino()),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

impl Books {
    /// The book at a path. Nothing is read yet.
    pub(crate) fn at(&self, path: &Path) -> Arc<Known> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match kept.iter().position(|known| known.path == path) {
            Some(at) => kept.remove(at),
            None => {
                Arc::new(Known { path: path.to_owned(), size: AtomicU64::new(0), read: RwLock::default() })
            }
        };
        let mut all: u64 = kept.iter().map(|known| known.size.load(Ordering::Relaxed)).sum();
        while kept.len() >= MOST || (all > MOST_BYTES && !kept.is_empty()) {
            all -= kept.remove(0).size.load(Ordering::Relaxed).min(all);
        }
        kept.push(Arc::clone(&known));
        known
    }
}

impl Known {
    /// Takes in what was added to the book, or reads it anew if it was replaced.
    pub(crate) fn catch_up(&self) -> Result<()> {
        {
            let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
            if read.begun && read.stamp == self.stamp() {
                return Ok(());
            }
        }
        let mut read = self.read.write().unwrap_or_else(PoisonError::into_inner);
        read.catch_up(&self.path)?;
        self.size.store(read.through, Ordering::Relaxed);
        Ok(())
    }

    /// Asks the book as it was when it last caught up.
    pub(crate) fn ask<T>(&self, ask: impl FnOnce(&Book) -> T) -> T {
        ask(&self.read.read().unwrap_or_else(PoisonError::into_inner).book)
    }

    fn stamp(&self) -> Option<Stamp> {
        std::fs::symlink_metadata(&self.path).ok().map(|meta| Stamp::of(&meta))
    }
}

impl Reading {
    fn catch_up(&mut self, path: &Path) -> Result<()> {
        // Taken first: what comes while the file is read makes another stamp the next time.
        let stamp = std::fs::symlink_metadata(path).ok().map(|meta| Stamp::of(&meta));
        if self.begun && self.stamp == stamp {
            return Ok(());
        }
        if !self.has_grown(stamp) || !self.continued(path)? {
            let bytes = files::read_if_there(path, LIMIT)?.unwrap_or_default();
            let whole = whole_lines(&bytes);
            self.through = whole as u64;
            self.seam = bytes[whole.saturating_sub(SEAM)..whole].to_vec();
            self.book = Book::of(bytes);
            self.begun = true;
        }
        self.stamp = stamp;
        Ok(())
    }

    fn has_grown(&self, now: Option<Stamp>) -> bool {
        let (Some(before), Some(now)) = (self.stamp, now) else { return false };
        self.through > 0 && before.file == now.file && before.size <= now.size
    }

    /// Reads on where the last reading ended; says whether what stands there is its continuation.
    fn continued(&mut self, path: &Path) -> Result<bool> {
        let cannot = |e: std::io::Error| Fault::io(path, "read", &e);
        let Some((mut file, size)) = files::open_if_there(path)? else { return Ok(false) };
        let seam = self.seam.len();
        if size > LIMIT || size < self.through {
            return Ok(false);
        }
        file.seek(SeekFrom::Start(self.through - seam as u64)).map_err(cannot)?;
        let mut found = Vec::with_capacity((size - self.through) as usize + seam + 1);
        file.take(LIMIT).read_to_end(&mut found).map_err(cannot)?;
        if !found.starts_with(&self.seam) || !self.book.add(&found[seam..]) {
            return Ok(false);
        }
        // A last line without an end is taken in once more when it has one, which changes nothing.
        let whole = whole_lines(&found).max(seam);
        self.through += (whole - seam) as u64;
        self.seam = found[whole.saturating_sub(SEAM)..whole].to_vec();
        Ok(true)
    }
}

fn whole_lines(bytes: &[u8]) -> usize {
    memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::super::trust::{self, Standing};
    use super::*;
    use heirloom_core::{Channel, time};

    fn note(path: &Path, id: &str) {
        let standing = Standing { channel: Channel::Agent, accepted: false };
        trust::note(path, time::parse("2026-01-10").unwrap(), id, "hash", standing).unwrap();
    }

    fn knows(known: &Known, id: &str) -> bool {
        known.catch_up().unwrap();
        known.ask(|book| book.standing(id, "hash")) != Standing::STRANGER
    }

    #[test]
    fn only_what_was_added_is_read_and_a_replaced_book_is_read_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trust.jsonl");
        let books = Books::default();
        let known = books.at(&path);
        assert!(!knows(&known, "x:1"), "there is no book yet");
        note(&path, "x:1");
        assert!(knows(&known, "x:1") && !knows(&known, "x:2"));
        for n in 2..200 {
            note(&path, &format!("x:{n}"));
        }
        let size = std::fs::metadata(&path).unwrap().len();
        assert!((1..200).all(|n| knows(&known, &format!("x:{n}"))));
        assert_eq!(known.size.load(Ordering::Relaxed), size);
        assert!(Arc::ptr_eq(&known, &books.at(&path)), "it is kept");
        trust::forget(&path, "x:7").unwrap();
        assert!(!knows(&known, "x:7") && knows(&known, "x:8"));
        std::fs::remove_file(&path).unwrap();
        assert!(!knows(&known, "x:8"));
    }

    #[test]
    fn a_line_that_was_only_half_there_counts_once_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trust.jsonl");
        note(&path, "x:1");
        let whole = std::fs::read_to_string(&path).unwrap();
        let next = whole.replace("x:1", "x:2");
        let known = Books::default().at(&path);
        assert!(knows(&known, "x:1"));
        std::fs::write(&path, format!("{whole}{}", &next[..20])).unwrap();
        assert!(!knows(&known, "x:2"));
        std::fs::write(&path, format!("{whole}{next}")).unwrap();
        assert!(knows(&known, "x:2"));
        note(&path, "x:3");
        assert!(knows(&known, "x:1") && knows(&known, "x:2") && knows(&known, "x:3"));
    }

    #[test]
    fn a_file_of_the_same_place_and_greater_length_is_not_taken_for_the_old_one_with_more() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trust.jsonl");
        note(&path, "x:1");
        let known = Books::default().at(&path);
        assert!(knows(&known, "x:1"));
        // Written over in place, as an editor may do it.
        let other = std::fs::read_to_string(&path).unwrap().replace("x:1", "y:1");
        std::fs::write(&path, format!("{other}{}", other.replace("y:1", "y:2"))).unwrap();
        assert!(!knows(&known, "x:1") && knows(&known, "y:1") && knows(&known, "y:2"));
    }
}
