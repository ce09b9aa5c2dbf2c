//! The moments of a session at which hooks run.
//!
//! Comes in: nothing. Goes out: names, time limits and what an agent shows meanwhile. Never here: what any agent calls them.

/// A moment in a session at which a hook runs; the word after `heirloom hook`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "named like the events they stand for")]
pub enum Moment {
    SessionStart,
    Prompt,
    PreWrite,
    PostWrite,
    Stop,
    PreCompact,
    SessionEnd,
}

impl Moment {
    /// All moments, in the order of a session.
    pub const ALL: [Moment; 7] = [
        Moment::SessionStart,
        Moment::Prompt,
        Moment::PreWrite,
        Moment::PostWrite,
        Moment::Stop,
        Moment::PreCompact,
        Moment::SessionEnd,
    ];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Moment::SessionStart => "session-start",
            Moment::Prompt => "prompt",
            Moment::PreWrite => "pre-write",
            Moment::PostWrite => "post-write",
            Moment::Stop => "stop",
            Moment::PreCompact => "pre-compact",
            Moment::SessionEnd => "session-end",
        }
    }

    /// The moment of that name.
    pub fn named(name: &str) -> Option<Moment> {
        Moment::ALL.into_iter().find(|moment| moment.name() == name)
    }

    /// Seconds an agent should give the hook.
    pub const fn timeout_seconds(self) -> u32 {
        match self {
            Moment::Stop => 30,
            Moment::PreWrite => 5,
            Moment::PostWrite | Moment::Prompt | Moment::SessionStart | Moment::PreCompact => 10,
            Moment::SessionEnd => 1,
        }
    }

    /// What the agent shows while the hook runs.
    pub const fn status_message(self) -> &'static str {
        match self {
            Moment::SessionStart => "Loading memories...",
            Moment::Prompt => "Retrieving relevant memories...",
            Moment::PreWrite => "Checking memory write path...",
            Moment::PostWrite => "Validating memory file...",
            Moment::Stop => "Evaluating session for memories...",
            Moment::PreCompact => "Keeping what would be lost...",
            Moment::SessionEnd => "Closing the session's memory...",
        }
    }
}
