//! Users, tokens, invitations and PINs, through the functions that check a token.
//!
//! Comes in: a token that was shown, an account, a token as it is kept. Goes out: the same. Never here: a look at the tables, to which the
//! application has no right.

use crate::lease::Lease;
use crate::link::{PgStore, unfit};
use crate::session::Session;
use crate::values::{int, text, texts};
use heirloom_core::{Code, Fault, Scopes, fault::Result};
use heirloom_engine::pin::{self, Answer, Salt};
use heirloom_engine::shelf::tiers::{Account, Invite, Taken, Token, UserContext};
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

pub(crate) async fn put_invite(store: &PgStore, who: &UserContext, invite: &Invite) -> Result<()> {
    let session = Session::begin(store, who, true).await?;
    let values = [text(&invite.hash), text(&invite.user), text(&invite.added_at), text(&invite.expires_at)];
    session.run("select heirloom.put_invite($1, $2, $3, $4)", &values).await?;
    session.commit().await
}

/// Sets a PIN by a link. The database is told a hash of it, and decides whether the link counts.
pub(crate) async fn take_invite(
    store: &PgStore,
    who: &UserContext,
    link: &str,
    salt: &Salt,
    digest: &str,
) -> Result<Taken> {
    let session = Session::begin(store, who, true).await?;
    let (memory, passes) = (salt.memory_kib.cast_signed(), salt.passes.cast_signed());
    let values = [text(&link), text(&salt.salt), int(&memory), int(&passes), text(&digest)];
    let row = session.one("select heirloom.take_invite($1, $2, $3, $4, $5)", &values).await?;
    session.commit().await?;
    Ok(match row.as_ref().map(|row| row.get::<_, &str>(0)) {
        Some("set") => Taken::Set,
        Some("foreign") => Taken::Foreign,
        Some("ended") => Taken::Ended,
        _ => Taken::Unknown,
    })
}

/// What the PIN of the context's user is hashed with; none without a PIN.
pub(crate) async fn salt(store: &PgStore, who: &UserContext) -> Result<Option<Salt>> {
    let session = Session::begin(store, who, false).await?;
    let row = session.one("select * from heirloom.my_salt()", &[]).await?;
    session.commit().await?;
    Ok(row.map(|row| Salt {
        salt: row.get(0),
        memory_kib: row.get::<_, i32>(1).unsigned_abs(),
        passes: row.get::<_, i32>(2).unsigned_abs(),
    }))
}

/// A try, which counts whatever becomes of it.
pub(crate) async fn try_pin(store: &PgStore, who: &UserContext, digest: &str) -> Result<Answer> {
    let session = Session::begin(store, who, true).await?;
    let row = session.one("select * from heirloom.try_pin($1)", &[text(&digest)]).await?;
    session.commit().await?;
    let Some(row) = row else { return Err(Fault::new(Code::Internal, "the PIN was not looked at")) };
    match row.get(0) {
        "right" => Ok(Answer::Right),
        "wrong" => Ok(Answer::Wrong { left: row.get::<_, i32>(1).unsigned_abs() }),
        "paused" => Err(pin::wait_until(row.get::<_, Option<&str>>(2).unwrap_or_default())),
        _ => Err(Fault::new(Code::NeedsPerson, "you have no PIN on this server yet")),
    }
}
