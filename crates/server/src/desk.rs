//! The desk: how a door comes to a call.
//!
//! Comes in: which project, and who asks. Goes out: a [`Call`] with the settings as they are now. The program that starts a door implements it,
//! because it alone knows the machine. Never here: a caller; that is made where the machine is known.

use heirloom_core::{Code, Fault, fault::Result};
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

/// What a person tries out for one call: nothing of it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trial {
    /// The agent that the answer would be for.
    pub agent: Option<String>,
    /// Settings and their values.
    pub settings: Vec<(String, String)>,
}

/// Makes calls.
pub trait Desk: Send + Sync + 'static {
    /// A call for this place by this visitor. Settings, rules and models are those of this moment.
    fn call(&self, place: &Place, who: &Visitor) -> Result<Call>;

    /// A call for this place by the person who opened the page. A desk that no person opened refuses.
    fn person(&self, _place: &Place, _trial: &Trial) -> Result<Call> {
        Err(Fault::new(Code::NeedsPerson, "nobody opened a page here")
            .hint("run `heirloom open` yourself, in a terminal of your own"))
    }

    /// A call without a project by a person who signed in at the page of a server: with this token, and with the PIN, which the page checked.
    fn confirmed(&self, _who: &Visitor) -> Result<Call> {
        Err(Fault::new(Code::NeedsPerson, "nobody confirms as a person here")
            .hint("sign in at the page of a server: heirloom serve"))
    }

    /// Whether the store behind turns and facts can be reached now.
    fn ready(&self) -> Result<()> {
        Ok(())
    }

    /// What time it is.
    fn now(&self) -> Timestamp;
}
