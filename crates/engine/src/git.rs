//! Git, asked through its own command.
//!
//! Comes in: a folder and paths. Goes out: what git knows of them, or one commit of exactly these paths. Never here: a program that the
//! repository names (hooks, monitors, signers, filters), a `git` that lies in somebody's folder instead of the system's, paths that are not
//! ours, an error that stops a save.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Settings that could start programs. They stand on every command line, where the last word counts.
const TAMED: [&str; 7] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.alternateRefsCommand=",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Variables that would aim git at another repository or another program.
pub(crate) const UNSET: [&str; 22] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_TRACE",
    "GIT_REPLACE_REF_BASE",
];

/// Groups of settings that name programs which adding and committing would start.
const PROGRAMS: [&str; 2] = ["filter.", "gpg."];

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

/// Git by itself, without anything that aims it elsewhere.
pub(crate) fn bare() -> Command {
    let mut command = Command::new(program());
    for name in UNSET {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").stdin(Stdio::null());
    command
}

/// Git in the repository around a folder; nothing that the repository names is started.
pub fn command(folder: &Path) -> Command {
    let mut command = bare();
    command.arg("-C").arg(folder);
    for setting in TAMED {
        command.args(["-c", setting]);
    }
    command.stderr(Stdio::piped());
    command
}

/// Whether any commit of any branch holds a version of this file.
pub fn has_history(folder: &Path, path: &Path) -> bool {
    let output =
        command(folder).args(["log", "--all", "--max-count=1", "--format=%H", "--"]).arg(path).output();
    output.is_ok_and(|output| output.status.success() && !output.stdout.is_empty())
}

/// Commits exactly these paths. `Err` says in a line why it could not.
pub fn commit(folder: &Path, paths: &[&Path], message: &str) -> Result<(), String> {
    let run = |mut command: Command| match command.output() {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => {
            Err(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("git refused").to_owned())
        }
        Err(e) => Err(format!("git could not be started: {e}")),
    };
    let mut settings = command(folder);
    settings.args(["config", "--local", "--includes", "--name-only", "--list", "-z"]);
    let settings = run(settings)?;
    let names = settings.split(|b| *b == 0).map(String::from_utf8_lossy);
    let runs = |name: &str| PROGRAMS.iter().any(|group| name.to_lowercase().starts_with(group));
    if let Some(name) = names.into_iter().find(|name| runs(name)) {
        return Err(format!("the repository's own settings name a program ({name}); commit it yourself"));
    }
    let mut add = command(folder);
    add.args(["add", "--all", "--"]).args(paths);
    run(add)?;
    let mut commit = command(folder);
    // The repository's own hooks are for the owner's commits, not for a save in the middle of a conversation.
    commit.args(["commit", "--quiet", "--no-verify", "--message", message, "--only", "--"]).args(paths);
    run(commit).map(drop)
}
