//! Search: keywords by BM25 over the posting table, vectors by pgvector, both of one user.
//!
//! Comes in: a question. Goes out: what may answer it, a few times what is wanted, ranked by the engine from what the statements bring. A user with few
//! memories is looked through exactly; one with many by the HNSW index, whose scan goes on until enough of that user's rows were met. Never here:
//! `ts_rank`, which is slow and not leakproof under row-level security; a weight of the ranking.

use crate::link::PgStore;
use crate::rows::read;
use crate::session::Session;
use crate::statements;
use crate::values::{Value, bigint, bigints, double, doubles, ints, text, texts};
use crate::vectors;
use heirloom_core::Trust;
use heirloom_core::fault::Result;
use heirloom_engine::shelf::tiers::{
    Found, InOrder, Met, Posed, Question, Role, Stored, Tier, UserContext, Whole,
};
use std::collections::HashMap;
use tokio_postgres::Row;

/// Memories of a user up to which every vector is compared: below it an index scan would meet mostly other users' rows.
const EXACT: i64 = 20_000;

/// BM25: how soon a repeated word stops counting, and how much length matters.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;

pub(crate) async fn search(
    store: &PgStore,
    who: &UserContext,
    question: &Question<'_>,
    asked: &vectors::Asked,
) -> Result<Vec<Found>> {
    let posed = Posed::new(question, asked.judge.clone());
    let tx = Session::begin(store, who, false).await?;
    let Some(mut whole) = whole(&tx, who, &posed).await? else {
        tx.commit().await?;
        return Ok(Vec::new());
    };
    let tiers: Vec<&str> = Tier::STORED
        .into_iter()
        .filter(|t| question.tier.is_none_or(|tier| tier == *t))
        .map(Tier::name)
        .collect();
    let named = named(&tx, who, &posed, &whole, &tiers).await?;
    let met = candidates(&tx, who, question, asked, &posed, &mut whole, &tiers, &named).await?;
    let ranking = posed.ranking(met, &named, &whole);
    let beside = ranking.beside();
    let members = members(&tx, who, question, asked, &posed, &beside).await?;
    let mut order = ranking.with(members);
    rerank(&tx, who, asked, &mut order).await?;
    let places = order.likely();
    let rows = tx.query(statements::FETCH, &[text(&who.user()), bigints(&places)]).await?;
    tx.commit().await?;
    let texts: HashMap<i64, Stored> =
        rows.iter().map(|row| Ok((row.get(0), read(row)?))).collect::<Result<_>>()?;
    Ok(order.found(texts))
}

/// What is known of all of the user's memories.
async fn whole(tx: &Session, who: &UserContext, posed: &Posed) -> Result<Option<Whole>> {
    let terms: Vec<&str> = posed.terms().iter().map(|(term, _)| term.as_str()).collect();
    let row = tx.one(statements::TOTALS, &[text(&who.user()), texts(&terms)]).await?;
    let whole =
        |row: Row| Whole { memories: row.get(0), words: row.get(1), having: row.get(2), cosines: (0.0, 0.0) };
    Ok(row.map(whole).filter(|whole| whole.memories > 0))
}

/// Memories that answer words of the question by another name, with the terms they hold.
async fn named(
    tx: &Session,
    who: &UserContext,
    posed: &Posed,
    whole: &Whole,
    tiers: &[&str],
) -> Result<HashMap<i64, Vec<String>>> {
    let names = posed.names(whole);
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let terms: Vec<&str> = posed.terms().iter().map(|(term, _)| term.as_str()).chain(names.clone()).collect();
    let user = who.user();
    let values = [text(&user), texts(&tiers), texts(&terms), texts(&names)];
    let rows = tx.query(statements::NAMED, &values).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// What may answer, and how cosines are spread.
#[allow(clippy::too_many_arguments, reason = "what a question is made of, and nothing else")]
async fn candidates(
    tx: &Session,
    who: &UserContext,
    question: &Question<'_>,
    asked: &vectors::Asked,
    posed: &Posed,
    whole: &mut Whole,
    tiers: &[&str],
    named: &HashMap<i64, Vec<String>>,
) -> Result<Vec<Met>> {
    let (terms, weights): (Vec<&str>, Vec<f64>) =
        posed.terms().iter().map(|(term, weight)| (term.as_str(), f64::from(*weight))).unzip();
    let space = &asked.space;
    let indexed = (whole.memories > EXACT && space.dims <= statements::MOST_INDEXED).then_some(space.dims);
    if indexed.is_some() {
        for setting in statements::ITERATE {
            tx.batch(setting).await?;
        }
    }
    let (user, now) = (who.user(), question.now.as_second());
    let (memories, average) = (whole.memories as f64, whole.average());
    let more: Vec<i64> = named.keys().copied().collect();
    let values: [Value<'_>; 12] = [
        text(&user),
        texts(&tiers),
        texts(&terms),
        doubles(&weights),
        double(&memories),
        double(&average),
        double(&SATURATION),
        double(&LENGTH),
        text(&asked.vector),
        bigint(&now),
        text(&space.model),
        bigints(&more),
    ];
    let rows = tx.query(&statements::hybrid(indexed), &values).await?;
    if let Some(row) = rows.first() {
        let known = |at: usize| row.get::<_, Option<f64>>(at).unwrap_or(0.0);
        whole.cosines = (known(AFTER_CARD + 2), known(AFTER_CARD + 3));
    }
    let mut found: HashMap<i64, Met> = rows.iter().map(met).map(|one| (one.place, one)).collect();
    let by_keyword = found.values().filter(|one| one.keyword > 0.0).count();
    if by_keyword >= statements::BY_KEYWORD && found.values().any(|one| one.trust != Some(Trust::High)) {
        let rows = tx.query(&statements::trusted(), &values).await?;
        for one in rows.iter().map(met) {
            found.entry(one.place).or_insert(one);
        }
    }
    Ok(found.into_values().collect())
}

/// Columns of a card.
const AFTER_CARD: usize = 10;

fn met(row: &Row) -> Met {
    Met {
        place: row.get(0),
        tier: Tier::named(row.get(1)),
        session: row.get(2),
        position: row.get::<_, Option<i32>>(3).unwrap_or_default().unsigned_abs(),
        occurred_at: row.get(4),
        trust: row.get::<_, Option<&str>>(5).and_then(Trust::named),
        role: row.get::<_, Option<&str>>(6).and_then(Role::named),
        tags: row.get::<_, Option<Vec<String>>>(7).unwrap_or_default(),
        length: row.get::<_, i32>(8).unsigned_abs(),
        confidence: row.get::<_, Option<f64>>(9).unwrap_or(1.0),
        keyword: row.get(AFTER_CARD),
        cosine: row.get(AFTER_CARD + 1),
        counts: Vec::new(),
    }
}

/// What stands beside candidates in their conversations.
async fn members(
    tx: &Session,
    who: &UserContext,
    question: &Question<'_>,
    asked: &vectors::Asked,
    posed: &Posed,
    beside: &[(&str, i32, i32)],
) -> Result<Vec<Met>> {
    if beside.is_empty() {
        return Ok(Vec::new());
    }
    let sessions: Vec<&str> = beside.iter().map(|one| one.0).collect();
    let (first, last): (Vec<i32>, Vec<i32>) = beside.iter().map(|one| (one.1, one.2)).unzip();
    let terms: Vec<&str> = posed.terms().iter().map(|(term, _)| term.as_str()).collect();
    let (user, now) = (who.user(), question.now.as_second());
    let values: [Value<'_>; 8] = [
        text(&user),
        texts(&sessions),
        ints(&first),
        ints(&last),
        text(&asked.space.model),
        texts(&terms),
        text(&asked.vector),
        bigint(&now),
    ];
    let rows = tx.query(&statements::members(), &values).await?;
    let member = |row: &Row| Met { counts: row.get(AFTER_CARD + 2), ..met(row) };
    Ok(rows.iter().map(member).collect())
}

/// Looks at the best word by word, where the model has word pieces.
async fn rerank(
    tx: &Session,
    who: &UserContext,
    asked: &vectors::Asked,
    order: &mut InOrder<'_>,
) -> Result<()> {
    let places = order.pieces();
    if places.is_empty() {
        return Ok(());
    }
    let user = who.user();
    let values = [text(&user), text(&asked.space.model), bigints(&places)];
    let rows = tx.query(statements::PIECES, &values).await?;
    order.rerank(&rows.iter().map(|row| (row.get(0), row.get(1))).collect());
    Ok(())
}
