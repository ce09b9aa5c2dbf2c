//! Drafts that wait for a person, with the rows they are about.
//!
//! Comes in: a text under its SHA-256. Goes out: the same, on every machine. Never here: deciding about one.

use crate::link::PgStore;
use crate::session::Session;
use crate::values::{bigint, text};
use heirloom_core::fault::Result;
use heirloom_engine::shelf::tiers::UserContext;
use jiff::Timestamp;

pub(crate) async fn all(store: &PgStore, who: &UserContext) -> Result<Vec<(String, String)>> {
    let session = Session::begin(store, who, false).await?;
    let asked = "select sha256, body from heirloom.draft where user_id = $1 order by at, sha256";
    let rows = session.query(asked, &[text(&who.user())]).await?;
    session.commit().await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

pub(crate) async fn put(
    store: &PgStore,
    who: &UserContext,
    sha256: &str,
    at: Timestamp,
    body: &str,
) -> Result<()> {
    let session = Session::begin(store, who, true).await?;
    let (user, at) = (who.user(), at.as_second());
    let values = [text(&user), text(&sha256), bigint(&at), text(&body)];
    let statement = "insert into heirloom.draft (user_id, sha256, at, body) values ($1, $2, $3, $4) on conflict do nothing";
    session.run(statement, &values).await?;
    session.commit().await
}

pub(crate) async fn remove(store: &PgStore, who: &UserContext, sha256: &str) -> Result<()> {
    let session = Session::begin(store, who, true).await?;
    let statement = "delete from heirloom.draft where user_id = $1 and sha256 = $2";
    session.run(statement, &[text(&who.user()), text(&sha256)]).await?;
    session.commit().await
}
