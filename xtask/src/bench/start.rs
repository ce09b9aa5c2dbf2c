//! How long it takes until a process has done nothing: `--version`, and an installed hook in a folder without a memory, beside a C program that
//! only exits; and how long until a server over standard streams has answered for the first time, greeted or asked without a greeting.

use super::{Contender, installed, io, quietly, side_by_side};
use serde_json::json;
use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const ROUNDS: usize = 400;

pub(crate) fn run(program: Option<&Path>) -> Result<(), String> {
    let heirloom = match program {
        Some(program) => program.to_owned(),
        None => installed::build()?,
    };
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
    let ended = RefCell::new(Vec::new());
    let asked = |message: serde_json::Value| {
        let (heirloom, home, bare, ended) = (heirloom.clone(), home.clone(), bare.clone(), &ended);
        move || {
            let mut command = Command::new(&heirloom);
            command.arg("mcp").current_dir(&bare).env_clear().env("HOME", &home).env("PATH", "/usr/bin:/bin");
            ended.borrow_mut().push(answered(&mut command, &message)?);
            Ok(())
        }
    };
    let client = json!({ "name": "bench", "version": "1" });
    let greeted = asked(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client } }),
    );
    let of_client = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": client,
    });
    let bare_list =
        asked(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": of_client } }));
    let measured = side_by_side(
        ROUNDS,
        &mut [
            Contender::new("C program that exits", run(plain)),
            Contender::new("the same, static", run(fixed)),
            Contender::new("heirloom --version", move || quietly(Command::new(&version).arg("--version"))),
            Contender::new("prompt hook without a memory", prompt),
            Contender::new("stop hook without a memory", stop),
            Contender::new("hook before a tool without a memory", write),
            Contender::new("mcp until the greeting is answered", greeted),
            Contender::new("mcp until tools are listed, no greeting", bare_list),
        ],
    );
    for mut child in ended.into_inner() {
        child.wait().map_err(io("mcp"))?;
    }
    measured
}

/// Starts a server and asks it once. It ends by itself, since nobody can ask any more; whoever measures waits for that later.
fn answered(command: &mut Command, message: &serde_json::Value) -> Result<Child, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(io("mcp"))?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
        return Err("mcp has no streams".to_owned());
    };
    writeln!(stdin, "{message}").map_err(io("mcp"))?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).map_err(io("mcp"))?;
    let answer: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
    match answer.get("result") {
        Some(_) => Ok(child),
        None => Err(format!("mcp answered {line:?}")),
    }
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
