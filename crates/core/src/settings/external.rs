//! External memory: whether lessons live outside the project, where, and how they travel.
//!
//! Comes in: resolved values of the `memory_configuration` block. Goes out: [`External`]. Never here: whether the path is
//! safe or reachable; the topics shelf finds out when it opens it.

use std::time::Duration;

/// The `memory_configuration` block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct External {
    /// Off: lessons live in the project's own memory folder.
    pub enabled: bool,
    /// The folder, or the address of a git repository.
    pub path: Option<String>,
    /// What is at the path.
    pub memory_type: MemoryType,
    /// Whether somebody who may say it said a type that nobody knows.
    pub type_unknown: bool,
    /// What happens after a write.
    pub sync_strategy: SyncStrategy,
    /// How long git may take to reach another machine.
    pub git_timeout_seconds: u32,
}

/// What is at the external path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryType {
    /// A plain folder.
    #[default]
    LocalDir,
    /// A git repository, by folder or by URL.
    GitRepo,
}

/// What happens in an external git repository after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncStrategy {
    /// Nothing until `sync`.
    #[default]
    Manual,
    /// The change is committed.
    AutoCommit,
    /// The change is committed, others' changes are fetched, both are pushed.
    AutoPush,
}

impl External {
    /// How long git may take to reach another machine.
    pub fn git_limit(&self) -> Duration {
        Duration::from_secs(u64::from(self.git_timeout_seconds.max(1)))
    }

    pub(super) fn new(
        enabled: bool,
        path: String,
        memory_type: &str,
        sync_strategy: &str,
        git_timeout_seconds: u32,
    ) -> External {
        External {
            enabled,
            path: (!path.is_empty()).then_some(path),
            memory_type: match memory_type {
                "git_repo" => MemoryType::GitRepo,
                _ => MemoryType::LocalDir,
            },
            type_unknown: false,
            sync_strategy: match sync_strategy {
                "auto_push" => SyncStrategy::AutoPush,
                // `auto` is the word of older settings files.
                "auto_commit" | "auto" => SyncStrategy::AutoCommit,
                _ => SyncStrategy::Manual,
            },
            git_timeout_seconds,
        }
    }
}
