//! Hooks as fresh processes: the prompt over ten thousand records beside a program that does nothing, the stop over a long transcript.
//!
//! The yardsticks are `/bin/true` and what Python spends before its first line of work. The stop's own time is user and system time as the
//! shell reports it; its memory is bounded by a limit on its address space, which holds what is resident and more.

use super::{Contender, installed, io, quietly, side_by_side};
use crate::report;
use serde_json::json;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const ROUNDS: usize = 400;
const STOPS: usize = 50;
/// The transcript's size.
const TRANSCRIPT: usize = 20 << 20;
/// Kilobytes of address space that must be enough for a stop.
const MEMORY: usize = 30_000;
const PYTHON: &str = "/usr/bin/python3";

pub(crate) fn run() -> Result<(), String> {
    let heirloom = installed::build()?;
    let folder = tempfile::tempdir_in("/tmp").map_err(io("temporary folder"))?;
    let project = folder.path().join("project");
    fill(&project)?;
    let calls = Calls { heirloom: &heirloom, home: folder.path(), project: &project };
    quietly(calls.command().args(["record", "index", "--rebuild"]))?;
    prompts(&calls)?;
    stops(&calls)
}

struct Calls<'a> {
    heirloom: &'a Path,
    home: &'a Path,
    project: &'a Path,
}

impl Calls<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new(self.heirloom);
        self.prepare(&mut command);
        command
    }

    fn prepare(&self, command: &mut Command) {
        command.current_dir(self.project).env_clear().env("HOME", self.home).env("PATH", "/usr/bin:/bin");
    }

    fn input(&self, name: &str, value: &serde_json::Value) -> Result<std::path::PathBuf, String> {
        let path = self.home.join(name);
        std::fs::write(&path, value.to_string()).map_err(io("input"))?;
        Ok(path)
    }
}

/// What records are about; each has two of these in its title and two as tags.
const THINGS: [&str; 60] = [
    "billing",
    "invoices",
    "ledger",
    "exporter",
    "importer",
    "retries",
    "backoff",
    "queue",
    "worker",
    "scheduler",
    "cron",
    "cache",
    "session",
    "login",
    "token",
    "password",
    "profile",
    "avatar",
    "upload",
    "thumbnail",
    "video",
    "audio",
    "search",
    "ranking",
    "index",
    "shard",
    "replica",
    "backup",
    "restore",
    "snapshot",
    "migration",
    "schema",
    "column",
    "query",
    "planner",
    "latency",
    "throughput",
    "metrics",
    "tracing",
    "logging",
    "alerts",
    "pager",
    "deploy",
    "rollback",
    "canary",
    "flags",
    "locale",
    "currency",
    "tax",
    "refund",
    "checkout",
    "basket",
    "catalogue",
    "stock",
    "shipping",
    "courier",
    "webhook",
    "gateway",
    "proxy",
    "firewall",
];

const RECORDS: usize = 10_000;

/// Records that share the name of a component.
const SHARED: usize = 5;

/// A name nobody else has, as components have.
fn component(n: usize) -> String {
    const SOUNDS: [&str; 16] =
        ["ba", "ko", "ri", "mu", "te", "lo", "sa", "ne", "di", "fu", "ga", "pe", "vo", "zi", "hu", "jo"];
    (0..4).map(|at| SOUNDS[n >> (4 * at) & 15]).collect()
}

fn fill(project: &Path) -> Result<(), String> {
    fill_memory(&project.join(".claude/memory"))
}

/// Fills a memory folder with the honest records.
pub(super) fn fill_memory(root: &Path) -> Result<(), String> {
    let folder = root.join("decisions");
    std::fs::create_dir_all(&folder).map_err(io("folder"))?;
    let text = "Some words about why this was decided and what follows from it. ".repeat(6);
    for n in 0..RECORDS {
        let thing = |step: usize| THINGS[(n * step + n / THINGS.len() * (step + 7)) % THINGS.len()];
        let record = json!({
            "schema_version": "1.0", "category": "decision", "id": format!("record-{n}"),
            "title": format!("Module {n}: keep the {} apart from the {}", thing(1), thing(3)),
            "record_status": "active", "created_at": "2026-01-10T09:00:00Z", "updated_at": "2026-01-10T09:00:00Z",
            "tags": [thing(5), thing(11), component(n / SHARED)],
            "content": { "status": "accepted", "context": text, "decision": text, "rationale": [text, text] },
            "times_updated": 0, "changes": [],
        });
        let bytes = serde_json::to_vec_pretty(&record).map_err(|e| e.to_string())?;
        std::fs::write(folder.join(format!("record-{n}.json")), bytes).map_err(io("record"))?;
    }
    Ok(())
}

fn prompts(calls: &Calls<'_>) -> Result<(), String> {
    let ask = |name: &str, prompt: &str| {
        calls.input(name, &json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": calls.project, "prompt": prompt }))
    };
    let few = ask("few.json", &format!("why does {} lose its connection?", component(RECORDS / SHARED / 2)))?;
    let some = ask("some.json", "why does billing lose money in the exporter?")?;
    let all = ask("all.json", "which module had trouble with invoices?")?;
    let none = ask("none.json", "please translate that sentence into Portuguese")?;
    let hook = |input: std::path::PathBuf| {
        move || {
            let stdin = File::open(&input).map_err(io("input"))?;
            let mut command = calls.command();
            command.args(["hook", "prompt", "--agent", "claude-code"]).stdin(stdin).stdout(Stdio::null());
            match command.status() {
                Ok(status) if status.success() => Ok(()),
                other => Err(format!("the prompt hook ended with {other:?}")),
            }
        }
    };
    let mut contenders = vec![
        Contender::new("/bin/true", || quietly(&mut Command::new("/bin/true"))),
        Contender::new("prompt hook, 10,000 records, five of them hit", hook(few)),
        Contender::new("prompt hook, an eighth of them hit", hook(some)),
        Contender::new("prompt hook, all of them hit", hook(all)),
        Contender::new("prompt hook, none hit", hook(none)),
    ];
    if Path::new(PYTHON).exists() {
        let python = || quietly(Command::new(PYTHON).args(["-c", "import json,re,sys"]));
        contenders.push(Contender::new("python3 -c \"import json,re,sys\"", python));
    }
    side_by_side(ROUNDS, &mut contenders)
}

fn stops(calls: &Calls<'_>) -> Result<(), String> {
    let transcript = calls.home.join("transcript.jsonl");
    long_transcript(&transcript).map_err(io("transcript"))?;
    for n in 0..STOPS {
        let stop = json!({
            "hook_event_name": "Stop", "session_id": format!("s{n}"), "cwd": calls.project, "transcript_path": transcript,
            "stop_hook_active": false, "last_assistant_message": "Done.",
        });
        calls.input(&format!("stop-{n}.json"), &stop)?;
    }
    // A stop that was just held up lets the next one through unread, so its flag goes first.
    let script = format!(
        "TIMEFORMAT='%3U %3S'; ulimit -v {MEMORY}; for n in $(seq 0 {}); do rm -f .claude/.stop_hook_active; \
         {{ time \"$0\" hook stop < \"$1/stop-$n.json\" > /dev/null 2> \"$1/said\"; }} 2>&1; \
         grep -q triage_data \"$1/said\" || exit 3; done",
        STOPS - 1
    );
    let mut command = Command::new("bash");
    calls.prepare(&mut command);
    let ran =
        command.args(["-c", &script]).arg(calls.heirloom).arg(calls.home).output().map_err(io("bash"))?;
    if !ran.status.success() {
        return Err(format!(
            "a stop was not held up, or needed more than {MEMORY} KB of address space: {}",
            ran.status
        ));
    }
    let text = String::from_utf8_lossy(&ran.stdout);
    let mut own: Vec<f64> = text
        .lines()
        .map(|line| {
            line.split_whitespace().filter_map(|number| number.parse::<f64>().ok()).sum::<f64>() * 1e3
        })
        .collect();
    own.sort_by(f64::total_cmp);
    let (Some(median), Some(most)) = (own.get(own.len() / 2), own.last()) else {
        return Err("bash reported no times".to_owned());
    };
    report::line(&format!(
        "stop hook over a transcript of {} MB: {median:.0} ms of its own time (median of {STOPS}, most {most:.0} ms), within {} MB of \
         address space",
        TRANSCRIPT >> 20,
        MEMORY / 1000
    ));
    Ok(())
}

/// A long session: talk, tool calls and their large results.
fn long_transcript(path: &Path) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(File::create(path)?);
    let mut size = 0;
    let mut n = 0;
    let output = "a line of output that nobody reads twice\n".repeat(100);
    while size < TRANSCRIPT {
        n += 1;
        let said =
            format!("Step {n}: we decided to keep the cache because the error was fixed by a restart.");
        let lines = [
            json!({ "type": "user", "uuid": n, "message": { "role": "user", "content": format!("please do step {n}") } }),
            json!({ "type": "assistant", "uuid": n, "message": { "role": "assistant", "content": [
                { "type": "text", "text": said }, { "type": "tool_use", "id": n, "name": "Bash", "input": { "command": "make" } } ] } }),
            json!({ "type": "user", "uuid": n, "message": { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": n, "content": output } ] } }),
        ];
        for line in lines {
            let line = line.to_string();
            size += line.len() + 1;
            writeln!(file, "{line}")?;
        }
    }
    file.flush()
}
