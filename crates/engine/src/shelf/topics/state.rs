//! The state of external memory, for people: what is configured, what is used, and why not if it is not.
//!
//! Comes in: the settings and the place that was found. Goes out: words. Never here: an address with a password in it, or a call to a
//! remote.

use super::{Topics, url};
use heirloom_core::Fault;
use heirloom_core::settings::{MemoryType, SyncStrategy};
use serde::Serialize;

/// Where lessons live, and where they should.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExternalState {
    /// Whether the settings ask for an external memory.
    pub enabled: bool,
    /// The folder or address they name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configured: Option<String>,
    /// `local_dir` or `git_repo`.
    pub memory_type: &'static str,
    /// `manual`, `auto_commit` or `auto_push`.
    pub sync_strategy: &'static str,
    /// Whether lessons are read from there now.
    pub in_use: bool,
    /// The folder they are read from.
    pub base: String,
    /// Why the configured one is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Fallback>,
}

/// Why the project's own memory is used instead.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fallback {
    /// The error code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub next: String,
}

impl Fallback {
    fn of(fault: &Fault) -> Fallback {
        Fallback {
            code: fault.code.name(),
            message: fault.message.clone(),
            next: fault.next_step().to_owned(),
        }
    }
}

impl Topics<'_> {
    /// The state of external memory.
    pub fn external_state(&self) -> ExternalState {
        let settings = &self.call.settings().memory_configuration;
        let place = self.place();
        ExternalState {
            enabled: settings.enabled,
            configured: settings.path.as_deref().map(url::shown),
            memory_type: match settings.memory_type {
                MemoryType::LocalDir => "local_dir",
                MemoryType::GitRepo => "git_repo",
            },
            sync_strategy: match settings.sync_strategy {
                SyncStrategy::Manual => "manual",
                SyncStrategy::AutoCommit => "auto_commit",
                SyncStrategy::AutoPush => "auto_push",
            },
            in_use: place.external,
            base: self.call.project().shown(&place.base),
            error: place.fault.as_ref().map(Fallback::of),
        }
    }
}
