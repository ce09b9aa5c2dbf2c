//! Search: keywords by BM25 over the posting table, vectors by pgvector, both of one user.
//!
//! Comes in: a question. Goes out: what may answer it, a few times what is wanted, with what the score is made of. A user with few memories is
//! looked through exactly; one with many by the HNSW index, whose scan goes on until enough of that user's rows were met. Never here: `ts_rank`,
//! which is slow and not leakproof under row-level security.

use crate::fault::sql;
use crate::link::{PgStore, begin};
use crate::rows::read;
use crate::statements;
use crate::write::as_text;
use heirloom_core::fault::Result;
use heirloom_engine::shelf::tiers::{
    Found, Question, SEATS, SPARE, Stored, Tier, UserContext, explained, question_terms, with_recency,
};
use std::collections::HashMap;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// Memories of a user up to which every vector is compared: below it an index scan would meet mostly other users' rows.
const EXACT: i64 = 20_000;

/// BM25: how soon a repeated word stops counting, and how much length matters.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;

/// What keywords and vectors add at most.
const KEYWORD_SHARE: f64 = 0.6;
const VECTOR_SHARE: f64 = 0.4;

struct Candidate {
    keyword: f64,
    cosine: f64,
    occurred_at: i64,
    trusted: bool,
}

pub(crate) async fn search(
    store: &PgStore,
    who: &UserContext,
    question: &Question<'_>,
) -> Result<Vec<Found>> {
    let Some(tier) = question.tier else {
        let mut found = Vec::new();
        for tier in Tier::STORED {
            found.extend(search_tier(store, who, question, tier).await?);
        }
        return Ok(found);
    };
    search_tier(store, who, question, tier).await
}

async fn search_tier(
    store: &PgStore,
    who: &UserContext,
    question: &Question<'_>,
    tier: Tier,
) -> Result<Vec<Found>> {
    let asked = question_terms(question.text);
    let vector = as_text(&store.link()?.model.vector(question.text));
    let mut client = store.keeper().await?;
    let tx = begin(&mut client, who, false).await?;
    let (terms, weights): (Vec<&str>, Vec<f64>) =
        asked.iter().map(|(term, weight)| (term.as_str(), f64::from(*weight))).unzip();
    let totals = tx.prepare_cached(statements::TOTALS).await.map_err(sql)?;
    let row = tx.query_opt(&totals, &[&who.user(), &tier.name(), &terms]).await.map_err(sql)?;
    let Some(row) = row else { return Ok(Vec::new()) };
    let at = if tier == Tier::Episodic { 0 } else { 1 };
    let (memories, words): (i64, i64) = (row.get(at), row.get(at + 2));
    let having: Vec<i64> = row.get(4);
    let many = memories > EXACT;
    if many {
        tx.batch_execute(statements::ITERATE).await.map_err(sql)?;
    }
    let average = words as f64 / memories.max(1) as f64;
    let (user, tier_name, memory_count, average) =
        (who.user(), tier.name(), memories as f64, average.max(1.0));
    let now = question.now.as_second();
    let values: [&(dyn ToSql + Sync); 10] =
        [&user, &tier_name, &terms, &weights, &memory_count, &average, &SATURATION, &LENGTH, &vector, &now];
    let statement = tx.prepare_cached(&statements::hybrid(many)).await.map_err(sql)?;
    let mut candidates = read_candidates(&tx.query(&statement, &values).await.map_err(sql)?);
    let met = candidates.values().filter(|one| one.keyword > 0.0).count();
    if met >= statements::BY_KEYWORD && candidates.values().any(|one| !one.trusted) {
        let statement = tx.prepare_cached(&statements::trusted()).await.map_err(sql)?;
        candidates.extend(read_candidates(&tx.query(&statement, &values).await.map_err(sql)?));
    }
    let ranked = rank(candidates, question, tier);
    let places: Vec<i64> = ranked.iter().map(|one| one.place).collect();
    let statement = tx.prepare_cached(statements::FETCH).await.map_err(sql)?;
    let rows = tx.query(&statement, &[&who.user(), &places]).await.map_err(sql)?;
    tx.commit().await.map_err(sql)?;
    let mut stored: HashMap<i64, Stored> =
        rows.iter().map(|row| Ok((row.get(0), read(row)?))).collect::<Result<_>>()?;
    let found = |one: Ranked| {
        let memory = stored.remove(&one.place)?;
        let explain = explained(&memory, &asked, &having, memories, one.cosine);
        Some(Found { memory, score: one.score, why: one.why, explain })
    };
    Ok(ranked.into_iter().filter_map(found).collect())
}

fn read_candidates(rows: &[Row]) -> HashMap<i64, Candidate> {
    let candidate = |row: &Row| Candidate {
        keyword: row.get(1),
        cosine: row.get(2),
        occurred_at: row.get(3),
        trusted: row.get(4),
    };
    rows.iter().map(|row| (row.get(0), candidate(row))).collect()
}

struct Ranked {
    place: i64,
    score: f64,
    why: Vec<(String, f64)>,
    cosine: f64,
    trusted: bool,
}

/// Scores: keywords as a share of the best, the vector's cosine, and for turns their age. What is left is a few times what is wanted, and the best of
/// the trusted.
fn rank(candidates: HashMap<i64, Candidate>, question: &Question<'_>, tier: Tier) -> Vec<Ranked> {
    let best = candidates.values().map(|c| c.keyword).fold(0.0, f64::max);
    let mut ranked: Vec<Ranked> = candidates
        .into_iter()
        .map(|(place, c)| {
            let keyword = if best > 0.0 { KEYWORD_SHARE * c.keyword / best } else { 0.0 };
            let vector = VECTOR_SHARE * c.cosine.max(0.0);
            let plain = keyword + vector;
            let score = match (tier, jiff::Timestamp::from_second(c.occurred_at)) {
                (Tier::Episodic, Ok(at)) => with_recency(plain, question.recency_weight, at, question.now),
                _ => plain,
            };
            let mut why = vec![("keyword".to_owned(), keyword), ("vector".to_owned(), vector)];
            if score != plain {
                why.push(("age".to_owned(), score - plain));
            }
            why.retain(|(_, points)| *points != 0.0);
            Ranked { place, score, why, cosine: c.cosine, trusted: c.trusted }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    let (mut others, mut seats) = (question.limit.saturating_mul(SPARE), SEATS);
    ranked.retain(|one| {
        let left = if one.trusted && others == 0 { &mut seats } else { &mut others };
        let stays = *left > 0;
        *left = left.saturating_sub(1);
        stays
    });
    ranked
}
