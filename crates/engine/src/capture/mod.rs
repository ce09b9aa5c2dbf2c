//! Capture: what is worth keeping of a conversation.
//!
//! Comes in: a transcript. Goes out: drafts, which the gate has yet to see. Never here: storing anything, or a model's private
//! reasoning, which no reader of this module ever hands out.

mod notes;
mod scope;
pub mod transcript;

pub use notes::{Proposals, capture_notes};
pub use scope::scope_of;
