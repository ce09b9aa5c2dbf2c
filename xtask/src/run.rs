//! Starting programs.
//!
//! Comes in: a command. Goes out: its success, or a line that names the command that failed. Never here: deciding what to run.

use crate::Outcome;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    // Known at build time, so that tasks work from any folder.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// Cargo, as it was found by whoever started this program.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(root());
    command
}

/// Says what comes now.
pub(crate) fn heading(text: &str) {
    eprintln!("\n── {text}");
}

/// Runs a command with its output going where ours goes.
pub(crate) fn run(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` ended with {status}", shown(command))),
        Err(e) => Err(format!("`{}` could not be started: {e}", shown(command))),
    }
}

/// Runs a command and takes its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let name = shown(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("`{name}` could not be started: {e}"))?;
    if !output.status.success() {
        return Err(format!("`{name}` ended with {}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|e| format!("`{name}` wrote no UTF-8: {e}"))
}

/// Whether a program of that name can be found.
pub(crate) fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

pub(crate) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
