//! The `heirloom` command: reads arguments, environment and clock, calls the engine, prints, sets the exit code.
//!
//! The only crate that does any of these. Commands are one file each in `commands/`.

mod args;
mod commands;
mod environment;
mod hook_input;
mod output;
mod person;
mod wiring;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    wiring::install_test_steps();
    let args = args::Args::parse();
    let out = output::Out::new(args.json);
    match commands::run(&args, &out) {
        Ok(code) => ExitCode::from(code),
        Err(fault) => ExitCode::from(out.fault(&fault)),
    }
}
