//! Who is calling: a person at a terminal, or a process.
//!
//! Comes in: the standard streams and the agent variables. Goes out: the channel of everything this call writes, and answers to questions.
//! Never here: a flag that makes a process a person; `--yes` answers questions, it does not raise trust.

use crate::environment;
use heirloom_core::{Channel, Code, Fault, fault::Result};
use heirloom_engine::gate::Entry;
use std::io::{BufRead as _, IsTerminal as _, Write as _};

/// Whether a person sits at this terminal.
pub(crate) fn is_present() -> bool {
    std::io::stdin().is_terminal()
        && (std::io::stdout().is_terminal() || std::io::stderr().is_terminal())
        && environment::agent().is_none()
}

/// How what this call writes arrives.
pub(crate) fn entry() -> Entry {
    Entry::through(if is_present() { Channel::Person } else { Channel::Agent })
}

/// Refuses unless a person is here.
pub(crate) fn required(what: &str) -> Result<()> {
    if is_present() {
        return Ok(());
    }
    let why = match environment::agent() {
        Some(variable) => format!("{variable} is set, so this is an agent's process"),
        None => "this process has no terminal".to_owned(),
    };
    Err(Fault::new(Code::NeedsPerson, format!("{what} needs a person: {why}"))
        .hint("run the command yourself, in a terminal of your own"))
}

/// Asks for a yes. `assumed` is `--yes`; without it and without a terminal nothing is done.
pub(crate) fn confirm(question: &str, assumed: bool) -> Result<bool> {
    if assumed {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(Fault::new(Code::NeedsPerson, format!("{question} There is nobody to ask"))
            .hint("add --yes to answer yes in a script"));
    }
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{question} [y/N] ");
    let _ = err.flush();
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|e| Fault::new(Code::Io, format!("cannot read: {e}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
