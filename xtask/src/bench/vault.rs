//! The vault beside the same work in Python with json and difflib.
//!
//! Comes in: nothing. Goes out: a table of seconds and ratios for opening and resolving, the snapshot, the duplicate gate alone, and a
//! whole add, which on both sides ends with a line that is on disk (ours also with lock, trust entry and audit line). Both sides take
//! the best of several runs and must come to the same result.

use crate::conformance::say;
use heirloom_core::{Channel, Fault, Settings, hash, time};
use heirloom_engine::gate::{Entry, trust};
use heirloom_engine::shelf::vault::{Addition, Record, Vault};
use heirloom_engine::{Call, Project, World};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

const RUNS: usize = 25;
const NEW: &str = "Quarterly figures leave the warehouse export before the auditors ask for them";

/// A vault of so many lines over so many memories, of which so many are in use.
struct Shape {
    name: &'static str,
    lines: usize,
    ids: usize,
    active: usize,
}

const SHAPES: [Shape; 4] = [
    Shape { name: "100,000 lines, 100 in use", lines: 100_000, ids: 2_000, active: 100 },
    Shape { name: "100,000 lines, 100 in use, 49,900 retired", lines: 100_000, ids: 50_000, active: 100 },
    Shape { name: "100,000 lines, 10,000 in use", lines: 100_000, ids: 20_000, active: 10_000 },
    Shape { name: "100,000 lines, all in use", lines: 100_000, ids: 100_000, active: 100_000 },
];

/// Runs all shapes.
pub(crate) fn run() -> ExitCode {
    for shape in &SHAPES {
        if let Err(why) = compare(shape) {
            say(&format!("{}: {why}", shape.name));
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn compare(shape: &Shape) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let fault = |f: Fault| f.message;
    let engine = engine(folder.path(), shape).map_err(fault)?;
    let vault = Vault::new(&engine);
    let path = vault.path();
    let size = std::fs::metadata(&path).map_err(|e| e.to_string())?.len();
    let python = python(&path)?;

    let (open, ids) = best(|| Ok(vault.current().map_err(fault)?.view().ids))?;
    let reader = vault.reader(None);
    // A call of its own each time: the trust book is read anew, as in a fresh process.
    let (snapshot, bullets) = best(|| {
        let fresh = Call::new(project(folder.path()), engine.settings().clone());
        let block = Vault::new(&fresh).snapshot(&reader, None).map_err(fault)?;
        Ok(block.lines().filter(|line| line.starts_with("- ")).count())
    })?;
    let current = vault.current().map_err(fault)?;
    let active: Vec<Record<'_>> = current.view().active().map(|held| held.record).collect();
    let (gate, twin) =
        best(|| Ok(vault.duplicate_of(NEW, active.iter()).map(|record| record.id.to_string())))?;
    let mut add = Spent::MOST;
    for _ in 0..RUNS {
        let clock = Clock::start();
        vault.add(Addition::new(NEW), Entry::through(Channel::Person)).map_err(fault)?;
        add = add.least(clock.spent());
        // Cut back, not written anew: the next sync would have to write all of it out.
        let file = std::fs::OpenOptions::new().write(true).open(&path).map_err(|e| e.to_string())?;
        file.set_len(size).and_then(|()| file.sync_all()).map_err(|e| e.to_string())?;
    }

    let same = python["ids"] == ids
        && python["bullets"] == bullets
        && python["duplicate"].as_str() == twin.as_deref();
    if !same {
        return Err(format!("the two sides differ: {python} and {ids} ids, {bullets} lines, {twin:?}"));
    }
    say(&format!("\n{} ({:.1} MB)", shape.name, size as f64 / 1e6));
    say("| work | Python | Heirloom | ratio | processor time alone |\n|---|---|---|---|---|");
    let rows = [
        ("open and resolve", "open", open),
        ("snapshot", "snapshot", snapshot),
        ("duplicate gate", "gate", gate),
        ("add with duplicate gate", "add", add),
    ];
    for (what, key, ours) in rows {
        let theirs = |at: usize| python[key][at].as_f64().unwrap_or_default();
        say(&format!(
            "| {what} | {:.2} ms | {:.2} ms | {:.0}× | {:.2} to {:.2} ms, {:.0}× |",
            theirs(0) * 1e3,
            ours.wall * 1e3,
            theirs(0) / ours.wall,
            theirs(1) * 1e3,
            ours.cpu * 1e3,
            theirs(1) / ours.cpu
        ));
    }
    Ok(())
}

/// Seconds by the clock on the wall and on all processors.
#[derive(Clone, Copy)]
struct Spent {
    wall: f64,
    cpu: f64,
}

impl Spent {
    const MOST: Spent = Spent { wall: f64::MAX, cpu: f64::MAX };

    fn least(self, other: Spent) -> Spent {
        Spent { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu) }
    }
}

struct Clock {
    wall: Instant,
    cpu: f64,
}

impl Clock {
    fn start() -> Clock {
        Clock { wall: Instant::now(), cpu: processor_seconds() }
    }

    fn spent(&self) -> Spent {
        Spent { wall: self.wall.elapsed().as_secs_f64(), cpu: processor_seconds() - self.cpu }
    }
}

fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn best<T>(mut work: impl FnMut() -> Result<T, String>) -> Result<(Spent, T), String> {
    let mut least = Spent::MOST;
    let mut last = None;
    for _ in 0..RUNS {
        let clock = Clock::start();
        let result = work()?;
        least = least.least(clock.spent());
        last = Some(result);
    }
    last.map(|result| (least, result)).ok_or_else(|| "no run".to_owned())
}

fn python(path: &Path) -> Result<Value, String> {
    let output = Command::new("python3")
        .args(["-c", include_str!("vault_baseline.py")])
        .arg(path)
        .args([NEW, "5"])
        .output()
        .map_err(|e| format!("python3 cannot be started: {e}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())
}

fn project(folder: &Path) -> Project {
    let world = World {
        now: time::parse("2026-01-10T09:00:00Z").unwrap_or_default(),
        data: folder.join("data"),
        nonce: "bench".to_owned(),
        user: "bench".to_owned(),
    };
    Project::new(&folder.join("project"), &folder.join("project/.claude/memory"), world)
}

/// An engine over a vault of that shape, with everything in use looked at and accepted, as `review accept` does it.
fn engine(folder: &Path, shape: &Shape) -> Result<Call, Fault> {
    let project = project(folder);
    project.local()?;
    let mut settings = Settings::standard();
    settings.vault.capacity = 1_000_000;
    let engine = Call::new(project, settings);
    let vault = Vault::new(&engine);
    let (book, now) = (trust::path(engine.project().data()?), engine.project().world().now);
    let mut text = String::new();
    let mut versions = vec![0i64; shape.ids];
    for n in 0..shape.lines {
        let id = n % shape.ids;
        versions[id] += 1;
        let record = record(id, versions[id], n + shape.ids >= shape.lines && id >= shape.active);
        let line = record.line();
        if n + shape.ids >= shape.lines && record.is_active() {
            let (id, hash) = (record.memory_id(), hash::sha256(line.as_bytes()));
            trust::accept(&book, now, id.as_str(), &hash, vault.passes(&record.text))?;
        }
        text.push_str(&line);
        text.push('\n');
    }
    let path = vault.path();
    std::fs::write(&path, &text).map_err(|e| Fault::io(&path, "write", &e))?;
    Ok(engine)
}

/// Ordinary sentences, different enough that none is a duplicate of another.
fn record(id: usize, version: i64, gone: bool) -> Record<'static> {
    const WHO: [&str; 8] =
        ["importer", "scheduler", "dashboard", "mailer", "indexer", "gateway", "ledger", "crawler"];
    const DOES: [&str; 8] =
        ["rejects", "stores", "forwards", "counts", "retries", "merges", "splits", "signs"];
    const WHAT: [&str; 8] =
        ["rows", "tickets", "invoices", "events", "letters", "images", "orders", "tokens"];
    let pick = |words: [&'static str; 8], shift: usize| words[(id >> shift) % 8];
    let word = |seed: usize| hash::sha256(format!("{id}-{seed}").as_bytes())[..7].to_owned();
    let text = format!(
        "The {} {} {} {} while {} {} stays {} behind {} until revision {version}",
        pick(WHO, 0),
        pick(DOES, 3),
        word(0),
        pick(WHAT, 6),
        word(1),
        word(2),
        word(3),
        word(4),
    );
    let register = id % 4 == 3;
    Record {
        id: format!("{:012x}", id * 7919 + 1).into(),
        version,
        created_at: "2026-01-01T00:00:00Z".into(),
        updated_at: (version > 1).then(|| "2026-01-02T00:00:00Z".into()),
        tier: if register { "register" } else { "canon" }.into(),
        topic_id: register.then(|| format!("topic_{id}").into()),
        source: Some("manual".into()),
        scope: "shared".into(),
        category: "project".into(),
        tags: vec!["bench".into()],
        deleted_at: gone.then(|| "2026-01-03T00:00:00Z".into()),
        text: text.into(),
    }
}
