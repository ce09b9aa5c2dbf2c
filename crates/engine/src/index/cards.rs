//! Cards in rows of a flat file, so that a ranking that looks at hundreds of them need not look for each in the database.
//!
//! In: cards under numbers that are never given twice. Out: the same cards. The database has every card as well and is what counts: a row that is
//! empty, lost or of a card that does not fit in it is looked up there. A row says how a memory ranks, never what is shown of it. Nothing of a
//! memory's text is here.

use super::store::private;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::document::{Card, Role, Status, Trust};
use super::error::IndexError;
use super::mapped;
use super::numbered::ByNumber;
use super::read::extents;
use super::vectors::{Extent, next_room, read_at, write_at};

/// The file's name.
pub(super) const FILE: &str = "cards.bin";
/// Bytes of a row.
const ROW: usize = 20;
/// What tells a row from an empty one.
const THERE: u8 = 0x80;

type Row = [u8; ROW];

/// Up to this many documents the rows are mapped; beyond, a page that is mapped for one row costs more than reading it.
const MAPPED: u32 = 200_000;

/// The space that the file's extents are of: no vectors have it.
const SPACE: i64 = 0;

/// The kind there is an index of, and the number of its name.
pub(super) const FACT: (i64, &str) = (1, "fact");

/// Where a row is.
fn place(extent: &Extent, number: u32) -> u64 {
    extent.at + u64::from(number - extent.first) * ROW as u64
}

fn end(extent: &Extent) -> u64 {
    extent.at + u64::from(extent.room) * ROW as u64
}

fn extent_of(extents: &[Extent], number: u32) -> Option<&Extent> {
    let extent = extents.get(extents.partition_point(|e| e.first <= number).checked_sub(1)?)?;
    (number - extent.first < extent.room).then_some(extent)
}

/// The card as a row; `None` if it does not fit.
fn packed(card: &Card, kind: i64, scope: i64) -> Option<Row> {
    if card.position != 0 || card.speaker != 0 {
        return None;
    }
    let sure = (card.confidence * 100.0).round();
    if !(0.0..=255.0).contains(&sure) || sure / 100.0 != card.confidence {
        return None;
    }
    let kind = u8::try_from(kind).ok()?;
    let scope = u16::try_from(scope).ok()?.to_le_bytes();
    let length = u16::try_from(card.length).ok()?.to_le_bytes();
    let at = u32::try_from(card.occurred_at).ok()?.to_le_bytes();
    let codes = [card.trust.code(), card.status.code() << 2, card.role.code() << 4];
    let codes = THERE | u8::try_from(codes.iter().sum::<i64>()).ok()?;
    let mut row = [0; ROW];
    row[..4].copy_from_slice(&[codes, kind, scope[0], scope[1]]);
    row[4..8].copy_from_slice(&[length[0], length[1], sure as u8, 0]);
    row[8..12].copy_from_slice(&at);
    row[12..].copy_from_slice(&card.group.to_le_bytes());
    Some(row)
}

/// Names of kinds and scopes by the numbers that stand for them.
#[derive(Debug, Default)]
struct Names(ByNumber<Option<Arc<str>>>);

impl Names {
    fn get(&mut self, db: &Connection, number: u32) -> Result<Option<Arc<str>>, IndexError> {
        if let Some(known) = self.0.get(&number) {
            return Ok(known.clone());
        }
        let mut statement = db.prepare_cached("select text from name where n = ?1")?;
        let text: Option<Arc<str>> = statement.query_row([number], |r| r.get(0)).optional()?;
        self.0.insert(number, text.clone());
        Ok(text)
    }
}

/// An owner's rows, for reading.
#[derive(Debug)]
pub(super) struct Cards {
    extents: Vec<Extent>,
    pub(super) map: Option<Arc<Mmap>>,
    file: Option<File>,
    names: std::cell::RefCell<Names>,
}

impl Cards {
    /// A file that is missing or too short has no rows there. `often`: whether it will be looked into again and again.
    pub(super) fn open(
        db: &Connection,
        folder: &Path,
        part: i64,
        count: u32,
        often: bool,
    ) -> Result<Self, IndexError> {
        let extents = extents(db, SPACE, part)?;
        let end = extents.iter().map(end).max().unwrap_or(0);
        let file = if end > 0 { File::open(folder.join(FILE)).ok() } else { None };
        let map = file
            .as_ref()
            .filter(|_| often || count <= MAPPED)
            .and_then(|f| mapped::map(f, end).ok())
            .map(Arc::new);
        Ok(Self { extents, map, file, names: Default::default() })
    }

    /// The kind or scope that a number stands for.
    pub(super) fn name(&self, db: &Connection, number: u32) -> Result<Option<Arc<str>>, IndexError> {
        self.names.borrow_mut().get(db, number)
    }

    /// The card of a document, if there is a row of it.
    pub(super) fn card(&self, db: &Connection, number: u32) -> Result<Option<Card>, IndexError> {
        let Some(row) = self.row(number).filter(|row| row[0] & THERE != 0) else { return Ok(None) };
        let mut names = self.names.borrow_mut();
        let kind = names.get(db, u32::from(row[1]))?;
        let scope = names.get(db, u32::from(u16::from_le_bytes([row[2], row[3]])))?;
        let (Some(kind), Some(scope)) = (kind, scope) else { return Ok(None) };
        let (at, group) = row[8..].split_at(4);
        let (Ok(at), Ok(group)) = (at.try_into(), group.try_into()) else { return Ok(None) };
        let code = |shift: u8| i64::from(row[0] >> shift & 3);
        Ok(Some(Card {
            number,
            group: i64::from_le_bytes(group),
            position: 0,
            occurred_at: i64::from(u32::from_le_bytes(at)),
            kind,
            trust: Trust::from_code(code(0)),
            status: Status::from_code(code(2)),
            length: u32::from(u16::from_le_bytes([row[4], row[5]])),
            confidence: f32::from(row[6]) / 100.0,
            scope,
            role: Role::from_code(code(4)),
            speaker: 0,
        }))
    }

    fn row(&self, number: u32) -> Option<Row> {
        let at = place(extent_of(&self.extents, number)?, number);
        if let Some(map) = &self.map {
            let at = usize::try_from(at).ok()?;
            return map.get(at..at.checked_add(ROW)?)?.try_into().ok();
        }
        let mut row = [0; ROW];
        read_at(self.file.as_ref()?, &mut row, at).ok()?;
        Some(row)
    }
}

/// Rows that are to be written, of documents with numbers one after the other.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    names: HashMap<String, i64>,
}

impl Rows {
    /// Takes a card and gives the numbers of its kind and its scope.
    pub(super) fn add(&mut self, db: &Connection, card: &Card) -> Result<(i64, i64), IndexError> {
        let (kind, scope) = (self.name(db, &card.kind)?, self.name(db, &card.scope)?);
        self.rows.push(packed(card, kind, scope).unwrap_or_default());
        Ok((kind, scope))
    }

    /// The number that stands for a name.
    fn name(&mut self, db: &Connection, text: &str) -> Result<i64, IndexError> {
        if let Some(number) = self.names.get(text) {
            return Ok(*number);
        }
        db.prepare_cached("insert into name (text) values (?1) on conflict do nothing")?.execute([text])?;
        let number = db
            .prepare_cached("select n from name where text = ?1")?
            .query_row([text], |r| r.get::<_, i64>(0))?;
        self.names.insert(text.to_owned(), number);
        Ok(number)
    }

    /// Writes the rows, of which the first is that of document `first`.
    pub(super) fn write(
        self,
        tx: &Transaction<'_>,
        folder: &Path,
        part: i64,
        first: u32,
    ) -> Result<(), IndexError> {
        let Some(more) = u32::try_from(self.rows.len()).ok().filter(|more| *more > 0) else { return Ok(()) };
        let mut extents = extents(tx, SPACE, part)?;
        let file = private().read(true).open(folder.join(FILE))?;
        while extents
            .last()
            .is_none_or(|e| u64::from(e.first) + u64::from(e.room) < u64::from(first) + u64::from(more))
        {
            let (next, before) = extents.last().map_or((0, 0), |e| (e.first + e.room, e.room));
            let at: i64 = tx
                .prepare_cached("select coalesce(max(at + room * ?1), 0) from extent where space = ?2")?
                .query_row([ROW as i64, SPACE], |r| r.get(0))?;
            let extent = Extent { first: next, room: next_room(before), at: at.unsigned_abs() };
            tx.prepare_cached("insert into extent values (?1, ?2, ?3, ?4, ?5)")?.execute(params![
                SPACE,
                part,
                extent.first,
                extent.room,
                extent.at
            ])?;
            extents.push(extent);
        }
        let end = extents.last().map_or(0, end);
        if file.metadata()?.len() < end {
            file.set_len(end)?;
        }
        let (mut number, mut left) = (first, self.rows.as_slice());
        while let Some(extent) = extent_of(&extents, number).filter(|_| !left.is_empty()) {
            let room = (extent.first + extent.room - number) as usize;
            let (now, later) = left.split_at(room.min(left.len()));
            write_at(&file, now.as_flattened(), place(extent, number))?;
            number += now.len() as u32;
            left = later;
        }
        Ok(())
    }
}

/// Drops the names that no card has any more: a scope may say what was forgotten.
pub(super) fn drop_names(tx: &Transaction<'_>) -> Result<(), IndexError> {
    tx.execute(
        "delete from name where n <> ?1 and n not in (select kind from card union select scope from card)",
        [FACT.0],
    )?;
    Ok(())
}

/// Empties the row of a document that is gone.
pub(super) fn wipe(tx: &Transaction<'_>, folder: &Path, part: i64, number: u32) -> Result<(), IndexError> {
    // A file that is gone holds nothing to wipe.
    if let Some(extent) = extent_of(&extents(tx, SPACE, part)?, number)
        && let Ok(file) = File::options().write(true).open(folder.join(FILE))
    {
        write_at(&file, &[0; ROW], place(extent, number))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::document::Document;
    use super::super::{Change, Index};
    use super::*;

    fn documents() -> impl Strategy<Value = Vec<Document>> {
        let document =
            (0..40u32, 0..4usize, 0..5usize, 0..3i64, 0..3i64, -5i64..9_000_000_000, 0..4usize, 0..3u32);
        let made = document.prop_map(|(id, kind, scope, trust, status, at, sure, position)| Document {
            id: format!("d{id}"),
            kind: ["decision", "note", "episode", "of our own"][kind].to_owned(),
            title: "a title".to_owned(),
            body: "some words".to_owned(),
            scope: ["", "global", "file:src/main.rs", "area:billing", "agent:ada"][scope].to_owned(),
            group: if kind == 1 { "a subject".to_owned() } else { String::new() },
            speaker: if kind == 2 { "Ada".to_owned() } else { String::new() },
            trust: Trust::from_code(trust),
            status: Status::from_code(status),
            occurred_at: at,
            confidence: [1.0, 0.85, 0.123_456, 0.0][sure],
            position,
            ..Document::default()
        });
        proptest::collection::vec(made, 1..90)
    }

    /// Every card as the ranking sees it beside the one in the database, and how many there are.
    fn compared(index: &mut Index) -> usize {
        let reader = index.reader("me", None).unwrap();
        let numbers = 0..200;
        let seen = numbers.filter(|number| {
            let card = reader.card(*number).unwrap();
            assert_eq!(card, reader.stored_card(*number).unwrap());
            card.is_some()
        });
        seen.count()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_row_says_what_the_database_says_or_nothing(first in documents(), second in documents()) {
            let folder = tempfile::tempdir().unwrap();
            let mut index = Index::open(folder.path()).unwrap();
            for documents in [first, second.clone()] {
                let puts: Vec<Change> = documents.into_iter().map(Change::Put).collect();
                index.apply("me", &puts, None, &[]).unwrap();
                prop_assert!(compared(&mut index) > 0);
            }
            let gone: Vec<Change> = second.into_iter().map(|d| Change::Remove(d.id)).collect();
            index.apply("me", &gone, None, &[]).unwrap();
            let left = compared(&mut index);
            // A file that is lost costs time, not a memory.
            std::fs::remove_file(folder.path().join(FILE)).unwrap();
            prop_assert_eq!(compared(&mut index), left);
        }
    }

    #[test]
    fn an_ordinary_memory_has_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let mut index = Index::open(folder.path()).unwrap();
        let note = Document {
            id: "n".to_owned(),
            kind: "note".to_owned(),
            scope: "global".to_owned(),
            group: "a subject".to_owned(),
            occurred_at: 1_800_000_000,
            confidence: 0.9,
            ..Document::default()
        };
        index.apply("me", &[Change::Put(note)], None, &[]).unwrap();
        let reader = index.reader("me", None).unwrap();
        assert!(reader.cards.card(&reader.tx, 0).unwrap().is_some());
    }
}
