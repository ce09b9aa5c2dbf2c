//! Recall: which memories a prompt calls for, and why.
//!
//! Comes in: a prompt and an index. Goes out: hits with their reasons. Never here: how hits are shown ([`crate::inject`]).

pub mod prompt;
pub mod search;
mod sift;
pub mod title_tags;
mod words;

pub use words::{Place, Words};
