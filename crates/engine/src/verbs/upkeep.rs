//! Collecting and expiring: what is past its time goes.
//!
//! Comes in: whether it is only to be shown, and how much earlier than the settings say. Goes out: what went, or would. What the settings say
//! is nobody's wish and everybody may run it; anything earlier cannot be taken back and needs a person, or a token with the scope `delete`.
//! Never here: a memory that is in use and has no time, or asking whether somebody is sure.

use super::asked;
use crate::call::Call;
use crate::shelf::records::Collected;
use crate::shelf::tiers::Expired;
use heirloom_core::{Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// What to collect.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gc {
    /// Only say what would be done.
    #[serde(default)]
    pub dry_run: bool,
    /// Days a retired record stays; those of the settings if none are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_days: Option<u32>,
    /// Leave `index.md` to whoever asks.
    #[serde(default)]
    pub keep_index: bool,
}

/// Retires what nobody updates and removes retired records whose time is over, both by the settings.
pub fn gc(call: &Call, ask: &Gc) -> Result<Collected> {
    asked(call, Verb::Gc, ShelfName::Records, Owner::Nobody)?;
    if is_early(call, ask) {
        call.permit(Verb::RemoveEarly, ShelfName::Records, "")?;
    }
    let records = call.records();
    let days = ask.grace_days.unwrap_or(call.settings().delete.grace_period_days);
    let collected = records.collect_after(days, ask.dry_run)?;
    if !ask.dry_run && !ask.keep_index {
        records.rebuild(&call.lock()?)?;
    }
    Ok(collected)
}

/// Whether something would go earlier than the settings say.
pub fn is_early(call: &Call, ask: &Gc) -> bool {
    let settled = call.settings().delete.grace_period_days;
    !ask.dry_run && ask.grace_days.is_some_and(|days| days < settled)
}

/// What to expire.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expire {
    /// Also turns whose time ends within so many days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_days: Option<u32>,
}

/// Removes turns whose time is over: of every user if the account that keeps the store asks, of the caller otherwise.
pub fn expire(call: &Call, ask: &Expire) -> Result<Expired> {
    let tiers = call.tiers()?;
    asked(call, Verb::Expire, ShelfName::Tiers, Owner::Nobody)?;
    let days = ask.within_days.unwrap_or(0);
    if days > 0 {
        call.permit(Verb::RemoveEarly, ShelfName::Tiers, "")?;
    }
    tiers.expire_within(days)
}
