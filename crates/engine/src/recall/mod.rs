//! Recall: which memories a question calls for, best first, and why.
//!
//! Comes in: a question and an index, and for the hybrid ranking an embedder. Goes out: hits with every factor of their score. Reads only;
//! the clock comes with the question. Never here: how hits are shown ([`crate::inject`]).

pub mod answer;
pub mod candidate;
mod choose;
pub mod ledger;
pub mod prompt;
pub mod search;
mod sift;
pub mod snippet;
pub mod tiers;
pub mod title_tags;
mod words;

pub use choose::chosen;
pub use words::{Place, Words};
