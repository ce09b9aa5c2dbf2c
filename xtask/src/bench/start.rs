//! How long it takes until a process has done nothing: `--version`, and an installed hook in a folder without a memory, beside a C program that
//! only exits.

use super::{Contender, installed, io, quietly, side_by_side};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 400;

pub(crate) fn run() -> Result<(), String> {
    let heirloom = installed::build()?;
    let folder = tempfile::tempdir().map_err(io("temporary folder"))?;
    let plain = compile(folder.path(), "exits", &[])?;
    let fixed = compile(folder.path(), "exits-static", &["-static"])?;
    let run = |program: PathBuf| move || quietly(&mut Command::new(&program));
    // Most folders have no memory, and hooks of one `setup` run in all of them.
    let home = folder.path().join("home");
    let bare = home.join("project/src");
    std::fs::create_dir_all(&bare).map_err(io("folder"))?;
    let hook = |moment: &'static str, event: serde_json::Value| -> Result<_, String> {
        let input = folder.path().join(format!("{moment}.json"));
        std::fs::write(&input, event.to_string()).map_err(io("input"))?;
        let (heirloom, home, bare) = (heirloom.clone(), home.clone(), bare.clone());
        Ok(move || {
            let mut command = Command::new(&heirloom);
            command.args(["hook", moment, "--agent", "claude-code", "--installed"]);
            command.current_dir(&bare).env_clear().env("HOME", &home).env("PATH", "/usr/bin:/bin");
            heard(&mut command, &input)
        })
    };
    let prompt = hook(
        "prompt",
        json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": bare, "prompt": "which database do we use?" }),
    )?;
    let stop = hook(
        "stop",
        json!({ "hook_event_name": "Stop", "session_id": "s", "cwd": bare, "last_assistant_message": "We decided on PostgreSQL because of jsonb." }),
    )?;
    let write = hook(
        "pre-write",
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": bare, "tool_name": "Bash", "tool_input": { "command": "ls -l" } }),
    )?;
    let version = heirloom.clone();
    side_by_side(
        ROUNDS,
        &mut [
            Contender::new("C program that exits", run(plain)),
            Contender::new("the same, static", run(fixed)),
            Contender::new("heirloom --version", move || quietly(Command::new(&version).arg("--version"))),
            Contender::new("prompt hook without a memory", prompt),
            Contender::new("stop hook without a memory", stop),
            Contender::new("hook before a tool without a memory", write),
        ],
    )
}

/// Runs a hook to its end with an event on its standard input. It must say nothing.
fn heard(command: &mut Command, input: &Path) -> Result<(), String> {
    let input = std::fs::File::open(input).map_err(io("input"))?;
    let ran = command.stdin(input).output().map_err(io("hook"))?;
    match ran.status.success() && ran.stdout.is_empty() && ran.stderr.is_empty() {
        true => Ok(()),
        false => Err(format!("a hook without a memory ended with {} or spoke", ran.status)),
    }
}

fn compile(folder: &Path, name: &str, flags: &[&str]) -> Result<PathBuf, String> {
    let source = folder.join("exits.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").map_err(io("source"))?;
    let program = folder.join(name);
    quietly(Command::new("cc").arg("-O2").args(flags).arg(&source).arg("-o").arg(&program))?;
    Ok(program)
}
