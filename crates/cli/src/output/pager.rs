//! Long answers through a pager, where a person reads them.
//!
//! Comes in: the lines of an answer. Goes out: the same, by way of the program that `HEIRLOOM_PAGER` or `PAGER` names, or `less`. Never here: a pager for a program,
//! for an agent, or for what fits on the screen.

use crate::environment;
use rustix::termios::tcgetwinsize;
use std::io::{IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

/// Whether somebody sits here who reads page by page.
pub(super) fn wanted() -> bool {
    std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal()
        && environment::agent().is_none()
        && environment::text("TERM").is_some_and(|term| term != "dumb")
        && program().is_some()
}

/// The program and its arguments.
fn program() -> Option<Vec<String>> {
    let named = environment::text("HEIRLOOM_PAGER").or_else(|| environment::text("PAGER"));
    let words: Vec<String> =
        named.unwrap_or_else(|| "less".to_owned()).split_whitespace().map(str::to_owned).collect();
    let first = words.first()?;
    (first != "cat" && (first.contains('/') || environment::find_program(first).is_some())).then_some(words)
}

/// Whether this many lines of a text are more than the screen has.
pub(super) fn is_long(text: &str) -> bool {
    let size = tcgetwinsize(std::io::stdout()).ok().filter(|size| size.ws_row > 0 && size.ws_col > 0);
    let Some(size) = size else { return false };
    let columns = usize::from(size.ws_col);
    let rows: usize = text.lines().map(|line| line.chars().count().div_ceil(columns).max(1)).sum();
    rows >= usize::from(size.ws_row)
}

/// Shows the text; whether it was shown.
pub(super) fn show(text: &str) -> bool {
    let Some(words) = program() else { return false };
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::piped());
    if environment::text("LESS").is_none() {
        // Colours as they are, nothing cleared afterwards.
        command.env("LESS", "FRX");
    }
    let _hushed = super::watch::hush();
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut pipe) = child.stdin.take() {
        // Whoever leaves early has seen enough.
        let _ = pipe.write_all(text.as_bytes());
    }
    let _ = child.wait();
    true
}
