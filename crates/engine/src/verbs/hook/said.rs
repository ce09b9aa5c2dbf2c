//! An event of a coding agent, its host, and what is answered, in our own words.
//!
//! Comes in: nothing. Goes out: the types that doors fill in and read. Never here: what is done at an event, or a host's wire format.

use crate::hook::guard::Attempt;
use crate::hook::trace::Ended;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a host is and can do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The agent's name.
    pub agent: String,
    /// Most characters it takes at a prompt.
    pub context_max: usize,
    /// Whether it has the skill that saves.
    pub has_skill: bool,
    /// Whether a stop that is held up makes it go on.
    pub goes_on_held: bool,
    /// Whether a stop that goes through with a suggestion makes it go on.
    pub goes_on_told: bool,
    /// Where it keeps its transcripts, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcripts: Option<PathBuf>,
    /// The temporary folder of this user, for all other passing files and for transcripts as well; the one all agents agree on without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temp: Option<PathBuf>,
    /// Where hooks act, and how.
    #[serde(default)]
    pub manner: Manner,
    /// Whether a person watches the session.
    #[serde(default)]
    pub attended: bool,
    /// How to call this program, ready for a shell; by its name if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// Whether it says for certain when it makes a conversation smaller; where it does not, the transcript shows it.
    #[serde(default)]
    pub says_when_it_compacts: bool,
    /// Whether the hook's line is one of an earlier version.
    #[serde(default)]
    pub early: bool,
}

/// Where hooks act, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// Called by hand or by a script: as the record format's own hooks, in any folder.
    #[default]
    Contract,
    /// Installed: only where there is a memory.
    WithMemory,
    /// Installed, and wanted in every folder.
    Everywhere,
}

/// A message of a conversation that a host sent along.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// Whether the person said it; the model did otherwise.
    pub by_person: bool,
    /// What.
    pub text: String,
    /// When, RFC 3339, if the host says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// An event and where it happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Happened {
    /// What happened.
    pub event: Event,
    /// The session, if the host names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Where the conversation is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<PathBuf>,
    /// The session's working folder.
    pub cwd: PathBuf,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A session begins.
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
        /// The folder the tool works in, if that is not the session's.
        folder: Option<PathBuf>,
    },
    /// A tool has written.
    PostWrite {
        /// What it wrote.
        targets: Vec<Target>,
        /// The folder the tool works in, if that is not the session's.
        folder: Option<PathBuf>,
    },
    /// The model has finished its turn.
    Stop {
        /// It went on because an earlier stop was held up.
        active: bool,
        /// What was asked in this turn, if the host says so.
        prompt: Option<String>,
        /// The model's last message, if the host says so.
        last_message: Option<String>,
        /// The conversation itself, from a host that writes no transcript, oldest first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conversation: Vec<Said>,
    },
    /// The context is about to be made smaller.
    PreCompact {
        /// Whether that is certain: one host asks before every request to its model.
        certain: bool,
    },
    /// The session is over.
    SessionEnd,
}

/// What a tool writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A file.
    File(String),
    /// Whatever this shell command writes.
    Command(String),
    /// A file that changed while the tool ran, by it or by somebody else.
    Seen(String),
}

impl Target {
    /// What the tool itself set out to do.
    pub(super) fn attempt(&self) -> Option<Attempt<'_>> {
        match self {
            Target::File(path) => Some(Attempt::File(path)),
            Target::Command(command) => Some(Attempt::Command(command)),
            Target::Seen(_) => None,
        }
    }
}

/// What a host is told.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Nothing: the agent goes on as if we were not there.
    Nothing,
    /// Text for the model's context.
    Context(String),
    /// The tool may not run, and why.
    Deny(String),
    /// The tool has run and did harm, and what the model should do.
    Undo(String),
    /// The stop is held up until this is done.
    Hold(String),
    /// The same in the quietest way the host has: the model goes on, and people see no error.
    Ask(String),
    /// The stop goes through; the model or the person is told.
    Suggest(String),
}

/// What takes long, for another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Later {
    /// Bring the index into memory and make the vectors that are missing.
    Embed,
    /// Have the endpoint look for facts in what was said.
    Propose,
    /// Remove turns whose time is over.
    Expire,
}

/// What a hook did, for the answer and for the trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Did {
    /// What the host is told.
    pub answer: Answer,
    /// How the run ended.
    pub ended: Ended,
    /// What it saw, without any text of it.
    pub saw: String,
    /// Why it did what it did, a line each.
    pub because: Vec<String>,
    /// Lines for the log of whoever runs the agent.
    pub log: Vec<String>,
    /// What another process should do.
    pub later: Vec<Later>,
}

impl Did {
    pub(super) fn of(answer: Answer, ended: Ended, saw: impl Into<String>, because: Vec<String>) -> Did {
        Did { answer, ended, saw: saw.into(), because, log: Vec::new(), later: Vec::new() }
    }

    pub(super) fn nothing(saw: impl Into<String>, why: impl Into<String>) -> Did {
        Did::of(Answer::Nothing, Ended::Silent, saw, vec![why.into()])
    }

    /// Something was captured besides; a stop that was held up or answered still was.
    pub(super) fn captured(&mut self) {
        if self.ended == Ended::Silent {
            self.ended = Ended::Captured;
        }
    }

    /// A run that failed, and why.
    pub fn failed(why: impl Into<String>) -> Did {
        Did { ended: Ended::Failed, ..Did::nothing("", why) }
    }
}
