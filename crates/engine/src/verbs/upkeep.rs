//! Collecting and expiring: what is past its time goes.
//!
//! Comes in: whether it is only to be shown, and how much earlier than the settings say. Goes out: what went, or would. What the settings say
//! is nobody's wish and everybody may run it; anything earlier cannot be taken back and needs a person, or a token with the scope `delete`.
//! Never here: a memory that is in use and has no time, or asking whether somebody is sure.

use super::{asked, commit};
use crate::call::Call;
use crate::files::{self, Lock, Mode};
use crate::shelf::records::Collected;
pub use crate::shelf::tiers::Expired;
use heirloom_core::{Owner, ShelfName, Verb, fault::Result, time};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

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
    if !ask.dry_run {
        commit::commit(call, "memory: gc");
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

/// Hours after which turns are looked through again.
const HOURS: i64 = 24;

/// The file that says when, beside the tiers' own.
const EXPIRED_AT: &str = "expired-at";

/// The largest such file that is read.
const MAX_MARK: u64 = 64;

/// Whether it is a day since turns were last looked through. Costs a look at a small file, so a beginning session may ask.
pub fn expiry_is_due(call: &Call) -> bool {
    let Ok(tiers) = call.tiers() else { return false };
    tiers.are_there() && is_due(call, &tiers.upkeep_file(EXPIRED_AT))
}

fn is_due(call: &Call, mark: &Path) -> bool {
    let text = files::read_text(mark, MAX_MARK).ok().flatten().unwrap_or_default();
    let last = time::parse(text.trim());
    // A time that has not come yet was written by a clock that was wrong.
    last.is_none_or(|at| {
        !(0..HOURS * 3_600).contains(&(call.project().world().now.as_second() - at.as_second()))
    })
}

/// Removes turns whose time is over, unless that was done within a day or somebody is at it. For a session that begins, and for whatever runs long:
/// it may ask as often as it likes.
pub fn expire_if_due(call: &Call) -> Result<Option<Expired>> {
    let tiers = call.tiers()?;
    if !tiers.are_there() {
        return Ok(None);
    }
    let mark = tiers.upkeep_file(EXPIRED_AT);
    if let Some(folder) = mark.parent() {
        files::make_folder(folder, Mode::Private)?;
    }
    let Ok(_turn) = Lock::acquire(&mark.with_extension("lock"), Duration::ZERO) else { return Ok(None) };
    if !is_due(call, &mark) {
        return Ok(None);
    }
    let expired = expire(call, &Expire::default())?;
    files::write(&mark, time::format(call.project().world().now).as_bytes(), Mode::Private)?;
    Ok(Some(expired))
}
