//! The words and rules of Heirloom on one page.
//!
//! What comes in: plain values. What goes out: plain values. What never happens here: files, clocks,
//! environment, printing, randomness. Everything above this crate uses these words and nobody else's.
//!
//! One table per fact:
//!
//! | fact | where |
//! |---|---|
//! | kinds of memory, their folders, labels, fields | [`kind`] |
//! | error codes, exit codes, HTTP status, hints | [`code`] |
//! | channels, sources and trust | [`trust`] |
//! | who may do what | [`authority`] |
//! | settings, their defaults and limits | [`settings`] |
//! | stop words, tokens, slugs, cleaning | [`text`] |

pub mod audience;
pub mod authority;
pub mod caller;
pub mod code;
pub mod fault;
pub mod hash;
pub mod json;
pub mod kind;
pub mod memory;
pub mod settings;
pub mod text;
pub mod time;
pub mod trust;

pub use audience::Audience;
pub use authority::{May, Owner, Verb};
pub use caller::{Caller, Grant, Scopes, Who};
pub use code::Code;
pub use fault::Fault;
pub use kind::{Kind, ShelfName};
pub use memory::{Memory, MemoryId, Scope, Status};
pub use settings::Settings;
pub use trust::{Channel, Source, Trust};
