//! Conformance: recorded cases, run against the engine.
//!
//! Comes in: case files and folders. Goes out: a line for every failure, then the counts. Never here: a case's meaning, which
//! each family's file knows.

mod frontmatter;

use serde_json::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What came of a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// As expected.
    Agrees,
    /// Something else.
    Differs {
        /// What the case wants.
        expected: String,
        /// What came.
        got: String,
    },
    /// Nobody knows this operation.
    Unknown,
}

#[derive(Debug, Default)]
struct Tally {
    passed: usize,
    failed: usize,
    contested: [usize; 2],
}

/// Runs every case below the given paths.
pub(crate) fn run(paths: &[String]) -> ExitCode {
    let mut tally = Tally::default();
    for path in paths {
        for file in case_files(Path::new(path)) {
            run_file(&file, &mut tally);
        }
    }
    let [agree, differ] = tally.contested;
    say(&format!("contested: {agree} agree, {differ} differ"));
    let none = tally.passed + tally.failed + agree + differ == 0;
    if none {
        say("no case found");
        tally.failed += 1;
    }
    say(&format!("{} passed, {} failed", tally.passed, tally.failed));
    if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn case_files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    let mut inner: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    inner.sort();
    let wanted = |p: &PathBuf| p.is_dir() || p.extension().is_some_and(|e| e == "json");
    inner.into_iter().filter(wanted).flat_map(|p| case_files(&p)).collect()
}

fn run_file(file: &Path, tally: &mut Tally) {
    let shown = file.display();
    let cases: Option<Vec<Value>> =
        std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(cases) = cases else {
        say(&format!("{shown}: cannot be read as a list of cases"));
        tally.failed += 1;
        return;
    };
    for case in &cases {
        let name = case.get("name").and_then(Value::as_str).unwrap_or("?");
        let outcome = frontmatter::run(case);
        if case.get("source").and_then(Value::as_str) == Some("contested") {
            tally.contested[usize::from(outcome != Outcome::Agrees)] += 1;
            continue;
        }
        match outcome {
            Outcome::Agrees => {
                tally.passed += 1;
                continue;
            }
            Outcome::Differs { expected, got } => {
                say(&format!("{shown}: {name}: expected {expected}, got {got}"));
            }
            Outcome::Unknown => say(&format!("{shown}: {name}: unknown operation")),
        }
        tally.failed += 1;
    }
}

/// A line for people.
pub(crate) fn say(line: &str) {
    // A closed pipe is nobody listening.
    let _ = writeln!(std::io::stdout(), "{line}");
}
