//! What only the recorded cases of hooks need: a payload on standard input, and what a held-up stop hands over.
//!
//! Comes in: a command with its payload, or what it said. Goes out: how it ended, and the parts of its answer that are compared. How
//! long it took is never compared; a hook that does not end at all is killed and fails its case.

use crate::env::{Ran, ran};
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, mpsc};
use std::time::Duration;

/// Far beyond what any hook may take, so that only one that hangs gets here.
const HANGS: Duration = Duration::from_secs(60);

static DATA: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)<triage_data>\s*(.*?)\s*</triage_data>\s*$").unwrap());

/// The moment of the hook that does what the recorded tool did; `None` for the tools that are no hooks.
pub(crate) fn moment(tool: &str) -> Option<&'static str> {
    match tool {
        "triage" => Some("stop"),
        "retrieve" => Some("prompt"),
        "guard" => Some("pre-write"),
        "validate" => Some("post-write"),
        _ => None,
    }
}

/// Waits until nobody else uses the well-known names of context files, which are one set for the whole machine. Whoever
/// stops a session without a name holds this until the files are read. Processes exclude each other too.
pub(crate) fn alone() -> File {
    let shared = File::open("/tmp").unwrap();
    shared.lock().unwrap();
    shared
}

/// Runs a hook with its payload. `held` keeps standard input open until the hook has answered.
pub(crate) fn finish(command: &mut Command, payload: &[u8], held: bool) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = rustix::process::Pid::from_child(&child);
    let mut input = child.stdin.take().unwrap();
    // A hook may answer before it has read everything.
    let _ = input.write_all(payload);
    let input = held.then_some(input);
    let (answer, answered) = mpsc::channel();
    let waiting = std::thread::spawn(move || answer.send(child.wait_with_output().unwrap()));
    let output = answered.recv_timeout(HANGS).or_else(|_| {
        // The case then fails with its name: what a signal ended has no exit code.
        let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        answered.recv()
    });
    drop(input);
    waiting.join().unwrap().unwrap();
    ran(output.unwrap())
}

/// What a held-up stop says: its lines about what to save, and the JSON after them.
pub(crate) struct Held {
    pub(crate) lines: Vec<String>,
    pub(crate) data: Option<Value>,
}

impl Held {
    pub(crate) fn read(stderr: &str) -> Held {
        let found = DATA.captures(stderr);
        let head = found.as_ref().map_or(stderr, |found| &stderr[..found.get(0).unwrap().start()]);
        Held {
            lines: head.lines().filter(|line| line.starts_with("- [")).map(str::to_owned).collect(),
            data: found.and_then(|found| serde_json::from_str(&found[1]).ok()),
        }
    }

    /// The kinds to save, each with its entry.
    pub(crate) fn categories(&self) -> impl Iterator<Item = (&str, &Value)> {
        let list = self.data.as_ref().and_then(|data| data["categories"].as_array());
        list.into_iter().flatten().filter_map(|entry| Some((entry["category"].as_str()?, entry)))
    }

    /// The data without the paths of context files: that there is one counts, where it lies is free.
    pub(crate) fn without_paths(mut data: Value) -> Value {
        for entry in data["categories"].as_array_mut().into_iter().flatten() {
            if let Some(path) = entry.get_mut("context_file") {
                *path = "somewhere".into();
            }
        }
        data
    }
}

/// A context file as the stop left it.
pub(crate) struct Context {
    pub(crate) bytes: Vec<u8>,
    /// Whether nobody but its owner may do anything with it.
    pub(crate) is_private: bool,
}

/// Takes away the context files that a stop names, by kind. Whoever calls this is [`alone`].
pub(crate) fn contexts(stderr: &str) -> BTreeMap<String, Context> {
    let mut found = BTreeMap::new();
    for (kind, entry) in Held::read(stderr).categories() {
        let Some(path) = entry["context_file"].as_str().map(Path::new) else { continue };
        let Ok(bytes) = std::fs::read(path) else { continue };
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        found.insert(kind.to_owned(), Context { bytes, is_private: mode & 0o077 == 0 });
        std::fs::remove_file(path).unwrap();
    }
    found
}
