//! The dictionary that slips of the pen are mended with: the owner's terms that one may slip in, by their first two letters.
//!
//! In: terms in their order, inside the caller's transaction. Out: rows of sorted words, one a line, changed only where a word is new. Reading
//! through is all that is ever done with them, so a row for each word would cost more than it holds. The transaction is never ended here.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::error::IndexError;
use super::typo;

/// Letters by which words lie together.
const HEAD: usize = 2;

/// Words on their way into the dictionary.
pub(super) struct Words<'a> {
    tx: &'a Transaction<'a>,
    part: i64,
    /// New words of one head, one a line.
    fresh: String,
}

impl<'a> Words<'a> {
    pub(super) fn new(tx: &'a Transaction<'a>, part: i64) -> Self {
        Self { tx, part, fresh: String::new() }
    }

    /// Takes a term; terms come in their order. Only those are kept that slips are looked for in.
    pub(super) fn note(&mut self, term: &str) -> Result<(), IndexError> {
        if !typo::may_slip(term) {
            return Ok(());
        }
        if self.fresh.get(..HEAD) != term.get(..HEAD) {
            self.write()?;
        }
        if !self.fresh.is_empty() {
            self.fresh.push('\n');
        }
        self.fresh.push_str(term);
        Ok(())
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> Result<(), IndexError> {
        self.write()
    }

    fn write(&mut self) -> Result<(), IndexError> {
        if let Some(head) = self.fresh.get(..HEAD) {
            let old = read(self.tx, self.part, head)?.unwrap_or_default();
            let words = joined(&old, &self.fresh);
            if words.len() > old.len() {
                put(self.tx, self.part, head, &words)?;
            }
        }
        self.fresh.clear();
        Ok(())
    }
}

/// The lines of two sorted texts, each once, sorted.
fn joined(old: &str, new: &str) -> String {
    let mut out = String::with_capacity(old.len() + new.len() + 1);
    let (mut old, mut new) = (old.lines().peekable(), new.lines().peekable());
    loop {
        let word = match (old.peek(), new.peek()) {
            (Some(a), Some(b)) if a == b => {
                old.next();
                new.next()
            }
            (Some(a), Some(b)) if a < b => old.next(),
            (Some(_), None) => old.next(),
            _ => new.next(),
        };
        let Some(word) = word else { return out };
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(word);
    }
}

fn read(tx: &Connection, part: i64, head: &str) -> Result<Option<String>, IndexError> {
    let mut statement = tx.prepare_cached("select words from word where part = ?1 and head = ?2")?;
    Ok(statement.query_row(params![part, head], |r| r.get(0)).optional()?)
}

fn put(tx: &Transaction<'_>, part: i64, head: &str, words: &str) -> Result<(), IndexError> {
    tx.prepare_cached(
        "insert into word values (?1, ?2, ?3) on conflict do update set words = excluded.words",
    )?
    .execute(params![part, head, words])?;
    Ok(())
}

/// Takes a term out.
pub(super) fn cut(tx: &Transaction<'_>, part: i64, term: &str) -> Result<(), IndexError> {
    let Some(head) = term.get(..HEAD) else { return Ok(()) };
    let Some(old) = read(tx, part, head)? else { return Ok(()) };
    let rest: Vec<&str> = old.lines().filter(|word| *word != term).collect();
    if rest.is_empty() {
        tx.prepare_cached("delete from word where part = ?1 and head = ?2")?.execute(params![part, head])?;
        return Ok(());
    }
    put(tx, part, head, &rest.join("\n"))
}

/// All words that begin with this letter.
pub(super) fn beginning(tx: &Connection, part: i64, letter: &str) -> Result<Vec<String>, IndexError> {
    let mut statement = tx.prepare_cached(
        "select words from word where part = ?1 and head >= ?2 and head < ?2 || char(1114111)",
    )?;
    let mut rows = statement.query(params![part, letter])?;
    let mut out = Vec::new();
    while let Some(row) = rows.next()? {
        out.extend(row.get_ref(0)?.as_str().unwrap_or_default().lines().map(str::to_owned));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn fresh() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(super::super::store::TABLES).unwrap();
        db
    }

    proptest! {
        #[test]
        fn the_dictionary_holds_every_word_once_until_it_is_cut(
            batches in proptest::collection::vec(proptest::collection::btree_set("[a-c]{2,6}|[a-c1]{3,5}|aé[a-c]{4}", 0..30), 0..5),
            gone in proptest::collection::btree_set("[a-c]{4,5}", 0..30),
        ) {
            let mut db = fresh();
            let tx = db.transaction().unwrap();
            for batch in &batches {
                let mut words = Words::new(&tx, 3);
                for term in batch {
                    words.note(term).unwrap();
                }
                words.finish().unwrap();
            }
            for term in &gone {
                cut(&tx, 3, term).unwrap();
            }
            let kept: BTreeSet<&String> = batches.iter().flatten().filter(|t| typo::may_slip(t) && !gone.contains(*t)).collect();
            for letter in ["a", "b", "c"] {
                let want: Vec<&String> = kept.iter().copied().filter(|t| t.starts_with(letter)).collect();
                let got = beginning(&tx, 3, letter).unwrap();
                prop_assert_eq!(got.iter().collect::<Vec<_>>(), want);
            }
            prop_assert!(beginning(&tx, 4, "a").unwrap().is_empty());
        }
    }
}
