//! Capture: what is worth keeping of a conversation.
//!
//! Comes in: a transcript. Goes out: suggestions, and drafts handed to their shelf through the gate. Never here: a rule of a shelf, or a
//! model's private reasoning, or our own blocks, which no reader of this module ever hands out.

pub mod extract;
mod machine;
mod notes;
pub(crate) mod own;
mod tiers;
pub mod transcript;
pub mod triage;
mod unescaped;

pub use notes::{Captured, Proposals, capture_notes, keep_all, keep_at_stop};
pub use tiers::{KeptTurns, keep_turns};

/// A text without our own blocks, however a host escaped them.
pub fn without_own_words(text: &str) -> std::borrow::Cow<'_, str> {
    own::without(text)
}
