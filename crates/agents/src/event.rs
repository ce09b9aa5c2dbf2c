//! What happened, in our own words: one strict type for all agents.
//!
//! Comes in: nothing; [`crate::wire`] makes these. Goes out: to the engine's hooks. Never here: a field that only one agent
//! has a use for.

use serde::Serialize;
use std::path::PathBuf;

/// A hook call, understood.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    /// The session, if the agent names it.
    pub session: Option<String>,
    /// Where the agent writes the conversation.
    pub transcript: Option<PathBuf>,
    /// The working folder, if the agent names it; else the hook's own.
    pub cwd: Option<PathBuf>,
    /// Whether a person watches the session, if the agent says so here; else [`crate::table::Attended`] tells where to look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attended: Option<bool>,
    /// What happened.
    pub event: Event,
}

/// A message of a conversation that an agent sent along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// Whether the person said it; the model did otherwise.
    pub by_person: bool,
    /// What.
    pub text: String,
    /// When, RFC 3339, if the agent says so.
    pub at: Option<String>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A session begins, or begins again after its context was cleared or made smaller.
    SessionStart {
        /// Whether the model has lost what it was told before.
        afresh: bool,
    },
    /// A person asked something.
    Prompt {
        /// What.
        text: String,
    },
    /// A tool is about to write.
    PreWrite {
        /// What it would write.
        targets: Vec<Target>,
        /// The folder the tool works in, if that is not the call's own.
        #[serde(skip_serializing_if = "Option::is_none")]
        folder: Option<PathBuf>,
    },
    /// A tool has written.
    PostWrite {
        /// What it wrote.
        targets: Vec<Target>,
        /// The folder the tool works in, if that is not the call's own.
        #[serde(skip_serializing_if = "Option::is_none")]
        folder: Option<PathBuf>,
    },
    /// The model has finished its turn.
    Stop {
        /// It went on because an earlier stop was held up.
        active: bool,
        /// What was asked in this turn, if the agent says so.
        prompt: Option<String>,
        /// The model's last message, if the agent says so.
        last_message: Option<String>,
        /// The conversation itself, from an agent that writes no transcript, oldest first.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        conversation: Vec<Said>,
    },
    /// The context is about to be made smaller.
    PreCompact {
        /// Whether that is certain: one agent asks before every request to its model.
        certain: bool,
    },
    /// The session is over.
    SessionEnd,
}

/// What a tool writes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A file.
    File(String),
    /// Whatever this shell command writes.
    Command(String),
    /// A file that changed while the tool ran, by it or by somebody else.
    Seen(String),
}
