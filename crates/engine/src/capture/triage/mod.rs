//! Triage: at a stop, says which kinds of record the conversation has something for.
//!
//! Comes in: the last turns of a conversation and the settings. Goes out: a [`Finding`] per kind that reached its
//! threshold, the context files' text, and the message a host shows to its model. Never here: files other than the
//! transcript, a model, or a decision about storing.
//!
//! ```text
//!  tail ──▶ turns ──▶ strip ──▶ words ──────▶ score ──▶ excerpt, message
//!                          └──▶ statements ──┘
//! ```
//!
//! Words and how they count are the record format's own. Statements stand beside them, for hooks that `setup` installed.

mod excerpt;
mod message;
mod score;
mod statements;
mod strip;
pub mod tail;
mod turn;
mod words;

pub use excerpt::{CONTEXT_MAX, context_text};
pub use message::{Pointer, reply_text};
pub use score::{Activity, Conversation, Finding, Marks};
pub use turn::{Speaker, Turn};
pub(crate) use words::kinds_heard;

#[cfg(test)]
#[path = "triage_tests.rs"]
mod tests;
