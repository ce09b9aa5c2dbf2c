//! Rows put back to what they were.
//!
//! Comes in: what each row was, and the event that says so. Goes out: the rows changed and the change kept, in one transaction; nothing if a row is
//! gone. Never here: a statement that does not name its user.

use crate::audit::lock;
use crate::fault::sql;
use crate::kept::append_kept;
use crate::link::{PgStore, begin};
use crate::rows::one;
use crate::write::update;
use heirloom_core::fault::Result;
use heirloom_engine::shelf::tiers::{Back, Event, Head, Mark, Touched, UserContext};

pub(crate) async fn put_back(
    store: &PgStore,
    who: &UserContext,
    rows: &[Back],
    event: &Event,
    mark: &Mark,
) -> Result<Option<Head>> {
    let mut client = store.keeper().await?;
    let tx = begin(&mut client, who, true).await?;
    let mut owner = lock(&tx, who).await?;
    let mut touched = Vec::with_capacity(rows.len());
    for back in rows {
        let Some(now) = one(&tx, who, &back.id).await? else { return Ok(None) };
        let Some(after) = back.row(&now, event.at) else { return Ok(None) };
        update(store, &tx, who, &mut owner, &now, &after).await?;
        touched.push(Touched { before: Some(now), after });
    }
    append_kept(&tx, who, &mut owner, std::slice::from_ref(event), &touched, Some(mark)).await?;
    tx.commit().await.map_err(sql)?;
    Ok(Some(owner.head))
}
