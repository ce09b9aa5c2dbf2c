//! The ranking: what an index knows of a question, turned into an order with reasons.
//!
//! Comes in: a question ([`Ask`]), a snapshot of one owner's index, perhaps a model. Goes out: hits, best first, with every factor of their
//! score. It is one ranking for every shelf and every backend. Never here: a shelf, a file, a call, or how hits are shown.

mod ask;
pub(crate) mod brought;
mod candidates;
mod civil;
mod explain;
mod hybrid;
pub(crate) mod kin;
mod order;
mod points;
pub mod query;
mod seats;
mod weights;
pub mod when;

pub use ask::Ask;
pub use explain::{Explain, Factors};
pub(crate) use hybrid::{BY_KEYWORD, BY_VECTOR, HELD_BY_FEW, RELATED_AMONG};
pub use hybrid::{Hit, rank};
pub use order::block;
pub(crate) use order::{Compared, is_mixed, put_behind};
pub(crate) use seats::{SHARE, seated};
pub use weights::{Manner, Weights};

#[cfg(test)]
#[path = "rank_tests.rs"]
mod tests;
