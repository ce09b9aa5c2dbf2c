//! What an operator did, as a line of an audit.
//!
//! Comes in: whose audit, what was done, when. Goes out: a line that follows the last one of that chain and names the operator's login, in the transaction
//! of the change itself. What belongs to nobody in particular is in the chain of the deployment. Never here: a row of a user.

use super::Team;
use crate::fault::sql;
use heirloom_core::fault::Result;
use heirloom_engine::shelf::tiers::{Action, Event, Head, Metadata, SYSTEM};
use jiff::Timestamp;

/// A line to be.
pub(super) struct Note<'a> {
    pub(super) user: &'a str,
    pub(super) what: String,
    pub(super) now: Timestamp,
}

impl Note<'_> {
    /// A line in the chain of the deployment.
    pub(super) fn system(what: &str, now: Timestamp) -> Note<'static> {
        Note { user: SYSTEM, what: what.to_owned(), now }
    }
}

impl Team {
    /// Appends a line in a transaction of its own.
    pub(super) async fn note_only(&self, note: &Note<'_>) -> Result<()> {
        self.change("begin", Some(note)).await
    }

    /// Appends a line in the transaction that is open.
    pub(super) async fn append(&self, note: &Note<'_>) -> Result<()> {
        let login = self.text("select session_user::text").await?.unwrap_or_default();
        self.client.batch_execute("set local role heirloom_owner").await.map_err(sql)?;
        let fresh = "insert into heirloom.owner (user_id) values ($1) on conflict do nothing";
        self.client.execute(fresh, &[&note.user]).await.map_err(sql)?;
        let last = "select seq, hash from heirloom.owner where user_id = $1 for update";
        let row = self.client.query_one(last, &[&note.user]).await.map_err(sql)?;
        let head = Head { seq: row.get::<_, i64>(0).unsigned_abs(), hash: row.get(1) };
        let metadata = Metadata {
            reason: Some(note.what.clone()),
            by: Some(format!("an operator ({login})")),
            ..Metadata::default()
        };
        let line = Event::new(Action::AccountChange, note.now, metadata).after(note.user, &head);
        let (seq, metadata) =
            (line.seq.cast_signed(), serde_json::to_string(&line.metadata).unwrap_or_default());
        let add = "insert into heirloom.audit (user_id, seq, at, action, metadata, prev, hash) values ($1, $2, $3, $4, $5, $6, $7)";
        let action = line.action.name().to_string();
        self.client
            .execute(add, &[&note.user, &seq, &line.at, &action, &metadata, &line.prev, &line.hash])
            .await
            .map_err(sql)?;
        let moved = "update heirloom.owner set seq = $2, hash = $3 where user_id = $1";
        self.client.execute(moved, &[&note.user, &seq, &line.hash]).await.map_err(sql)?;
        self.client.batch_execute("reset role").await.map_err(sql)
    }
}
