//! Bringing the index up to date: putting, replacing and removing documents by id.
//!
//! In: changes of one owner. Out: an index that shows all of them or none. Embedding happens before the
//! write lock is taken; under the lock there are only row inserts and slot writes. Few changes wait in the
//! `pending` table, where a search reads them one by one; from [`FOLD_AT`] on they are folded into the
//! postings, which is also what a large batch does at once.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;

use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use super::batch::Batch;
use super::document::{Document, Status};
use super::embed::{Detail, Embedder, Embedding, Space};
use super::embedding_cache::{self, Carry};
use super::error::IndexError;
use super::fold::{cut_posting, fold, fold_batch};
use super::postings::{Bag, CHUNK_BITS};
use super::put::{Inserts, put_slots, put_vectors};
use super::read::{lacking, vectors_of};
use super::vectors::{self, Access, Extent, Slot};
use super::{Index, cards, key_of, number_of, trusted};

/// Waiting documents at which they are folded in.
const FOLD_AT: i64 = 512;
/// Changes from which a batch is folded in at once instead of waiting.
const BATCH: usize = 256;

/// One change to an owner's documents.
#[allow(clippy::large_enum_variant, reason = "nearly all changes put a document; a box each would cost more")]
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Puts a document, replacing one with the same id.
    Put(Document),
    /// Removes the document with this id, if there is one.
    Remove(String),
}

/// What a call to [`Index::apply`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Documents put.
    pub put: usize,
    /// Documents removed or replaced.
    pub removed: usize,
}

/// A 63-bit fingerprint that is the same on every machine; 0 stands for nothing.
pub(crate) fn fingerprint(parts: &[&str]) -> i64 {
    let mut h = 0xCBF2_9CE4_8422_2325u64;
    for part in parts {
        for b in part.bytes().chain([0xFF]) {
            h = (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3);
        }
    }
    i64::try_from(h >> 1).unwrap_or(1).max(1)
}

/// What a model is told of a document: nothing of one that is held back, since models may be elsewhere.
fn told(document: &Document) -> String {
    match document.status {
        Status::Held => String::new(),
        Status::Active | Status::Retired => document.passage(),
    }
}

/// An owner's part of the index, as the write transaction sees it.
pub(super) struct Part {
    pub(super) part: i64,
    pub(super) next: u32,
    pub(super) docs: i64,
    pub(super) words: i64,
}

/// Documents without a vector, and their texts.
#[derive(Debug)]
pub(crate) struct Missing {
    numbers: Vec<u32>,
    texts: Vec<String>,
    /// How many there are besides.
    pub(crate) more: usize,
}

impl Missing {
    /// Their vectors.
    pub(crate) fn embedded(&self, embedder: &dyn Embedder) -> Result<Vec<Embedding>, IndexError> {
        if self.texts.is_empty() {
            return Ok(Vec::new());
        }
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        let detail = if embedder.has_pieces() { Detail::Pieces } else { Detail::Pooled };
        Ok(embedder.embed(&texts, detail)?)
    }
}

impl Index {
    /// Applies `changes` of one owner, all or none, and sets `marks` with them; a mark set to nothing is taken away.
    ///
    /// Every embedder's space gets a vector for each document put; without an embedder documents are found
    /// by keywords until [`Index::embed_missing`] has run.
    pub fn apply(
        &mut self,
        owner: &str,
        changes: &[Change],
        embedder: Option<&dyn Embedder>,
        marks: &[(&str, &str)],
    ) -> Result<Applied, IndexError> {
        self.store.follow()?;
        // A later change of the same id wins, as if they had been applied one by one.
        let mut last: HashMap<&str, usize, foldhash::fast::RandomState> = HashMap::default();
        for (i, change) in changes.iter().enumerate() {
            let (Change::Put(Document { id, .. }) | Change::Remove(id)) = change;
            last.insert(id, i);
        }
        let wanted: Vec<&Change> =
            changes.iter().enumerate().filter(|(i, c)| last.get(c.id()) == Some(i)).map(|(_, c)| c).collect();
        let documents: Vec<&Document> =
            wanted.iter().filter_map(|c| if let Change::Put(d) = c { Some(d) } else { None }).collect();
        let bulk = documents.len() >= BATCH;
        let terms = if bulk {
            Terms::Batch(Batch::of(&documents))
        } else {
            Terms::Bags(documents.iter().map(|d| Bag::of(d)).collect())
        };
        let embedded = match embedder {
            Some(e) if !documents.is_empty() => {
                let passages: Vec<String> = documents.iter().map(|d| told(d)).collect();
                let texts: Vec<&str> = passages.iter().map(String::as_str).collect();
                let detail = if e.has_pieces() { Detail::Pieces } else { Detail::Pooled };
                Some((e.space(), e.embed(&texts, detail)?))
            }
            _ => None,
        };

        let folder = self.store.folder.clone();
        // A large batch changes many pages many times: with room for them each is written once.
        if bulk {
            self.store.map()?;
        }
        let db = self.store.for_writing()?;
        db.pragma_update(None, "cache_size", if bulk { -131_072 } else { -8_192 })?;
        let tx = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
        let mut part = open_part(&tx, owner)?;
        let mut carry = Carry::new(&tx)?;
        let mut applied = Applied::default();
        let mut dead: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
        let mut bury = |number: Option<u32>| {
            applied.removed += 1;
            if let Some(number) = number {
                dead.entry(number >> CHUNK_BITS).or_default().push((number & 0xFFFF) as u16);
            }
        };
        for change in &wanted {
            if let Change::Remove(id) = change
                && let Some(number) = remove(&tx, &folder, &mut part, id, Some(&mut carry))?
            {
                bury(number);
            }
        }
        let first = part.next;
        {
            let mut inserts = Inserts::new(&tx, owner)?;
            for (document, length) in documents.iter().zip(terms.lengths()) {
                // Most documents are new: looking for an old one only where the id is taken saves a search each.
                if !inserts.add(&mut part, document, length)? {
                    let old = remove(&tx, &folder, &mut part, &document.id, Some(&mut carry))?;
                    if let Some(number) = old {
                        bury(number);
                    }
                    inserts.add(&mut part, document, length)?;
                }
            }
            inserts.finish(&folder, &part, first)?;
        }
        applied.put = documents.len();
        add_dead(&tx, part.part, dead)?;
        if let Some((space, embeddings)) = &embedded {
            let numbers: Vec<u32> = (first..part.next).collect();
            put_vectors(&tx, &folder, part.part, space, &numbers, embeddings)?;
        }
        let fresh = embedded.as_ref().map(|(space, _)| space.model.as_str());
        let mut back: BTreeMap<(String, usize), Vec<(u32, Slot)>> = BTreeMap::new();
        for (number, document) in (first..).zip(&documents).filter(|(_, d)| d.status != Status::Held) {
            for carried in carry.find(&tx, document, fresh)? {
                back.entry((carried.model, carried.dims)).or_default().push((number, carried.slot));
                if let Some(late) = carried.late {
                    tx.prepare_cached("insert or replace into late values (?1, ?2)")?
                        .execute(params![key_of(part.part, number), late])?;
                }
            }
        }
        for ((model, dims), slots) in back {
            put_slots(&tx, &folder, part.part, &Space { model, dims }, &slots)?;
        }
        carry.tidy(&tx)?;
        match &terms {
            Terms::Batch(batch) => {
                fold(&tx, &part)?;
                fold_batch(&tx, &part, first, batch)?;
            }
            Terms::Bags(bags) => {
                let mut add = tx.prepare_cached("insert into pending values (?1, ?2)")?;
                for (number, bag) in (first..).zip(bags) {
                    add.execute(params![key_of(part.part, number), bag.to_bytes()])?;
                }
                let waiting: i64 = tx
                    .prepare_cached("select count(*) from pending where key >= ?1 and key < ?2")?
                    .query_row(params![key_of(part.part, 0), key_of(part.part + 1, 0)], |r| r.get(0))?;
                if waiting >= FOLD_AT {
                    fold(&tx, &part)?;
                }
            }
        }
        tx.prepare_cached("update part set next = ?2, docs = ?3, words = ?4 where part = ?1")?
            .execute(params![part.part, part.next, part.docs, part.words])?;
        for (name, value) in marks {
            set_mark(&tx, name, value)?;
        }
        tx.commit()?;
        Ok(applied)
    }

    /// Removes documents so that nothing of them is left in any file: text, terms, postings, vectors, log.
    pub fn forget(&mut self, owner: &str, ids: &[&str]) -> Result<Applied, IndexError> {
        self.store.follow()?;
        let folder = self.store.folder.clone();
        let tx = Transaction::new_unchecked(self.store.for_writing()?, TransactionBehavior::Immediate)?;
        let mut part = open_part(&tx, owner)?;
        let mut applied = Applied::default();
        embedding_cache::forget(&tx)?;
        // Postings are sought by the terms of the text, so everything that waits goes in first.
        fold(&tx, &part)?;
        for id in ids {
            let found = tx
                .prepare_cached(
                    "select key, title, tags, body, speaker from doc where part = ?1 and id = ?2",
                )?
                .query_row(params![part.part, id], |r| {
                    let tags: String = r.get(2)?;
                    let tags = tags.split('\n').map(str::to_owned).collect();
                    Ok((
                        r.get::<_, i64>(0)?,
                        Document {
                            title: r.get(1)?,
                            tags,
                            body: r.get(3)?,
                            speaker: r.get(4)?,
                            ..Document::default()
                        },
                    ))
                })
                .optional()?;
            let Some((key, document)) = found else { continue };
            remove(&tx, &folder, &mut part, id, None)?;
            applied.removed += 1;
            for (term, _) in Bag::of(&document).counts() {
                cut_posting(&tx, part.part, term, number_of(key))?;
            }
        }
        drop_marks(&tx, ids)?;
        cards::drop_names(&tx)?;
        tx.prepare_cached("update part set docs = ?2, words = ?3 where part = ?1")?
            .execute(params![part.part, part.docs, part.words])?;
        tx.commit()?;
        // Pages that were split or joined keep copies in their gaps, so the file is written anew; the log still
        // holds the old pages, so it is written back and cut.
        self.store.db.execute_batch("vacuum")?;
        self.store.db.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
        Ok(applied)
    }

    /// Gives vectors to up to `limit` documents of `owner` that have none in the embedder's space.
    ///
    /// Says how many still lack one. Called again and again in the background after a change of model.
    pub fn embed_missing(
        &mut self,
        owner: &str,
        embedder: &dyn Embedder,
        limit: usize,
    ) -> Result<usize, IndexError> {
        let missing = self.missing(owner, embedder.space(), limit)?;
        let embeddings = missing.embedded(embedder)?;
        self.give(owner, embedder.space(), &missing, embeddings)?;
        Ok(missing.more)
    }

    /// What has no vector of a space, at most so many. Making the vectors may take long, so the index need not be held meanwhile; then they are
    /// [given](Self::give) to it.
    pub(crate) fn missing(
        &mut self,
        owner: &str,
        space: &Space,
        limit: usize,
    ) -> Result<Missing, IndexError> {
        let reader = self.reader(owner, Some(space))?;
        let mut numbers = reader.without_vector()?;
        let more = numbers.len().saturating_sub(limit);
        numbers.truncate(limit);
        let text = |n: &u32| Ok(reader.document(*n)?.map(|d| told(&d)).unwrap_or_default());
        let texts = numbers.iter().map(text).collect::<Result<_, IndexError>>()?;
        Ok(Missing { numbers, texts, more })
    }

    /// Stores the vectors of what was missing.
    pub(crate) fn give(
        &mut self,
        owner: &str,
        space: &Space,
        missing: &Missing,
        embeddings: Vec<Embedding>,
    ) -> Result<(), IndexError> {
        if missing.numbers.is_empty() {
            return Ok(());
        }
        let folder = self.store.folder.clone();
        let tx = Transaction::new_unchecked(self.store.for_writing()?, TransactionBehavior::Immediate)?;
        let part = open_part(&tx, owner)?;
        // A document may have gone while it was embedded; its number is never given again, so skipping is enough.
        let mut there = Vec::new();
        for (number, embedding) in missing.numbers.iter().zip(embeddings) {
            let key = key_of(part.part, *number);
            if tx.prepare_cached("select 1 from card where key = ?1")?.exists([key])? {
                there.push((*number, embedding));
            }
        }
        let (numbers, embeddings): (Vec<u32>, Vec<Embedding>) = there.into_iter().unzip();
        put_vectors(&tx, &folder, part.part, space, &numbers, &embeddings)?;
        tx.commit()?;
        Ok(())
    }

    /// Notes under `mark` that every document of `owner` has a vector of this space, if that holds at this moment; says how many have none.
    ///
    /// Looked at and noted in one go: a document that came while others were embedded must not count as one of them.
    pub(crate) fn note_complete(
        &mut self,
        owner: &str,
        space: &Space,
        mark: &str,
    ) -> Result<usize, IndexError> {
        let folder = self.store.folder.clone();
        let tx = Transaction::new_unchecked(self.store.for_writing()?, TransactionBehavior::Immediate)?;
        let part = open_part(&tx, owner)?;
        let vectors = vectors_of(&tx, &folder, part.part, part.next, space, Access::Often)?;
        let left = lacking(&tx, part.part, vectors.as_ref())?.len();
        if left == 0 {
            set_mark(&tx, mark, &space.model)?;
        }
        tx.commit()?;
        Ok(left)
    }
}

/// Takes ids out of the marks: of files by the memory they hold, of whole shelves line by line. Their names are made from titles.
fn drop_marks(tx: &Transaction<'_>, ids: &[&str]) -> Result<(), IndexError> {
    let mut of_files = tx.prepare_cached(
        "delete from mark where name >= '~f:' and name < '~g' and substr(value, -length(?1) - 1) = char(9) || ?1",
    )?;
    for id in ids {
        of_files.execute([id])?;
    }
    // A lesson's file is called by its topic, which is part of its id. Without any of these marks the next look reads the lessons anew.
    if ids.iter().any(|id| id.starts_with("lesson:")) {
        tx.execute("delete from mark where name >= 't:' and name < 't;'", [])?;
    }
    let mut whole = tx.prepare_cached("select name, value from mark where name >= '~l:' and name < '~m'")?;
    let lists: Vec<(String, String)> =
        whole.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    for (name, value) in lists {
        let about = |line: &str| line.rsplit_once('\t').is_some_and(|(id, _)| ids.contains(&id));
        let kept: String =
            value.lines().filter(|line| !about(line)).map(|line| format!("{line}\n")).collect();
        if kept != value {
            set_mark(tx, &name, &kept)?;
        }
    }
    Ok(())
}

/// Sets a mark; one that is set to nothing is taken away.
fn set_mark(tx: &Transaction<'_>, name: &str, value: &str) -> Result<(), IndexError> {
    match value.is_empty() {
        true => tx.prepare_cached("delete from mark where name = ?1")?.execute([name])?,
        false => tx
            .prepare_cached(
                "insert into mark values (?1, ?2) on conflict do update set value = excluded.value",
            )?
            .execute([name, value])?,
    };
    Ok(())
}

impl Change {
    fn id(&self) -> &str {
        match self {
            Self::Put(d) => &d.id,
            Self::Remove(id) => id,
        }
    }
}

fn open_part(tx: &Transaction<'_>, owner: &str) -> Result<Part, IndexError> {
    tx.prepare_cached(
        "insert into part (owner, next, docs, words) values (?1, 0, 0, 0) on conflict do nothing",
    )?
    .execute([owner])?;
    let part = tx
        .prepare_cached("select part, next, docs, words from part where owner = ?1")?
        .query_row([owner], |r| {
            Ok(Part { part: r.get(0)?, next: r.get(1)?, docs: r.get(2)?, words: r.get(3)? })
        })?;
    Ok(part)
}

/// Removes a document's rows and vectors, which are carried on if somebody carries. The outer `None`: there was none; the inner: it had no postings yet.
fn remove(
    tx: &Transaction<'_>,
    folder: &std::path::Path,
    part: &mut Part,
    id: &str,
    carry: Option<&mut Carry>,
) -> Result<Option<Option<u32>>, IndexError> {
    let key: Option<i64> = tx
        .prepare_cached("select key from doc where part = ?1 and id = ?2")?
        .query_row(params![part.part, id], |r| r.get(0))
        .optional()?;
    let Some(key) = key else { return Ok(None) };
    if let Some(carry) = carry {
        carry.keep(tx, folder, part.part, number_of(key))?;
    }
    let length: i64 = tx
        .prepare_cached("select len from card where key = ?1")?
        .query_row([key], |r| r.get(0))
        .optional()?
        .unwrap_or(0);
    for statement in [
        "delete from doc where key = ?1",
        "delete from card where key = ?1",
        "delete from late where key = ?1",
    ] {
        tx.prepare_cached(statement)?.execute([key])?;
    }
    let waited = tx.prepare_cached("delete from pending where key = ?1")?.execute([key])? > 0;
    part.docs -= 1;
    part.words -= length;
    let number = number_of(key);
    cards::wipe(tx, folder, part.part, number)?;
    trusted::take_out(tx, part.part, number)?;
    let mut spaces = tx.prepare_cached("select s.dims, s.file, e.first, e.room, e.at from extent e join space s using (space) where e.part = ?1 and e.first <= ?2 and e.first + e.room > ?2")?;
    let places: Vec<(usize, String, Extent)> = spaces
        .query_map(params![part.part, number], |r| {
            Ok((r.get(0)?, r.get(1)?, Extent { first: r.get(2)?, room: r.get(3)?, at: r.get(4)? }))
        })?
        .collect::<Result<_, _>>()?;
    for (dims, file, extent) in places {
        // A file that is gone holds nothing to wipe.
        if let Ok(file) = File::options().write(true).open(folder.join(file)) {
            vectors::put(&file, &extent, number, std::iter::once(&Slot::empty(dims)))?;
        }
    }
    Ok(Some((!waited).then_some(number)))
}

fn add_dead(tx: &Transaction<'_>, part: i64, dead: BTreeMap<u32, Vec<u16>>) -> Result<(), IndexError> {
    for (chunk, numbers) in dead {
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        tx.prepare_cached("insert into dead values (?1, ?2, ?3) on conflict do update set numbers = cast(numbers || excluded.numbers as blob)")?
            .execute(params![part, chunk, bytes])?;
    }
    Ok(())
}

/// The terms of what is put: of few documents one by one, of many all together.
enum Terms {
    Bags(Vec<Bag>),
    Batch(Batch),
}

impl Terms {
    fn lengths(&self) -> Vec<u32> {
        match self {
            Self::Bags(bags) => bags.iter().map(|b| b.length).collect(),
            Self::Batch(batch) => batch.lengths.clone(),
        }
    }
}
