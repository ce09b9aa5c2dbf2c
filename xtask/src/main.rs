//! Developer tasks.
//!
//! Comes in: the name of a task and its arguments. Goes out: what it found, and an exit status. Never here: anything that ships.

#![allow(clippy::disallowed_methods, reason = "a developer task reads its own arguments and environment")]

mod bench;
mod report;
mod stress;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>
  bench start                     how long --version takes beside a C program that only exits
  bench write                     a create as a fresh process beside python3 that does nothing; sixteen writers
  bench index                     rebuild the index of ten thousand records
  stress records [--seconds N]    sixteen processes in one store; nothing may be lost";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["bench", "start"] => bench::start::run(),
        ["bench", "write"] => bench::write::run(),
        ["bench", "index"] => bench::index::run(),
        ["stress", "records", rest @ ..] => stress::records::run(rest),
        _ => {
            report::line(USAGE);
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            report::line(&why);
            ExitCode::FAILURE
        }
    }
}
