//! Long runs of what the tests do for a few seconds.

pub(crate) mod records;
pub(crate) mod threads;
pub(crate) mod tiers;
pub(crate) mod vault;
