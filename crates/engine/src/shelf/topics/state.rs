//! The state of external memory, for people: what is configured, what is used, and why not if it is not.
//!
//! Comes in: the settings and the place that was found. Goes out: words. Never here: an address with a password in it, or a call to a
//! remote.

use super::{Topics, rest, sync_git, url};
use heirloom_core::Fault;
use heirloom_core::settings::{MemoryType, SyncStrategy};
use serde::Serialize;

/// Where lessons live, and where they should.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ExternalState {
    /// Whether the settings ask for an external memory.
    pub enabled: bool,
    /// The folder or address they name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configured: Option<String>,
    /// `local_dir` or `git_repo`; `unknown` if the settings say something else.
    pub memory_type: &'static str,
    /// `manual`, `auto_commit` or `auto_push`.
    pub sync_strategy: &'static str,
    /// Whether lessons are read from there now.
    pub in_use: bool,
    /// The folder they are read from.
    pub base: String,
    /// Why the configured one is not used, or why its host could not be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Fallback>,
}

/// What is wrong with external memory.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
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

impl ExternalState {
    /// What is done with the configured place, in a few words.
    pub fn used(&self) -> &'static str {
        match (self.in_use, &self.error) {
            (true, None) => "in use",
            (true, Some(_)) => "in use, but not in sync with its host",
            (false, Some(_)) => "not used; lessons go to the project's own memory",
            (false, None) => "not fetched yet; the first write or `heirloom sync` fetches it",
        }
    }

    /// What is configured and what is done with it, in a line.
    pub fn line(&self) -> String {
        let configured = self.configured.as_deref().unwrap_or("no path is set");
        format!("{configured} ({}, {}): {}", self.memory_type, self.sync_strategy, self.used())
    }
}

impl Topics<'_> {
    /// What is wrong with external memory as far as it is known: why the configured place is not used, or why its host could not be reached last.
    /// Nobody is called to find out.
    pub(super) fn external_fault(&self) -> Option<Fault> {
        let place = self.place();
        let settings = &self.call.settings().memory_configuration;
        if place.fault.is_some() || !settings.enabled || settings.memory_type != MemoryType::GitRepo {
            return place.fault;
        }
        let remote = place.git.as_ref().and_then(|git| sync_git::remote(git).ok().flatten());
        let address = remote.map(|remote| remote.address);
        let asked = [address, settings.path.clone()];
        asked.iter().flatten().find_map(|address| rest::trouble(self.call, address))
    }

    /// The state of external memory.
    pub fn external_state(&self) -> ExternalState {
        let settings = &self.call.settings().memory_configuration;
        let place = self.place();
        ExternalState {
            enabled: settings.enabled,
            configured: settings.path.as_deref().map(url::shown),
            memory_type: match settings.memory_type {
                _ if settings.type_unknown => "unknown",
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
            error: self.external_fault().as_ref().map(Fallback::of),
        }
    }
}
