//! Accounts: users and the hashes of their tokens.
//!
//! Comes in: an account. Goes out: all of them. Read and written by the owning role only; the role of users has no right to the table.

use crate::fault::sql;
use crate::link::{PgStore, begin};
use heirloom_core::fault::Result;
use heirloom_engine::shelf::tiers::{Account, UserContext};

pub(crate) async fn list(store: &PgStore) -> Result<Vec<Account>> {
    let client = store.keeper().await?;
    let rows = client
        .query("select user_id, added_at, token_hash from heirloom.account order by user_id", &[])
        .await
        .map_err(sql)?;
    Ok(rows
        .iter()
        .map(|row| Account { user: row.get(0), added_at: row.get(1), token_hash: row.get(2) })
        .collect())
}

pub(crate) async fn put(store: &PgStore, account: &Account) -> Result<()> {
    let client = store.keeper().await?;
    client
        .execute(
            "insert into heirloom.account values ($1, $2, $3)
             on conflict (user_id) do update set added_at = excluded.added_at, token_hash = excluded.token_hash",
            &[&account.user, &account.added_at, &account.token_hash],
        )
        .await
        .map_err(sql)?;
    Ok(())
}

/// Removes a user: the tokens first, so that nobody comes in any more, then the rows, the account last.
pub(crate) async fn remove(store: &PgStore, who: &UserContext) -> Result<()> {
    let mut client = store.keeper().await?;
    client
        .execute(
            "with earlier as (update heirloom.account set token_hash = null where user_id = $1)
             delete from heirloom.token where user_id = $1",
            &[&who.user()],
        )
        .await
        .map_err(sql)?;
    crate::tokens::drop_uses(&client).await?;
    let tx = begin(&mut client, who, true).await?;
    for table in ["memory", "post", "gone", "undo", "audit", "owner"] {
        let text = format!("delete from heirloom.{table} where user_id = $1");
        tx.execute(&text, &[&who.user()]).await.map_err(sql)?;
    }
    tx.commit().await.map_err(sql)?;
    client.execute("delete from heirloom.account where user_id = $1", &[&who.user()]).await.map_err(sql)?;
    Ok(())
}
