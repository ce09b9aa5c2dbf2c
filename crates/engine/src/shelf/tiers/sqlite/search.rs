//! Keywords and vectors of one user: kept beside the database, caught up with it, thrown away without loss.
//!
//! Comes in: the list of ids that changed since the index last looked. Goes out: ranked memories, read from the database, so that nothing is
//! shown that is not there any more. Never here: an answer from the index alone.

use super::super::store::{Embedded, Found, Question};
use super::super::{LifeStatus, Role, Stored, UserContext};
use super::database::{Database, fault};
use super::rows;
use crate::index::embed::{Embedder, Embedding, Space};
use crate::index::{self, Document, Index, IndexError, Missing, Reader};
use crate::rank::query::Conditions;
use crate::rank::{Ask, Hit, Weights, rank};
use heirloom_core::{Code, Fault, Trust, fault::Result};
use rusqlite::params;

/// The mark under which the index notes how far it has followed.
const MARK: &str = "tiers";

/// The mark that names the model of which every memory has a vector.
const COMPLETE: &str = "complete";

/// Changes followed in one go.
const BATCH: usize = 1_000;

/// Vectors made while somebody waits, after a change of model.
const AT_ONCE: usize = 32;

/// Hits looked at for each one wanted, since some may have gone.
const SPARE: usize = 3;

/// Hits looked at in the end.
const MOST: usize = 10_000;

impl Database {
    /// Brings the index up to date with the database.
    pub(super) fn catch_up(&mut self, who: &UserContext, embedder: Option<&dyn Embedder>) -> Result<()> {
        // What a model elsewhere has to say comes later, when nobody waits for it.
        let remote = embedder.is_some_and(Embedder::is_remote);
        let name = embedder.map(|model| model.space().model.clone());
        let embedder = embedder.filter(|_| !remote);
        let Database { db, folder, index } = self;
        let index = opened(index, folder)?;
        let mark = index.mark(MARK).map_err(broken)?.and_then(|text| text.parse::<i64>().ok());
        let last = rows::last_change(db)?;
        // An index without a mark is new: everything there is goes in, and the list of changes begins after it.
        let mut from = match mark {
            Some(mark) if mark <= last => mark,
            _ => {
                index.renew().map_err(broken)?;
                let mut place = 0;
                loop {
                    let (documents, end) = documents_after(db, who, place)?;
                    index.apply(who.user(), &documents, embedder, &[]).map_err(broken)?;
                    match end {
                        Some(end) => place = end,
                        None => break,
                    }
                }
                index.apply(who.user(), &[], embedder, &[(MARK, &last.to_string())]).map_err(broken)?;
                last
            }
        };
        while from < last {
            let mut statement = db
                .prepare_cached("select n, id from change where n > ?1 order by n limit ?2")
                .map_err(fault)?;
            let rows = statement.query_map(params![from, BATCH as i64], |row| Ok((row.get(0)?, row.get(1)?)));
            let changed: Vec<(i64, String)> =
                rows.and_then(Iterator::collect::<rusqlite::Result<_>>).map_err(fault)?;
            let Some((end, _)) = changed.last() else { break };
            from = *end;
            let mut changes = Vec::with_capacity(changed.len());
            for (_, id) in changed {
                // What was deleted meanwhile stays in the index until it is scrubbed, which needs its text to find every trace.
                changes.extend(rows::get(db, who, &id)?.map(|stored| index::Change::Put(document(&stored))));
            }
            let from = from.to_string();
            let marks = [(MARK, from.as_str()), (COMPLETE, "")];
            // What is put now has no vector of any other model: should that one come back, it looks anew.
            let lacking = remote || index.mark(COMPLETE).map_err(broken)? != name;
            let marks = if lacking { &marks[..] } else { &marks[..1] };
            index.apply(who.user(), &changes, embedder, marks).map_err(broken)?;
        }
        if let Some(embedder) = embedder {
            embed_missing(index, who, embedder, AT_ONCE)?;
        }
        // What the index has followed is no longer needed; two hundred are left so that most writes need no second transaction.
        if last % 256 == 0 || mark.is_none() {
            db.execute("delete from change where n <= ?1", [from]).map_err(fault)?;
        }
        Ok(())
    }

    /// Up to `limit` memories that have no vector of the model in use; `None` if all have one. Their vectors are made while others use the
    /// database, and then [given](Self::give) to it.
    pub(super) fn missing(
        &mut self,
        who: &UserContext,
        embedder: &dyn Embedder,
        limit: usize,
    ) -> Result<Option<Missing>> {
        self.catch_up(who, Some(embedder))?;
        let Database { folder, index, .. } = self;
        let index = opened(index, folder)?;
        if index.mark(COMPLETE).map_err(broken)?.as_ref() == Some(&embedder.space().model) {
            return Ok(None);
        }
        index.missing(who.user(), embedder.space(), limit).map(Some).map_err(broken)
    }

    /// Stores the vectors of what was missing; says how many memories are left without one.
    pub(super) fn give(
        &mut self,
        who: &UserContext,
        space: &Space,
        missing: &Missing,
        embeddings: Vec<Embedding>,
    ) -> Result<usize> {
        let Database { folder, index, .. } = self;
        let index = opened(index, folder)?;
        index.give(who.user(), space, missing, embeddings).map_err(broken)?;
        match missing.more {
            0 => index.note_complete(who.user(), space, COMPLETE).map_err(broken),
            more => Ok(more),
        }
    }

    /// Whether a question would be compared with vectors of this model.
    pub(super) fn has_vectors(&mut self, who: &UserContext, embedder: &dyn Embedder) -> Result<bool> {
        let Database { folder, index, .. } = self;
        let reader = opened(index, folder)?.reader(who.user(), Some(embedder.space())).map_err(broken)?;
        Ok(reader.with_vectors())
    }

    /// How many memories in use have a vector of this model.
    pub(super) fn embedded(
        &mut self,
        who: &UserContext,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Embedded> {
        let memories = self.counts(who)?;
        let memories = memories.episodes + memories.facts;
        let Database { folder, index, .. } = self;
        let index = opened(index, folder)?;
        let Some(model) = embedder else { return Ok(Embedded { embedded: 0, memories }) };
        let lacking = index.missing(who.user(), model.space(), 0).map_err(broken)?.more as u64;
        Ok(Embedded { embedded: memories.saturating_sub(lacking), memories })
    }

    /// What may answer a question.
    pub(super) fn search(
        &mut self,
        who: &UserContext,
        question: &Question<'_>,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Vec<Found>> {
        self.catch_up(who, embedder)?;
        let Database { db, folder, index } = self;
        let index = opened(index, folder)?;
        let reader = index.reader(who.user(), embedder.map(Embedder::space)).map_err(broken)?;
        let mut ask = Ask {
            text: question.text.to_owned(),
            now: question.now.as_second(),
            limit: question.limit.saturating_mul(SPARE),
            conditions: Conditions {
                kinds: question.tier.iter().map(|tier| tier.kind().name().to_owned()).collect(),
                ..Conditions::default()
            },
            ..Ask::default()
        };
        let weights = Weights { recency: question.recency, ..Weights::default() };
        loop {
            let hits = match rank(&reader, embedder, &ask, &weights) {
                // An endpoint that does not answer costs the vectors, not the memories.
                Err(IndexError::Embed(_)) => rank(&reader, None, &ask, &weights),
                ranked => ranked,
            };
            let hits = hits.map_err(broken)?;
            let exhausted = hits.len() < ask.limit || ask.limit >= MOST;
            let found = answers(db, who, question, &reader, hits)?;
            // Deleted memories may stand before those that are left, until they are scrubbed.
            if exhausted || found.len() >= question.limit {
                return Ok(found);
            }
            ask.limit *= SPARE;
        }
    }

    /// Takes what was deleted out of the index for good. What is left of it in the gaps of the database goes when that is
    /// [rewritten](super::database::rewrite).
    pub(super) fn scrub(&mut self, who: &UserContext, embedder: Option<&dyn Embedder>) -> Result<()> {
        self.catch_up(who, embedder)?;
        let Database { db, folder, index } = self;
        let waiting = {
            let mut statement =
                db.prepare_cached("select id from gone where user = ?1 and scrubbed = 0").map_err(fault)?;
            let rows = statement.query_map([who.user()], |row| row.get(0)).map_err(fault)?;
            rows.collect::<rusqlite::Result<Vec<String>>>().map_err(fault)?
        };
        let ids: Vec<&str> = waiting.iter().map(String::as_str).collect();
        opened(index, folder)?.forget(who.user(), &ids).map_err(broken)?;
        db.execute("update gone set scrubbed = 1 where user = ?1", [who.user()]).map_err(fault)?;
        Ok(())
    }
}

/// Gives vectors to memories that have none of the model in use, until the index notes that all have one. Returns how many are left.
fn embed_missing(
    index: &mut Index,
    who: &UserContext,
    embedder: &dyn Embedder,
    limit: usize,
) -> Result<usize> {
    let name = &embedder.space().model;
    if index.mark(COMPLETE).map_err(broken)?.as_ref() == Some(name) {
        return Ok(0);
    }
    match index.embed_missing(who.user(), embedder, limit).map_err(broken)? {
        0 => index.note_complete(who.user(), embedder.space(), COMPLETE).map_err(broken),
        left => Ok(left),
    }
}

/// The memories behind hits, as they are now.
fn answers(
    db: &rusqlite::Connection,
    who: &UserContext,
    question: &Question<'_>,
    reader: &Reader<'_>,
    hits: Vec<Hit>,
) -> Result<Vec<Found>> {
    let mut found = Vec::with_capacity(hits.len());
    for hit in hits {
        let Some(document) = reader.document(hit.number).map_err(broken)? else { continue };
        let Some(memory) = rows::get(db, who, &document.id)? else { continue };
        if question.tier.is_some_and(|tier| tier != memory.tier) || !memory.is_live(question.now) {
            continue;
        }
        found.push(Found::of(memory, hit.why));
    }
    Ok(found)
}

fn opened<'i>(index: &'i mut Option<Index>, folder: &std::path::Path) -> Result<&'i mut Index> {
    if index.is_none() {
        *index = Some(Index::open(&folder.join("index")).map_err(broken)?);
    }
    index.as_mut().ok_or_else(|| Fault::new(Code::Internal, "an index just opened is not there"))
}

fn documents_after(
    db: &rusqlite::Connection,
    who: &UserContext,
    place: i64,
) -> Result<(Vec<index::Change>, Option<i64>)> {
    let mut statement = db
        .prepare_cached("select place, id from memory where user = ?1 and place > ?2 order by place limit ?3")
        .map_err(fault)?;
    let rows =
        statement.query_map(params![who.user(), place, BATCH as i64], |row| Ok((row.get(0)?, row.get(1)?)));
    let ids: Vec<(i64, String)> = rows.and_then(Iterator::collect::<rusqlite::Result<_>>).map_err(fault)?;
    let mut documents = Vec::with_capacity(ids.len());
    for (_, id) in &ids {
        documents.extend(rows::get(db, who, id)?.map(|stored| index::Change::Put(document(&stored))));
    }
    let end = ids.last().map(|(place, _)| *place).filter(|_| ids.len() == BATCH);
    Ok((documents, end))
}

/// The tag that names who spoke, where that is a name.
const SPEAKER: &str = "speaker:";

/// Whom turns and facts concern.
pub(crate) const SCOPE: &str = "user";

/// Who spoke, by the labels of a memory.
pub(crate) fn speaker(tags: &[String]) -> Option<&str> {
    tags.iter().find_map(|tag| tag.strip_prefix(SPEAKER))
}

/// Whose words a memory holds, as the index has it.
pub(crate) fn whose(role: Option<Role>) -> index::Role {
    match role {
        Some(Role::User) => index::Role::Person,
        Some(Role::Assistant | Role::Tool) => index::Role::Agent,
        None => index::Role::None,
    }
}

/// A memory as the index sees it.
pub(crate) fn document(stored: &Stored) -> Document {
    Document {
        id: stored.id.clone(),
        kind: stored.tier.kind().name().to_owned(),
        title: stored.heading().unwrap_or_default().to_owned(),
        tags: stored.tags.iter().filter(|tag| !tag.starts_with(SPEAKER)).cloned().collect(),
        speaker: speaker(&stored.tags).unwrap_or_default().to_owned(),
        body: stored.content.clone(),
        role: whose(stored.role),
        group: stored.session.clone().unwrap_or_default(),
        position: stored.position,
        occurred_at: stored.occurred_at.as_second(),
        trust: match stored.trust {
            Trust::High => index::Trust::High,
            Trust::Medium => index::Trust::Medium,
            Trust::Low => index::Trust::Low,
        },
        status: match stored.status {
            LifeStatus::Active => index::Status::Active,
            LifeStatus::Retired | LifeStatus::Superseded => index::Status::Retired,
        },
        confidence: stored.confidence as f32,
        scope: SCOPE.to_owned(),
        ..Document::default()
    }
}

#[allow(clippy::needless_pass_by_value, reason = "stands at the end of map_err, which gives it away")]
pub(super) fn broken(error: IndexError) -> Fault {
    let code = match error {
        IndexError::Busy => Code::LockBusy,
        IndexError::Damaged { .. } => Code::Damaged,
        _ => Code::Io,
    };
    Fault::new(code, error.to_string())
}
