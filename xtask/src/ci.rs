//! `ci`: what must hold before a change is merged.
//!
//! Comes in: nothing. Goes out: exit code 0 if everything holds. Every step is taken even if an earlier one failed, the tests last, so that
//! their count is the last line. Never here: a step that needs more than this repository and the package registries.

use crate::run::{cargo, heading, run};
use crate::{ALREADY_SAID, Outcome, check, fuzz, requirements, test};
use std::process::Command;

/// A name and what is done.
type Step = (&'static str, fn() -> Outcome);

const STEPS: &[Step] = &[
    ("format", || run(&mut cargo(&["fmt", "--all", "--check"]))),
    ("lints", || {
        run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))
    }),
    ("docs", || {
        run(cargo(&["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))
    }),
    ("generated files, layers, licences, words", check::run),
    ("fuzz targets, seconds each", fuzz::in_ci),
    // In a process of its own: it takes another program's place to get a network of its own, and this one has more to do.
    ("coding agents, the quick half", || {
        let me = std::env::current_exe().map_err(|e| format!("where this program is: {e}"))?;
        run(Command::new(me).args(["hosts", "--quick"]))
    }),
    ("demo", || run(&mut cargo(&["run", "--release", "--quiet", "--", "demo"]))),
];

pub(crate) fn run_all() -> Outcome {
    requirements::install()?;
    let mut failed = Vec::new();
    for (name, step) in STEPS {
        heading(name);
        if let Err(why) = step() {
            eprintln!("error: {why}");
            failed.push(*name);
        }
    }
    if failed.is_empty() {
        return test::run(&[]);
    }
    // Said now, because the count of the tests is the last line whatever comes.
    heading("the tests follow, but this has failed");
    eprintln!("error: {}", failed.join("; "));
    test::run(&[]).and(Err(ALREADY_SAID.to_owned()))
}
