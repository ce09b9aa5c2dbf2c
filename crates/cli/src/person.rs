//! Who is calling: a person at a terminal, or a process.
//!
//! Comes in: the standard streams and the agent variables. Goes out: the channel of everything this call writes, and answers to questions.
//! Never here: a flag that makes a process a person; `--yes` answers questions, it does not raise trust.

use crate::environment;
use heirloom_core::{Audience, Caller, Code, Fault, Scopes, Settings, Who, fault::Result};
use heirloom_engine::shelf::tiers::Access;
use std::io::{BufRead as _, IsTerminal as _, Write as _};

/// Whether a person sits at this terminal.
pub(crate) fn is_present() -> bool {
    std::io::stdin().is_terminal()
        && (std::io::stdout().is_terminal() || std::io::stderr().is_terminal())
        && environment::agent().is_none()
}

/// Who makes this call: the account or the token's user, a person or a process, the agent it names, and what they are shown.
pub(crate) fn caller(
    account: &str,
    settings: &Settings,
    access: Option<&Access>,
    agent: Option<&str>,
) -> Caller {
    let caller = if is_present() { Caller::person(account) } else { Caller::process(account) };
    let caller = match access.map(Access::who) {
        Some(who) if !who.is_keeper() => {
            let token = Who::Token { user: who.user().to_owned(), id: String::new() };
            caller.known_by(token, Scopes::USUAL)
        }
        _ => caller,
    };
    if agent.is_none() && caller.is_person() {
        return caller;
    }
    let sees = settings.vault.visible(agent).into_iter().map(str::to_owned).collect();
    caller.as_agent(agent, Audience::of(sees))
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
    let answer = ask(&format!("{question} [y/N]"), question)?;
    Ok(matches!(answer.as_str(), "y" | "Y" | "yes"))
}

/// Asks, and returns what was typed. `what` is the question without its possible answers.
pub(crate) fn ask(question: &str, what: &str) -> Result<String> {
    if !std::io::stdin().is_terminal() {
        return Err(Fault::new(Code::NeedsPerson, format!("{what} There is nobody to ask"))
            .hint("add --yes to answer yes in a script"));
    }
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{} ", crate::output::spelled(question));
    let _ = err.flush();
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|e| Fault::new(Code::Io, format!("cannot read: {e}")))?;
    Ok(answer.trim().to_owned())
}
