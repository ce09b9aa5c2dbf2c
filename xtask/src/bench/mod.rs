//! Benchmarks with ratios: the same work beside a plain program in another language, on this machine, now.
//!
//! Comes in: nothing. Goes out: a table. Never here: a figure from another day.

pub(crate) mod vault;
