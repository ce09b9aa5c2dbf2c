//! Looking at one owner's part of the index, as of one moment.
//!
//! In: an owner. Out: keyword matches, nearest vectors, cards, texts. Everything a [`Reader`] shows comes
//! from one snapshot; writers never wait for it and it never waits for writers. Other owners' documents
//! are neither read nor counted.

use std::sync::Arc;

use memmap2::Mmap;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::cards::{self, Cards};
use super::document::{Card, Document, Role, Status, Trust};
use super::embed::Space;
use super::error::IndexError;
use super::late::LateProbe;
use super::matches::{Lists, Matches};
use super::nearest::{Ahead, Nearest};
use super::postings::{Bag, CHUNK_BITS, chunk_of};
use super::vectors::{Access, Extent, Probe, Vectors};
use super::{key_of, number_of, typo, words};

/// A snapshot of one owner's documents.
#[derive(Debug)]
pub struct Reader<'a> {
    pub(super) tx: Transaction<'a>,
    pub(super) part: i64,
    /// One more than the highest number ever given.
    next: u32,
    docs: u32,
    words: i64,
    vectors: Option<Vectors>,
    pub(super) cards: Cards,
}

/// A member of a group: number, place, length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) number: u32,
    pub(crate) position: u32,
    pub(crate) length: u32,
}

/// Reads what makes a card.
const CARD: &str =
    "select grp, pos, at, kind, trust, status, len, sure, scope, role, speaker from card where key = ?1";

/// The same and the text.
const DOCUMENT: &str =
    "select grp, pos, at, kind, trust, status, len, sure, scope, role, c.speaker, id, title, tags, body, d.speaker, paths, file, source, version
    from card c join doc d on d.key = c.key where c.key = ?1";

pub(crate) fn extents(db: &Connection, space: i64, part: i64) -> Result<Vec<Extent>, IndexError> {
    let mut statement = db
        .prepare_cached("select first, room, at from extent where space = ?1 and part = ?2 order by first")?;
    let rows = statement.query_map(params![space, part], |r| {
        Ok(Extent { first: r.get(0)?, room: r.get(1)?, at: r.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The vectors of one part in a space, if there are any.
pub(crate) fn vectors_of(
    db: &Connection,
    folder: &std::path::Path,
    part: i64,
    next: u32,
    space: &Space,
    access: Access,
) -> Result<Option<Vectors>, IndexError> {
    let stored: Option<(i64, String)> = db
        .prepare_cached("select space, file from space where model = ?1 and dims = ?2")?
        .query_row(params![space.model, space.dims], |r| Ok((r.get(0)?, r.get(1)?)))
        .optional()?;
    let Some((id, file)) = stored else { return Ok(None) };
    let extents = extents(db, id, part)?;
    Ok(Some(Vectors::open(&folder.join(file), extents, space.dims, next, access)))
}

/// The documents of a part that have none of these vectors.
pub(crate) fn lacking(db: &Connection, part: i64, vectors: Option<&Vectors>) -> Result<Vec<u32>, IndexError> {
    let mut statement =
        db.prepare_cached("select key from card where key >= ?1 and key < ?2 order by key")?;
    let keys = statement.query_map(params![key_of(part, 0), key_of(part + 1, 0)], |r| r.get(0))?;
    let mut missing = Vec::new();
    for key in keys {
        let number = number_of(key?);
        if !vectors.is_some_and(|v| v.has(number)) {
            missing.push(number);
        }
    }
    Ok(missing)
}

impl<'a> Reader<'a> {
    pub(crate) fn open(
        db: &'a Connection,
        folder: &std::path::Path,
        owner: &str,
        space: Option<&Space>,
        access: Access,
    ) -> Result<Self, IndexError> {
        let tx = Transaction::new_unchecked(db, TransactionBehavior::Deferred)?;
        let found = tx
            .prepare_cached("select part, next, docs, words from part where owner = ?1")?
            .query_row([owner], |r| Ok((r.get(0)?, r.get(1)?, r.get::<_, i64>(2)?, r.get(3)?)))
            .optional()?;
        let (part, next, docs, words) = found.unwrap_or((-1, 0, 0, 0));
        let vectors = match space {
            Some(space) => vectors_of(&tx, folder, part, next, space, access)?,
            None => None,
        };
        let cards = Cards::open(&tx, folder, part, next, access == Access::Often)?;
        Ok(Self { tx, part, next, docs: u32::try_from(docs).unwrap_or(0), words, vectors, cards })
    }

    /// What is mapped.
    pub(super) fn maps(&self) -> impl Iterator<Item = Arc<Mmap>> {
        [self.vectors.as_ref().and_then(|vectors| vectors.map.clone()), self.cards.map.clone()]
            .into_iter()
            .flatten()
    }

    /// How many documents the owner has.
    pub fn len(&self) -> usize {
        self.docs as usize
    }

    /// Whether the owner has no documents.
    pub fn is_empty(&self) -> bool {
        self.docs == 0
    }

    /// How many documents have a vector in the reader's space.
    pub fn with_vector(&self) -> usize {
        self.vectors.as_ref().map_or(0, Vectors::filled)
    }

    /// Whether the reader has a space of vectors to look in.
    pub(crate) fn with_vectors(&self) -> bool {
        self.vectors.is_some()
    }

    /// Mean length of the owner's documents, in terms.
    pub(crate) fn average(&self) -> f32 {
        self.words as f32 / self.docs.max(1) as f32
    }

    pub(crate) fn without_vector(&self) -> Result<Vec<u32>, IndexError> {
        lacking(&self.tx, self.part, self.vectors.as_ref())
    }

    /// Numbers and keyword scores of the best matches, without any other factor.
    pub fn best_by_keywords(&self, text: &str, limit: usize) -> Result<Vec<(u32, f32)>, IndexError> {
        Ok(self.keywords(&super::of_question(text))?.best(limit))
    }

    /// Numbers and cosines of the nearest documents, without any other factor.
    pub fn best_by_vector(&self, vector: &[f32], limit: usize) -> Vec<(u32, f32)> {
        self.nearest(&Probe::of(vector), limit, None).top
    }

    /// Documents that hold any of `terms`, with their scores.
    pub(crate) fn keywords(&self, terms: &[(String, f32)]) -> Result<Matches, IndexError> {
        Ok(self.matches(self.lists(terms)?))
    }

    /// The scores that postings make.
    pub(crate) fn matches(&self, lists: Lists) -> Matches {
        Matches::new(lists, self.next, self.docs, self.average())
    }

    /// The postings of `terms`.
    pub(crate) fn lists(&self, terms: &[(String, f32)]) -> Result<Lists, IndexError> {
        let mut lists = Lists::of(terms);
        if self.docs == 0 {
            return Ok(lists);
        }
        let mut read =
            self.tx.prepare_cached("select piece, cells from post where part = ?1 and term = ?2")?;
        for (at, (term, _)) in terms.iter().enumerate() {
            let mut rows = read.query(params![self.part, term])?;
            while let Some(row) = rows.next()? {
                let chunk = chunk_of(row.get(0)?);
                lists.piece(at, chunk << CHUNK_BITS, row.get_ref(1)?.as_blob().unwrap_or_default());
            }
        }
        let average = self.average();
        let mut waiting = self
            .tx
            .prepare_cached("select key, terms from pending where key >= ?1 and key < ?2 order by key")?;
        let mut rows = waiting.query(params![key_of(self.part, 0), key_of(self.part + 1, 0)])?;
        while let Some(row) = rows.next()? {
            let number = number_of(row.get(0)?);
            Bag::each_bytes_in(row.get_ref(1)?.as_blob().unwrap_or_default(), |term, count, length| {
                lists.waits(term, number, || super::postings::impact(count, length, average));
            });
        }
        let mut dead = self.tx.prepare_cached("select chunk, numbers from dead where part = ?1")?;
        let mut rows = dead.query([self.part])?;
        while let Some(row) = rows.next()? {
            let chunk: u32 = row.get(0)?;
            for number in row.get_ref(1)?.as_blob().unwrap_or_default().as_chunks::<2>().0 {
                lists.dead((chunk << CHUNK_BITS) + u32::from(u16::from_le_bytes(*number)));
            }
        }
        Ok(lists)
    }

    /// The nearest documents by vector.
    pub(crate) fn nearest(&self, probe: &Probe, limit: usize, ahead: Option<&Ahead>) -> Nearest {
        self.vectors.as_ref().map(|v| v.nearest(probe, limit, ahead)).unwrap_or_default()
    }

    /// Does `meanwhile`, and beside it looks ahead for the nearest where there are many vectors.
    pub(crate) fn beside<T>(
        &self,
        probe: Option<&Probe>,
        limit: usize,
        meanwhile: impl FnOnce() -> T,
    ) -> (T, Option<Ahead>) {
        match (&self.vectors, probe) {
            (Some(vectors), Some(probe)) => vectors.beside(probe, limit, meanwhile),
            _ => (meanwhile(), None),
        }
    }

    /// The cosine of one document.
    pub(crate) fn cosine(&self, probe: &Probe, number: u32) -> Option<f32> {
        self.vectors.as_ref()?.cosine(probe, number)
    }

    /// The late-interaction score of one document.
    pub(crate) fn late(&self, probe: &LateProbe, number: u32) -> Result<Option<f32>, IndexError> {
        let mut statement = self.tx.prepare_cached("select pieces from late where key = ?1")?;
        let mut rows = statement.query([key_of(self.part, number)])?;
        Ok(match rows.next()? {
            Some(row) => probe.score(row.get_ref(0)?.as_blob().unwrap_or_default()),
            None => None,
        })
    }

    /// The card of a document, for ranking; `None` if it is gone.
    pub(crate) fn card(&self, number: u32) -> Result<Option<Card>, IndexError> {
        match self.cards.card(&self.tx, number)? {
            Some(card) => Ok(Some(card)),
            None => self.stored_card(number),
        }
    }

    /// The card of a document as the database has it.
    pub(super) fn stored_card(&self, number: u32) -> Result<Option<Card>, IndexError> {
        let mut statement = self.tx.prepare_cached(CARD)?;
        let mut rows = statement.query([key_of(self.part, number)])?;
        rows.next()?.map(|row| self.card_in(row, number)).transpose()
    }

    /// The card in a row of [`CARD`] or [`DOCUMENT`].
    fn card_in(&self, r: &Row<'_>, number: u32) -> Result<Card, IndexError> {
        let name = |n: u32| {
            let name = self.cards.name(&self.tx, n)?;
            name.ok_or_else(|| IndexError::damaged("a card has a kind or scope without a name"))
        };
        Ok(Card {
            number,
            group: r.get(0)?,
            position: r.get(1)?,
            occurred_at: r.get(2)?,
            kind: name(r.get(3)?)?,
            trust: Trust::from_code(r.get(4)?),
            status: Status::from_code(r.get(5)?),
            length: r.get(6)?,
            confidence: r.get(7)?,
            scope: name(r.get(8)?)?,
            role: Role::from_code(r.get(9)?),
            speaker: r.get(10)?,
        })
    }

    /// The numbers of all documents, by when they happened, newest first.
    pub(crate) fn newest(&self) -> Result<Vec<u32>, IndexError> {
        let mut statement = self
            .tx
            .prepare_cached("select key from card where key >= ?1 and key < ?2 order by at desc, key desc")?;
        let keys =
            statement.query_map(params![key_of(self.part, 0), key_of(self.part + 1, 0)], |r| r.get(0))?;
        keys.map(|key| Ok(number_of(key?))).collect()
    }

    /// The documents of these kinds, where there is an index of them and no more than `limit`: a user's few facts among many turns.
    pub(crate) fn all_of(&self, kinds: &[String], limit: usize) -> Result<Option<Vec<u32>>, IndexError> {
        let [kind] = kinds else { return Ok(None) };
        if kind != cards::FACT.1 {
            return Ok(None);
        }
        let mut statement = self
            .tx
            .prepare_cached("select key from card where kind = 1 and key >= ?1 and key < ?2 limit ?3")?;
        let range = params![key_of(self.part, 0), key_of(self.part + 1, 0), limit as i64 + 1];
        let rows = statement.query_map(range, |r| Ok(number_of(r.get(0)?)))?;
        let found: Vec<u32> = rows.collect::<Result<_, _>>()?;
        Ok(Some(found).filter(|found| found.len() <= limit))
    }

    /// The members of a group in order, at most `limit` around `position`.
    pub(crate) fn members(&self, group: i64, position: u32, limit: u32) -> Result<Vec<Member>, IndexError> {
        let mut statement = self.tx.prepare_cached("select key, pos, len from card where grp = ?1 and grp <> 0 and pos between ?2 and ?3 order by pos")?;
        let from = position.saturating_sub(limit / 2);
        let rows = statement.query_map(params![group, from, from.saturating_add(limit)], |r| {
            Ok(Member { number: number_of(r.get(0)?), position: r.get(1)?, length: r.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A document with its text.
    pub fn document(&self, number: u32) -> Result<Option<Document>, IndexError> {
        let mut statement = self.tx.prepare_cached(DOCUMENT)?;
        let mut rows = statement.query([key_of(self.part, number)])?;
        let Some(r) = rows.next()? else { return Ok(None) };
        let card = self.card_in(r, number)?;
        let lines = |text: String| text.split('\n').filter(|l| !l.is_empty()).map(str::to_owned).collect();
        Ok(Some(Document {
            id: r.get(11)?,
            title: r.get(12)?,
            tags: lines(r.get(13)?),
            body: r.get(14)?,
            speaker: r.get(15)?,
            applies_to: lines(r.get(16)?),
            file: r.get(17)?,
            source: r.get(18)?,
            version: r.get(19)?,
            kind: card.kind.to_string(),
            role: card.role,
            group: String::new(),
            position: card.position,
            occurred_at: card.occurred_at,
            trust: card.trust,
            status: card.status,
            confidence: card.confidence,
            scope: card.scope.to_string(),
        }))
    }

    /// The ids of all documents.
    pub(crate) fn ids(&self) -> Result<Vec<String>, IndexError> {
        let mut statement = self.tx.prepare_cached("select id from doc where part = ?1")?;
        let rows = statement.query_map([self.part], |r| r.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The number of the document with this id.
    pub fn number(&self, id: &str) -> Result<Option<u32>, IndexError> {
        let mut statement = self.tx.prepare_cached("select key from doc where part = ?1 and id = ?2")?;
        Ok(statement.query_row(params![self.part, id], |r| r.get(0)).optional()?.map(number_of))
    }

    fn waiting_terms(&self) -> Result<Vec<String>, IndexError> {
        let mut out = Vec::new();
        let mut waiting = self.tx.prepare_cached("select terms from pending where key >= ?1 and key < ?2")?;
        let mut rows = waiting.query(params![key_of(self.part, 0), key_of(self.part + 1, 0)])?;
        while let Some(row) = rows.next()? {
            Bag::each_in(row.get_ref(0)?.as_blob().unwrap_or_default(), |term, _, _| {
                out.push(term.to_owned())
            });
        }
        Ok(out)
    }

    /// Terms of the owner that start with `prefix`, at most `limit`, shortest first.
    pub(crate) fn starting_with(&self, prefix: &str, limit: usize) -> Result<Vec<String>, IndexError> {
        let mut found = self.terms_from(
            "select distinct term from post where part = ?1 and term >= ?2 and term < ?2 || char(1114111)",
            prefix,
        )?;
        found.extend(self.waiting_terms()?.into_iter().filter(|t| t.starts_with(prefix)));
        found.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        found.dedup();
        found.truncate(limit);
        Ok(found)
    }

    /// Terms of the owner that `term` may have been meant as: same first letter, one or two slips away.
    pub(crate) fn meant(&self, term: &str) -> Result<Vec<String>, IndexError> {
        let Some(first) = term.chars().next().filter(|_| typo::may_slip(term)) else { return Ok(Vec::new()) };
        let first = first.encode_utf8(&mut [0; 4]).to_owned();
        let mut words = words::beginning(&self.tx, self.part, &first)?;
        words.extend(self.waiting_terms()?);
        Ok(typo::nearest(term, words))
    }

    fn terms_from(&self, statement: &str, prefix: &str) -> Result<Vec<String>, IndexError> {
        let mut statement = self.tx.prepare_cached(statement)?;
        let rows = statement.query_map(params![self.part, prefix], |r| r.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
