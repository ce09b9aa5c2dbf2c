//! Search: keywords by BM25 over the posting table, vectors by pgvector, both of one user.
//!
//! Comes in: a question. Goes out: the best memories of one tier, best first, with what their score is made of. A user with few memories is
//! looked through exactly; one with many by the HNSW index, whose scan goes on until enough of that user's rows were met. Never here: `ts_rank`,
//! which is slow and not leakproof under row-level security.

use crate::fault::sql;
use crate::link::{PgStore, begin};
use crate::rows::read;
use crate::statements;
use crate::write::as_text;
use heirloom_core::fault::Result;
use heirloom_engine::recall::Explain;
use heirloom_engine::shelf::tiers::{
    Found, Question, Stored, Tier, UserContext, question_terms, with_recency,
};
use std::collections::HashMap;

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
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.memory.id.cmp(&b.memory.id)));
        found.truncate(question.limit);
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
    let totals = tx.prepare_cached(statements::TOTALS).await.map_err(sql)?;
    let Some(row) = tx.query_opt(&totals, &[&who.user()]).await.map_err(sql)? else { return Ok(Vec::new()) };
    let at = if tier == Tier::Episodic { 0 } else { 1 };
    let (memories, words): (i64, i64) = (row.get(at), row.get(at + 2));
    let many = memories > EXACT;
    if many {
        tx.batch_execute(statements::ITERATE).await.map_err(sql)?;
    }
    let (terms, weights): (Vec<&str>, Vec<f64>) =
        asked.iter().map(|(term, weight)| (term.as_str(), f64::from(*weight))).unzip();
    let average = words as f64 / memories.max(1) as f64;
    let statement = tx.prepare_cached(&statements::hybrid(many)).await.map_err(sql)?;
    let rows = tx
        .query(
            &statement,
            &[
                &who.user(),
                &tier.name(),
                &terms,
                &weights,
                &(memories as f64),
                &average.max(1.0),
                &SATURATION,
                &LENGTH,
                &vector,
                &question.now.as_second(),
            ],
        )
        .await
        .map_err(sql)?;
    let candidates: Vec<(i64, Candidate)> = rows
        .iter()
        .map(|row| {
            (row.get(0), Candidate { keyword: row.get(1), cosine: row.get(2), occurred_at: row.get(3) })
        })
        .collect();
    let ranked = rank(candidates, question, tier);
    let places: Vec<i64> = ranked.iter().map(|(place, ..)| *place).collect();
    let statement = tx.prepare_cached(statements::FETCH).await.map_err(sql)?;
    let rows = tx.query(&statement, &[&who.user(), &places]).await.map_err(sql)?;
    tx.commit().await.map_err(sql)?;
    let mut memories: HashMap<i64, Stored> =
        rows.iter().map(|row| Ok((row.get(0), read(row)?))).collect::<Result<_>>()?;
    let found = |(place, score, why)| {
        Some(Found { memory: memories.remove(&place)?, score, why, explain: Explain::default() })
    };
    Ok(ranked.into_iter().filter_map(found).collect())
}

type Ranked = (i64, f64, Vec<(String, f64)>);

/// Scores: keywords as a share of the best, the vector's cosine, and for turns their age.
fn rank(candidates: Vec<(i64, Candidate)>, question: &Question<'_>, tier: Tier) -> Vec<Ranked> {
    let best = candidates.iter().map(|(_, c)| c.keyword).fold(0.0, f64::max);
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
            (place, score, why)
        })
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.truncate(question.limit);
    ranked
}
