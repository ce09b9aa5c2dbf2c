//! Search: keywords by BM25 over the posting table, vectors by pgvector, both of one user.
//!
//! Comes in: a question. Goes out: what may answer it, a few times what is wanted, as features that the engine ranks. A user with few memories is
//! looked through exactly; one with many by the HNSW index, whose scan goes on until enough of that user's rows were met. Never here: `ts_rank`,
//! which is slow and not leakproof under row-level security.

use crate::link::PgStore;
use crate::rows::read;
use crate::session::Session;
use crate::statements;
use crate::values::{Value, bigint, bigints, double, doubles, text, texts};
use crate::vectors;
use heirloom_core::fault::Result;
use heirloom_engine::shelf::tiers::{Found, Met, Posed, Question, SEATS, SPARE, Stored, Tier, UserContext};
use std::collections::HashMap;
use tokio_postgres::Row;

/// Memories of a user up to which every vector is compared: below it an index scan would meet mostly other users' rows.
const EXACT: i64 = 20_000;

/// BM25: how soon a repeated word stops counting, and how much length matters.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;

/// What keywords and vectors count when it is decided whose texts are fetched.
const KEYWORD_SHARE: f64 = 0.6;
const VECTOR_SHARE: f64 = 0.4;

struct Candidate {
    keyword: f64,
    cosine: f64,
    trusted: bool,
}

pub(crate) async fn search(
    store: &PgStore,
    who: &UserContext,
    question: &Question<'_>,
    asked: &vectors::Asked,
) -> Result<Vec<Found>> {
    let Some(tier) = question.tier else {
        let mut found = Vec::new();
        for tier in Tier::STORED {
            found.extend(search_tier(store, who, question, asked, tier).await?);
        }
        return Ok(found);
    };
    search_tier(store, who, question, asked, tier).await
}

async fn search_tier(
    store: &PgStore,
    who: &UserContext,
    question: &Question<'_>,
    asked: &vectors::Asked,
    tier: Tier,
) -> Result<Vec<Found>> {
    let posed = Posed::new(question);
    let (vector, space) = (&asked.vector, &asked.space);
    let tx = Session::begin(store, who, false).await?;
    let (terms, weights): (Vec<&str>, Vec<f64>) =
        posed.terms().iter().map(|(term, weight)| (term.as_str(), f64::from(*weight))).unzip();
    let (user, tier_name) = (who.user(), tier.name());
    let row = tx.one(statements::TOTALS, &[text(&user), text(&tier_name), texts(&terms)]).await?;
    let Some(row) = row else {
        tx.commit().await?;
        return Ok(Vec::new());
    };
    let at = if tier == Tier::Episodic { 0 } else { 1 };
    let (memories, words): (i64, i64) = (row.get(at), row.get(at + 2));
    let having: Vec<i64> = row.get(4);
    let indexed = (memories > EXACT && space.dims <= statements::MOST_INDEXED).then_some(space.dims);
    if indexed.is_some() {
        tx.batch(statements::ITERATE).await?;
    }
    let average = words as f64 / memories.max(1) as f64;
    let (memory_count, average) = (memories as f64, average.max(1.0));
    let now = question.now.as_second();
    let values: [Value<'_>; 11] = [
        text(&user),
        text(&tier_name),
        texts(&terms),
        doubles(&weights),
        double(&memory_count),
        double(&average),
        double(&SATURATION),
        double(&LENGTH),
        text(vector),
        bigint(&now),
        text(&space.model),
    ];
    let mut candidates = read_candidates(&tx.query(&statements::hybrid(indexed), &values).await?);
    let met = candidates.values().filter(|one| one.keyword > 0.0).count();
    if met >= statements::BY_KEYWORD && candidates.values().any(|one| !one.trusted) {
        candidates.extend(read_candidates(&tx.query(&statements::trusted(), &values).await?));
    }
    let best = candidates.values().map(|one| one.keyword).fold(0.0, f64::max);
    let likely = likely(candidates, best, question.limit);
    let places: Vec<i64> = likely.iter().map(|(place, _)| *place).collect();
    let rows = tx.query(statements::FETCH, &[text(&user), bigints(&places)]).await?;
    tx.commit().await?;
    let mut stored: HashMap<i64, Stored> =
        rows.iter().map(|row| Ok((row.get(0), read(row)?))).collect::<Result<_>>()?;
    let found = |(place, one): (i64, Candidate)| {
        let memory = stored.remove(&place)?;
        let met =
            Met { keyword: share(one.keyword, best), cosine: one.cosine, having: &having, all: memories };
        Some(posed.found(memory, met))
    };
    Ok(likely.into_iter().filter_map(found).collect())
}

fn read_candidates(rows: &[Row]) -> HashMap<i64, Candidate> {
    let candidate = |row: &Row| Candidate { keyword: row.get(1), cosine: row.get(2), trusted: row.get(3) };
    rows.iter().map(|row| (row.get(0), candidate(row))).collect()
}

/// A keyword score as a share of the best one.
fn share(keyword: f64, best: f64) -> f64 {
    if best > 0.0 { keyword / best } else { 0.0 }
}

/// Those whose texts are worth fetching, by keywords and vector alone: a few times what is wanted, and the best of the trusted. What each is worth
/// is said by the ranking, once its text is there.
fn likely(candidates: HashMap<i64, Candidate>, best: f64, wanted: usize) -> Vec<(i64, Candidate)> {
    let worth =
        |one: &Candidate| KEYWORD_SHARE * share(one.keyword, best) + VECTOR_SHARE * one.cosine.max(0.0);
    let mut likely: Vec<(i64, Candidate)> = candidates.into_iter().collect();
    likely.sort_by(|(a, one), (b, other)| worth(other).total_cmp(&worth(one)).then(a.cmp(b)));
    let (mut others, mut seats) = (wanted.saturating_mul(SPARE), SEATS);
    likely.retain(|(_, one)| {
        let left = if one.trusted && others == 0 { &mut seats } else { &mut others };
        let stays = *left > 0;
        *left = left.saturating_sub(1);
        stays
    });
    likely
}
