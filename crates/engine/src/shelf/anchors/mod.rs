//! Anchors: the code a memory cites, and whether it still says what it said.
//!
//! Comes in: a citation (`src/queue.rs:10-20`, `src/queue.rs#fetch`, `src/queue.rs:"SKIP LOCKED"`). Goes out: a line in `provenance.jsonl` with a
//! hash of what was cited, and later, for a few memories at a time, whether the working tree still has it: unchanged, moved, changed or
//! gone. Never here: the cited code itself in any file of ours (a quotation is what somebody typed), a path outside the project, or more
//! work than a few bounded reads, whatever a provenance file says.

mod anchor;
mod check;
mod cite;
mod region;
mod store;
mod symbol;
mod tree;

pub use anchor::Anchor;
pub use check::{Cited, Freshness, Place};
pub use cite::cite;
pub(crate) use store::not_cited;
pub use store::{Anchored, add, all, announce, are_there, check, check_ids, drop_anchors, lines, renew};

#[cfg(test)]
#[path = "anchors_tests.rs"]
mod tests;
