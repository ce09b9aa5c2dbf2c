//! The embedding cache: vectors carried from a document that went to the same text when it comes back.
//!
//! In: documents that are removed or replaced. Out: their vectors again, for a document that says the same, under whatever id. A file that is read once
//! more, a branch that is switched to and back, a memory that is renamed: none of them asks a slow model twice. Only spaces whose
//! model takes long are carried, by a hash of the text, and only so many. Never here: a vector of a text that was forgotten.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use heirloom_core::hash;
use rusqlite::{OptionalExtension, Transaction, params};

use super::document::{Document, Status};
use super::error::IndexError;
use super::key_of;
use super::vectors::{Extent, Slot};

/// Most vectors that are kept for documents that are gone.
const MOST: i64 = 50_000;

/// A space worth carrying.
struct Slow {
    space: i64,
    model: String,
    dims: usize,
    file: String,
}

/// What is carried in one transaction.
pub(super) struct Carry {
    slow: Vec<Slow>,
    kept: bool,
}

/// A vector that is put back: its space and the slot.
pub(super) struct Carried {
    pub(super) model: String,
    pub(super) dims: usize,
    pub(super) slot: Slot,
    pub(super) late: Option<Vec<u8>>,
}

impl Carry {
    pub(super) fn new(tx: &Transaction<'_>) -> Result<Carry, IndexError> {
        // The model in the binary is quicker than a look at the disk.
        let mut spaces =
            tx.prepare_cached("select space, model, dims, file from space where model not glob 'static-*'")?;
        let slow = spaces.query_map([], |r| {
            Ok(Slow { space: r.get(0)?, model: r.get(1)?, dims: r.get(2)?, file: r.get(3)? })
        })?;
        Ok(Carry { slow: slow.collect::<Result<_, _>>()?, kept: false })
    }

    /// Keeps the vectors of a document that is about to go.
    pub(super) fn keep(
        &mut self,
        tx: &Transaction<'_>,
        folder: &Path,
        part: i64,
        number: u32,
    ) -> Result<(), IndexError> {
        if self.slow.is_empty() {
            return Ok(());
        }
        let key = key_of(part, number);
        let document = tx
            .prepare_cached("select doc.title, doc.speaker, doc.body, (select text from name where n = card.kind) from doc join card using (key) where key = ?1 and card.status <> ?2")?
            // What is held back was told to no model, so there is nothing to carry.
            .query_row(params![key, Status::Held.code()], |r| {
                let (title, speaker, body) = (r.get(0)?, r.get(1)?, r.get(2)?);
                // What a model is told of a text depends on its kind.
                let kind = r.get::<_, Option<String>>(3)?.unwrap_or_default();
                Ok(Document { title, speaker, body, kind, ..Document::default() })
            })
            .optional()?;
        let Some(document) = document else { return Ok(()) };
        let late: Option<Vec<u8>> = tx
            .prepare_cached("select pieces from late where key = ?1")?
            .query_row([key], |r| r.get(0))
            .optional()?;
        for slow in &self.slow {
            let Some(slot) = slow.read(tx, folder, part, number)? else { continue };
            tx.prepare_cached(
                "insert or replace into kept (text, space, slot, late) values (?1, ?2, ?3, ?4)",
            )?
            .execute(params![text_of(&document), slow.space, slot, late])?;
            self.kept = true;
        }
        Ok(())
    }

    /// The vectors there are for a document's text, those of `fresh` left out.
    pub(super) fn find(
        &self,
        tx: &Transaction<'_>,
        document: &Document,
        fresh: Option<&str>,
    ) -> Result<Vec<Carried>, IndexError> {
        let mut found = Vec::new();
        for slow in self.slow.iter().filter(|slow| fresh != Some(slow.model.as_str())) {
            let kept: Option<(Vec<u8>, Option<Vec<u8>>)> = tx
                .prepare_cached("select slot, late from kept where text = ?1 and space = ?2")?
                .query_row(params![text_of(document), slow.space], |r| Ok((r.get(0)?, r.get(1)?)))
                .optional()?;
            let Some((slot, late)) = kept else { continue };
            if let Some(slot) = Slot::from_bytes(&slot, slow.dims) {
                found.push(Carried { model: slow.model.clone(), dims: slow.dims, slot, late });
            }
        }
        Ok(found)
    }

    /// Lets the oldest go if there are too many.
    pub(super) fn tidy(&self, tx: &Transaction<'_>) -> Result<(), IndexError> {
        if self.kept {
            tx.prepare_cached("delete from kept where n <= (select max(n) from kept) - ?1")?
                .execute([MOST])?;
        }
        Ok(())
    }
}

/// Forgets everything that is kept: of a text that must go nobody knows under which id it was here before.
pub(super) fn forget(tx: &Transaction<'_>) -> Result<(), IndexError> {
    tx.execute("delete from kept", [])?;
    Ok(())
}

/// What a text is known by.
fn text_of(document: &Document) -> String {
    hash::sha256(document.passage().as_bytes())[..32].to_owned()
}

impl Slow {
    /// A document's vector as it lies in the file; nothing if it has none.
    fn read(
        &self,
        tx: &Transaction<'_>,
        folder: &Path,
        part: i64,
        number: u32,
    ) -> Result<Option<Vec<u8>>, IndexError> {
        let extent = tx
            .prepare_cached("select first, room, at from extent where space = ?1 and part = ?2 and first <= ?3 and first + room > ?3")?
            .query_row(params![self.space, part, number], |r| Ok(Extent { first: r.get(0)?, room: r.get(1)?, at: r.get(2)? }))
            .optional()?;
        let Some(extent) = extent else { return Ok(None) };
        let Ok(file) = File::open(folder.join(&self.file)) else { return Ok(None) };
        let mut bytes = vec![0; Slot::length(self.dims)];
        let mut from = 0;
        for (at, length) in extent.places(number, self.dims) {
            if file.read_exact_at(&mut bytes[from..from + length], at).is_err() {
                return Ok(None);
            }
            from += length;
        }
        // Without a scale there is no vector.
        Ok((bytes[..4] != [0; 4]).then_some(bytes))
    }
}
