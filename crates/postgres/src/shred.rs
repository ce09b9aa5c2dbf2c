//! Shredding: the tables a user's rows were in, written anew, so that their files hold nothing of what was deleted.
//!
//! Comes in: a user. Goes out: what could not be reached. Only that user's partitions are rewritten; each is locked while that lasts. Never here:
//! backups and archived logs, which the database cannot reach.

use crate::fault::sql;
use crate::link::PgStore;
use crate::schema::PARTITIONS;
use heirloom_core::fault::Result;
use heirloom_engine::shelf::tiers::UserContext;

pub(crate) async fn shred(store: &PgStore, who: &UserContext) -> Result<Vec<String>> {
    let client = store.keeper().await?;
    for table in ["memory", "post", "undo"] {
        let find = format!("select satisfies_hash_partition('heirloom.{table}'::regclass, $1, $2, $3::text)");
        let find = client.prepare_cached(&find).await.map_err(sql)?;
        for n in 0..PARTITIONS {
            let mine: bool =
                client.query_one(&find, &[&PARTITIONS, &n, &who.user()]).await.map_err(sql)?.get(0);
            if mine {
                client.batch_execute(&format!("vacuum full heirloom.{table}_{n}")).await.map_err(sql)?;
            }
        }
    }
    let mut left = vec!["backups and archived logs keep what they hold until they are removed".to_owned()];
    // Old relation files go at a checkpoint; a fresh log segment lets the old ones be recycled.
    for (call, what) in
        [("checkpoint", "old table files"), ("select pg_switch_wal()", "the current log segment")]
    {
        if client.batch_execute(call).await.is_err() {
            left.push(format!(
                "{what} stay until the server's next checkpoint: this login may not ask for one"
            ));
        }
    }
    Ok(left)
}
