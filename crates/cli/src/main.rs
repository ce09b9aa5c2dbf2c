//! The `heirloom` command: reads arguments, environment and clock, calls the engine, prints, sets the exit code.
//!
//! The only crate that does any of these. Commands are one file each in `commands/`.

mod args;
mod attended;
mod commands;
#[cfg(feature = "server")]
mod desk;
mod endpoint;
mod environment;
mod hook_input;
mod machine;
mod named;
mod output;
mod person;
mod picker;
mod wiring;
mod world;

use clap::Parser as _;
use heirloom_core::{Code, Fault};
use heirloom_engine::gate::fields::without_secrets;
use std::borrow::Cow;
use std::process::ExitCode;

/// What `--version` prints.
const VERSION: &str = concat!("heirloom ", env!("CARGO_PKG_VERSION"));

fn main() -> ExitCode {
    // Describing every command to clap is most of what a start costs; the version needs none of it.
    let mut given = std::env::args_os().skip(1);
    if let (Some(only), None) = (given.next(), given.next())
        && (only == "--version" || only == "-V")
    {
        output::Out::new(false).line(VERSION);
        return ExitCode::SUCCESS;
    }
    wiring::install_test_steps();
    heirloom_engine::git::found_by(|| environment::find_program("git"));
    let args = match args::Args::plain_hook(std::env::args_os()).map_or_else(args::Args::try_parse, Ok) {
        Ok(args) => args,
        Err(wrong) if wrong.use_stderr() && std::env::args_os().any(|arg| arg == "--json") => {
            return ExitCode::from(output::Out::new(true).fault(&misused(&wrong)));
        }
        Err(wrong) => return misused_aloud(&wrong),
    };
    // A hook stands between an agent and its answer: it pays for nothing that nobody reads.
    if !matches!(args.command, args::Command::Hook(_))
        && let Some(level) = environment::text("HEIRLOOM_LOG")
    {
        output::log::install(&level, is_server(&args.command));
    }
    let out = output::Out::new(args.json);
    match commands::run(&args, &out) {
        Ok(code) => {
            // Files are read and written without the database; that something is missing must be said all the same.
            if let Some(fault) = wiring::unreached().filter(|_| args.command.speaks_of_the_database()) {
                out.note(format!("what is kept in the database is left out: {}", fault.message));
            }
            ExitCode::from(code)
        }
        Err(fault) => ExitCode::from(out.fault(&person::explained(fault))),
    }
}

/// Whether a command runs on and on, and programs read its log.
const fn is_server(command: &args::Command) -> bool {
    #[cfg(feature = "server")]
    return matches!(command, args::Command::Serve(_));
    #[cfg(not(feature = "server"))]
    {
        let _ = command;
        false
    }
}

/// A call that clap refused, for programs that asked for JSON.
fn misused(wrong: &clap::Error) -> Fault {
    let text = wrong.to_string();
    let first = text.lines().next().unwrap_or_default();
    Fault::new(Code::Usage, first.strip_prefix("error: ").unwrap_or(first))
}

/// The same for people. What was typed in the wrong place may be what nobody should see on a screen.
fn misused_aloud(wrong: &clap::Error) -> ExitCode {
    let text = wrong.to_string();
    match without_secrets(&text) {
        Cow::Owned(clean) if wrong.use_stderr() => {
            output::Out::new(false).say(clean.trim_end());
            ExitCode::from(u8::try_from(wrong.exit_code()).unwrap_or(2))
        }
        _ => wrong.exit(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_short_way_to_the_version_says_what_clap_would() {
        assert_eq!(args::Args::command().render_version().trim_end(), VERSION);
    }
}
