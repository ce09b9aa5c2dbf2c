//! Keys of requests that are carried out once, with the rows of their user: two servers on one database agree about them.
//!
//! Comes in: the hash of a key and of what was asked. Goes out: whose turn it is, or how it ended. Never here: the key itself, a text of a memory.

use crate::link::PgStore;
use crate::session::Session;
use crate::values::{bigint, int, text, texts};
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::shelf::tiers::{Ended, KEY_KEPT, KeyTurn, MOST_KEYS, UserContext};
use serde_json::Value;
use tokio_postgres::Row;

const PUT: &str = "insert into heirloom.once (user_id, name, asked, at) values ($1, $2, $3, $4) on conflict do nothing returning 1";
const ASK: &str =
    "select asked, at, status, answer from heirloom.once where user_id = $1 and name = $2 for update";
const AGAIN: &str = "update heirloom.once set asked = $3, at = $4, status = null, id = null, answer = null where user_id = $1 and name = $2";

/// Takes the turn of a key. Whoever comes at the same moment waits for this transaction and then sees what it left.
pub(crate) async fn begin(
    store: &PgStore,
    who: &UserContext,
    name: &str,
    asked: &str,
    now: i64,
) -> Result<KeyTurn> {
    let session = Session::begin(store, who, true).await?;
    let user = who.user();
    let values = [text(&user), text(&name), text(&asked), bigint(&now)];
    let turn = match session.one(PUT, &values).await? {
        Some(_) => {
            swept(&session, user, now).await?;
            KeyTurn::Yours
        }
        None => {
            let row = session.one(ASK, &[text(&user), text(&name)]).await?;
            match row.as_ref().and_then(|row| kept(row, asked, now)) {
                Some(turn) => turn,
                None => {
                    session.run(AGAIN, &values).await?;
                    KeyTurn::Yours
                }
            }
        }
    };
    session.commit().await?;
    Ok(turn)
}

fn kept(row: &Row, asked: &str, now: i64) -> Option<KeyTurn> {
    let status: Option<i32> = row.get(2);
    let answer = row.get::<_, Option<&str>>(3).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let done = status.map(|status| Ended {
        status: u16::try_from(status).unwrap_or(200),
        answer: answer.unwrap_or_default(),
    });
    KeyTurn::after(asked, row.get(0), now.saturating_sub(row.get(1)), done)
}

/// Takes out what is too old, and refuses more than are kept.
async fn swept(session: &Session, user: &str, now: i64) -> Result<()> {
    let old = now.saturating_sub(KEY_KEPT);
    session
        .run("delete from heirloom.once where user_id = $1 and at <= $2", &[text(&user), bigint(&old)])
        .await?;
    let most = i64::try_from(MOST_KEYS).unwrap_or(i64::MAX);
    let count = "select count(*) > $2 from (select from heirloom.once where user_id = $1 limit $2 + 1) o";
    let full = session.one(count, &[text(&user), bigint(&most)]).await?;
    if full.is_some_and(|row| row.get(0)) {
        return Err(Fault::new(Code::Capacity, "too many keys of the last day are kept already")
            .hint("send fewer requests with a key, or wait"));
    }
    Ok(())
}

/// Keeps how it ended, or forgets the key.
pub(crate) async fn end(
    store: &PgStore,
    who: &UserContext,
    name: &str,
    now: i64,
    done: Option<&Ended>,
) -> Result<()> {
    let session = Session::begin(store, who, true).await?;
    let user = who.user();
    match done {
        Some(done) => {
            let (status, id, answer) =
                (i32::from(done.status), done.answer["id"].as_str(), done.answer.to_string());
            let values = [text(&user), text(&name), bigint(&now), int(&status), text(&id), text(&answer)];
            let keep = "update heirloom.once set at = $3, status = $4, id = $5, answer = $6 where user_id = $1 and name = $2";
            session.run(keep, &values).await?;
        }
        None => {
            let drop = "delete from heirloom.once where user_id = $1 and name = $2";
            session.run(drop, &[text(&user), text(&name)]).await?;
        }
    }
    session.commit().await
}

/// Takes ids out of what is kept.
pub(crate) async fn forget(store: &PgStore, who: &UserContext, ids: &[&str]) -> Result<()> {
    let session = Session::begin(store, who, true).await?;
    let cut = "update heirloom.once set id = null, answer = '{}' where user_id = $1 and id = any ($2)";
    session.run(cut, &[text(&who.user()), texts(&ids)]).await?;
    session.commit().await
}
