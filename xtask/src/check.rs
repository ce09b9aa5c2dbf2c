//! `check`: everything about the repository that is not a test of the program. All findings are reported, not only the first.

use crate::{Outcome, attacks, dependencies, generate, layers, licences, words};

pub(crate) fn run() -> Outcome {
    let outcomes = [
        generate::check(),
        layers::run(),
        licences::run(),
        dependencies::run(),
        attacks::run(),
        words::run(),
    ];
    let wrong: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() {
        eprintln!("generated files, layers, licences, dependencies, attacks and words are as they should be");
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}
