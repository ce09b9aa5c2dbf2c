//! Folding: how what waits becomes postings, and how one document is taken out of them again.
//!
//! In: waiting rows and fresh bags of one owner, inside the caller's transaction. Out: changed postings. The
//! transaction is never ended here.

use std::collections::BTreeMap;

use rusqlite::{CachedStatement, OptionalExtension, ToSql, Transaction, params};

use super::batch::Batch;
use super::error::IndexError;
use super::postings::{self, Bag, CHUNK_BITS, Cells, PIECE, piece_of};
use super::words::{self, Words};
use super::write::Part;
use super::{key_of, number_of};

/// Moves what waits into the postings.
pub(super) fn fold(tx: &Transaction<'_>, part: &Part) -> Result<(), IndexError> {
    let average = part.words as f32 / part.docs.max(1) as f32;
    let (low, high) = (key_of(part.part, 0), key_of(part.part + 1, 0));
    let mut cells: BTreeMap<String, Vec<(u32, u8)>> = BTreeMap::new();
    {
        let mut waiting =
            tx.prepare_cached("select key, terms from pending where key >= ?1 and key < ?2 order by key")?;
        let mut rows = waiting.query(params![low, high])?;
        while let Some(row) = rows.next()? {
            let number = number_of(row.get(0)?);
            Bag::each_in(row.get_ref(1)?.as_blob().unwrap_or_default(), |term, count, length| {
                let cell = (number, postings::impact(count, length, average));
                match cells.get_mut(term) {
                    Some(list) => list.push(cell),
                    None => _ = cells.insert(term.to_owned(), vec![cell]),
                }
            });
        }
    }
    if cells.is_empty() {
        return Ok(());
    }
    tx.prepare_cached("delete from pending where key >= ?1 and key < ?2")?.execute(params![low, high])?;
    let mut words = Words::new(tx, part.part);
    for (term, list) in &cells {
        words.note(term)?;
        for new in list.chunk_by(|a, b| a.0 >> CHUNK_BITS == b.0 >> CHUNK_BITS) {
            let chunk = new.first().map_or(0, |n| n.0 >> CHUNK_BITS);
            join(tx, part.part, term, chunk, new.iter().map(|n| ((n.0 & 0xFFFF) as u16, n.1)))?;
        }
    }
    words.finish()
}

/// Puts a batch, numbered from `first` on, into the postings. In the order of the table, so that pages are written once.
pub(super) fn fold_batch(
    tx: &Transaction<'_>,
    part: &Part,
    first: u32,
    batch: &Batch,
) -> Result<(), IndexError> {
    let average = part.words as f32 / part.docs.max(1) as f32;
    let norms: Vec<f32> = batch.lengths.iter().map(|l| postings::norm(*l, average)).collect();
    let mut words = Words::new(tx, part.part);
    let mut posts = Rows::new(tx, part.part)?;
    let mut blob = Vec::new();
    batch.each_term(|term, places| {
        words.note(term)?;
        for new in
            places.chunk_by(|a, b| (first + a.document) >> CHUNK_BITS == (first + b.document) >> CHUNK_BITS)
        {
            let chunk = new.first().map_or(0, |p| (first + p.document) >> CHUNK_BITS);
            let cells = new.iter().map(|p| {
                let norm = norms.get(p.document as usize).copied().unwrap_or(1.0);
                (((first + p.document) & 0xFFFF) as u16, postings::impact_at(p.count, norm))
            });
            // A chunk whose first document comes only now holds no postings yet.
            if first <= chunk << CHUNK_BITS {
                let mut cells = cells;
                for piece in (0..).take_while(|piece| *piece as usize * PIECE < new.len()) {
                    let many = PIECE.min(new.len() - piece as usize * PIECE);
                    postings::write_to(cells.by_ref().take(many), &mut blob);
                    posts.add([&term, &piece_of(chunk, piece), &blob])?;
                }
            } else {
                join(tx, part.part, term, chunk, cells)?;
            }
        }
        Ok::<(), IndexError>(())
    })?;
    words.finish()?;
    posts.finish()
}

/// Puts new cells behind those a term has in a chunk: numbers only ever rise.
fn join(
    tx: &Transaction<'_>,
    part: i64,
    term: &str,
    chunk: u32,
    new: impl Iterator<Item = (u16, u8)>,
) -> Result<(), IndexError> {
    let last: Option<(u32, Vec<u8>)> = tx
        .prepare_cached("select piece, cells from post where part = ?1 and term = ?2 and piece >= ?3 and piece < ?4 order by piece desc limit 1")?
        .query_row(params![part, term, piece_of(chunk, 0), piece_of(chunk + 1, 0)], |r| Ok((r.get(0)?, r.get(1)?)))
        .optional()?;
    let (first, old) = last.unwrap_or((piece_of(chunk, 0), Vec::new()));
    let cells: Vec<(u16, u8)> = Cells::read(&old).iter().chain(new).collect();
    let mut put = tx.prepare_cached("insert or replace into post values (?1, ?2, ?3, ?4)")?;
    for (piece, cells) in (first..).zip(cells.chunks(PIECE)) {
        put.execute(params![part, term, piece, postings::write(cells.iter().copied())])?;
    }
    Ok(())
}

/// Rows per statement: fewer statements, same work on the pages.
const TOGETHER: usize = 32;

/// Postings on their way into the table, several to a statement.
struct Rows<'a> {
    statement: CachedStatement<'a>,
    filled: usize,
}

/// What is bound for each row: term, piece, cells. The part is the same for all.
const COLUMNS: usize = 3;

impl<'a> Rows<'a> {
    fn new(tx: &'a Transaction<'_>, part: i64) -> Result<Self, IndexError> {
        let row = |at: usize| {
            let first = 2 + at * COLUMNS;
            format!("(?1, ?{first}, ?{}, ?{})", first + 1, first + 2)
        };
        let rows = (0..TOGETHER).map(row).collect::<Vec<_>>().join(", ");
        let mut statement = tx.prepare_cached(&format!("insert or ignore into post values {rows}"))?;
        statement.raw_bind_parameter(1, part)?;
        Ok(Self { statement, filled: 0 })
    }

    fn add(&mut self, values: [&dyn ToSql; COLUMNS]) -> Result<(), IndexError> {
        for (at, value) in (2 + self.filled * COLUMNS..).zip(values) {
            self.statement.raw_bind_parameter(at, value)?;
        }
        self.filled += 1;
        if self.filled == TOGETHER { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), IndexError> {
        self.filled = 0;
        self.statement.raw_execute()?;
        Ok(())
    }

    /// Writes what is left. Places not filled since hold rows that are in the table already, or nothing: both are ignored.
    fn finish(mut self) -> Result<(), IndexError> {
        if self.filled > 0 { self.write() } else { Ok(()) }
    }
}

/// Takes one document out of a term's postings, and the term out of the dictionary if nobody else has it.
pub(super) fn cut_posting(
    tx: &Transaction<'_>,
    part: i64,
    term: &str,
    number: u32,
) -> Result<(), IndexError> {
    let chunk = number >> CHUNK_BITS;
    let within = (number & 0xFFFF) as u16;
    let mut pieces = tx.prepare_cached(
        "select piece, cells from post where part = ?1 and term = ?2 and piece >= ?3 and piece < ?4",
    )?;
    let mut rows = pieces.query(params![part, term, piece_of(chunk, 0), piece_of(chunk + 1, 0)])?;
    let mut found: Option<(u32, Vec<(u16, u8)>)> = None;
    while let Some(row) = rows.next()? {
        let cells = Cells::read(row.get_ref(1)?.as_blob().unwrap_or_default());
        if cells.find(within).is_some() {
            found = Some((row.get(0)?, cells.iter().filter(|(n, _)| *n != within).collect()));
            break;
        }
    }
    drop(rows);
    let Some((piece, rest)) = found else { return Ok(()) };
    if !rest.is_empty() {
        tx.prepare_cached("update post set cells = ?4 where part = ?1 and term = ?2 and piece = ?3")?
            .execute(params![part, term, piece, postings::write(rest.iter().copied())])?;
        return Ok(());
    }
    tx.prepare_cached("delete from post where part = ?1 and term = ?2 and piece = ?3")?
        .execute(params![part, term, piece])?;
    if !tx.prepare_cached("select 1 from post where part = ?1 and term = ?2")?.exists(params![part, term])? {
        words::cut(tx, part, term)?;
    }
    Ok(())
}
