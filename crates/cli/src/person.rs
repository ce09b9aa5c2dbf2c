//! Who is calling: a person at a terminal, or a process.
//!
//! Comes in: the standard streams and the agent variables. Goes out: the channel of everything this call writes, and answers to questions.
//! Never here: a flag that makes a process a person; `--yes` answers questions, it does not raise trust.

use crate::environment;
use heirloom_core::{Audience, Caller, Code, Fault, Settings, Verb, Who, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::shelf::tiers::Access;
use heirloom_engine::verbs::config::{Answer, check_pin, waits_for_pin};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// What Ctrl-C sends.
const CTRL_C: u8 = 0x03;
/// Whether somebody pressed Ctrl-C at a question. Commands pass the error on; `main` ends the process with the exit code for it.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Whether somebody pressed Ctrl-C at a question.
pub(crate) fn has_stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

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
    known(caller, settings, access, agent)
}

/// Who asks through a door for programs: never a person, whoever sits at the terminal the server was started from. Memories are named by whole ids.
#[cfg(feature = "server")]
pub(crate) fn visitor(
    account: &str,
    settings: &Settings,
    access: Option<&Access>,
    agent: Option<&str>,
) -> Caller {
    known(Caller::process(account), settings, access, agent).by_ids()
}

/// The person who opened the page. Memories are named by whole ids there; with an agent's name, what that agent would be shown.
#[cfg(feature = "server")]
pub(crate) fn opener(
    account: &str,
    settings: &Settings,
    access: Option<&Access>,
    agent: Option<&str>,
) -> Caller {
    known(Caller::person(account), settings, access, agent).by_ids()
}

/// A person at the page of a server, who signed in with a token and showed the PIN. The token's scopes limit what they may do.
#[cfg(feature = "server")]
pub(crate) fn guest(account: &str, settings: &Settings, access: Option<&Access>) -> Caller {
    known(Caller::person(account), settings, access, None).by_ids().checked()
}

fn known(caller: Caller, settings: &Settings, access: Option<&Access>, agent: Option<&str>) -> Caller {
    let caller = match access.and_then(|access| Some((access.who().user(), access.who().token()?))) {
        Some((user, (id, scopes))) => {
            caller.known_by(Who::Token { user: user.to_owned(), id: id.to_owned() }, scopes)
        }
        None => caller,
    };
    if agent.is_none() && caller.is_person() {
        return caller;
    }
    let sees = settings.vault.visible(agent).into_iter().map(str::to_owned).collect();
    caller.as_agent(agent, Audience::of(sees))
}

/// Whoever sits at a terminal and is taken for an agent is told why.
pub(crate) fn explained(mut fault: Fault) -> Fault {
    let variable = environment::agent().filter(|_| fault.code == Code::NeedsPerson);
    if let Some(variable) = variable.filter(|_| std::io::stdin().is_terminal()) {
        fault.message.push_str(&format!("; {variable} is set, so this is an agent's process"));
    }
    fault
}

/// Asks for the PIN if `person.check` wants it before this verb. Whoever may not do it at all is not asked; the verb refuses them.
pub(crate) fn checked(call: &mut impl AsMut<Call>, verb: Verb) -> Result<()> {
    let call = call.as_mut();
    if call.wants_check(verb) {
        pin(call)?;
    }
    Ok(())
}

/// Asks for the PIN until it is right.
pub(crate) fn pin(call: &mut Call) -> Result<()> {
    loop {
        // Whoever must wait is told so before typing anything.
        waits_for_pin(call)?;
        let typed = secret("PIN:")?;
        match check_pin(call, &typed)? {
            Answer::Right => return Ok(()),
            Answer::Wrong { left } => {
                let left = if left == 1 { "one more try".to_owned() } else { format!("{left} more tries") };
                say(&format!("wrong PIN; {left}"));
            }
        }
    }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Asks for something that must not be seen on the screen.
pub(crate) fn secret(question: &str) -> Result<String> {
    let hidden = Modes::set(|modes| {
        modes.local_modes.remove(LocalModes::ECHO);
        modes.local_modes.insert(LocalModes::ECHONL | LocalModes::ICANON);
    });
    let Some(hidden) = hidden else {
        return Err(Fault::new(Code::NeedsPerson, "there is no terminal to ask for the PIN")
            .hint("run it yourself, in a terminal of your own"));
    };
    let typed = ask(question, question);
    drop(hidden);
    let typed = typed?;
    if typed.is_empty() {
        return Err(Fault::new(Code::NeedsPerson, "no PIN was typed; nothing was done")
            .hint("run the command again and type the PIN"));
    }
    Ok(typed)
}

/// The terminal in other modes until this is dropped.
struct Modes {
    before: Termios,
}

impl Modes {
    fn set(change: impl FnOnce(&mut Termios)) -> Option<Modes> {
        let before = tcgetattr(std::io::stdin()).ok()?;
        let mut modes = before.clone();
        change(&mut modes);
        tcsetattr(std::io::stdin(), OptionalActions::Now, &modes).ok()?;
        Some(Modes { before })
    }

    /// Ctrl-C ends the line like Enter does, instead of the process, so that the terminal can be put back and the exit code is ours.
    fn of_a_question() -> Option<Modes> {
        /// A key that is switched off.
        const NONE: u8 = 0;
        Modes::set(|modes| {
            modes.special_codes[SpecialCodeIndex::VINTR] = NONE;
            modes.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
        })
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Asks for a yes, in the one form of every question: Enter, `n` and the end of the input are no. `assumed` is `--yes`; without it and without a terminal
/// nothing is done.
pub(crate) fn confirm(question: &str, assumed: bool) -> Result<bool> {
    if assumed {
        return Ok(true);
    }
    let answer = ask(&format!("{question} [y/N]"), question)?;
    Ok(is_yes(&answer))
}

/// Whether an answer is a yes.
pub(crate) fn is_yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.to_lowercase().as_str())
}

/// Asks, and returns what was typed. `what` is the question without its possible answers.
pub(crate) fn ask(question: &str, what: &str) -> Result<String> {
    if !std::io::stdin().is_terminal() {
        return Err(Fault::new(Code::NeedsPerson, format!("there is nobody to ask: {what}"))
            .hint("run it in a terminal, or add --yes to answer yes in a script"));
    }
    let _hushed = crate::output::watch::hush();
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{} ", crate::output::spelled(question));
    let _ = err.flush();
    let modes = Modes::of_a_question();
    let answer = line().map_err(|e| Fault::new(Code::Io, format!("cannot read the answer: {e}")))?;
    drop(modes);
    // Ctrl-C and the end of the input leave the cursor behind the question.
    match answer.last() {
        Some(b'\n') => {}
        Some(&CTRL_C) => {
            let _ = writeln!(err);
            STOPPED.store(true, Ordering::Relaxed);
            return Err(Fault::new(Code::NeedsPerson, format!("stopped with Ctrl-C: {what}"))
                .hint("run the command again"));
        }
        _ => {
            let _ = writeln!(err);
        }
    }
    Ok(String::from_utf8_lossy(&answer).trim().to_owned())
}

/// A line as it was typed, up to Enter, Ctrl-C or the end of the input.
fn line() -> std::io::Result<Vec<u8>> {
    let mut stdin = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        let bytes = match stdin.fill_buf() {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let end = bytes.iter().position(|byte| [b'\n', CTRL_C].contains(byte));
        let used = end.map_or(bytes.len(), |end| end + 1);
        line.extend_from_slice(&bytes[..used]);
        stdin.consume(used);
        if end.is_some() || used == 0 {
            return Ok(line);
        }
    }
}
