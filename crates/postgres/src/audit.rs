//! The audit chain of one user in the database.
//!
//! Comes in: events and a transaction of their user. Goes out: the head of the chain. The user's row in `owner` is locked while lines are added, so
//! the chain has one end. Never here: content.

use crate::fault::sql;
use crate::link::{PgStore, begin};
use crate::statements;
use deadpool_postgres::Transaction;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::shelf::tiers::{Event, Head, Line, UserContext};

/// A user's row of totals, locked until the transaction ends.
#[derive(Debug, Clone)]
pub(crate) struct Owner {
    pub(crate) episodes: i64,
    pub(crate) facts: i64,
    pub(crate) episode_words: i64,
    pub(crate) fact_words: i64,
    pub(crate) head: Head,
}

/// Locks the user's row, making it if it is the user's first.
pub(crate) async fn lock(tx: &Transaction<'_>, who: &UserContext) -> Result<Owner> {
    let read = tx.prepare_cached(statements::LOCK).await.map_err(sql)?;
    let mut row = tx.query_opt(&read, &[&who.user()]).await.map_err(sql)?;
    if row.is_none() {
        let make = "insert into heirloom.owner (user_id) values ($1) on conflict do nothing";
        tx.execute(make, &[&who.user()]).await.map_err(sql)?;
        row = tx.query_opt(&read, &[&who.user()]).await.map_err(sql)?;
    }
    let row = row.ok_or_else(|| Fault::new(Code::Internal, "a row just made is not there"))?;
    Ok(Owner {
        episodes: row.get(0),
        facts: row.get(1),
        episode_words: row.get(2),
        fact_words: row.get(3),
        head: Head { seq: row.get::<_, i64>(4).unsigned_abs(), hash: row.get(5) },
    })
}

/// Appends events and writes the totals back.
pub(crate) async fn append(
    tx: &Transaction<'_>,
    who: &UserContext,
    owner: &mut Owner,
    events: &[Event],
) -> Result<()> {
    let mut columns: [Vec<String>; 5] = Default::default();
    let mut numbers = Vec::with_capacity(events.len());
    for event in events {
        let line = event.after(who.user(), &owner.head);
        owner.head = line.head();
        numbers.push(line.seq as i64);
        let metadata = serde_json::to_string(&line.metadata).unwrap_or_default();
        let texts = [line.at, line.action.name(), metadata, line.prev, line.hash];
        columns.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
    }
    let [at, action, metadata, prev, hash] = &columns;
    let insert = tx.prepare_cached(statements::APPEND).await.map_err(sql)?;
    let seq = owner.head.seq as i64;
    tx.execute(
        &insert,
        &[
            &who.user(),
            &numbers,
            at,
            action,
            metadata,
            prev,
            hash,
            &seq,
            &owner.head.hash,
            &owner.episodes,
            &owner.facts,
            &owner.episode_words,
            &owner.fact_words,
        ],
    )
    .await
    .map_err(sql)?;
    Ok(())
}

pub(crate) async fn note(store: &PgStore, who: &UserContext, event: &Event) -> Result<Head> {
    let mut client = store.keeper().await?;
    let tx = begin(&mut client, who, false).await?;
    let mut owner = lock(&tx, who).await?;
    append(&tx, who, &mut owner, std::slice::from_ref(event)).await?;
    tx.commit().await.map_err(sql)?;
    Ok(owner.head)
}

pub(crate) async fn lines(store: &PgStore, who: &UserContext, after: u64, limit: usize) -> Result<Vec<Line>> {
    let mut client = store.keeper().await?;
    let tx = begin(&mut client, who, false).await?;
    let (after, limit) = (after as i64, i64::try_from(limit).unwrap_or(i64::MAX));
    let rows = tx
        .query(
            "select seq, at, action, metadata, prev, hash, user_id from heirloom.audit where user_id = $1 and seq > $2 order by seq limit $3",
            &[&who.user(), &after, &limit],
        )
        .await
        .map_err(sql)?;
    rows.iter()
        .map(|row| {
            let seq: i64 = row.get(0);
            let unreadable = |e: serde_json::Error| {
                Fault::new(Code::Damaged, format!("audit line {seq} cannot be read: {e}"))
                    .fact("line", seq.to_string())
            };
            Ok(Line {
                seq: seq.unsigned_abs(),
                at: row.get(1),
                action: serde_json::from_value(row.get::<_, String>(2).into()).map_err(unreadable)?,
                metadata: serde_json::from_str(row.get(3)).map_err(unreadable)?,
                prev: row.get(4),
                hash: row.get(5),
                user: row.get(6),
            })
        })
        .collect()
}

pub(crate) async fn checkpoint(
    store: &PgStore,
    who: &UserContext,
    through: u64,
    event: &Event,
) -> Result<Head> {
    let mut client = store.keeper().await?;
    let tx = begin(&mut client, who, true).await?;
    let mut owner = lock(&tx, who).await?;
    append(&tx, who, &mut owner, std::slice::from_ref(event)).await?;
    let through = through as i64;
    tx.execute("delete from heirloom.audit where user_id = $1 and seq <= $2", &[&who.user(), &through])
        .await
        .map_err(sql)?;
    tx.commit().await.map_err(sql)?;
    Ok(owner.head)
}
