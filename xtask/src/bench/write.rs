//! Writing: a whole create as a fresh process, everything on disk, beside python3 starting up and doing nothing; then sixteen processes in one
//! store.

use super::{Contender, installed, io, quietly, side_by_side};
use crate::report;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const ROUNDS: usize = 100;
const WRITERS: usize = 16;
const SECONDS: f64 = 10.0;
/// Acknowledged writes a second of the tools that this format comes from, sixteen processes on two cores.
const ORIGINAL: f64 = 7.0;

/// A project of its own, and the binary.
struct Store {
    folder: tempfile::TempDir,
    heirloom: PathBuf,
    count: AtomicUsize,
}

impl Store {
    fn new(heirloom: &Path) -> Result<Store, String> {
        let folder = tempfile::tempdir_in("/tmp").map_err(io("temporary folder"))?;
        for name in ["project/.claude/memory", "home", "input"] {
            std::fs::create_dir_all(folder.path().join(name)).map_err(io(name))?;
        }
        Ok(Store { folder, heirloom: heirloom.to_owned(), count: AtomicUsize::new(0) })
    }

    /// Hands a record over and has it created; an error if it is not acknowledged.
    fn create(&self) -> Result<(), String> {
        let n = self.count.fetch_add(1, Ordering::Relaxed);
        let input = self.folder.path().join(format!("input/{n}.json"));
        let document = json!({
            "schema_version": "1.0", "category": "decision", "id": format!("choice-{n}"), "title": format!("Choice number {n}"),
            "created_at": "2026-01-10T09:00:00Z", "updated_at": "2026-01-10T09:00:00Z", "tags": ["storage", "orders"],
            "content": {
                "status": "accepted", "context": "Orders outgrow files", "decision": "Use PostgreSQL for orders",
                "rationale": ["It has row locks", "We know how to run it"],
            },
        });
        std::fs::write(&input, document.to_string()).map_err(io("input"))?;
        quietly(
            Command::new(&self.heirloom)
                .args(["record", "write", "--action", "create", "--category", "decision", "--target"])
                .arg(format!(".claude/memory/decisions/choice-{n}.json"))
                .arg("--input")
                .arg(&input)
                .current_dir(self.folder.path().join("project"))
                .env_clear()
                .env("HOME", self.folder.path().join("home")),
        )
    }
}

pub(crate) fn run() -> Result<(), String> {
    let heirloom = installed::build()?;
    let store = Store::new(&heirloom)?;
    let mut contenders = vec![Contender::new("heirloom record write --action create", || store.create())];
    for python in ["/usr/bin/python3", "python3"] {
        let start = move || quietly(Command::new(python).args(["-c", "pass"]));
        // Not every machine has both.
        if start().is_ok() {
            contenders.push(Contender::new(format!("{python} -c pass"), start));
        }
    }
    side_by_side(ROUNDS, &mut contenders)?;
    drop(contenders);
    together(&Store::new(&heirloom)?)
}

/// Sixteen writers for a few seconds, each starting one process after the other.
fn together(store: &Store) -> Result<(), String> {
    let start = Instant::now();
    let until = start + Duration::from_secs_f64(SECONDS);
    let outcomes: Vec<Result<usize, String>> = std::thread::scope(|scope| {
        let write = || {
            let mut acknowledged = 0;
            while Instant::now() < until {
                store.create()?;
                acknowledged += 1;
            }
            Ok(acknowledged)
        };
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(write)).collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap_or_else(|_| Err("a writer stopped".to_owned())))
            .collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    let acknowledged: usize = outcomes.into_iter().sum::<Result<usize, String>>()?;
    let rate = acknowledged as f64 / seconds;
    report::line(&format!(
        "\n{WRITERS} writers, {seconds:.1} s: {acknowledged} acknowledged creates, {rate:.0} a second, {:.0} times the original's {ORIGINAL}",
        rate / ORIGINAL
    ));
    Ok(())
}
