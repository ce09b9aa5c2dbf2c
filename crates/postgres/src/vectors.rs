//! Vectors of any model, beside the memories they belong to.
//!
//! Comes in: texts. Goes out: rows keyed by user, model and memory. A model on this machine makes them with every write; one elsewhere is asked when
//! nobody waits, in batches that stand by themselves. Never here: comparing vectors of two models.

use crate::link::PgStore;
use crate::rows;
use crate::session::Session;
use crate::statements;
use crate::values::{bigint, bigints, bytes, int, text, texts};
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::index::embed::chosen::Chosen;
use heirloom_engine::index::embed::{Detail, EmbedError, Embedder as _, Embedding, Nearness, Space, Worth};
use heirloom_engine::shelf::tiers::{Embedded, Judge, Stored, Tier, UserContext, kept_pieces, passage};
use std::sync::PoisonError;

/// Vectors that were made, as pgvector reads them, and what is kept of word pieces; none where a text has no direction.
pub(crate) struct Vectors {
    space: Option<Space>,
    made: Vec<(Option<String>, Option<Vec<u8>>)>,
}

/// What a model makes of texts, with word pieces where it has them.
fn made(model: &Chosen, texts: &[&str]) -> std::result::Result<Vec<Embedding>, EmbedError> {
    model.embed(texts, if model.has_pieces() { Detail::Pieces } else { Detail::Pooled })
}

impl Vectors {
    /// Vectors of memories, if the model is on this machine.
    pub(crate) fn of(store: &PgStore, memories: &[&Stored]) -> Vectors {
        let none = Vectors { space: None, made: Vec::new() };
        let Some(model) = store.model().filter(|model| !model.is_remote()) else { return none };
        // Keywords still find what cannot be embedded now, and the next `embed` makes up for it.
        Vectors::made(model, memories).unwrap_or(none)
    }

    fn made(model: &Chosen, memories: &[&Stored]) -> std::result::Result<Vectors, EmbedError> {
        let passages: Vec<String> = memories.iter().map(|stored| passage(stored)).collect();
        let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
        let kept = |one: &Embedding| (as_text(&one.vector), kept_pieces(one));
        let made = made(model, &passages)?.iter().map(kept).collect();
        Ok(Vectors { space: Some(model.space().clone()), made })
    }

    /// Stores those of memories in use: which of the texts, its tier, its place.
    pub(crate) async fn store(
        &self,
        store: &PgStore,
        tx: &Session,
        who: &UserContext,
        rows: &[(usize, Tier, i64)],
    ) -> Result<()> {
        let Some(space) = self.space.as_ref().filter(|_| !rows.is_empty()) else { return Ok(()) };
        know(store, tx, space).await?;
        let places: Vec<i64> = rows.iter().map(|(_, _, place)| *place).collect();
        let tiers: Vec<&str> = rows.iter().map(|(_, tier, _)| tier.name()).collect();
        let (made, pieces): (Vec<Option<&str>>, Vec<Option<&[u8]>>) = rows
            .iter()
            .map(|(at, _, _)| self.made.get(*at))
            .map(|one| one.map_or((None, None), |(vector, pieces)| (vector.as_deref(), pieces.as_deref())))
            .unzip();
        let user = who.user();
        let values =
            [text(&user), text(&space.model), bigints(&places), texts(&tiers), texts(&made), bytes(&pieces)];
        tx.run(statements::VECTOR, &values).await
    }
}

/// Tells the database of a model, once in a process.
async fn know(store: &PgStore, tx: &Session, space: &Space) -> Result<()> {
    let told = &store.link()?.models;
    if told.lock().unwrap_or_else(PoisonError::into_inner).contains(&space.model) {
        return Ok(());
    }
    let dims = i32::try_from(space.dims).unwrap_or(i32::MAX);
    tx.run("select heirloom.know_model($1, $2)", &[text(&space.model), int(&dims)]).await?;
    told.lock().unwrap_or_else(PoisonError::into_inner).push(space.model.clone());
    Ok(())
}

/// A question's vector, and what its model says of it.
pub(crate) struct Asked {
    pub(crate) vector: Option<String>,
    pub(crate) space: Space,
    pub(crate) judge: Judge,
}

/// The vector of a question. A model elsewhere is asked only if this user has vectors of it; one that does not answer costs the vectors, not the
/// memories.
pub(crate) fn asked(store: &PgStore, who: &UserContext, question: &str) -> Result<Asked> {
    let silent = Judge { worth: Worth::default(), nearness: Nearness::default(), asked: None };
    let Some(model) = store.model() else {
        return Ok(Asked { vector: None, space: Space { model: "none".to_owned(), dims: 0 }, judge: silent });
    };
    let space = model.space().clone();
    let wanted = !model.is_remote() || store.run_again(|| any(store, who, &space))?;
    let answer = if wanted { made(model, &[question]).ok().and_then(|mut made| made.pop()) } else { None };
    let vector = answer.as_ref().and_then(|made| as_text(&made.vector));
    let judge = Judge { worth: model.worth(), nearness: model.nearness(), asked: answer };
    Ok(Asked { vector, space, judge })
}

async fn any(store: &PgStore, who: &UserContext, space: &Space) -> Result<bool> {
    let tx = Session::begin(store, who, false).await?;
    let asked = "select exists (select from heirloom.vector where user_id = $1 and model = $2)";
    let row = tx.one(asked, &[text(&who.user()), text(&space.model)]).await?;
    tx.commit().await?;
    Ok(row.is_some_and(|row| row.get(0)))
}

/// A memory in use without a vector of the model.
const LACKING: &str = "from heirloom.memory m where m.user_id = $1 and m.status = 'active' and not exists
    (select from heirloom.vector v where v.user_id = $1 and v.model = $2 and v.place = m.place)";

/// Gives vectors to up to `limit` memories that have none of the model in use; says how many are left.
pub(crate) fn embed(store: &PgStore, who: &UserContext, limit: usize) -> Result<usize> {
    let Some(model) = store.model() else { return Ok(0) };
    let space = model.space().clone();
    let (found, left) = store.run_again(|| lacking(store, who, &space, limit))?;
    if found.is_empty() {
        return Ok(0);
    }
    let memories: Vec<&Stored> = found.iter().map(|(_, stored)| stored).collect();
    let vectors = Vectors::made(model, &memories).map_err(|e| {
        Fault::new(Code::Unavailable, e.to_string()).hint("`heirloom model status` says what is wrong")
    })?;
    let rows: Vec<(usize, Tier, i64)> =
        found.iter().enumerate().map(|(at, (place, stored))| (at, stored.tier, *place)).collect();
    store.run(async {
        let tx = Session::begin(store, who, true).await?;
        vectors.store(store, &tx, who, &rows).await?;
        tx.commit().await
    })?;
    Ok(left.saturating_sub(found.len()))
}

/// How many memories in use there are, and how many of them have a vector of the model in use.
pub(crate) fn embedded(store: &PgStore, who: &UserContext) -> Result<Embedded> {
    let name = store.model().map_or_else(String::new, |model| model.space().model.clone());
    store.run_again(|| async {
        let tx = Session::begin(store, who, false).await?;
        let user = who.user();
        let values = [text(&user), text(&name)];
        let asked = format!(
            "select (select count(*) from heirloom.memory where user_id = $1 and status = 'active'), (select count(*) {LACKING})"
        );
        let row = tx.one(&asked, &values).await?;
        tx.commit().await?;
        let count = |at| row.as_ref().map_or(0, |row| row.get::<_, i64>(at).unsigned_abs());
        Ok(Embedded { memories: count(0), embedded: count(0).saturating_sub(count(1)) })
    })
}

async fn lacking(
    store: &PgStore,
    who: &UserContext,
    space: &Space,
    limit: usize,
) -> Result<(Vec<(i64, Stored)>, usize)> {
    let tx = Session::begin(store, who, false).await?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let user = who.user();
    let values = [text(&user), text(&space.model), bigint(&limit)];
    let asked = format!("select {} {LACKING} order by m.place limit $3", rows::COLUMNS);
    let found = tx.query(&asked, &values).await?;
    let left = tx.one(&format!("select count(*) {LACKING}"), &values[..2]).await?;
    tx.commit().await?;
    let found = found.iter().map(|row| Ok((row.get(0), rows::read(row)?))).collect::<Result<_>>()?;
    Ok((found, left.map_or(0, |row| usize::try_from(row.get::<_, i64>(0)).unwrap_or(0))))
}

/// A vector as pgvector reads it; nothing for one that is all zeros, which has no direction.
pub(crate) fn as_text(vector: &[f32]) -> Option<String> {
    if vector.iter().all(|x| *x == 0.0) {
        return None;
    }
    let numbers: Vec<String> = vector.iter().map(|x| format!("{x:.6}")).collect();
    Some(format!("[{}]", numbers.join(",")))
}
