//! Git's history: every line that any commit added, file by file.
//!
//! Comes in: the project's repository. Goes out: what its commits added, as texts that were looked at. Never here: a program that the repository
//! names.

use super::pieces::Piece;
use super::{Eyes, Scanned};
use crate::call::Call;
use crate::git;
use crate::verbs::{Progress, Watch};
use heirloom_core::{Code, Fault, fault::Result};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

fn failed(why: &str) -> Fault {
    Fault::new(Code::Io, format!("git's history cannot be read: {why}")).hint("run it in a git work tree")
}

/// Lines that one commit added in one place of a file.
#[derive(Default)]
struct Hunk {
    commit: String,
    file: String,
    text: String,
    first: usize,
}

impl Hunk {
    fn look(&mut self, eyes: &Eyes<'_>, scanned: &mut Scanned, watch: &mut Watch<'_>) {
        if self.text.is_empty() {
            return;
        }
        let name = format!("{}:{}", self.commit.get(..12).unwrap_or(&self.commit), self.file);
        let piece = Piece { bytes: self.text.as_bytes(), first_line: self.first, seen: 0 };
        eyes.look(&name, &piece, &mut scanned.findings);
        scanned.looked += 1;
        watch(Progress { what: "changes", done: scanned.looked as u64, of: None });
        self.text.clear();
    }
}

pub(super) fn scan(call: &Call, eyes: &Eyes<'_>, watch: &mut Watch<'_>) -> Result<Scanned> {
    let Some((mut command, _)) = git::command(call.project().folder()) else {
        return Err(failed("this folder is not in a git repository"));
    };
    let mut child = command
        .args([
            "log",
            "--all",
            "--patch",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            // What a submodule changed would be asked of git in it, by its own settings.
            "--submodule=short",
            "--ignore-submodules=all",
            "--unified=0",
            "--format=commit %H",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| failed(&e.to_string()))?;
    let Some(stdout) = child.stdout.take() else { return Err(failed("no output")) };
    let mut scanned = Scanned::default();
    let mut hunk = Hunk { first: 1, ..Hunk::default() };
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line.map_err(|e| failed(&e.to_string()))?;
        let line = String::from_utf8_lossy(&line);
        if let Some(added) = line.strip_prefix('+').filter(|_| !line.starts_with("+++ ")) {
            hunk.text.push_str(added);
            hunk.text.push('\n');
            continue;
        }
        hunk.look(eyes, &mut scanned, watch);
        if let Some(hash) = line.strip_prefix("commit ") {
            hash.clone_into(&mut hunk.commit);
        } else if let Some(name) = line.strip_prefix("+++ b/") {
            name.clone_into(&mut hunk.file);
        } else if line.starts_with("@@") {
            let start = line.split('+').nth(1).and_then(|rest| rest.split([',', ' ']).next());
            hunk.first = start.and_then(|n| n.parse().ok()).unwrap_or(1);
        }
    }
    hunk.look(eyes, &mut scanned, watch);
    match child.wait() {
        Ok(status) if status.success() => Ok(scanned),
        _ => Err(failed("git ended with an error")),
    }
}
