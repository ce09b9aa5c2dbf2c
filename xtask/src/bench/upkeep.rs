//! The commands that look at everything: export, import --dry-run, scan, verify and status over many records, beside reading the same files once.
//!
//! Comes in: how many records, and perhaps a program to measure instead of the one that is installed from here. Goes out: seconds and ratios. Never
//! here: a verdict.

use super::{index, installed, io};
use crate::report;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const RECORDS: usize = 20_000;
const ROUNDS: usize = 3;

struct Bench {
    heirloom: PathBuf,
    folder: tempfile::TempDir,
}

impl Bench {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Seconds that a command takes. What it finds is not looked at; an error of the command itself is one here.
    fn seconds(&self, project: &str, args: &[&str]) -> Result<f64, String> {
        let start = Instant::now();
        let status = Command::new(&self.heirloom)
            .args(args)
            .current_dir(self.at(project))
            .env_clear()
            .env("HOME", self.folder.path())
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(io("heirloom"))?;
        match status.code() {
            Some(0 | 1) => Ok(start.elapsed().as_secs_f64()),
            _ => Err(format!("{args:?} ended with {status}")),
        }
    }

    fn median(
        &self,
        project: &str,
        args: &[&str],
        before: &dyn Fn() -> Result<(), String>,
    ) -> Result<f64, String> {
        let mut times = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            before()?;
            times.push(self.seconds(project, args)?);
        }
        Ok(middle(times))
    }
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let records = match words.first() {
        None => RECORDS,
        Some(word) => word.parse().map_err(|_| format!("`{word}` is no number of records"))?,
    };
    let heirloom = match words.get(1) {
        Some(program) => std::fs::canonicalize(program).map_err(io(program))?,
        None => installed::build()?,
    };
    let bench = Bench { heirloom, folder: tempfile::tempdir_in("/tmp").map_err(io("temporary folder"))? };
    index::fill(&bench.at("project"), records)?;
    std::fs::create_dir_all(bench.at("empty/.claude/memory")).map_err(io("folder"))?;
    bench.seconds("project", &["verify", "--fix"])?;
    let mut yardsticks = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        read_all(&bench.at("project"))?;
        yardsticks.push(start.elapsed().as_secs_f64());
    }
    let once = middle(yardsticks);
    report::line(&format!("{records} records, medians of {ROUNDS}\n"));
    let told = |name: &str, seconds: f64| {
        report::line(&format!(
            "{name:36}  {seconds:>7.2} s  {:>7.1} times reading the files",
            seconds / once
        ));
    };
    told("reading the files once", once);
    // A new folder each time: ext4 creates files slowly for some seconds after many were removed, and that would be measured instead.
    let folders: Vec<String> =
        (0..ROUNDS).map(|round| bench.at(&format!("out-{round}")).display().to_string()).collect();
    let exports: Result<Vec<f64>, String> =
        folders.iter().map(|to| bench.seconds("project", &["export", "--to", to])).collect();
    told("export --to FOLDER", middle(exports?));
    let to = &folders[0];
    told("import --dry-run FOLDER", bench.median("empty", &["import", "--dry-run", to], &|| Ok(()))?);
    told("scan .", bench.median("project", &["scan", "."], &|| Ok(()))?);
    told("verify", bench.median("project", &["verify"], &|| Ok(()))?);
    let forgets = || forget_gists(&bench.folder.path().join(".local/share/heirloom"));
    told("status, the first one", bench.median("project", &["status"], &forgets)?);
    told("status, another one", bench.median("project", &["status"], &|| Ok(()))?);
    Ok(())
}

fn read_all(folder: &Path) -> Result<(), String> {
    for entry in std::fs::read_dir(folder).map_err(io("folder"))?.flatten() {
        let kind = entry.file_type().map_err(io("file"))?;
        if kind.is_dir() {
            read_all(&entry.path())?;
        } else if kind.is_file() {
            std::hint::black_box(std::fs::read(entry.path()).map_err(io("file"))?);
        }
    }
    Ok(())
}

/// Removes what status keeps of records from one time to the next.
fn forget_gists(folder: &Path) -> Result<(), String> {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            forget_gists(&path)?;
        } else if path.file_name().is_some_and(|name| name == "gists") {
            std::fs::remove_file(&path).map_err(io("gists"))?;
        }
    }
    Ok(())
}
