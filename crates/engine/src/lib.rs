//! The flow of a memory, one folder per stage, in the order a memory moves:
//!
//! ```text
//!  capture ──▶ gate ──▶ shelf ──▶ index ──▶ recall ──▶ inject
//!  Draft       Passed    Memory    derived   Hits+why   Block
//! ```
//!
//! What comes in: drafts, questions, a [`project::World`] that says what time it is and who asks. What goes out: memories,
//! verdicts, blocks of text. What never happens here: printing, reading the environment, looking at the clock, async.

pub mod budget;
mod call;
pub mod capture;
pub mod convert;
mod deployment;
pub mod endpoints;
pub mod files;
pub mod follow;
pub mod gate;
pub mod git;
pub mod hook;
pub mod index;
pub mod inject;
pub mod pin;
pub mod project;
pub mod rank;
pub mod recall;
pub mod settings;
pub mod shelf;
mod threads;
pub mod transfer;
pub mod undo;
pub mod verbs;
pub mod working;

pub use call::{Call, PassedOver, Uncommitted};
pub use deployment::Deployment;
pub use project::{Project, World};
pub use shelf::door::change::{Intent, Was, Written};
