//! How documents get their rows and vectors their slots.
//!
//! In: documents and vectors, inside the caller's transaction. Out: rows under new numbers, slots in the vector file. The transaction is never ended
//! here.

use super::store::private;

use rusqlite::{CachedStatement, Transaction, params};

use super::cards::Rows;
use super::document::{Card, Document};
use super::embed::{Embedding, Space};
use super::error::IndexError;
use super::vectors::{self, Extent, Slot};
use super::write::{Part, fingerprint};
use super::{key_of, late, trusted};

/// The first term of a name: what a question would call its bearer by.
pub(crate) fn name_of(speaker: &str) -> Option<String> {
    let mut first = None;
    super::each_term(speaker, |term, _| {
        first.get_or_insert_with(|| term.to_owned());
    });
    first
}

/// The statements that put a document's rows.
pub(super) struct Inserts<'a> {
    owner: &'a str,
    doc: CachedStatement<'a>,
    card: CachedStatement<'a>,
    tx: &'a Transaction<'a>,
    rows: Rows,
    trusted: Vec<u32>,
}

impl<'a> Inserts<'a> {
    pub(super) fn new(tx: &'a Transaction<'a>, owner: &'a str) -> Result<Self, IndexError> {
        Ok(Self {
            owner,
            doc: tx.prepare_cached(
                "insert into doc values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) on conflict do nothing",
            )?,
            card: tx.prepare_cached(
                "insert into card values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?,
            tx,
            rows: Rows::default(),
            trusted: Vec::new(),
        })
    }

    /// Puts a document under the next number; `false`, and nothing done, if its id is taken.
    pub(super) fn add(&mut self, part: &mut Part, d: &Document, length: u32) -> Result<bool, IndexError> {
        let key = key_of(part.part, part.next);
        let next = part.next.checked_add(1);
        let next = next.ok_or_else(|| IndexError::storage("an owner has too many documents"))?;
        let added = self.doc.execute(params![
            key,
            part.part,
            d.id,
            d.title,
            d.tags.join("\n"),
            d.body,
            d.speaker,
            d.applies_to.join("\n"),
            d.file,
            d.source,
            d.version
        ])?;
        if added == 0 {
            return Ok(false);
        }
        let group = if d.group.is_empty() { 0 } else { fingerprint(&[self.owner, &d.group]) };
        let speaker = name_of(&d.speaker).map_or(0, |name| fingerprint(&[&name]));
        let card = Card { number: part.next, group, length, speaker, ..Card::of(d) };
        let (kind, scope) = self.rows.add(self.tx, &card)?;
        self.card.execute(params![
            key,
            card.group,
            card.position,
            card.occurred_at,
            kind,
            card.trust.code(),
            card.status.code(),
            card.length,
            card.confidence,
            scope,
            card.role.code(),
            card.speaker
        ])?;
        if trusted::counts(&card) {
            self.trusted.push(card.number);
        }
        part.next = next;
        part.docs += 1;
        part.words += i64::from(length);
        Ok(true)
    }

    /// Writes what the file of cards says of the documents put, of which the first has this number, and which of them are trusted.
    pub(super) fn finish(self, folder: &std::path::Path, part: &Part, first: u32) -> Result<(), IndexError> {
        trusted::add(self.tx, part.part, &self.trusted)?;
        self.rows.write(self.tx, folder, part.part, first)
    }
}

/// Writes vectors of a space and, where there are any, those of word pieces.
pub(super) fn put_vectors(
    tx: &Transaction<'_>,
    folder: &std::path::Path,
    part: i64,
    space: &Space,
    numbers: &[u32],
    embeddings: &[Embedding],
) -> Result<(), IndexError> {
    let slots: Vec<(u32, Slot)> =
        numbers.iter().zip(embeddings).map(|(n, e)| (*n, Slot::of(&e.vector))).collect();
    put_slots(tx, folder, part, space, &slots)?;
    for (number, embedding) in numbers.iter().zip(embeddings) {
        if let Some(pieces) = &embedding.pieces {
            tx.prepare_cached("insert or replace into late values (?1, ?2)")?
                .execute(params![key_of(part, *number), late::pack(pieces)])?;
        }
    }
    Ok(())
}

/// Writes slots, making space and extents as needed.
pub(super) fn put_slots(
    tx: &Transaction<'_>,
    folder: &std::path::Path,
    part: i64,
    space: &Space,
    slots: &[(u32, Slot)],
) -> Result<(), IndexError> {
    let Some(top) = slots.iter().map(|(number, _)| number).max() else { return Ok(()) };
    let name = format!("vectors-{:016x}.bin", fingerprint(&[&space.model, &space.dims.to_string()]));
    tx.prepare_cached(
        "insert into space (model, dims, file, size) values (?1, ?2, ?3, 0) on conflict do nothing",
    )?
    .execute(params![space.model, space.dims, name])?;
    let (id, mut size): (i64, u64) = tx
        .prepare_cached("select space, size from space where model = ?1 and dims = ?2")?
        .query_row(params![space.model, space.dims], |r| Ok((r.get(0)?, r.get(1)?)))?;
    let file = private().read(true).open(folder.join(name))?;
    let mut extents = super::read::extents(tx, id, part)?;
    while extents.last().is_none_or(|e| u64::from(e.first) + u64::from(e.room) <= u64::from(*top)) {
        let (first, before) = extents.last().map_or((0, 0), |e| (e.first + e.room, e.room));
        let extent = Extent { first, room: vectors::next_room(before), at: size };
        size = (size + vectors::extent_bytes(extent.room, space.dims)).next_multiple_of(4096);
        tx.prepare_cached("insert into extent values (?1, ?2, ?3, ?4, ?5)")?.execute(params![
            id,
            part,
            extent.first,
            extent.room,
            extent.at
        ])?;
        extents.push(extent);
    }
    if file.metadata()?.len() < size {
        file.set_len(size)?;
    }
    tx.prepare_cached("update space set size = ?2 where space = ?1")?.execute(params![id, size])?;
    let extent_of = |number: u32| extents.partition_point(|e| e.first <= number).checked_sub(1);
    for run in slots.chunk_by(|a, b| a.0 + 1 == b.0 && extent_of(a.0) == extent_of(b.0)) {
        if let Some((number, _)) = run.first()
            && let Some(extent) = extent_of(*number).and_then(|i| extents.get(i))
        {
            vectors::put(&file, extent, *number, run.iter().map(|r| &r.1))?;
        }
    }
    Ok(())
}
