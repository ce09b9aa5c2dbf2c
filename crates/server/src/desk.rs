//! The desk: how a door comes to a call.
//!
//! Comes in: which project, and who asks. Goes out: a [`Call`] with the settings as they are now. The program that starts a door implements it,
//! because it alone knows the machine. Never here: a caller; that is made where the machine is known.

use heirloom_core::fault::Result;
use heirloom_engine::Call;
use jiff::Timestamp;
use std::path::PathBuf;

/// Whose memory a call is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The project around this folder.
    Folder(PathBuf),
    /// No project: turns and facts alone.
    Nowhere,
}

/// Who is at the door. Whoever it is, it is no person.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Visitor {
    /// The token that was shown; without one it is a process of the account.
    pub token: Option<String>,
    /// The agent, if the door was set up for one.
    pub agent: Option<String>,
    /// The trace the request is part of: the id in its `traceparent`.
    pub trace: Option<String>,
}

/// Makes calls.
pub trait Desk: Send + Sync + 'static {
    /// A call for this place by this visitor. Settings, rules and models are those of this moment.
    fn call(&self, place: &Place, who: &Visitor) -> Result<Call>;

    /// What time it is.
    fn now(&self) -> Timestamp;
}
