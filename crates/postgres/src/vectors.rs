//! Vectors of any model, beside the memories they belong to.
//!
//! Comes in: texts. Goes out: rows keyed by user, model and memory. A model on this machine makes them with every write; one elsewhere is asked when
//! nobody waits, in batches that stand by themselves. Never here: comparing vectors of two models.

use crate::link::PgStore;
use crate::rows;
use crate::session::Session;
use crate::statements;
use crate::values::{bigint, bigints, int, text, texts};
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::index::embed::{Detail, Embedder as _, Space};
use heirloom_engine::shelf::tiers::{Stored, Tier, UserContext};
use std::sync::PoisonError;

/// Vectors that were made, as pgvector reads them; none where a text has no direction.
pub(crate) struct Vectors {
    space: Option<Space>,
    made: Vec<Option<String>>,
}

impl Vectors {
    /// Vectors of texts, if the model is on this machine.
    pub(crate) fn of(store: &PgStore, searched: &[&str]) -> Vectors {
        let none = Vectors { space: None, made: Vec::new() };
        let Some(model) = store.model().filter(|model| !model.is_remote()) else { return none };
        match model.embed(searched, Detail::Pooled) {
            Ok(made) => Vectors {
                space: Some(model.space().clone()),
                made: made.iter().map(|one| as_text(&one.vector)).collect(),
            },
            // Keywords still find it, and the next `embed` makes up for it.
            Err(_) => none,
        }
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
        let made: Vec<Option<&str>> =
            rows.iter().map(|(at, _, _)| self.made.get(*at).and_then(Option::as_deref)).collect();
        let user = who.user();
        let values = [text(&user), text(&space.model), bigints(&places), texts(&tiers), texts(&made)];
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

/// A question's vector.
pub(crate) struct Asked {
    pub(crate) vector: Option<String>,
    pub(crate) space: Space,
}

/// The vector of a question. A model elsewhere is asked only if this user has vectors of it; one that does not answer costs the vectors, not the
/// memories.
pub(crate) fn asked(store: &PgStore, who: &UserContext, question: &str) -> Result<Asked> {
    let Some(model) = store.model() else {
        return Ok(Asked { vector: None, space: Space { model: "none".to_owned(), dims: 0 } });
    };
    let space = model.space().clone();
    if model.is_remote() && !store.run_again(|| any(store, who, &space))? {
        return Ok(Asked { vector: None, space });
    }
    let made = model.embed(&[question], Detail::Pooled).ok();
    let vector = made.and_then(|made| as_text(&made.first()?.vector));
    Ok(Asked { vector, space })
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
    let searched: Vec<_> = found.iter().map(|(_, stored)| stored.searched()).collect();
    let searched: Vec<&str> = searched.iter().map(AsRef::as_ref).collect();
    let made = model.embed(&searched, Detail::Pooled).map_err(|e| {
        Fault::new(Code::Unavailable, e.to_string()).hint("`heirloom model status` says what is wrong")
    })?;
    let vectors = Vectors { space: Some(space), made: made.iter().map(|one| as_text(&one.vector)).collect() };
    let rows: Vec<(usize, Tier, i64)> =
        found.iter().enumerate().map(|(at, (place, stored))| (at, stored.tier, *place)).collect();
    store.run(async {
        let tx = Session::begin(store, who, true).await?;
        vectors.store(store, &tx, who, &rows).await?;
        tx.commit().await
    })?;
    Ok(left.saturating_sub(found.len()))
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
