//! The guard: no tool writes into a memory folder directly; everything goes through the gate.
//!
//! Comes in: what a tool is about to write, as a path or as a shell command. Goes out: a refusal, or nothing. Never here:
//! touching what it looks at. A command is read as far as that is possible without running it; what it cannot show (a
//! script, a variable) is left to the validator that looks after the write.

mod place;
mod shell;

pub use place::{Inside, Memory};

use std::path::{Path, PathBuf};

/// What a tool is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt<'a> {
    /// Write, edit or remove this file.
    File(&'a str),
    /// Run this shell command.
    Command(&'a str),
}

/// Why a tool may not go on.
pub const REASON: &str = "Direct writes to the memory directory are blocked: every memory passes the gate, which checks its \
    shape and keeps secrets out. Use `heirloom record write --action <create|update|delete> ...` (or `heirloom add`) instead.";

/// Why a tool may not touch what is the user's own.
pub const OWN_REASON: &str = "Direct writes to Heirloom's own settings and data are blocked: they say what is trusted and what only a \
    person decides. Use `heirloom config set --user <key> <value>` for settings; the rest is changed by Heirloom's commands only.";

/// The reason to refuse an attempt, if there is one. `cwd` is where relative paths start.
pub fn refusal(memory: &Memory, attempt: Attempt<'_>, cwd: &Path) -> Option<&'static str> {
    written(attempt, cwd).iter().find_map(|(path, from)| {
        let own = || memory.would_change_own(path, from).then_some(OWN_REASON);
        memory.would_change(path, from).then_some(REASON).or_else(own)
    })
}

/// The files an attempt writes, as far as they can be seen, each with the folder its path starts from.
pub fn written(attempt: Attempt<'_>, cwd: &Path) -> Vec<(String, PathBuf)> {
    match attempt {
        Attempt::File("") => Vec::new(),
        Attempt::File(path) => vec![(path.to_owned(), cwd.to_owned())],
        Attempt::Command(command) => {
            shell::targets(command, cwd).into_iter().map(|target| (target.path, target.cwd)).collect()
        }
    }
}
