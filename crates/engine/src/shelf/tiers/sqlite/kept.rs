//! What it takes to go back, in a user's database.
//!
//! Comes in: rows to keep, in the transaction of the change they belong to. Goes out: the same, oldest first. What is past its time goes with
//! the next change. Never here: a change without its rows.

use super::super::event::{Event, Head};
use super::super::kept::{Back, KeptRow, Mark, Touched, kept_since};
use super::super::{Tier, UserContext};
use super::database::{Database, append, fault};
use super::rows;
use heirloom_core::fault::Result;
use jiff::Timestamp;
use rusqlite::{Transaction, params};

/// Appends events and keeps what it takes to take back the change they tell of.
pub(super) fn append_kept(
    tx: &Transaction<'_>,
    who: &UserContext,
    events: &[Event],
    touched: &[Touched],
    mark: Option<&Mark>,
) -> Result<Head> {
    let head = append(tx, who, events)?;
    let (Some(mark), Some(first)) = (mark, events.first()) else { return Ok(head) };
    let seq = (head.seq + 1).saturating_sub(events.len() as u64);
    tx.prepare_cached("delete from undo where user = ?1 and at < ?2")
        .and_then(|mut old| old.execute(params![who.user(), kept_since(first.at).as_second()]))
        .map_err(fault)?;
    let mut insert = tx.prepare_cached("insert into undo values (?1, ?2, ?3, ?4, ?5, ?6)").map_err(fault)?;
    for (n, row) in mark.rows(seq, first.at, touched).iter().enumerate() {
        let body = serde_json::to_string(row).unwrap_or_default();
        insert
            .execute(params![who.user(), seq as i64, n as i64, first.at.as_second(), row.id, body])
            .map_err(fault)?;
    }
    Ok(head)
}

/// Drops what is kept of one memory.
pub(super) fn drop_one(tx: &Transaction<'_>, who: &UserContext, id: &str) -> Result<()> {
    tx.prepare_cached("delete from undo where user = ?1 and id = ?2")
        .and_then(|mut gone| gone.execute(params![who.user(), id]))
        .map_err(fault)?;
    Ok(())
}

/// Drops all that is kept of a tier, drafts that were turned down included.
pub(super) fn drop_tier(tx: &Transaction<'_>, who: &UserContext, tier: Option<Tier>) -> Result<()> {
    let of = tier.map_or("%".to_owned(), |tier| format!("{}:%", tier.kind().name()));
    tx.execute("delete from undo where user = ?1 and id like ?2", params![who.user(), of]).map_err(fault)?;
    Ok(())
}

impl Database {
    pub(super) fn put_back(
        &mut self,
        who: &UserContext,
        back: &[Back],
        event: &Event,
        mark: &Mark,
    ) -> Result<Option<Head>> {
        let tx = self.begin()?;
        let mut touched = Vec::with_capacity(back.len());
        for one in back {
            let Some(now) = rows::get(&tx, who, &one.id)? else { return Ok(None) };
            let Some(after) = one.row(&now, event.at) else { return Ok(None) };
            rows::update(&tx, who, &after)?;
            touched.push(Touched { before: Some(now), after });
        }
        let head = append_kept(&tx, who, std::slice::from_ref(event), &touched, Some(mark))?;
        tx.commit().map_err(fault)?;
        self.shorten_log();
        Ok(Some(head))
    }

    pub(super) fn kept(&self, who: &UserContext, since: Timestamp) -> Result<Vec<KeptRow>> {
        let mut statement = self
            .db
            .prepare_cached("select body from undo where user = ?1 and at >= ?2 order by seq, n")
            .map_err(fault)?;
        let rows = statement.query_map(params![who.user(), since.as_second()], |row| row.get::<_, String>(0));
        let rows = rows.and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>).map_err(fault)?;
        // A row that cannot be read costs only itself.
        Ok(rows.iter().filter_map(|body| serde_json::from_str(body).ok()).collect())
    }

    pub(super) fn drop_kept(&mut self, who: &UserContext, ids: &[String]) -> Result<()> {
        let tx = self.begin()?;
        ids.iter().try_for_each(|id| drop_one(&tx, who, id))?;
        tx.commit().map_err(fault)
    }
}
