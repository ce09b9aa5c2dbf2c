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
use clap::error::ErrorKind;
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
        Err(wrong) => return misused(&wrong),
    };
    // A hook stands between an agent and its answer: it pays for nothing that nobody reads.
    if !matches!(args.command, args::Command::Hook(_))
        && let Some(level) = environment::text("HEIRLOOM_LOG")
    {
        output::log::install(&level, is_server(&args.command));
    }
    let wanted = output::Wanted { fields: args.fields.clone(), format: args.format.clone() };
    let out = output::Out::new(args.json).with(wanted);
    let ended = watched(&args, &out);
    match ended {
        Ok(code) => {
            // Files are read and written without the database; that something is missing must be said all the same.
            if let Some(fault) = wiring::unreached().filter(|_| args.command.speaks_of_the_database()) {
                out.note(format!("the database is left out: {}", fault.message));
            }
            let lost = out.finish().filter(|_| !matches!(args.command, args::Command::Hook(_)));
            ExitCode::from(lost.map_or(code, |fault| out.fault_aloud(&fault)))
        }
        // Whoever pressed Ctrl-C knows why it ended.
        Err(_) if person::has_stopped() => {
            out.finish();
            ExitCode::from(heirloom_core::code::exit::INTERRUPTED)
        }
        Err(fault) => {
            out.finish();
            ExitCode::from(out.fault(&person::explained(fault)))
        }
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

/// Runs the command, and says that it still works if it takes long. Hooks, scripts of the record format and servers are left alone.
fn watched(args: &args::Args, out: &output::Out) -> heirloom_core::fault::Result<u8> {
    let _watch = args
        .command
        .name_if_watched()
        .filter(|_| environment::text("HEIRLOOM_QUIET").is_none())
        .map(output::Watch::over);
    commands::run(args, out)
}

/// A command line that cannot be read. What was typed in the wrong place may be what nobody should see on a screen, which the printer of errors
/// sees to.
fn misused(wrong: &clap::Error) -> ExitCode {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let json = words.iter().any(|word| word == "--json");
    // The bare name asks for help, not for an error.
    if words.is_empty() {
        output::Out::new(false).page(args::FRONT);
        return ExitCode::SUCCESS;
    }
    if !wrong.use_stderr() || (wrong.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && !json) {
        wrong.exit();
    }
    ExitCode::from(output::Out::new(json).fault(&args::misused(wrong, &words)))
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
