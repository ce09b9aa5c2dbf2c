//! `test`: everything that can be tested, and one line at the end.
//!
//! Comes in: arguments for `cargo test`. Goes out: cargo's own output, then `N passed, M failed`. Never here: skipping what is not installed;
//! it is installed first.

use crate::{ALREADY_SAID, Outcome, clients, requirements, run, sdk, server};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

/// How many tests did what.
#[derive(Debug, Default, PartialEq)]
struct Count {
    passed: usize,
    failed: usize,
}

pub(crate) fn run(args: &[String]) -> Outcome {
    requirements::install()?;
    run::heading("PostgreSQL for the tests");
    server::fetched()?;
    run::heading("tests");
    let mut command = run::cargo(&["test", "--workspace", "--no-fail-fast"]);
    command.args(args).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("cargo could not be started: {e}"))?;
    let mut count = Count::default();
    if let Some(stdout) = child.stdout.take() {
        let mut out = std::io::stdout().lock();
        for line in BufReader::new(stdout).split(b'\n') {
            let mut line = line.map_err(|e| format!("cargo's output: {e}"))?;
            count.add(&String::from_utf8_lossy(&line));
            line.push(b'\n');
            let _ = out.write_all(&line);
        }
    }
    let status = child.wait().map_err(|e| format!("cargo: {e}"))?;
    // Whoever asks for some of the tests by name waits for nobody else's programs.
    if args.is_empty() {
        let clients = clients::checks();
        count.passed += clients.passed;
        count.failed += clients.failed;
        let own = sdk::checks();
        count.passed += own.passed;
        count.failed += own.failed;
    }
    let summary = format!("{} passed, {} failed", count.passed, count.failed);
    let good = status.success() && count.failed == 0 && count.passed > 0;
    if !good {
        eprintln!("error: cargo test ended with {status}");
    }
    // The count comes last, also when a test program did not even build.
    println!("\n{summary}");
    if good { Ok(()) } else { Err(ALREADY_SAID.to_owned()) }
}

impl Count {
    /// Adds a line like `test result: ok. 3 passed; 0 failed; …`.
    fn add(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("test result: ") else { return };
        let of = |what: &str| {
            let before = rest.split(what).next().unwrap_or_default();
            before.split_whitespace().last().and_then(|number| number.parse::<usize>().ok()).unwrap_or(0)
        };
        self.passed += of(" passed");
        self.failed += of(" failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_test_programs_are_added_up() {
        let mut count = Count::default();
        count.add("running 3 tests");
        count.add(
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        );
        count.add("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(count, Count { passed: 15, failed: 2 });
    }
}
