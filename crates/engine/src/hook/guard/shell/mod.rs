//! Shell commands, read without running them: which files a command would write.
//!
//! Comes in: a command line and the folder it starts in. Goes out: what it writes, moves or removes, as far as its own text shows, and whether
//! the text showed everything. `lexer` parts it into words, `expand` says what a word may become, `walk` follows folders, variables, functions and
//! pipes, `run` asks `programs` what a command does with its arguments, `embedded` looks into scripts of other languages. Never here: running
//! anything; a limit on steps instead of a clock.

mod embedded;
mod expand;
mod lexer;
mod lists;
mod programs;
mod run;
mod special;
mod steps;
mod token;
mod walk;

use std::path::{Path, PathBuf};

/// Longer commands are not read word by word.
const COMMAND_MAX: usize = 64 << 10;

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Deed {
    /// It is written, or something below it is.
    Write,
    /// It goes away with everything below it.
    Remove,
}

/// A path that a command would change. The path may hold marks of [`super::pattern`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Target {
    pub(super) path: String,
    pub(super) cwd: PathBuf,
    pub(super) deed: Deed,
}

/// What was seen of a command.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) targets: Vec<Target>,
    /// The command is too long, too deep or too costly: what was not seen may still write.
    pub(super) gave_up: bool,
    /// It runs this program, and says itself where the user's settings and data are.
    pub(super) moves_home: bool,
    #[cfg(test)]
    pub(super) steps: usize,
}

/// The paths a command would change, as far as they can be seen.
pub(super) fn look(command: &str, cwd: &Path, home: Option<&Path>) -> Seen {
    if command.len() > COMMAND_MAX {
        return Seen { gave_up: true, ..Seen::default() };
    }
    let mut walk = walk::Walk::new(cwd, home);
    walk.text(command);
    Seen {
        #[cfg(test)]
        steps: walk.steps.spent(),
        gave_up: walk.steps.gave_up(),
        moves_home: walk.moves_home,
        targets: walk.found.into_iter().collect(),
    }
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
