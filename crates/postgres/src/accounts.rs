//! Users and tokens, through the functions that check a token with the scope `admin`.
//!
//! Comes in: a token that was shown, an account, a token as it is kept. Goes out: the same. Never here: a look at the tables, to which the
//! application has no right.

use crate::lease::Lease;
use crate::link::{PgStore, unfit};
use crate::session::Session;
use crate::values::{text, texts};
use heirloom_core::{Code, Fault, Scopes, fault::Result};
use heirloom_engine::shelf::tiers::{Account, Token, UserContext};
use tokio_postgres::Row;

/// The token that was shown, in one look into an index.
pub(crate) async fn sign_in(store: &PgStore, given: &str, hour: &str) -> Result<Option<Token>> {
    let lease = Lease::of(store.connected().await?);
    let asked = lease.query("select * from heirloom.whose($1, $2)", &[text(&given), text(&hour)]).await;
    let rows = match asked {
        Ok(rows) => rows,
        Err(fault) => {
            drop(lease);
            return Err(store.looked_into(fault).await);
        }
    };
    lease.done();
    let Some(row) = rows.first() else { return Ok(None) };
    if let Some(fault) = unfit(Some(row.get(0))) {
        return Err(fault);
    }
    if row.get::<_, Option<&str>>(1).is_none() { Ok(None) } else { read(row, 1).map(Some) }
}

/// A token whose columns begin here.
fn read(row: &Row, from: usize) -> Result<Token> {
    let scopes = Scopes::parse(row.get(from + 3)).map_err(|word| {
        Fault::new(Code::Damaged, format!("a token has a scope `{word}` that is not known"))
            .hint("update Heirloom, or replace the token with `heirloom user token`")
    })?;
    Ok(Token {
        hash: row.get(from),
        user: row.get(from + 1),
        name: row.get(from + 2),
        scopes,
        added_at: row.get(from + 4),
        expires_at: row.get(from + 5),
        used_at: row.get(from + 6),
    })
}

pub(crate) async fn list(store: &PgStore, who: &UserContext) -> Result<Vec<Account>> {
    let session = Session::begin(store, who, false).await?;
    let rows = session.query("select * from heirloom.accounts()", &[]).await?;
    session.commit().await?;
    Ok(rows.iter().map(|row| Account { user: row.get(0), added_at: row.get(1), token_hash: None }).collect())
}

pub(crate) async fn users(store: &PgStore, who: &UserContext) -> Result<Vec<String>> {
    let session = Session::begin(store, who, false).await?;
    let rows = session.query("select * from heirloom.users()", &[]).await?;
    session.commit().await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

pub(crate) async fn put(store: &PgStore, who: &UserContext, account: &Account) -> Result<()> {
    let session = Session::begin(store, who, true).await?;
    let values = [text(&account.user), text(&account.added_at), text(&account.token_hash)];
    session.run("select heirloom.put_account($1, $2, $3)", &values).await?;
    session.commit().await
}

/// Removes a user with all that is theirs, in one transaction.
pub(crate) async fn remove(store: &PgStore, who: &UserContext) -> Result<()> {
    let session = Session::begin(store, who, true).await?;
    // However much there is.
    session.batch("set local statement_timeout = 0").await?;
    session.run("select heirloom.remove_user($1)", &[text(&who.user())]).await?;
    session.commit().await
}

pub(crate) async fn tokens(store: &PgStore, who: &UserContext, user: Option<&str>) -> Result<Vec<Token>> {
    let session = Session::begin(store, who, false).await?;
    let rows = session.query("select * from heirloom.tokens($1)", &[text(&user)]).await?;
    session.commit().await?;
    rows.iter().map(|row| read(row, 0)).collect()
}

pub(crate) async fn put_token(store: &PgStore, who: &UserContext, token: &Token) -> Result<()> {
    let session = Session::begin(store, who, true).await?;
    let scopes = token.scopes.to_string();
    let scopes: Vec<&str> = scopes.split(',').filter(|scope| !scope.is_empty()).collect();
    let values = [
        text(&token.hash),
        text(&token.user),
        text(&token.name),
        texts(&scopes),
        text(&token.added_at),
        text(&token.expires_at),
    ];
    session.run("select heirloom.put_token($1, $2, $3, $4, $5, $6)", &values).await?;
    session.commit().await
}

pub(crate) async fn remove_token(store: &PgStore, who: &UserContext, user: &str, name: &str) -> Result<bool> {
    let session = Session::begin(store, who, true).await?;
    let row = session.one("select heirloom.remove_token($1, $2)", &[text(&user), text(&name)]).await?;
    session.commit().await?;
    Ok(row.is_some_and(|row| row.get(0)))
}
