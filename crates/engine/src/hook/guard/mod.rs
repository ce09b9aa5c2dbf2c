//! The guard: no tool writes into a memory folder directly; everything goes through the gate.
//!
//! Comes in: what a tool is about to write, as a path or as a shell command. Goes out: a refusal, or nothing. Never here:
//! touching what it looks at. A command is read as far as that is possible without running it; what it cannot show (a
//! script on the disk, a value from outside) is left to the validator that looks after the write. A command that is too long or too deep to
//! be read is refused if it names a protected folder at all.

mod pattern;
mod place;
mod shell;

pub use place::{Inside, Memory};

use shell::Deed;
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

/// The reason to refuse an attempt on the memory or on what is the user's own, if there is one. `cwd` is where relative paths start: the tool's own working folder.
pub fn refusal(memory: &Memory, attempt: Attempt<'_>, cwd: &Path) -> Option<&'static str> {
    let own = || {
        let own = memory.own()?;
        (changes(own, attempt, cwd) || moves_home(attempt, cwd)).then_some(OWN_REASON)
    };
    changes(memory, attempt, cwd).then_some(REASON).or_else(own)
}

/// Whether an attempt runs this program with other settings and data than the user's: there nobody stands behind any text.
fn moves_home(attempt: Attempt<'_>, cwd: &Path) -> bool {
    matches!(attempt, Attempt::Command(command) if shell::look(command, cwd, None).moves_home)
}

/// Whether an attempt changes a guarded folder.
fn changes(memory: &Memory, attempt: Attempt<'_>, cwd: &Path) -> bool {
    let mut looks = place::LOOKS_MAX;
    match attempt {
        Attempt::File("") => false,
        Attempt::File(path) => memory.would_change(path, cwd, Deed::Write, &mut { usize::MAX }),
        Attempt::Command(command) => {
            let seen = shell::look(command, cwd, memory.home());
            let changes = |target: &shell::Target, looks: &mut usize| {
                memory.would_change(&target.path, &target.cwd, target.deed, looks)
            };
            seen.targets.iter().any(|target| changes(target, &mut looks))
                || (seen.gave_up || looks == 0) && memory.named_in(command)
        }
    }
}

/// The files an attempt writes, as far as they can be seen, each with the folder its path starts from.
pub fn written(attempt: Attempt<'_>, cwd: &Path) -> Vec<(String, PathBuf)> {
    match attempt {
        Attempt::File("") => Vec::new(),
        Attempt::File(path) => vec![(path.to_owned(), cwd.to_owned())],
        Attempt::Command(command) => {
            let seen = shell::look(command, cwd, None);
            let known = seen.targets.into_iter().filter(|target| !target.path.contains(pattern::is_mark));
            known.map(|target| (target.path, target.cwd)).collect()
        }
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
