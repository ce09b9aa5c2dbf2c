//! The documents a person stands behind, for recall that must not lose them in a crowd.
//!
//! In: numbers of documents as they come and go, inside the caller's transaction. Out: numbers of active documents of high trust. They are kept as bits,
//! a page of them for every 4,096 numbers: where nearly all are trusted, an index would be as large as their cards. Never here: a score.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::document::{Card, Status, Trust};
use super::error::IndexError;
use super::read::Reader;

/// Numbers of a page, as a power of two.
const PAGE_BITS: u32 = 12;
/// Bytes of a page.
const PAGE: usize = 1 << (PAGE_BITS - 3);

/// Whether a document is one of them.
pub(super) fn counts(card: &Card) -> bool {
    card.trust == Trust::High && card.status == Status::Active
}

fn page_of(db: &Connection, part: i64, page: u32) -> Result<Option<Vec<u8>>, IndexError> {
    let mut statement = db.prepare_cached("select bits from trusted where part = ?1 and page = ?2")?;
    Ok(statement.query_row(params![part, page], |r| r.get(0)).optional()?)
}

fn write(tx: &Transaction<'_>, part: i64, page: u32, bits: &[u8]) -> Result<(), IndexError> {
    tx.prepare_cached("insert or replace into trusted values (?1, ?2, ?3)")?
        .execute(params![part, page, bits])?;
    Ok(())
}

/// The byte and the bit of a number in its page.
fn place(number: u32) -> (usize, u8) {
    let within = number as usize % (1 << PAGE_BITS);
    (within / 8, 1 << (within % 8))
}

/// Adds numbers, which come in order.
pub(super) fn add(tx: &Transaction<'_>, part: i64, numbers: &[u32]) -> Result<(), IndexError> {
    for same in numbers.chunk_by(|a, b| a >> PAGE_BITS == b >> PAGE_BITS) {
        let page = same.first().map_or(0, |number| number >> PAGE_BITS);
        let mut bits = page_of(tx, part, page)?.unwrap_or_default();
        bits.resize(PAGE, 0);
        for (byte, bit) in same.iter().map(|number| place(*number)) {
            bits[byte] |= bit;
        }
        write(tx, part, page, &bits)?;
    }
    Ok(())
}

/// Takes a number out, if it is in.
pub(super) fn take_out(tx: &Transaction<'_>, part: i64, number: u32) -> Result<(), IndexError> {
    let (page, (byte, bit)) = (number >> PAGE_BITS, place(number));
    let Some(mut bits) = page_of(tx, part, page)? else { return Ok(()) };
    match bits.get_mut(byte).filter(|byte| **byte & bit != 0) {
        None => Ok(()),
        Some(byte) => {
            *byte &= !bit;
            write(tx, part, page, &bits)
        }
    }
}

impl Reader<'_> {
    /// Active documents of high trust, the newest first, at most `limit`.
    pub(crate) fn trusted(&self, limit: usize) -> Result<Vec<u32>, IndexError> {
        let mut found = Vec::new();
        let mut statement =
            self.tx.prepare_cached("select page, bits from trusted where part = ?1 order by page desc")?;
        let mut rows = statement.query([self.part])?;
        while let Some(row) = rows.next()? {
            let (page, bits) = (row.get::<_, u32>(0)?, row.get_ref(1)?.as_blob().unwrap_or_default());
            for (at, byte) in bits.iter().enumerate().take(PAGE).rev().filter(|(_, byte)| **byte != 0) {
                let first = (page << PAGE_BITS) + at as u32 * 8;
                found.extend((0..8).rev().filter(|bit| byte >> bit & 1 == 1).map(|bit| first + bit));
                if found.len() >= limit {
                    found.truncate(limit);
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::document::Document;
    use super::super::{Change, Index};
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_trusted_are_those_whose_cards_say_so_newest_first(
            steps in proptest::collection::vec(proptest::collection::vec((0..60u32, 0..4i64, 0..3i64), 1..40), 1..6),
            limit in 0usize..50,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut index = Index::open(folder.path()).unwrap();
            for step in steps {
                let change = |(id, trust, status): (u32, i64, i64)| match trust {
                    3 => Change::Remove(format!("d{id}")),
                    _ => Change::Put(Document {
                        id: format!("d{id}"),
                        trust: Trust::from_code(trust),
                        status: Status::from_code(status),
                        ..Document::default()
                    }),
                };
                let changes: Vec<Change> = step.into_iter().map(change).collect();
                index.apply("me", &changes, None, &[]).unwrap();
                let reader = index.reader("me", None).unwrap();
                let all = (0..400).rev().filter(|n| reader.card(*n).unwrap().as_ref().is_some_and(counts));
                prop_assert_eq!(reader.trusted(limit).unwrap(), all.take(limit).collect::<Vec<_>>());
            }
        }
    }
}
