//! The guard: no tool writes into a memory folder directly; everything goes through the gate.
//!
//! Comes in: what a tool is about to write, as a path or as a shell command. Goes out: a refusal, or nothing. Never here:
//! touching what it looks at. A command is read as far as that is possible without running it; what it cannot show (a
//! script, a variable) is left to the validator that looks after the write.

mod place;
mod shell;

pub use place::{Inside, Memory};

use std::path::Path;

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

/// The reason to refuse an attempt, if there is one. `cwd` is where relative paths start.
pub fn refusal(memory: &Memory, attempt: Attempt<'_>, cwd: &Path) -> Option<&'static str> {
    let denied = match attempt {
        Attempt::File("") => false,
        Attempt::File(path) => memory.would_change(path, cwd),
        Attempt::Command(command) => {
            shell::targets(command, cwd).iter().any(|target| memory.would_change(&target.path, &target.cwd))
        }
    };
    denied.then_some(REASON)
}
