//! Capture: what is worth keeping of a conversation.
//!
//! Comes in: a transcript. Goes out: suggestions, and drafts handed to their shelf through the gate. Never here: a rule of a shelf, or a
//! model's private reasoning, or our own blocks, which no reader of this module ever hands out.

pub mod extract;
mod notes;
mod own;
mod tiers;
pub mod transcript;
pub mod triage;

pub use notes::{Captured, Proposals, capture_notes, keep_all, keep_at_stop};
pub use tiers::{KeptTurns, keep_turns};
