//! Benchmarks with ratios: the same work beside a plain program in another language, on this machine, now.
//!
//! Comes in: nothing. Goes out: a table. Never here: a figure from another day.

pub(crate) mod vault;

use std::process::ExitCode;

/// Runs the named benchmark.
pub(crate) fn run(words: &[String]) -> ExitCode {
    match words.first().map(String::as_str) {
        Some("vault") => vault::run(),
        _ => {
            crate::conformance::say("usage: cargo xtask bench vault");
            ExitCode::from(2)
        }
    }
}
