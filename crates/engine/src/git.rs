//! Git, asked through its own command.
//!
//! Comes in: a folder and paths. Goes out: what git knows of them, or one commit of exactly these paths. Never here: hooks of the
//! repository (they would run on every save), paths that are not ours, an error that stops a save.

use std::path::Path;
use std::process::{Command, Stdio};

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    // A repository's own configuration must not be able to start programs here.
    command
        .arg("-C")
        .arg(folder)
        .args(["-c", "core.fsmonitor=false"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Whether any commit of any branch holds a version of this file.
pub fn has_history(folder: &Path, path: &Path) -> bool {
    let output = git(folder).args(["log", "--all", "--max-count=1", "--format=%H", "--"]).arg(path).output();
    output.is_ok_and(|output| output.status.success() && !output.stdout.is_empty())
}

/// Commits exactly these paths. `Err` says in a line why it could not.
pub fn commit(folder: &Path, paths: &[&Path], message: &str) -> Result<(), String> {
    let run = |mut command: Command| match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            Err(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("git refused").to_owned())
        }
        Err(e) => Err(format!("git could not be started: {e}")),
    };
    let mut add = git(folder);
    add.args(["add", "--all", "--"]).args(paths);
    run(add)?;
    let mut commit = git(folder);
    // The repository's own hooks are for the owner's commits, not for a save in the middle of a conversation.
    commit.args(["commit", "--quiet", "--no-verify", "--message", message, "--only", "--"]).args(paths);
    run(commit)
}
