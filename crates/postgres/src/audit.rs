//! The audit chain of one user in the database.
//!
//! Comes in: events and a transaction of their user. Goes out: the head of the chain. Lines are added by a function that runs as the owner of the
//! tables, locks the user's row and takes only what follows the line before, so the chain has one end and nobody else moves it. Never here: content.

use crate::link::PgStore;
use crate::session::Session;
use crate::statements;
use crate::values::{bigint, bigints, text, texts};
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
pub(crate) async fn lock(tx: &Session, who: &UserContext) -> Result<Owner> {
    let row = tx.one(statements::LOCK, &[text(&who.user())]).await?;
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
    tx: &Session,
    who: &UserContext,
    owner: &mut Owner,
    events: &[Event],
) -> Result<()> {
    let mut lines = Vec::with_capacity(events.len());
    for event in events {
        let line = event.after(who.user(), &owner.head);
        owner.head = line.head();
        lines.push(line);
    }
    add(tx, who, owner, &lines).await
}

/// Adds lines, each of which follows the one before, and writes the totals back.
async fn add(tx: &Session, who: &UserContext, owner: &Owner, lines: &[Line]) -> Result<()> {
    let column = |of: fn(&Line) -> String| -> Vec<String> { lines.iter().map(of).collect() };
    let numbers: Vec<i64> = lines.iter().map(|line| line.seq as i64).collect();
    let (at, action) = (column(|line| line.at.clone()), column(|line| line.action.name()));
    let metadata = column(|line| serde_json::to_string(&line.metadata).unwrap_or_default());
    let (prev, hash) = (column(|line| line.prev.clone()), column(|line| line.hash.clone()));
    let totals = vec![owner.episodes, owner.facts, owner.episode_words, owner.fact_words];
    tx.run(
        statements::APPEND,
        &[
            text(&who.user()),
            bigints(&numbers),
            texts(&at),
            texts(&action),
            texts(&metadata),
            texts(&prev),
            texts(&hash),
            bigints(&totals),
        ],
    )
    .await
}

pub(crate) async fn note(store: &PgStore, who: &UserContext, event: &Event) -> Result<Head> {
    let tx = Session::begin(store, who, false).await?;
    let mut owner = lock(&tx, who).await?;
    append(&tx, who, &mut owner, std::slice::from_ref(event)).await?;
    tx.commit().await?;
    Ok(owner.head)
}

/// Where the chain ends, as the function that adds lines left it.
pub(crate) async fn head(store: &PgStore, who: &UserContext) -> Result<Option<Head>> {
    let tx = Session::begin(store, who, false).await?;
    let row = tx.one("select seq, hash from heirloom.owner where user_id = $1", &[text(&who.user())]).await?;
    tx.commit().await?;
    Ok(row.map(|row| Head { seq: row.get::<_, i64>(0).unsigned_abs(), hash: row.get(1) }))
}

pub(crate) async fn lines(store: &PgStore, who: &UserContext, after: u64, limit: usize) -> Result<Vec<Line>> {
    let tx = Session::begin(store, who, false).await?;
    let (after, limit) = (after as i64, i64::try_from(limit).unwrap_or(i64::MAX));
    let asked = "select seq, at, action, metadata, prev, hash, user_id from heirloom.audit where user_id = $1 and seq > $2 order by seq limit $3";
    let rows = tx.query(asked, &[text(&who.user()), bigint(&after), bigint(&limit)]).await?;
    tx.commit().await?;
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
    let tx = Session::begin(store, who, true).await?;
    let mut owner = lock(&tx, who).await?;
    append(&tx, who, &mut owner, std::slice::from_ref(event)).await?;
    let through = through as i64;
    tx.run("select heirloom.drop_lines($1, $2)", &[text(&who.user()), bigint(&through)]).await?;
    tx.commit().await?;
    Ok(owner.head)
}

/// Goes on with lines that another store wrote, if they follow what is here.
pub(crate) async fn go_on(store: &PgStore, who: &UserContext, lines: &[Line]) -> Result<bool> {
    let tx = Session::begin(store, who, true).await?;
    let owner = lock(&tx, who).await?;
    let follows =
        lines.first().is_some_and(|line| line.seq == owner.head.seq + 1 && line.prev == owner.head.hash);
    if follows {
        add(&tx, who, &owner, lines).await?;
    }
    tx.commit().await?;
    Ok(follows)
}
