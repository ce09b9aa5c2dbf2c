//! The `heirloom` command: reads arguments, environment and clock, calls the engine, prints, sets the exit code.
//!
//! The only crate that does any of these. Commands are one file each in `commands/`.

mod args;
mod commands;
mod environment;
mod output;
mod person;
mod wiring;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The answer that scripts ask for most needs none of the command tree.
    if asks_for_version(std::env::args_os().skip(1)) {
        output::Out::new(false).line(concat!("heirloom ", env!("CARGO_PKG_VERSION")));
        return ExitCode::SUCCESS;
    }
    wiring::install_test_steps();
    let args = args::Args::parse();
    let out = output::Out::new(args.json);
    match commands::run(&args, &out) {
        Ok(code) => ExitCode::from(code),
        Err(fault) => ExitCode::from(out.fault(&fault)),
    }
}

fn asks_for_version(mut words: impl Iterator<Item = std::ffi::OsString>) -> bool {
    words.next().is_some_and(|word| word == "--version" || word == "-V") && words.next().is_none()
}
