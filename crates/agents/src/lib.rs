//! The dialects of coding agents.
//!
//! Comes in: bytes an agent sent to a hook, or a settings file of an agent. Goes out: one strict [`Event`], an answer in
//! exactly the words that agent accepts, or the same settings file with our hooks in it. Never here: files, the
//! environment, or a decision about memory. What an agent is called and how it talks is one constant in [`table`].

pub mod bundle;
pub mod event;
pub mod install;
pub mod reply;
pub mod table;
pub mod wire;

pub use event::{Call, Event, Said, Target};
pub use reply::{Answer, Output};
pub use table::{Agent, Moment};
