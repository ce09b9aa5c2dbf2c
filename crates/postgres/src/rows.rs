//! Reading memories.
//!
//! Comes in: ids and pages wanted. Goes out: memories of the context's user. What a row's columns say counts before what its detail says.

use crate::link::PgStore;
use crate::session::Session;
use crate::values::{Value, bigint, text, texts};
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::shelf::tiers::{Counts, LifeStatus, Page, Stored, Tier, UserContext, Wanted};
use jiff::Timestamp;
use tokio_postgres::Row;

/// What [`read`] reads.
pub(crate) const COLUMNS: &str = "place, content, detail, status, expires_at";

pub(crate) fn read(row: &Row) -> Result<Stored> {
    let mut stored: Stored = serde_json::from_value(row.get(2))
        .map_err(|e| Fault::new(Code::Damaged, format!("a row of the tiers cannot be read: {e}")))?;
    stored.content = row.get(1);
    stored.status = LifeStatus::named(row.get(3)).unwrap_or(stored.status);
    stored.expires_at = row.get::<_, Option<i64>>(4).and_then(|at| Timestamp::from_second(at).ok());
    Ok(stored)
}

pub(crate) async fn one(tx: &Session, who: &UserContext, id: &str) -> Result<Option<Stored>> {
    let asked = format!("select {COLUMNS} from heirloom.memory where user_id = $1 and id = $2");
    tx.one(&asked, &[text(&who.user()), text(&id)]).await?.map(|row| read(&row)).transpose()
}

/// Which of these ids are there.
pub(crate) async fn known(store: &PgStore, who: &UserContext, ids: &[&str]) -> Result<Vec<String>> {
    let tx = Session::begin(store, who, false).await?;
    let asked = "select id from heirloom.memory where user_id = $1 and id = any($2)";
    let rows = tx.query(asked, &[text(&who.user()), texts(&ids)]).await?;
    tx.commit().await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

pub(crate) async fn get(store: &PgStore, who: &UserContext, id: &str) -> Result<Option<Stored>> {
    let tx = Session::begin(store, who, false).await?;
    let found = one(&tx, who, id).await?;
    tx.commit().await?;
    Ok(found)
}

/// What is in use under the key of an item beside this one: somebody may have stored it since its writer looked.
pub(crate) async fn others_in_slot(tx: &Session, who: &UserContext, stored: &Stored) -> Result<Vec<String>> {
    if stored.item.is_none() || stored.status != LifeStatus::Active {
        return Ok(Vec::new());
    }
    let slot = stored.slot();
    let asked = "select id from heirloom.memory
        where user_id = $1 and slot = $2 and id <> $3 and status = 'active' order by place";
    let rows = tx.query(asked, &[text(&who.user()), text(&slot), text(&stored.id)]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

pub(crate) async fn page(store: &PgStore, who: &UserContext, wanted: &Wanted) -> Result<Page> {
    let tx = Session::begin(store, who, false).await?;
    let tier = wanted.tier.map(Tier::name);
    let status = wanted.status.map(LifeStatus::name);
    let live = wanted.live_at.map(Timestamp::as_second);
    let limit = i64::try_from(wanted.limit).unwrap_or(i64::MAX);
    let mut asked = format!("select {COLUMNS} from heirloom.memory where user_id = $1");
    let user = who.user();
    let mut values: Vec<Value<'_>> = vec![text(&user)];
    let mut and = |condition: &str, value| {
        values.push(value);
        asked.push_str(&condition.replace('?', &format!("${}", values.len())));
    };
    if let Some(tier) = &tier {
        and(" and tier = ?", text(tier));
    }
    if let Some(status) = &status {
        and(" and status = ?", text(status));
    }
    if let Some(session) = &wanted.session {
        and(" and session = ?", text(session));
    }
    if let Some(slot) = &wanted.slot {
        and(" and slot = ?", text(slot));
    }
    if let Some(under) = &wanted.under {
        and(" and starts_with(session, ?)", text(under));
    }
    if let Some(live) = &live {
        and(" and (expires_at is null or expires_at >= ?)", bigint(live));
    }
    if let Some(after) = &wanted.after {
        and(if wanted.newest { " and place < ?" } else { " and place > ?" }, bigint(after));
    }
    let order = if wanted.newest { "desc" } else { "asc" };
    and(&format!(" order by place {order} limit ?"), bigint(&limit));
    let rows = tx.query(&asked, &values).await?;
    tx.commit().await?;
    let memories: Vec<Stored> = rows.iter().map(read).collect::<Result<_>>()?;
    let next = rows.last().filter(|_| rows.len() == wanted.limit).map(|row| row.get(0));
    Ok(Page { memories, next })
}

pub(crate) async fn removed(store: &PgStore, who: &UserContext, ids: &[&str]) -> Result<Vec<String>> {
    let tx = Session::begin(store, who, false).await?;
    let asked = "select id from heirloom.gone where user_id = $1 and id = any($2)";
    let rows = tx.query(asked, &[text(&who.user()), texts(&ids)]).await?;
    tx.commit().await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

pub(crate) async fn counts(store: &PgStore, who: &UserContext) -> Result<Counts> {
    let tx = Session::begin(store, who, false).await?;
    let asked = "select tier, status, count(*) from heirloom.memory where user_id = $1 group by 1, 2";
    let rows = tx.query(asked, &[text(&who.user())]).await?;
    tx.commit().await?;
    let mut counts = Counts::default();
    for row in rows {
        counts.add(
            Tier::named(row.get(0)),
            LifeStatus::named(row.get(1)),
            row.get::<_, i64>(2).unsigned_abs(),
        );
    }
    Ok(counts)
}
