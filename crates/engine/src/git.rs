//! Git: what its files say, read here, and its own command where there is no other way.
//!
//! Comes in: a folder and paths. Goes out: what git knows of them, or one commit of exactly these paths. `start` is the only place that
//! starts git; `cargo xtask layers` refuses any other. Never here: a program that a repository, a work tree, a submodule or an included
//! file names (hooks, monitors, signers, filters, helpers, the other end of a fetch), an object that git would fetch because it is missing,
//! a `git` that lies in somebody's folder instead of the system's, an error that stops a save.

mod commit;
mod inflate;
pub(crate) mod limit;
mod objects;
mod place;
mod staged;

pub use commit::commit;
pub(crate) use objects::{First, first_commit};
pub use place::Place;
pub use staged::{Staged, staged};

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// Settings that could start programs. They stand on every command line, where the last word counts.
const TAMED: [&str; 18] = [
    // A folder that looks like a repository without a work tree may be part of a clone.
    "safe.bareRepository=explicit",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "core.pager=cat",
    "core.editor=true",
    "sequence.editor=true",
    "core.alternateRefsCommand=",
    "log.showSignature=false",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "rerere.enabled=false",
    "diff.submodule=short",
];

/// What a call that stays on this machine has no use for.
const OFFLINE: [&str; 2] = ["protocol.allow=never", "credential.helper="];

/// Variables that would aim git at another repository or another program.
const UNSET: [&str; 34] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_VARIANT",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_TRACE",
    "GIT_REPLACE_REF_BASE",
    "GIT_ATTR_SOURCE",
    "GIT_DEFAULT_HASH",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// How far a call may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Nothing but the files of the repository.
    Here,
    /// The address that the user chose, over the protocols that such an address may have.
    Approved,
}

static FINDER: OnceLock<fn() -> Option<PathBuf>> = OnceLock::new();

/// Says how the program is found: the door knows the search path, and leaves out folders that hang on where it was started.
pub fn found_by(finder: fn() -> Option<PathBuf>) {
    // Whoever says it first is the door.
    let _ = FINDER.set(finder);
}

/// The program.
fn program() -> PathBuf {
    match FINDER.get() {
        None => PathBuf::from("git"),
        // A name without a folder would be searched for in the working folder as well.
        Some(find) => find().unwrap_or_else(|| PathBuf::from("/usr/bin/git")),
    }
}

/// Git in a folder, or where this process is, without anything that a repository names or that aims it elsewhere.
pub(crate) fn start(folder: Option<&Path>, reach: Reach) -> Command {
    let mut command = Command::new(program());
    for name in UNSET {
        command.env_remove(name);
    }
    command
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        // An object that is missing stays missing: fetching it would start what the repository's settings call its other end.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    if let Some(folder) = folder {
        command.arg("-C").arg(folder);
    }
    for setting in TAMED {
        command.args(["-c", setting]);
    }
    match reach {
        // Older versions of git know only this way to forbid the fetch: with no protocol there is no other end.
        Reach::Here => {
            command.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_SSH_COMMAND", "false");
            for setting in OFFLINE {
                command.args(["-c", setting]);
            }
        }
        Reach::Approved => {
            command.env("GIT_ALLOW_PROTOCOL", "file:https:ssh").env_remove("GIT_SSH_COMMAND");
        }
    }
    command
}

/// Git at the top of the work tree around a folder, and where that is; `None` if there is none.
pub fn command(folder: &Path) -> Option<(Command, PathBuf)> {
    let real = std::fs::canonicalize(folder).ok()?;
    let top = Place::around(&real)?.work_tree;
    Some((start(Some(&top), Reach::Here), top))
}

/// Whether any commit of any branch holds a version of this file.
pub fn has_history(folder: &Path, path: &Path) -> bool {
    let Some((mut command, top)) = command(folder) else { return false };
    let Some(inside) = below(&top, path) else { return false };
    command.args(["--literal-pathspecs", "log", "--all", "--max-count=1", "--format=%H", "--"]).arg(inside);
    let said = limit::output(command, PATIENCE);
    said.ok().flatten().is_some_and(|output| output.status.success() && !output.stdout.is_empty())
}

/// How long a question about the history may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A path from the top of the work tree, the links in its folders resolved; `None` if it lies elsewhere. The file itself need not be there.
fn below(top: &Path, path: &Path) -> Option<PathBuf> {
    let folder = path.ancestors().skip(1).find(|folder| folder.exists())?;
    let rest = path.strip_prefix(folder).ok()?;
    let real = std::fs::canonicalize(folder).ok()?.join(rest);
    real.strip_prefix(top).ok().map(Path::to_owned)
}

#[cfg(test)]
#[path = "git/git_tests.rs"]
mod tests;
