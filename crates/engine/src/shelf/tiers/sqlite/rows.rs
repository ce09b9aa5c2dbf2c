//! Memories in a user's database.
//!
//! Comes in: drafts that passed, pages wanted, changes, removals. Goes out: memories. What a row's columns say counts before what its detail
//! says. Never here: a statement that does not name its user.

use super::super::event::{Event, Head};
use super::super::kept::{Mark, Touched};
use super::super::store::{Change, Counts, Page, Receipt, Removed, Told, Wanted, Which};
use super::super::{LifeStatus, Stored, Tier, TierDraft, UserContext};
use super::database::{Database, append, fault};
use super::kept::{append_kept, drop_one, drop_tier};
use crate::gate::Passed;
use heirloom_core::{Code, Fault, fault::Result};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params, params_from_iter};

const COLUMNS: &str = "place, content, detail, status, expires_at";

impl Database {
    pub(super) fn write(
        &mut self,
        who: &UserContext,
        drafts: &[Passed<TierDraft>],
        events: &[Event],
        mark: Option<&Mark>,
    ) -> Result<Receipt> {
        let tx = self.begin()?;
        let mut touched = Vec::new();
        let mut fresh = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let stored = draft.draft().stored();
            let added = insert(&tx, who, stored)?;
            if added {
                tx.prepare_cached("delete from gone where user = ?1 and id = ?2")
                    .and_then(|mut gone| gone.execute(params![who.user(), stored.id]))
                    .map_err(fault)?;
                touched.push(Touched { before: None, after: stored.clone() });
                for old in &stored.supersedes {
                    touched.extend(supersede(&tx, who, old, stored)?);
                }
                for old in others_in_slot(&tx, who, stored)? {
                    touched.extend(supersede(&tx, who, &old, stored)?);
                }
            }
            fresh.push(added);
        }
        let head = append_kept(&tx, who, events, &touched, mark)?;
        tx.commit().map_err(fault)?;
        self.shorten_log();
        Ok(Receipt { fresh, head })
    }

    pub(super) fn get(&self, who: &UserContext, id: &str) -> Result<Option<Stored>> {
        get(&self.db, who, id)
    }

    pub(super) fn page(&self, who: &UserContext, wanted: &Wanted) -> Result<Page> {
        // A database is one user's: the newest of everything, or of the turns that are most of it, stand at the end of the table. An index on the user would lead to all
        // rows, to be sorted for a few; the sign before a column keeps it from being used.
        let narrow = wanted.status.is_some() || wanted.session.is_some() || wanted.slot.is_some();
        let whole = !narrow && wanted.under.is_none() && wanted.tier != Some(Tier::Semantic);
        let plain = if whole { "+" } else { "" };
        let mut sql = format!("select {COLUMNS} from memory where {plain}user = ?");
        let mut values: Vec<Value> = vec![who.user().to_owned().into()];
        let mut and = |condition: &str, value: Value| {
            sql.push_str(condition);
            values.push(value);
        };
        if let Some(tier) = wanted.tier {
            and(&format!(" and {plain}tier = ?"), tier.name().to_owned().into());
        }
        if let Some(status) = wanted.status {
            and(" and status = ?", status.name().to_owned().into());
        }
        if let Some(session) = &wanted.session {
            and(" and session = ?", session.clone().into());
        }
        if let Some(slot) = &wanted.slot {
            and(" and slot = ?", slot.clone().into());
        }
        if let Some(under) = &wanted.under {
            // A range and no pattern, so that the index on this column is used.
            and(" and session >= ?", under.clone().into());
            and(" and session < ?", format!("{under}{}", char::MAX).into());
        }
        if let Some(now) = wanted.live_at {
            and(" and (+expires_at is null or +expires_at >= ?)", now.as_second().into());
        }
        if let Some(place) = wanted.after {
            and(if wanted.newest { " and place < ?" } else { " and place > ?" }, place.into());
        }
        let order = if wanted.newest { "desc" } else { "asc" };
        and(&format!(" order by place {order} limit ?"), (wanted.limit as i64).into());
        let mut statement = self.db.prepare_cached(&sql).map_err(fault)?;
        let mut rows = statement.query(params_from_iter(values)).map_err(fault)?;
        let mut page = Page::default();
        while let Some(row) = rows.next().map_err(fault)? {
            page.next = Some(row.get(0).map_err(fault)?);
            page.memories.push(read(row)?);
        }
        if page.memories.len() < wanted.limit {
            page.next = None;
        }
        Ok(page)
    }

    pub(super) fn change(
        &mut self,
        who: &UserContext,
        id: &str,
        change: &Change,
        event: &Event,
        mark: &Mark,
    ) -> Result<Option<Head>> {
        let tx = self.begin()?;
        let Some(mut stored) = get(&tx, who, id)? else { return Ok(None) };
        let before = stored.clone();
        match change {
            Change::Confidence(confidence) => stored.confidence = *confidence,
            Change::ExpiresAt(at) => stored.expires_at = Some(*at),
            Change::Status(status) => stored.status = *status,
        }
        stored.updated_at = event.at;
        update(&tx, who, &stored)?;
        let touched = [Touched { before: Some(before), after: stored }];
        let head = append_kept(&tx, who, std::slice::from_ref(event), &touched, Some(mark))?;
        tx.commit().map_err(fault)?;
        Ok(Some(head))
    }

    pub(super) fn delete(&mut self, who: &UserContext, which: &Which, told: Told<'_>) -> Result<Removed> {
        let tx = self.begin()?;
        let ids = match which {
            Which::Ids(ids) => {
                let mut there =
                    tx.prepare_cached("select 1 from memory where user = ?1 and id = ?2").map_err(fault)?;
                let mut found = Vec::new();
                for id in ids {
                    if there.exists(params![who.user(), id]).map_err(fault)? && !found.contains(id) {
                        found.push(id.clone());
                    }
                }
                found
            }
            Which::Tier(None) => {
                ids_of(&tx, "select id from memory where user = ?1 order by place", params![who.user()])?
            }
            Which::Tier(Some(tier)) => {
                let sql = "select id from memory where user = ?1 and tier = ?2 order by place";
                ids_of(&tx, sql, params![who.user(), tier.name()])?
            }
            Which::Expired(now) => {
                let sql = "select id from memory where user = ?1 and expires_at < ?2 order by place";
                ids_of(&tx, sql, params![who.user(), now.as_second()])?
            }
        };
        if let Which::Tier(tier) = which {
            drop_tier(&tx, who, *tier)?;
        }
        if ids.is_empty() {
            tx.commit().map_err(fault)?;
            return Ok(Removed { ids, head: None });
        }
        for id in &ids {
            drop_one(&tx, who, id)?;
            let run = |sql: &str| -> Result<()> {
                tx.prepare_cached(sql).and_then(|mut s| s.execute(params![who.user(), id])).map_err(fault)?;
                Ok(())
            };
            run("delete from memory where user = ?1 and id = ?2")?;
            run("insert into gone (user, id) values (?1, ?2) on conflict do update set scrubbed = 0")?;
        }
        let head = append(&tx, who, &told(&ids))?;
        tx.commit().map_err(fault)?;
        self.shorten_log();
        Ok(Removed { ids, head: Some(head) })
    }

    pub(super) fn removed(&self, who: &UserContext, ids: &[&str]) -> Result<Vec<String>> {
        let mut there =
            self.db.prepare_cached("select 1 from gone where user = ?1 and id = ?2").map_err(fault)?;
        let mut found = Vec::new();
        for id in ids {
            if there.exists(params![who.user(), id]).map_err(fault)? {
                found.push((*id).to_owned());
            }
        }
        Ok(found)
    }

    pub(super) fn counts(&self, who: &UserContext) -> Result<Counts> {
        let mut statement = self
            .db
            .prepare_cached("select tier, status, count(*) from memory where user = ?1 group by 1, 2")
            .map_err(fault)?;
        let rows = statement.query_map([who.user()], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?.unsigned_abs()))
        });
        let rows = rows.and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>).map_err(fault)?;
        let mut counts = Counts::default();
        for (tier, status, count) in rows {
            counts.add(Tier::named(&tier), LifeStatus::named(&status), count);
        }
        Ok(counts)
    }
}

pub(super) fn get(db: &Connection, who: &UserContext, id: &str) -> Result<Option<Stored>> {
    let sql = format!("select {COLUMNS} from memory where user = ?1 and id = ?2");
    let mut statement = db.prepare_cached(&sql).map_err(fault)?;
    let mut rows = statement.query(params![who.user(), id]).map_err(fault)?;
    rows.next().map_err(fault)?.map(read).transpose()
}

fn read(row: &Row<'_>) -> Result<Stored> {
    let detail: String = row.get(2).map_err(fault)?;
    let mut stored: Stored = serde_json::from_str(&detail).map_err(|e| {
        Fault::new(Code::Damaged, format!("a row of the tiers' database cannot be read: {e}"))
    })?;
    stored.content = row.get(1).map_err(fault)?;
    stored.status = LifeStatus::named(&row.get::<_, String>(3).map_err(fault)?).unwrap_or(stored.status);
    let expires: Option<i64> = row.get(4).map_err(fault)?;
    stored.expires_at = expires.and_then(|at| Timestamp::from_second(at).ok());
    Ok(stored)
}

/// Everything about a memory but its text, which has a column of its own.
fn detail(stored: &Stored) -> String {
    serde_json::to_string(&Stored { content: String::new(), ..stored.clone() }).unwrap_or_default()
}

fn insert(tx: &Transaction<'_>, who: &UserContext, stored: &Stored) -> Result<bool> {
    let added = tx
        .prepare_cached(
            "insert into memory (user, id, tier, status, session, slot, occurred_at, expires_at, content, detail)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) on conflict do nothing",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                who.user(),
                stored.id,
                stored.tier.name(),
                stored.status.name(),
                stored.listed_under(),
                stored.slot(),
                stored.occurred_at.as_second(),
                stored.expires_at.map(Timestamp::as_second),
                stored.content,
                detail(stored),
            ])
        })
        .map_err(fault)?;
    if added > 0 {
        note_change(tx, &stored.id)?;
    }
    Ok(added > 0)
}

pub(super) fn update(tx: &Transaction<'_>, who: &UserContext, stored: &Stored) -> Result<()> {
    tx.prepare_cached(
        "update memory set status = ?3, expires_at = ?4, detail = ?5 where user = ?1 and id = ?2",
    )
    .and_then(|mut statement| {
        let expires = stored.expires_at.map(Timestamp::as_second);
        statement.execute(params![who.user(), stored.id, stored.status.name(), expires, detail(stored)])
    })
    .map_err(fault)?;
    note_change(tx, &stored.id)
}

fn supersede(tx: &Transaction<'_>, who: &UserContext, old: &str, by: &Stored) -> Result<Option<Touched>> {
    let Some(mut stored) = get(tx, who, old)? else { return Ok(None) };
    let before = stored.clone();
    stored.status = LifeStatus::Superseded;
    stored.superseded_by = Some(by.id.clone());
    stored.updated_at = by.created_at;
    update(tx, who, &stored)?;
    Ok(Some(Touched { before: Some(before), after: stored }))
}

/// What else is in use under the key of an item: somebody may have stored it since its writer looked.
fn others_in_slot(tx: &Transaction<'_>, who: &UserContext, stored: &Stored) -> Result<Vec<String>> {
    if stored.item.is_none() || stored.status != LifeStatus::Active {
        return Ok(Vec::new());
    }
    let sql = "select id from memory where user = ?1 and slot = ?2 and id <> ?3 and status = 'active' order by place";
    ids_of(tx, sql, params![who.user(), stored.slot(), stored.id])
}

/// Tells the index that something about this id changed.
fn note_change(tx: &Transaction<'_>, id: &str) -> Result<()> {
    tx.prepare_cached("insert into change (id) values (?1)")
        .and_then(|mut s| s.execute([id]))
        .map_err(fault)?;
    Ok(())
}

fn ids_of(tx: &Transaction<'_>, sql: &str, values: &[&dyn rusqlite::ToSql]) -> Result<Vec<String>> {
    let mut statement = tx.prepare_cached(sql).map_err(fault)?;
    let rows = statement.query_map(values, |row| row.get(0)).map_err(fault)?;
    rows.collect::<rusqlite::Result<_>>().map_err(fault)
}

/// The last change there is.
pub(super) fn last_change(db: &Connection) -> Result<i64> {
    let last = db
        .query_row("select seq from sqlite_sequence where name = 'change'", [], |row| row.get(0))
        .optional();
    Ok(last.map_err(fault)?.unwrap_or(0))
}
