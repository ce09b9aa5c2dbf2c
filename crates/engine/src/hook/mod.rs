//! What happens at each hook of a coding agent, as functions: an event's facts in, an outcome out.
//!
//! Comes in: what the host said, already understood. Goes out: what to answer, in no host's words. Never here: a host's
//! wire format, standard input or output, exit codes. A hook fails open: whoever calls these functions answers nothing
//! when they return a fault, and leaves a line in the trace.

pub mod doctor;
mod flag;
mod gather;
pub mod guard;
pub mod handoff;
mod judge;
pub(crate) mod seen;
mod sessions;
mod shrunk;
pub mod start;
pub mod stop;
pub mod trace;
mod unattended;
pub mod validate;

pub use gather::gather;
pub use judge::judge;

#[cfg(test)]
#[path = "hook_tests.rs"]
mod tests;
