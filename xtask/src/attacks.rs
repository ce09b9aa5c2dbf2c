//! `docs/security/threat-model.md`: every attack has a test with its name, or says why it cannot apply yet.
//!
//! Comes in: the page and the names of all tests. Goes out: attacks without a row, rows that name a test that is not there, tests of attacks
//! that no row names. Never here: whether the tests pass.

use crate::{Outcome, workspace};
use std::collections::BTreeSet;

const PAGE: &str = "docs/security/threat-model.md";
/// How many attacks are known.
const KNOWN: usize = 32;
/// What a row says that has no test.
const NOT_YET: &str = "does not apply yet";
/// What a name of a test of an attack begins with.
const NAME: &str = "attack_";

pub(crate) fn run() -> Outcome {
    let page = std::fs::read_to_string(workspace::root().join(PAGE)).map_err(|e| format!("{PAGE}: {e}"))?;
    let mut tests = BTreeSet::new();
    for path in workspace::tracked()?.into_iter().filter(|path| path.ends_with(".rs")) {
        let text =
            std::fs::read_to_string(workspace::root().join(&path)).map_err(|e| format!("{path}: {e}"))?;
        tests.extend(names_of_tests(&text));
    }
    let wrong = wrong(&page, &tests);
    if wrong.is_empty() { Ok(()) } else { Err(format!("{PAGE}:\n  {}", wrong.join("\n  "))) }
}

fn wrong(page: &str, tests: &BTreeSet<String>) -> Vec<String> {
    let row = |number: usize| page.lines().find(|line| line.starts_with(&format!("| {number} |")));
    let mut wrong = Vec::new();
    for number in 1..=KNOWN {
        match row(number) {
            None => wrong.push(format!("attack {number} has no row")),
            Some(line) if named(line).next().is_none() && !line.contains(NOT_YET) => {
                wrong.push(format!("attack {number} has no test and does not say why"));
            }
            Some(_) => {}
        }
    }
    let said: BTreeSet<String> = page.lines().flat_map(named).map(str::to_owned).collect();
    let gone = said.iter().filter(|name| !tests.contains(*name));
    wrong.extend(gone.map(|name| format!("there is no test `{name}`")));
    let unnamed = tests.iter().filter(|name| name.starts_with(NAME) && !said.contains(*name));
    wrong.extend(unnamed.map(|name| format!("`{name}` is not named")));
    wrong
}

/// The tests that a line names: words in backticks that look like statements.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let spans = line.split('`').skip(1).step_by(2);
    spans.filter(|span| {
        span.matches('_').count() >= 4
            && span.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    })
}

/// The functions that stand behind `#[test]`.
fn names_of_tests(text: &str) -> impl Iterator<Item = String> + '_ {
    let functions = text.lines().filter_map(|line| line.trim_start().strip_prefix("fn ")?.split_once('('));
    functions.map(|(name, _)| name.to_owned()).filter(|name| name.matches('_').count() >= 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_row_a_missing_test_and_an_unnamed_test_are_found() {
        let rows: String =
            (2..=KNOWN).map(|n| format!("| {n} | x | {NOT_YET}: there is no such door |\n")).collect();
        let test = "attack_01_does_no_harm_at_all";
        let tests = BTreeSet::from([test.to_owned()]);
        let whole = format!("| 1 | x | `{test}` | holds |\n{rows}");
        assert_eq!(wrong(&whole, &tests), [""; 0]);
        assert_eq!(wrong(&rows, &BTreeSet::new()).len(), 1);
        assert_eq!(wrong(&whole, &BTreeSet::new()).len(), 1);
        assert_eq!(wrong(&format!("| 1 | x | {NOT_YET} |\n{rows}"), &tests).len(), 1);
        assert_eq!(wrong(&format!("| 1 | x | y |\n{rows}"), &BTreeSet::new()).len(), 1);
    }
}
