//! Accounts: users and the hashes of their tokens.
//!
//! Comes in: an account. Goes out: all of them. Read and written by the owning role only; the role of users has no right to the table.

use crate::fault::sql;
use crate::link::PgStore;
use heirloom_core::fault::Result;
use heirloom_engine::shelf::tiers::Account;

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
