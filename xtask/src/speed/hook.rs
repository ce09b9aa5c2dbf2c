//! The prompt hook itself: fresh processes of the binary as it is installed, beside the same binary that only says its version.
//!
//! Comes in: a project whose index has the memories. Goes out: medians and ratios, and how much memory of its own the hook needs. Each call is of
//! another session, so that every one of them is given memories and writes them down.

use super::{Place, middle, said, timed};
use crate::Outcome;
use std::path::Path;
use std::process::{Command, Stdio};

/// Fresh processes started of each sort.
const SPAWNS: usize = 200;

fn command(heirloom: &Path, place: &Place) -> Command {
    let mut command = Command::new(heirloom);
    command.current_dir(place.project()).env_clear().env("HOME", &place.0).env("PATH", "/usr/bin:/bin");
    command
}

fn ended(command: &mut Command) -> Outcome {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().map_err(said)?;
    if status.success() { Ok(()) } else { Err(format!("{:?} ended with {status}", command.get_program())) }
}

/// The file from which a hook of this session reads its prompt.
fn input(place: &Place, prompt: &str, session: &str) -> Result<std::fs::File, String> {
    let path = place.0.join("prompt.json");
    // Sessions of an earlier run over the same folder were given their memories then.
    let session = format!("{session}-{}", std::process::id());
    let event = serde_json::json!({
        "hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": place.project(), "prompt": prompt,
    });
    std::fs::write(&path, event.to_string()).map_err(said)?;
    std::fs::File::open(&path).map_err(said)
}

fn hook(heirloom: &Path, place: &Place, prompt: &str, session: &str) -> Result<Command, String> {
    let mut command = command(heirloom, place);
    command.args(["hook", "prompt", "--agent", "claude-code"]).stdin(input(place, prompt, session)?);
    Ok(command)
}

/// Makes the project, and by a first prompt its index.
pub(super) fn prepare(heirloom: &Path, place: &Place, prompt: &str) -> Outcome {
    std::fs::create_dir_all(place.project()).map_err(said)?;
    ended(command(heirloom, place).arg("init").stdin(Stdio::null()))?;
    ended(&mut hook(heirloom, place, prompt, "first")?)
}

pub(super) fn run(heirloom: &Path, place: &Place, prompt: &str) -> Outcome {
    let told = hook(heirloom, place, prompt, "told")?.stderr(Stdio::null()).output().map_err(said)?;
    if told.stdout.is_empty() {
        return Err("the prompt hook gave nothing".to_owned());
    }
    let (mut system, mut version, mut full) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..SPAWNS + 10 {
        let mut asking = hook(heirloom, place, prompt, &format!("s{round}"))?;
        let a = timed(|| ended(&mut Command::new("/bin/true")))?;
        let b = timed(|| ended(command(heirloom, place).arg("--version")))?;
        let c = timed(|| ended(&mut asking))?;
        if round >= 10 {
            system.push(a);
            version.push(b);
            full.push(c);
        }
    }
    let (system, version, full) = (middle(&mut system), middle(&mut version), middle(&mut full));
    println!(
        "prompt hook, fresh static process, p50 of {SPAWNS}: {full:.2} ms; beside --version {version:.2} ms, ratio {:.1}; beside /bin/true \
         {system:.2} ms, ratio {:.1}",
        full / version,
        full / system
    );
    println!("private memory of the hook: at most {} MB", memory(heirloom, place, prompt)?);
    Ok(())
}

/// The least limit on private memory, in megabytes, under which the hook still gives what it gives.
fn memory(heirloom: &Path, place: &Place, prompt: &str) -> Result<usize, String> {
    let (mut low, mut high) = (0, 128);
    while high - low > 1 {
        let limit = usize::midpoint(low, high);
        let mut command = Command::new("bash");
        command.current_dir(place.project()).env_clear().env("HOME", &place.0).env("PATH", "/usr/bin:/bin");
        let script = format!("ulimit -d {}; exec \"$0\" hook prompt --agent claude-code", limit * 1024);
        command.args(["-c", &script]).arg(heirloom).stdin(input(place, prompt, &format!("m{limit}"))?);
        let told = command.stderr(Stdio::null()).output().map_err(said)?;
        if told.status.success() && !told.stdout.is_empty() { high = limit } else { low = limit }
    }
    Ok(high)
}
