//! Rebuilding the index over ten thousand records: time, and memory.

use super::{installed, io};
use crate::report;
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const RECORDS: usize = 10_000;
const ROUNDS: usize = 7;
/// Kilobytes of address space that must be enough; what is resident is less.
const MEMORY: usize = 100_000;

pub(crate) fn run() -> Result<(), String> {
    let heirloom = installed::build()?;
    let folder = tempfile::tempdir_in("/tmp").map_err(io("temporary folder"))?;
    let project = folder.path().join("project");
    fill(&project, RECORDS)?;
    let mut times = Vec::new();
    let mut peak = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        // The shell's limit is on the address space; a rebuild that ends well within it was resident in less.
        let mut child = Command::new("sh")
            .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" record index --rebuild")])
            .arg(&heirloom)
            .current_dir(&project)
            .env_clear()
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(io("sh"))?;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(io("wait"))? {
                break status;
            }
            peak = peak.max(resident(child.id()));
            std::thread::sleep(std::time::Duration::from_millis(1));
        };
        if !status.success() {
            return Err(format!("the rebuild ended with {status}; it may have needed more than {MEMORY} KB"));
        }
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    report::line(&format!(
        "index of {RECORDS} records rebuilt in {:.2} s (median of {ROUNDS}, least {:.2} s), largest resident size seen {:.1} MB, \
         within {} MB of address space",
        times[ROUNDS / 2],
        times[0],
        peak as f64 / 1024.0,
        MEMORY / 1000
    ));
    Ok(())
}

/// A project of so many records.
pub(super) fn fill(project: &Path, records: usize) -> Result<(), String> {
    let text = |words: usize| "some words of a record ".repeat(words);
    for n in 0..records {
        let (category, folder, content) = if n % 2 == 0 {
            let rationale = vec![text(2); 4];
            let content = json!({ "status": "accepted", "context": text(6), "decision": text(4), "rationale": rationale });
            ("decision", "decisions", content)
        } else {
            (
                "runbook",
                "runbooks",
                json!({ "trigger": text(3), "steps": vec![text(2); 8], "verification": text(2) }),
            )
        };
        let change = json!({
            "date": "2026-01-10T09:00:00Z", "summary": "changed", "field": "content.x", "old_value": text(3), "new_value": text(3),
        });
        let record = json!({
            "schema_version": "1.0", "category": category, "id": format!("record-{n}"),
            "title": format!("Record number {n} about {}", ["logins", "orders", "caches", "queues", "logs"][n % 5]),
            "record_status": "active", "created_at": "2026-01-10T09:00:00Z", "updated_at": "2026-01-10T09:00:00Z",
            "tags": ["storage", format!("area-{}", n % 50)], "content": content, "times_updated": 3, "changes": vec![change; 3],
        });
        let folder = project.join(".claude/memory").join(folder);
        std::fs::create_dir_all(&folder).map_err(io("folder"))?;
        let bytes = serde_json::to_vec_pretty(&record).map_err(|e| e.to_string())?;
        std::fs::write(folder.join(format!("record-{n}.json")), bytes).map_err(io("record"))?;
    }
    Ok(())
}

/// The most a running process has had in memory so far, in kilobytes.
pub(super) fn resident(process: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}
