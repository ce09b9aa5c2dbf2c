//! Developer tasks: `cargo xtask <task>`.
//!
//! Comes in: a task's name and its arguments. Goes out: files, printed lines, exit code 1 when something is wrong. Never here: anything
//! that ships; the product is built from `crates/` alone.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a developer's program: it prints, reads the environment and asks where it was started"
)]

mod attacks;
mod bench;
#[allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the tests of the page share it, and a browser that does not start is the end of a run"
)]
#[path = "../../crates/cli/tests/browser.rs"]
mod browser;
mod check;
mod ci;
mod clients;
mod conformance;
mod dependencies;
mod embed;
mod first_day;
mod fuzz;
mod generate;
mod hosts;
mod install;
mod layers;
mod licences;
mod load;
mod order;
mod package;
mod page;
mod picture;
mod report;
mod requirements;
mod retrieval;
mod rooms;
mod run;
mod sdk;
#[allow(
    dead_code,
    clippy::expect_used,
    reason = "the tests of the database share it, and a server that does not start is the end of a run"
)]
#[path = "../../crates/postgres/tests/server.rs"]
mod server;
mod speed;
mod stress;
mod symbols;
mod test;
mod tour;
mod words;
mod workspace;

use std::path::Path;
use std::process::ExitCode;

/// What a task answers: the text is what went wrong.
type Outcome = Result<(), String>;

/// What went wrong has been printed, and something else must be the last line.
const ALREADY_SAID: &str = "";

const TASKS: &str = "\
tasks:
  test [ARGS]          install what the tests need, run them all, print `N passed, M failed`
  ci                   everything that must hold before a change is merged, `test` last
  generate             write docs/reference, schemas, the plugin and the outputs in README.md anew
  clients              official MCP and HTTP clients against the doors of the debug binary
  sdk [types]          our own clients, adapters and packages with the debug binary; `types` writes the types of the TypeScript client
  check                are the generated files, the layers, the licences and the docs as they should be?
  layers               which crate uses which, and who touches the environment, the clock, the terminal
  licences             is every dependency under a licence that deny.toml allows?
  install [--to DIR]   build the static release binary and copy it (default: cargo's bin folder)
  package              the wheel and the npm packages of the static release binary, in target/package
  hosts [AGENT]… [CHECK]… [--quick] [--model NAME] [--program FILE]   our hooks in the published coding agents, with a scripted model
  order                write xtask/prompt.order anew: what a prompt runs through, for `install` (needs valgrind)
  conformance PATH…    run recorded cases, from files or folders, against the engine
  bench WHAT           ratios side by side: start [PROGRAM], write, index, vault, gate [FILE], hooks, hostile [PROGRAM], tiers,
                       upkeep [RECORDS [PROGRAM]]
  retrieval SET --out RUN [--haystack] [--depth N]   a retrieval set through shelves, gate and recall
  first-day [--part NAME] [--file SET.txt] [--model FILE] [--all]   small stores and questions, saved with `add` and asked with `recall`
  speed [N]            the index of N made-up memories beside FTS5, the prompt hook beside an empty process
  load [--memories N] [--users N] [--connections N] [--seconds N] [--postgres] [--no-rivals] [--program FILE] [--debug]
                       what a server takes, beside the engine in one process and sixteen of the command line
  page pictures | large [--records N] [--turns N] [--debug]   docs/images from demo data; the page over 100,000 memories
  fuzz [TARGET]… [--seconds N]   the parsers under libFuzzer, three minutes each; `ci` takes seconds
  embed WEIGHTS        a text a line in, vectors out: the teacher of the built-in model
  stress WHAT          long runs of many processes and threads: records [--seconds N], threads [--seconds N], vault [SECONDS], tiers";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = args.split_first().map_or(("", &[][..]), |(task, rest)| (task.as_str(), rest));
    let outcome = match task {
        "test" => test::run(rest),
        "ci" => ci::run_all(),
        "clients" => clients::run_all(),
        "hosts" => hosts::run(rest),
        "generate" => generate::run(),
        "check" => check::run(),
        "layers" => layers::run(),
        "licences" => licences::run(),
        "install" => install::run(rest),
        "package" => package::run_all(rest),
        "sdk" => sdk::run_all(rest),
        "order" => order::run(),
        "conformance" => return conformance::run(rest),
        "bench" => measure(rest),
        "stress" => stress(rest),
        "load" if cfg!(debug_assertions) && !rest.iter().any(|word| word == "--debug") => {
            optimised("load", rest)
        }
        "load" => load::run(rest),
        "page"
            if cfg!(debug_assertions)
                && rest.first().is_some_and(|word| word == "large")
                && !rest.iter().any(|word| word == "--debug") =>
        {
            optimised("page", rest)
        }
        "page" => page::run(rest),
        "retrieval" if cfg!(debug_assertions) => optimised("retrieval", rest),
        "retrieval" => retrieval::run(rest),
        "first-day" if cfg!(debug_assertions) && rest.iter().any(|word| word == "--model") => {
            optimised("first-day", rest)
        }
        "first-day" => first_day::run(rest),
        "embed" => embed::run(rest),
        "fuzz" => fuzz::run(rest),
        "speed" if cfg!(debug_assertions) => optimised("speed", rest),
        "speed" => speed::run(rest),
        "" | "help" | "--help" | "-h" => {
            println!("{TASKS}");
            Ok(())
        }
        other => Err(format!("there is no task `{other}`\n{TASKS}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            if why != ALREADY_SAID {
                eprintln!("error: {why}");
            }
            ExitCode::FAILURE
        }
    }
}

fn measure(words: &[String]) -> Outcome {
    match words.first().map(String::as_str) {
        Some("start") => bench::start::run(words.get(1).map(Path::new)),
        Some("write") => bench::write::run(),
        Some("index") => bench::index::run(),
        // These measure inside this process.
        Some("vault" | "gate" | "tiers") if cfg!(debug_assertions) => optimised("bench", words),
        Some("vault") => done(bench::vault::run()),
        Some("gate") => bench::gate::run(words.get(1).map(Path::new)),
        Some("tiers") => bench::tiers::run(&words[1..]),
        Some("hooks") => bench::hooks::run(),
        Some("hostile") => bench::hostile::run(words.get(1).map(Path::new)),
        Some("upkeep") => bench::upkeep::run(&words[1..]),
        _ => Err("name one of: start, write, index, vault, gate, hooks, hostile, tiers, upkeep".to_owned()),
    }
}

/// The same task by this program built as a release.
fn optimised(task: &str, words: &[String]) -> Outcome {
    let mut cargo = run::cargo(&["run", "--quiet", "--release", "--package", "xtask", "--", task]);
    match cargo.args(words).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(ALREADY_SAID.to_owned()),
        Err(e) => Err(format!("cargo could not be started: {e}")),
    }
}

fn stress(words: &[String]) -> Outcome {
    let named: Vec<&str> = words.iter().map(String::as_str).collect();
    match named.as_slice() {
        ["records", rest @ ..] => stress::records::run(rest),
        ["threads", rest @ ..] => stress::threads::run(rest),
        ["vault", rest @ ..] => done(stress::vault::run(rest)),
        ["tiers", rest @ ..] if cfg!(debug_assertions) && !rest.contains(&"--debug") => {
            optimised("stress", words)
        }
        ["tiers", rest @ ..] => stress::tiers::run(rest),
        _ => Err("name one of: records, threads, vault, tiers".to_owned()),
    }
}

/// For tasks that print what went wrong themselves.
fn done(code: ExitCode) -> Outcome {
    if code == ExitCode::SUCCESS { Ok(()) } else { Err(ALREADY_SAID.to_owned()) }
}
