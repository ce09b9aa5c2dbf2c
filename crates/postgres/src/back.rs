//! Rows put back to what they were.
//!
//! Comes in: what each row was, and the event that says so. Goes out: the rows changed and the change kept, in one transaction; nothing if a row is
//! gone. Never here: a statement that does not name its user.

use crate::audit::lock;
use crate::kept::append_kept;
use crate::link::PgStore;
use crate::rows::one;
use crate::session::Session;
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
    let tx = Session::begin(store, who, true).await?;
    let mut owner = lock(&tx, who).await?;
    let mut touched = Vec::with_capacity(rows.len());
    for back in rows {
        let now = one(&tx, who, &back.id).await?;
        let Some((now, after)) = now.and_then(|now| back.row(&now, event.at).map(|after| (now, after)))
        else {
            // Nothing of it stays: the connection is dropped with what was not committed.
            return Ok(None);
        };
        update(store, &tx, who, &mut owner, &now, &after).await?;
        touched.push(Touched { before: Some(now), after });
    }
    append_kept(&tx, who, &mut owner, std::slice::from_ref(event), &touched, Some(mark)).await?;
    tx.commit().await?;
    Ok(Some(owner.head))
}
