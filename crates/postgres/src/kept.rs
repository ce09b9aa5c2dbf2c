//! What it takes to go back, in the database.
//!
//! Comes in: rows to keep, in the transaction of the change they belong to. Goes out: the same, oldest first.
//! Never here: putting them back ([`crate::back`]), a change without its rows, or a statement that does not name its user.

use crate::audit::{Owner, append};
use crate::link::PgStore;
use crate::session::Session;
use crate::values::{bigint, ints, text, texts};
use heirloom_core::fault::Result;
use heirloom_engine::shelf::tiers::{Event, KeptRow, Mark, Tier, Touched, UserContext, kept_since};
use jiff::Timestamp;

/// Appends events and keeps what it takes to take back the change they tell of.
pub(crate) async fn append_kept(
    tx: &Session,
    who: &UserContext,
    owner: &mut Owner,
    events: &[Event],
    touched: &[Touched],
    mark: Option<&Mark>,
) -> Result<()> {
    append(tx, who, owner, events).await?;
    let (Some(mark), Some(first)) = (mark, events.first()) else { return Ok(()) };
    let seq = (owner.head.seq + 1).saturating_sub(events.len() as u64);
    let rows = mark.rows(seq, first.at, touched);
    let (ids, bodies): (Vec<&str>, Vec<String>) =
        rows.iter().map(|row| (row.id.as_str(), serde_json::to_string(row).unwrap_or_default())).unzip();
    let numbers: Vec<i32> = (0..rows.len()).map(|n| i32::try_from(n).unwrap_or(i32::MAX)).collect();
    let keep = "with old as (delete from heirloom.undo where user_id = $1 and at < $7)
             insert into heirloom.undo select $1, $2, n, $3, id, body from unnest($4::int[], $5::text[], $6::text[]) as row (n, id, body)
             on conflict do nothing";
    let user = who.user();
    let (seq, at, since) = (seq as i64, first.at.as_second(), kept_since(first.at).as_second());
    let values =
        [text(&user), bigint(&seq), bigint(&at), ints(&numbers), texts(&ids), texts(&bodies), bigint(&since)];
    tx.run(keep, &values).await
}

/// Drops what is kept of memories.
pub(crate) async fn drop_of(tx: &Session, who: &UserContext, ids: &[String]) -> Result<()> {
    let drop = "delete from heirloom.undo where user_id = $1 and id = any($2)";
    tx.run(drop, &[text(&who.user()), texts(&ids)]).await
}

/// Drops all that is kept of a tier, drafts that were turned down included.
pub(crate) async fn drop_tier(tx: &Session, who: &UserContext, tier: Option<Tier>) -> Result<()> {
    let of = tier.map_or("%".to_owned(), |tier| format!("{}:%", tier.kind().name()));
    let drop = "delete from heirloom.undo where user_id = $1 and id like $2";
    tx.run(drop, &[text(&who.user()), text(&of)]).await
}

pub(crate) async fn kept(store: &PgStore, who: &UserContext, since: Timestamp) -> Result<Vec<KeptRow>> {
    let tx = Session::begin(store, who, false).await?;
    let asked = "select body from heirloom.undo where user_id = $1 and at >= $2 order by seq, n";
    let since = since.as_second();
    let rows = tx.query(asked, &[text(&who.user()), bigint(&since)]).await?;
    tx.commit().await?;
    // A row that cannot be read costs only itself.
    Ok(rows.iter().filter_map(|row| serde_json::from_str(row.get(0)).ok()).collect())
}

pub(crate) async fn drop_kept(store: &PgStore, who: &UserContext, ids: &[String]) -> Result<()> {
    let tx = Session::begin(store, who, true).await?;
    drop_of(&tx, who, ids).await?;
    tx.commit().await
}
