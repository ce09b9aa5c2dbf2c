//! Tokens: the hash of each, whose it is and what it may.
//!
//! Comes in: a hash, or a token as it is kept. Goes out: the same, found by one look into an index. What version 0.1 kept in the row of an
//! account counts as the user's token without a name. Read and written by the owning role only; the role of users has no right to the table.

use crate::fault::sql;
use crate::link::PgStore;
use heirloom_core::{Code, Fault, Scopes, fault::Result};
use heirloom_engine::shelf::tiers::{Account, Token};
use tokio_postgres::Row;

/// Every token, those of version 0.1 as what they count as.
const ALL: &str = "select a.*, u.hour from (select hash, user_id, name, scopes, added_at, expires_at from heirloom.token
    union all select token_hash, user_id, '', null, added_at, null from heirloom.account where token_hash is not null) a
    left join heirloom.token_use u on u.hash = a.hash";

fn read(row: &Row) -> Result<Token> {
    let scopes: Option<&str> = row.get(3);
    let (user, added_at): (String, String) = (row.get(1), row.get(4));
    let Some(scopes) = scopes else {
        let account = Account { user, added_at, token_hash: row.get(0) };
        let mut token =
            Token::of_account(&account).ok_or_else(|| Fault::new(Code::Internal, "a token has no hash"))?;
        token.used_at = row.get(6);
        return Ok(token);
    };
    let scopes = Scopes::parse(scopes).map_err(|word| {
        Fault::new(Code::Damaged, format!("a token has a scope `{word}` that is not known"))
            .hint("update Heirloom, or make the token anew with `heirloom user token`")
    })?;
    Ok(Token {
        hash: row.get(0),
        user,
        name: row.get(2),
        scopes,
        added_at,
        expires_at: row.get(5),
        used_at: row.get(6),
    })
}

pub(crate) async fn get(store: &PgStore, hash: &str) -> Result<Option<Token>> {
    let client = store.keeper().await?;
    let asked = format!("select * from ({ALL}) t where hash = $1 order by scopes nulls last limit 1");
    let row = client.query_opt(&asked, &[&hash]).await.map_err(sql)?;
    row.as_ref().map(read).transpose()
}

pub(crate) async fn list(store: &PgStore, user: Option<&str>) -> Result<Vec<Token>> {
    let client = store.keeper().await?;
    let asked =
        format!("select * from ({ALL}) t where $1::text is null or user_id = $1 order by user_id, name");
    let rows = client.query(&asked, &[&user]).await.map_err(sql)?;
    rows.iter().map(read).collect()
}

/// One statement, so that at no moment both or neither of the two count.
pub(crate) async fn put(store: &PgStore, token: &Token) -> Result<()> {
    let client = store.keeper().await?;
    client
        .execute(
            "with earlier as (update heirloom.account set token_hash = null where user_id = $2 and $3 = '' and token_hash is not null)
             insert into heirloom.token values ($1, $2, $3, $4, $5, $6)
             on conflict (user_id, name) do update set hash = excluded.hash, scopes = excluded.scopes,
                 added_at = excluded.added_at, expires_at = excluded.expires_at",
            &[
                &token.hash,
                &token.user,
                &token.name,
                &token.scopes.to_string(),
                &token.added_at,
                &token.expires_at,
            ],
        )
        .await
        .map_err(sql)?;
    drop_uses(&client).await
}

/// In which hour a token was used. One that was revoked meanwhile leaves nothing behind.
pub(crate) async fn note_use(store: &PgStore, hash: &str, hour: &str) -> Result<()> {
    let client = store.keeper().await?;
    client
        .execute(
            &format!(
                "insert into heirloom.token_use select $1, $2 where exists (select from ({ALL}) t where t.hash = $1)
                 on conflict (hash) do update set hour = excluded.hour"
            ),
            &[&hash, &hour],
        )
        .await
        .map_err(sql)?;
    Ok(())
}

/// Drops what is known of the use of tokens that are nobody's any more.
pub(crate) async fn drop_uses(client: &deadpool_postgres::Client) -> Result<()> {
    let text = format!(
        "delete from heirloom.token_use u where not exists (select from ({ALL}) t where t.hash = u.hash)"
    );
    client.execute(&text, &[]).await.map_err(sql)?;
    Ok(())
}

pub(crate) async fn remove(store: &PgStore, user: &str, name: &str) -> Result<bool> {
    let client = store.keeper().await?;
    let row = client
        .query_one(
            "with earlier as (update heirloom.account set token_hash = null
                 where user_id = $1 and $2 = '' and token_hash is not null returning 1),
             gone as (delete from heirloom.token where user_id = $1 and name = $2 returning 1)
             select (select count(*) from earlier) + (select count(*) from gone)",
            &[&user, &name],
        )
        .await
        .map_err(sql)?;
    drop_uses(&client).await?;
    Ok(row.get::<_, i64>(0) > 0)
}
