//! Conformance: recorded cases, run against the engine.
//!
//! Comes in: case files (`.json`, a list of cases; `.jsonl`, one on each line) and folders of them. Goes out: a line for every failure,
//! a line with the contested count, then `N passed, M failed`. An operation nobody knows, a file that cannot be read and a call that
//! finds no case are failures. Never here: a case's meaning, which its family's file knows.

mod difflib;
mod frontmatter;
mod meao;
mod vault;

use serde_json::Value;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
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

/// Every family; the first one that knows a case's operation runs it.
const FAMILIES: [fn(&Value) -> Outcome; 4] = [vault::run, difflib::run, frontmatter::run, meao::run];

/// How it went.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) agreeing: usize,
    pub(crate) differing: usize,
    pub(crate) failures: Vec<String>,
}

impl Tally {
    fn fail(&mut self, line: String) {
        self.failed += 1;
        self.failures.push(line);
    }
}

/// Runs every case below the given paths and says how it went.
pub(crate) fn run(paths: &[String]) -> ExitCode {
    let tally = tally(paths.iter().map(Path::new));
    for line in &tally.failures {
        say(line);
    }
    say(&format!("contested: {} agree, {} differ", tally.agreeing, tally.differing));
    say(&format!("{} passed, {} failed", tally.passed, tally.failed));
    if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs every case below the given paths.
pub(crate) fn tally<'p>(paths: impl Iterator<Item = &'p Path>) -> Tally {
    let mut tally = Tally::default();
    for path in paths {
        let mut files = Vec::new();
        if let Err(error) = case_files(path, &mut files) {
            tally.fail(format!("{}: cannot be read: {error}", path.display()));
        }
        for file in files {
            run_file(&file, &mut tally);
        }
    }
    if tally == Tally::default() {
        tally.fail("there is no case to run".to_owned());
    }
    tally
}

/// The case files at a path, to any depth, in order of their names.
fn case_files(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !std::fs::metadata(path)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut inner =
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    inner.sort();
    for path in inner {
        if path.is_dir() || path.extension().is_some_and(|end| end == "json" || end == "jsonl") {
            case_files(&path, files)?;
        }
    }
    Ok(())
}

fn run_file(file: &Path, tally: &mut Tally) {
    let shown = file.display();
    let cases = match read(file) {
        Ok(cases) => cases,
        Err(why) => return tally.fail(format!("{shown}: {why}")),
    };
    for case in &cases {
        let name = ["name", "id"].iter().find_map(|key| case[key].as_str()).unwrap_or("?");
        // A crash is a failure of its case, not the end of the run.
        let outcome = catch_unwind(AssertUnwindSafe(|| run_case(case)));
        let contested = case["source"] == "contested";
        match outcome {
            Err(_) => tally.fail(format!("{shown}: {name}: expected an outcome, got a crash")),
            Ok(Outcome::Unknown) => {
                tally.fail(format!("{shown}: {name}: expected a known operation, got {}", case["op"]));
            }
            Ok(Outcome::Agrees) if contested => tally.agreeing += 1,
            Ok(Outcome::Differs { .. }) if contested => tally.differing += 1,
            Ok(Outcome::Agrees) => tally.passed += 1,
            Ok(Outcome::Differs { expected, got }) => {
                tally.fail(format!("{shown}: {name}: expected {expected}, got {got}"));
            }
        }
    }
}

fn read(file: &Path) -> Result<Vec<Value>, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("cannot be read: {e}"))?;
    if file.extension().is_some_and(|end| end == "jsonl") {
        let parse = |(at, line)| serde_json::from_str(line).map_err(|e| format!("line {}: {e}", at + 1));
        return text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect();
    }
    match serde_json::from_str(&text) {
        Ok(Value::Array(cases)) => Ok(cases),
        Ok(_) => Err("is no list of cases".to_owned()),
        Err(e) => Err(format!("is no JSON: {e}")),
    }
}

fn run_case(case: &Value) -> Outcome {
    FAMILIES
        .iter()
        .map(|run| run(case))
        .find(|outcome| *outcome != Outcome::Unknown)
        .unwrap_or(Outcome::Unknown)
}

/// A line for people.
pub(crate) fn say(line: &str) {
    // A closed pipe is nobody listening.
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases that come with the repository.
    fn fixtures(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/conformance").join(name)
    }

    fn all_pass(name: &str, at_least: usize) {
        let tally = tally([fixtures(name).as_path()].into_iter());
        assert!(tally.failed == 0, "{}", tally.failures.join("\n"));
        assert!(tally.passed >= at_least, "only {} cases", tally.passed);
    }

    #[test]
    fn every_vault_case_passes() {
        all_pass("vault", 246);
    }

    #[test]
    fn every_case_of_the_tiers_passes() {
        all_pass("meao", 233);
    }

    #[test]
    fn every_pair_has_the_ratio_of_pythons_matcher() {
        all_pass("difflib_ratio.jsonl", 200);
    }

    #[test]
    fn what_cannot_be_run_is_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        assert_eq!(tally([dir.path()].into_iter()).failed, 1, "no case at all");
        write("README.md", "no case");
        write("a.json", r#"[{"name": "n", "op": "no_such_op", "args": {}, "expect": {}}]"#);
        write("b.jsonl", "{broken\n");
        write(
            "c.json",
            r#"[{"name": "x", "op": "token_overlap", "args": {"a": "a", "b": "a"},
            "expect": {"overlap_min": 0.5}}, {"name": "y", "op": "token_overlap", "source": "contested",
            "args": {"a": "a", "b": "a"}, "expect": {"overlap_min": 0.5}}]"#,
        );
        let tally = tally([dir.path()].into_iter());
        assert_eq!((tally.passed, tally.failed, tally.differing), (0, 3, 1));
        assert!(tally.failures[2].ends_with("c.json: x: expected overlap_min 0.5, got overlap_min 1.0"));
    }
}
