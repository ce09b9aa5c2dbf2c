//! What is staged: the files of a folder as the next commit will have them.
//!
//! Comes in: a folder of a work tree, and the index a commit under way uses. Goes out: those files, written below another folder, and the names of
//! everything else that is staged. Bytes come as git stores them: no filter, no conversion of line ends, nothing that a repository names is
//! run. Never here: the work tree, a link that is staged in the place of a file.

use super::{Place, Reach, start};
use crate::files::{self, Mode};
use heirloom_core::{Code, Fault, fault::Result};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// The largest staged file that is looked at.
const LARGEST: u64 = 64 << 20;

/// What the next commit will have.
#[derive(Debug, Default)]
pub struct Staged {
    /// Every name, from the top of the work tree.
    pub names: HashSet<PathBuf>,
    /// How many files were written out.
    pub written: usize,
}

/// Writes the staged files of `inside`, a folder of the work tree around `folder`, to the same place below `to`. `index` is the one that a commit
/// under way uses; another is only taken from git's own folder.
pub fn staged(folder: &Path, inside: &Path, index: Option<&Path>, to: &Path) -> Result<Staged> {
    let real = std::fs::canonicalize(folder).map_err(|e| Fault::io(folder, "find", &e))?;
    let place = Place::around(&real).ok_or_else(|| {
        Fault::new(Code::NotFound, "this folder is not in a git work tree").hint("run it without `--staged`")
    })?;
    let top = place.work_tree.clone();
    let prefix = super::below(&top, &inside.join("any")).and_then(|path| path.parent().map(Path::to_owned));
    let Some(prefix) = prefix else {
        return Err(Fault::new(Code::Path, "the memory folder is outside the work tree")
            .hint("run it without `--staged`"));
    };
    let index = index.and_then(|index| of_git(&place, &top, index));
    let git = || {
        let mut command = start(Some(&top), Reach::Here);
        if let Some(index) = &index {
            command.env("GIT_INDEX_FILE", index);
        }
        command
    };
    let mut found = Staged::default();
    let mut wanted = Vec::new();
    let listed = output(git().args(["ls-files", "-z", "--stage"]))?;
    for line in listed.split(|b| *b == 0).filter(|line| !line.is_empty()) {
        let Some((facts, name)) = split_at_tab(line) else { continue };
        let name = PathBuf::from(OsStr::from_bytes(name));
        let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
        let mut facts = facts.split(|b| *b == b' ');
        let is_file = facts.next().is_some_and(|mode| mode.starts_with(b"100"));
        let object = facts.next().map(|object| String::from_utf8_lossy(object).into_owned());
        if let (true, true, Some(object)) = (is_file && plain, name.starts_with(&prefix), object) {
            wanted.push((name.clone(), object));
        }
        found.names.insert(name);
    }
    found.written = write_out(&mut git(), &wanted, &prefix, to)?;
    Ok(found)
}

/// The index of a commit under way, if it lies where git keeps its own.
fn of_git(place: &Place, top: &Path, index: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(top.join(index)).ok()?;
    let own = std::fs::canonicalize(&place.own).ok()?;
    real.starts_with(own).then_some(real)
}

fn split_at_tab(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b'\t', line)?;
    Some((&line[..at], &line[at + 1..]))
}

fn unreadable(why: &str) -> Fault {
    Fault::new(Code::Io, format!("cannot read what is staged: {why}")).hint("check `git status`")
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let ran = command.output().map_err(|e| unreadable(&e.to_string()))?;
    if ran.status.success() {
        return Ok(ran.stdout);
    }
    Err(unreadable(String::from_utf8_lossy(&ran.stderr).lines().next().unwrap_or("git ended with an error")))
}

/// Asks for one object after the other, and writes each to its place.
fn write_out(git: &mut Command, wanted: &[(PathBuf, String)], prefix: &Path, to: &Path) -> Result<usize> {
    if wanted.is_empty() {
        return Ok(0);
    }
    let io = |e: std::io::Error| unreadable(&e.to_string());
    let mut child = git
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(io)?;
    let (Some(mut ask), Some(answer)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(unreadable("git has no pipes"));
    };
    let mut answer = BufReader::new(answer);
    let mut written = 0;
    for (name, object) in wanted {
        writeln!(ask, "{object}").and_then(|()| ask.flush()).map_err(io)?;
        let mut head = String::new();
        answer.read_line(&mut head).map_err(io)?;
        let size = head.split_whitespace().nth(2).and_then(|size| size.parse::<u64>().ok());
        let size = size
            .filter(|size| *size <= LARGEST)
            .ok_or_else(|| unreadable("an object is missing or too large"))?;
        let mut bytes = Vec::new();
        answer.by_ref().take(size + 1).read_to_end(&mut bytes).map_err(io)?;
        bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        let path = to.join(name.strip_prefix(prefix).unwrap_or(name));
        if let Some(folder) = path.parent() {
            files::make_folder(folder, Mode::Private)?;
        }
        files::write_passing(&path, &bytes)?;
        written += 1;
    }
    drop(ask);
    let _ = child.wait();
    Ok(written)
}
