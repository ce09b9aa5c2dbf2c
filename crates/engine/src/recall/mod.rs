//! Recall: which memories a question calls for, best first, and why.
//!
//! Comes in: a question and an index, and for the hybrid ranking an embedder. Goes out: hits with every factor of their score. Reads only;
//! the clock comes with the question. Never here: how hits are shown ([`crate::inject`]).

pub mod answer;
mod ask;
mod candidates;
mod civil;
mod explain;
mod hybrid;
pub(crate) mod kin;
pub mod ledger;
mod order;
pub mod prompt;
pub mod query;
pub mod search;
mod seats;
mod sift;
pub mod snippet;
pub mod title_tags;
mod weights;
pub mod when;
mod words;

pub use ask::Ask;
pub use explain::{Explain, Factors};
pub use hybrid::{Hit, rank};
pub use order::block;
pub(crate) use order::{Compared, is_mixed, put_behind};
pub(crate) use seats::seated;
pub use weights::{Manner, Weights};
pub use words::{Place, Words};

#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;
