//! Hooks on hostile projects beside the honest one of `bench hooks`: what each flood adds in time and memory.
//!
//! Comes in: nothing, or a program to measure instead of the installed one. Goes out: a table for each ranking, a line for each hook on each
//! project: the first run, the least of the later ones, the most memory, and what that is more than on the honest project. Never here: a verdict.

use super::{hooks, index, installed, io};
use crate::report;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs after the first.
const LATER: usize = 3;

/// Each hook, with the event it is sent.
const HOOKS: [&str; 7] =
    ["session-start", "prompt", "pre-write", "post-write", "stop", "pre-compact", "session-end"];

/// A project: its name and what fills its memory folder.
type Flood = (&'static str, fn(&Path) -> std::io::Result<()>);

const FLOODS: [Flood; 13] = [
    ("1,000 rules of 76 bytes", rules),
    ("200 records of 3.4 MB", large_records),
    ("a vault of 300,000 lines", vault),
    ("40,000 scopes", scopes),
    ("22,000 categories", categories),
    ("150,000 aliases", aliases),
    ("provenance of 60 MB", provenance),
    ("an index.md of 60 MB", long_index),
    ("100,000 tiny files", tiny),
    ("1,000 notes of 100 KB", notes),
    ("500 pages of lessons", lessons),
    ("a page of 500 MB, sparse files of 10 GB", sparse),
    ("settings of nested objects", nested),
];

#[derive(Clone, Copy)]
struct Cost {
    first: f64,
    later: f64,
    memory: f64,
}

pub(crate) fn run(program: Option<&Path>) -> Result<(), String> {
    let heirloom = match program {
        Some(path) => path.to_owned(),
        None => installed::build()?,
    };
    for strategy in ["title_tags", "hybrid"] {
        report::line(&format!(
            "{strategy}: hook, first run, least of {LATER} later ones, most memory; and more than on the honest project"
        ));
        let honest = measure(&heirloom, strategy, &|root| hooks::fill_memory(root))?;
        for (hook, cost) in HOOKS.iter().zip(&honest) {
            report::line(&format!(
                "{:40} {hook:13} {:8.1} ms {:8.1} ms {:7.1} MB",
                "10,000 honest records", cost.first, cost.later, cost.memory
            ));
        }
        for (name, fill) in FLOODS {
            let costs = measure(&heirloom, strategy, &|root| fill(root).map_err(io("flood")))?;
            for ((hook, cost), honest) in HOOKS.iter().zip(&costs).zip(&honest) {
                report::line(&format!(
                    "{name:40} {hook:13} {:8.1} ms {:8.1} ms {:7.1} MB  {:+8.1} ms {:+8.1} ms {:+7.1} MB  {:6.1}x",
                    cost.first,
                    cost.later,
                    cost.memory,
                    cost.first - honest.first,
                    cost.later - honest.later,
                    cost.memory - honest.memory,
                    cost.later / honest.later,
                ));
            }
        }
    }
    Ok(())
}

/// What every hook costs in a fresh project that was filled like this.
fn measure(
    heirloom: &Path,
    strategy: &str,
    fill: &dyn Fn(&Path) -> Result<(), String>,
) -> Result<Vec<Cost>, String> {
    let folder = tempfile::tempdir_in("/tmp").map_err(io("temporary folder"))?;
    let project = folder.path().join("project");
    let root = project.join(".claude/memory");
    std::fs::create_dir_all(root.join("decisions")).map_err(io("folder"))?;
    fill(&root)?;
    // The user's own choice, so that it stands whatever the project says.
    let config = folder.path().join(".config/heirloom");
    std::fs::create_dir_all(&config).map_err(io("folder"))?;
    let document = json!({ "retrieval": { "match_strategy": strategy } }).to_string();
    std::fs::write(config.join("config.json"), document).map_err(io("settings"))?;
    let transcript = folder.path().join("transcript.jsonl");
    let line = json!({ "type": "user", "message": { "role": "user", "content": "we decided to keep the cache because of the error" } });
    std::fs::write(&transcript, format!("{line}\n").repeat(200)).map_err(io("transcript"))?;
    let mut costs = Vec::new();
    for hook in HOOKS {
        let mut runs = Vec::new();
        for n in 0..=LATER {
            let event = event(hook, &project, &transcript, n);
            let input = folder.path().join("event.json");
            std::fs::write(&input, event.to_string()).map_err(io("event"))?;
            let _ = std::fs::remove_file(project.join(".claude/.stop_hook_active"));
            runs.push(timed(heirloom, folder.path(), &project, hook, &input)?);
        }
        let later = runs.iter().skip(1).map(|(time, _)| *time).fold(f64::MAX, f64::min);
        let memory = runs.iter().map(|(_, memory)| *memory).fold(0.0, f64::max);
        costs.push(Cost { first: runs[0].0, later, memory });
    }
    Ok(costs)
}

fn event(hook: &str, project: &Path, transcript: &Path, n: usize) -> Value {
    let mut event = json!({ "session_id": format!("s{n}"), "cwd": project, "transcript_path": transcript });
    match hook {
        "prompt" => event["prompt"] = json!("why does billing lose money in the exporter?"),
        "session-start" => event["source"] = json!("startup"),
        "pre-write" => {
            event["tool_name"] = json!("Bash");
            event["tool_input"] = json!({ "command": "make test && echo done > build.log" });
        }
        "post-write" => {
            event["tool_name"] = json!("Write");
            event["tool_input"] = json!({ "file_path": project.join(".claude/memory/vault.jsonl") });
        }
        _ => event["stop_hook_active"] = json!(false),
    }
    event
}

/// Milliseconds and megabytes of one hook.
fn timed(
    heirloom: &Path,
    home: &Path,
    project: &Path,
    hook: &str,
    input: &Path,
) -> Result<(f64, f64), String> {
    let stdin = std::fs::File::open(input).map_err(io("event"))?;
    let began = Instant::now();
    let mut child = Command::new(heirloom)
        .args(["hook", hook, "--agent", "claude-code"])
        .current_dir(project)
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(io("heirloom"))?;
    let mut peak = 0;
    while child.try_wait().map_err(io("wait"))?.is_none() {
        peak = peak.max(index::resident(child.id()));
        std::thread::sleep(std::time::Duration::from_micros(300));
    }
    Ok((began.elapsed().as_secs_f64() * 1e3, peak as f64 / 1024.0))
}

fn settings(root: &Path, document: &Value) -> std::io::Result<()> {
    std::fs::write(root.join("memory-config.json"), document.to_string())
}

fn rules(root: &Path) -> std::io::Result<()> {
    let rule = |n: usize| json!({ "id": format!("r{n}"), "pattern": format!("[A-Za-z0-9]{{10,60}}{n}[a-z]{{5,50}}") });
    settings(root, &json!({ "gate": { "rules": (0..1_000).map(rule).collect::<Vec<_>>() } }))?;
    honest(root, 100)
}

fn honest(root: &Path, count: usize) -> std::io::Result<()> {
    (0..count).try_for_each(|n| record(root, &format!("r{n}"), "billing exporter, and why it was decided"))
}

fn record(root: &Path, name: &str, text: &str) -> std::io::Result<()> {
    let record = json!({
        "schema_version": "1.0", "category": "decision", "id": name, "title": format!("The billing exporter {name}"),
        "record_status": "active", "created_at": "2026-01-10T09:00:00Z", "updated_at": "2026-01-10T09:00:00Z",
        "tags": ["billing"], "content": { "status": "accepted", "context": text }, "times_updated": 0, "changes": [],
    });
    std::fs::write(root.join(format!("decisions/{name}.json")), record.to_string())
}

fn large_records(root: &Path) -> std::io::Result<()> {
    let text: String = (0..400_000).map(|n| format!("word{n:05x} ")).collect();
    (0..200).try_for_each(|n| record(root, &format!("r{n}"), &text[..3_400_000]))
}

fn vault(root: &Path) -> std::io::Result<()> {
    let line = |n: usize| {
        json!({
            "id": format!("{:032x}", n), "scope": "shared", "tier": "canon", "text": format!("billing exporter {n} loses money"),
            "tags": [], "category": "fact", "source": "user", "created_at": "2026-01-01T00:00:00Z", "version": 1, "status": "active",
        })
        .to_string()
            + "\n"
    };
    std::fs::write(root.join("vault.jsonl"), (0..300_000).map(line).collect::<String>())
}

fn scopes(root: &Path) -> std::io::Result<()> {
    settings(
        root,
        &json!({ "vault": { "scopes": (0..40_000).map(|n| format!("scope{n}")).collect::<Vec<_>>() } }),
    )?;
    honest(root, 100)
}

fn categories(root: &Path) -> std::io::Result<()> {
    let all: serde_json::Map<String, Value> =
        (0..22_000).map(|n| (format!("c{n}"), json!({ "enabled": true }))).collect();
    settings(root, &json!({ "categories": all }))?;
    honest(root, 100)
}

fn aliases(root: &Path) -> std::io::Result<()> {
    let chain = |n: usize| format!("{{\"was\":\"decision:c{n}\",\"is\":\"decision:c{}\"}}\n", n + 1);
    std::fs::write(root.join(".aliases.jsonl"), (0..150_000).map(chain).collect::<String>())?;
    honest(root, 100)
}

fn provenance(root: &Path) -> std::io::Result<()> {
    let line = |n: usize| {
        format!("{{\"id\":\"decision:x{n}\",\"at\":\"2026-01-01T00:00:00Z\",\"did\":\"forgotten\"}}\n")
    };
    std::fs::write(root.join("provenance.jsonl"), (0..900_000).map(line).collect::<String>())?;
    honest(root, 100)
}

fn long_index(root: &Path) -> std::io::Result<()> {
    let line = |n: usize| {
        format!(
            "- [DECISION] The billing exporter {n} loses money -> .claude/memory/decisions/r{n}.json #tags:billing,exporter\n"
        )
    };
    std::fs::write(root.join("index.md"), (0..600_000).map(line).collect::<String>())?;
    honest(root, 100)
}

fn tiny(root: &Path) -> std::io::Result<()> {
    (0..100_000).try_for_each(|n| std::fs::write(root.join(format!("decisions/t{n}.json")), "{}"))
}

fn notes(root: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(root.join("notes"))?;
    let body = "the billing exporter loses money ".repeat(3_000);
    (0..1_000).try_for_each(|n| {
        let id = format!("{n:08x}-0000-4000-8000-000000000000");
        let head = format!("---\nid: {id}\nsubject: billing {n}\nkeywords: [billing, exporter]\napplies_to: global\noccurred_at: 2026-01-01T00:00:00Z\ncontent_hash: x\n---\n");
        std::fs::write(root.join(format!("notes/{id}.md")), head + &body)
    })
}

fn lessons(root: &Path) -> std::io::Result<()> {
    let page = "## 2026-01-02 - billing exporter\n\nIt loses money where the exporter meets billing.\n\n"
        .repeat(1_500);
    (0..500).try_for_each(|n| {
        let folder: PathBuf = root.join(format!("topics/t{n}"));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("s.md"), format!("# t{n}\n\n{page}"))
    })
}

fn sparse(root: &Path) -> std::io::Result<()> {
    for (name, size) in
        [("topics/git/rebase.md", 500 << 20), ("decisions/x.json", 10 << 30), ("notes/x.md", 10u64 << 30)]
    {
        std::fs::create_dir_all(root.join(name).parent().unwrap_or(root))?;
        std::fs::File::create(root.join(name))?.set_len(size)?;
    }
    honest(root, 100)
}

fn nested(root: &Path) -> std::io::Result<()> {
    let wide: String = (0..70_000).map(|n| format!("\"k{n}\":{{\"x\":1}},")).collect();
    std::fs::write(
        root.join("memory-config.json"),
        format!("{{{wide}\"z\":{}1{}}}", "{\"a\":".repeat(100), "}".repeat(100)),
    )?;
    honest(root, 100)
}
