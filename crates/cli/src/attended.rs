//! Whether a person watches the session that a hook belongs to.
//!
//! Comes in: the agent's row of the table, what the agent sent, the environment, the agent's own process. Goes out: yes or no. No sign counts
//! as no: a script that waits for an answer must not be given ours. Never here: a guess from the text of the conversation.

use crate::environment;
use heirloom_agents::Call;
use heirloom_agents::table::{Agent, Attended};
use heirloom_core::json;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

pub(crate) fn is(agent: &Agent, call: &Call) -> bool {
    // Nobody watches a job of a build server, whatever its agent says; somebody who sits at the agent's terminal does.
    if environment::is_build_server() && !at_terminal(agent, &[]) {
        return false;
    }
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
        Attended::Terminal { without } => at_terminal(agent, without),
    }
}

/// The first line of a file, if it is short enough to be one that says where a session comes from.
fn first_line(path: &Path) -> Option<Vec<u8>> {
    /// It holds the model's instructions too.
    const MAX: u64 = 1 << 20;
    let file =
        std::fs::File::open(path).ok().filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()))?;
    let mut bytes = Vec::new();
    file.take(MAX).read_to_end(&mut bytes).ok()?;
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    bytes.truncate(end);
    Some(bytes)
}

/// Whether the agent that started this hook reads from and writes to a terminal, and was not asked for a single answer.
fn at_terminal(agent: &Agent, without: &[&str]) -> bool {
    let Some(process) = of_agent(agent) else { return false };
    let is_terminal = |number: &str| {
        let target = std::fs::read_link(process.folder.join("fd").join(number));
        target.is_ok_and(|target| target.starts_with("/dev/pts") || target.starts_with("/dev/tty"))
    };
    let asked = process.words.iter().any(|word| {
        without.iter().any(|flag| {
            word.strip_prefix(flag.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="))
        })
    });
    is_terminal("0") && is_terminal("1") && !asked
}

/// A running process.
struct Process {
    folder: PathBuf,
    words: Vec<Vec<u8>>,
}

impl Process {
    fn at(id: i32) -> Option<Process> {
        let folder = Path::new("/proc").join(id.to_string());
        let words = std::fs::read(folder.join("cmdline")).ok()?;
        let words = words.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        Some(Process { folder, words })
    }

    fn parent(&self) -> Option<i32> {
        let status = std::fs::read_to_string(self.folder.join("status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
    }

    /// Whether its command line starts the program of that name, directly or through an interpreter.
    fn runs(&self, program: &str) -> bool {
        let name = |word: &Vec<u8>| Path::new(OsStr::from_bytes(word)).file_stem().map(OsStr::to_os_string);
        self.words.iter().take(6).filter_map(name).any(|name| name == program)
    }
}

/// The agent's process: the nearest one above this hook that runs its program, else the one that started the hook. Somebody may have put a
/// program of their own between them.
fn of_agent(agent: &Agent) -> Option<Process> {
    /// No agent starts its hooks through more than this.
    const STEPS: usize = 6;
    let first = rustix::process::getppid()?.as_raw_pid();
    let mut next = Some(first);
    for _ in 0..STEPS {
        let Some(process) = next.filter(|id| *id > 1).and_then(Process::at) else { break };
        let is_hook = process.words.iter().any(|word| word == b"--installed" || word == b"--agent");
        if !is_hook && process.runs(agent.program) {
            return Some(process);
        }
        next = process.parent();
    }
    Process::at(first)
}
