//! Whether a person watches the session that a hook belongs to.
//!
//! Comes in: the agent's row of the table, what the agent sent, the environment, the agent's own process. Goes out: yes or no. No sign counts
//! as no: a script that waits for an answer must not be given ours. Never here: a guess from the text of the conversation.

use crate::environment;
use heirloom_agents::Call;
use heirloom_agents::table::{Agent, Attended};
use heirloom_core::json;
use std::io::Read as _;
use std::path::Path;

pub(crate) fn is(agent: &Agent, call: &Call) -> bool {
    match agent.attended {
        Attended::Field(_) => call.attended == Some(true),
        Attended::Variable { is, or } => match environment::of_agent(is.0) {
            Some(value) => value == is.1,
            None => environment::of_agent(or.0).is_some_and(|value| value == or.1),
        },
        Attended::Transcript { at, is } => {
            let first = call.transcript.as_deref().and_then(first_line);
            let line = first.and_then(|line| json::parse(&line).ok());
            line.and_then(|line| Some(is.contains(&line.pointer(at)?.as_str()?))).unwrap_or(false)
        }
        Attended::Terminal { without } => at_terminal(without),
    }
}

/// The first line of a file, if it is short enough to be one that says where a session comes from.
fn first_line(path: &Path) -> Option<Vec<u8>> {
    /// It holds the model's instructions too.
    const MAX: u64 = 1 << 20;
    let file = std::fs::File::open(path).ok().filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()))?;
    let mut bytes = Vec::new();
    file.take(MAX).read_to_end(&mut bytes).ok()?;
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    bytes.truncate(end);
    Some(bytes)
}

/// Whether the agent that started this hook reads from and writes to a terminal, and was not asked for a single answer.
fn at_terminal(without: &[&str]) -> bool {
    let Some(parent) = rustix::process::getppid() else { return false };
    let process = Path::new("/proc").join(parent.as_raw_pid().to_string());
    let is_terminal = |number: &str| {
        let target = std::fs::read_link(process.join("fd").join(number));
        target.is_ok_and(|target| target.starts_with("/dev/pts") || target.starts_with("/dev/tty"))
    };
    let Ok(words) = std::fs::read(process.join("cmdline")) else { return false };
    let asked = words.split(|byte| *byte == 0).any(|word| {
        without.iter().any(|flag| {
            word.strip_prefix(flag.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="))
        })
    });
    is_terminal("0") && is_terminal("1") && !asked
}
