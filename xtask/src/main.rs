//! Developer tasks.
//!
//! Comes in: the name of a task and its arguments. Goes out: what it found, and an exit status. Never here: anything that ships.

mod conformance;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((task, paths)) if task == "conformance" && !paths.is_empty() => conformance::run(paths),
        _ => {
            conformance::say("usage: cargo xtask conformance <file or folder> …");
            ExitCode::from(2)
        }
    }
}
