//! Developer tasks.
//!
//! Comes in: the name of a task and its arguments. Goes out: what it found, and an exit status. Never here: anything that ships.

mod bench;
mod conformance;
mod stress;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>
  conformance <file or folder> …   run recorded cases
  bench vault                      time the vault beside Python (build with --release)
  stress vault [seconds]           eight processes write one vault";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["conformance", paths @ ..] if !paths.is_empty() => conformance::run(paths),
        ["bench", "vault"] => bench::vault::run(),
        ["stress", "vault", rest @ ..] => stress::run(rest),
        _ => {
            conformance::say(USAGE);
            ExitCode::from(2)
        }
    }
}
