//! Folding: how what waits becomes postings, and how one document is taken out of them again.
//!
//! In: waiting rows and fresh bags of one owner, inside the caller's transaction. Out: changed postings. The
//! transaction is never ended here.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Transaction, params};

use super::error::IndexError;
use super::postings::{self, Bag, CHUNK_BITS, Cells};
use super::write::Part;
use super::{key_of, number_of, typo};

/// Moves what waits, and `fresh` bags, into the postings.
pub(super) fn fold(tx: &Transaction<'_>, part: &Part, fresh: Vec<(u32, &Bag)>) -> Result<(), IndexError> {
    let average = part.words as f32 / part.docs.max(1) as f32;
    let (low, high) = (key_of(part.part, 0), key_of(part.part + 1, 0));
    // A fast hash pays here: every posting of the batch is looked up once. It is seeded, so texts cannot be made to collide.
    let mut cells: HashMap<String, Vec<(u32, u8)>, foldhash::fast::RandomState> = HashMap::default();
    let mut lowest = u32::MAX;
    let mut add = |term: &str, number: u32, impact: u8| match cells.get_mut(term) {
        Some(list) => list.push((number, impact)),
        None => {
            cells.insert(term.to_owned(), vec![(number, impact)]);
        }
    };
    {
        let mut waiting =
            tx.prepare_cached("select key, terms from pending where key >= ?1 and key < ?2 order by key")?;
        let mut rows = waiting.query(params![low, high])?;
        while let Some(row) = rows.next()? {
            let number = number_of(row.get(0)?);
            lowest = lowest.min(number);
            Bag::each_in(row.get_ref(1)?.as_blob().unwrap_or_default(), |term, count, length| {
                add(term, number, postings::impact(count, length, average))
            });
        }
    }
    for (number, bag) in fresh {
        lowest = lowest.min(number);
        for (term, count) in bag.counts() {
            add(term, number, postings::impact(count, bag.length, average));
        }
    }
    tx.prepare_cached("delete from pending where key >= ?1 and key < ?2")?.execute(params![low, high])?;
    // In the order of the table, so that pages are written once.
    let mut sorted: Vec<_> =
        cells.into_iter().map(|(term, list)| (postings::head(&term), term, list)).collect();
    sorted.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let mut rows =
        Rows { tx, part: part.part, new: Vec::with_capacity(TOGETHER), words: Vec::with_capacity(TOGETHER) };
    for (_, term, list) in &sorted {
        if typo::may_slip(term) {
            // Only what slips are looked for in: the dictionary is read through, so it is kept short.
            rows.word(term)?;
        }
        for new in list.chunk_by(|a, b| a.0 >> CHUNK_BITS == b.0 >> CHUNK_BITS) {
            let Some((first, _)) = new.first() else { continue };
            let chunk = first >> CHUNK_BITS;
            let new = new.iter().map(|(number, impact)| ((number & 0xFFFF) as u16, *impact));
            // A chunk whose first document comes only now holds no postings yet.
            if lowest <= chunk << CHUNK_BITS {
                rows.add(term, chunk, postings::write(new))?;
            } else {
                rows.join(term, chunk, new)?;
            }
        }
    }
    rows.finish()
}

/// Rows per statement: fewer statements, same work on the pages.
const TOGETHER: usize = 32;

/// Postings and words on their way into the tables.
struct Rows<'a> {
    tx: &'a Transaction<'a>,
    part: i64,
    new: Vec<(&'a str, u32, Vec<u8>)>,
    words: Vec<&'a str>,
}

impl<'a> Rows<'a> {
    fn word(&mut self, term: &'a str) -> Result<(), IndexError> {
        self.words.push(term);
        if self.words.len() == TOGETHER { self.write_words() } else { Ok(()) }
    }

    fn add(&mut self, term: &'a str, chunk: u32, blob: Vec<u8>) -> Result<(), IndexError> {
        self.new.push((term, chunk, blob));
        if self.new.len() == TOGETHER { self.write_new() } else { Ok(()) }
    }

    /// Puts new cells behind those a term has in a chunk: numbers only ever rise.
    fn join(
        &mut self,
        term: &str,
        chunk: u32,
        new: impl ExactSizeIterator<Item = (u16, u8)> + Clone,
    ) -> Result<(), IndexError> {
        let mut add =
            self.tx.prepare_cached("insert into post values (?1, ?2, ?3, ?4) on conflict do nothing")?;
        if add.execute(params![self.part, term, chunk, postings::write(new.clone())])? == 1 {
            return Ok(());
        }
        let mut read =
            self.tx.prepare_cached("select cells from post where part = ?1 and term = ?2 and chunk = ?3")?;
        let old: Vec<u8> = read.query_row(params![self.part, term, chunk], |r| r.get(0))?;
        let joined: Vec<(u16, u8)> = Cells::read(&old).iter().chain(new).collect();
        let mut write = self
            .tx
            .prepare_cached("update post set cells = ?4 where part = ?1 and term = ?2 and chunk = ?3")?;
        write.execute(params![self.part, term, chunk, postings::write(joined.iter().copied())])?;
        Ok(())
    }

    fn write_new(&mut self) -> Result<(), IndexError> {
        let statement =
            format!("insert into post values {}", vec!["(?, ?, ?, ?)"; self.new.len()].join(", "));
        let mut statement = self.tx.prepare_cached(&statement)?;
        for (i, (term, chunk, blob)) in self.new.drain(..).enumerate() {
            statement.raw_bind_parameter(i * 4 + 1, self.part)?;
            statement.raw_bind_parameter(i * 4 + 2, term)?;
            statement.raw_bind_parameter(i * 4 + 3, chunk)?;
            statement.raw_bind_parameter(i * 4 + 4, blob)?;
        }
        statement.raw_execute()?;
        Ok(())
    }

    fn write_words(&mut self) -> Result<(), IndexError> {
        let statement =
            format!("insert or ignore into word values {}", vec!["(?, ?)"; self.words.len()].join(", "));
        let mut statement = self.tx.prepare_cached(&statement)?;
        for (i, term) in self.words.drain(..).enumerate() {
            statement.raw_bind_parameter(i * 2 + 1, self.part)?;
            statement.raw_bind_parameter(i * 2 + 2, term)?;
        }
        statement.raw_execute()?;
        Ok(())
    }

    fn finish(mut self) -> Result<(), IndexError> {
        if !self.new.is_empty() {
            self.write_new()?;
        }
        if !self.words.is_empty() {
            self.write_words()?;
        }
        Ok(())
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
    let old: Option<Vec<u8>> = tx
        .prepare_cached("select cells from post where part = ?1 and term = ?2 and chunk = ?3")?
        .query_row(params![part, term, chunk], |r| r.get(0))
        .optional()?;
    let Some(old) = old else { return Ok(()) };
    let rest: Vec<(u16, u8)> =
        Cells::read(&old).iter().filter(|(n, _)| u32::from(*n) != number & 0xFFFF).collect();
    if rest.is_empty() {
        tx.prepare_cached("delete from post where part = ?1 and term = ?2 and chunk = ?3")?
            .execute(params![part, term, chunk])?;
        tx.prepare_cached("delete from word where part = ?1 and term = ?2 and not exists (select 1 from post where part = ?1 and term = ?2)")?
            .execute(params![part, term])?;
    } else {
        tx.prepare_cached("update post set cells = ?4 where part = ?1 and term = ?2 and chunk = ?3")?
            .execute(params![part, term, chunk, postings::write(rest.iter().copied())])?;
    }
    Ok(())
}
