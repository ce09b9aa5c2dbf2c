//! Ids of the tiers: kind, time, owner's tag, chance.
//!
//! Comes in: the user, the time, this process's random bytes. Goes out: `episode:019a8b2c3d4-1f2e3d-5f6a7b8c9d0e`. Ids of one user sort by time,
//! and an id made for somebody else is known by its tag. Never here: anything of the content.

use super::{Tier, UserContext};
use crate::project::World;
use heirloom_core::hash;
use jiff::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};

/// A new id.
pub(super) fn fresh(tier: Tier, who: &UserContext, at: Timestamp, world: &World) -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let n = COUNTER.fetch_add(1, Ordering::Relaxed);
    put_together(tier, who, at, &hash::keyed(world.nonce.as_bytes(), &n.to_le_bytes()))
}

/// The id of a message that may arrive more than once: the same every time.
pub(super) fn of_message(who: &UserContext, at: Timestamp, session: &str, message: &str) -> String {
    let chance = hash::sha256(format!("{}\0{session}\0{message}", who.user()).as_bytes());
    put_together(Tier::Episodic, who, at, &chance)
}

fn put_together(tier: Tier, who: &UserContext, at: Timestamp, chance: &str) -> String {
    let millis = at.as_millisecond().max(0);
    format!("{}:{millis:011x}-{}-{}", tier.kind().name(), who.tag(), &chance[..12])
}

/// Whether an id was made for somebody else.
pub(super) fn is_foreign(who: &UserContext, id: &str) -> bool {
    let Some((_, name)) = id.split_once(':') else { return false };
    let parts: Vec<&str> = name.split('-').collect();
    let ours = |parts: &[&str]| {
        parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_hexdigit()))
            && [parts[0].len(), parts[1].len(), parts[2].len()] == [11, 6, 12]
    };
    parts.len() == 3 && ours(&parts) && parts[1] != who.tag()
}
