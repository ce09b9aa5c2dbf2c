//! One commit of exactly the files that were just written.
//!
//! Comes in: a project folder, files, a message. Goes out: a commit on top of what is checked out that differs from it in these files only,
//! or a line that says why there is none. Built from git's parts (an object per file, a tree, a commit, the branch): adding and committing
//! the usual way runs what the repository calls filters and signers, which cannot all be named to be switched off. Never here: a file of
//! another repository inside this one, a link, an ignored file, a file that a filter would have to change, what the owner staged.

use super::{Place, Reach, below, start};
use crate::files;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The largest file that is committed.
const MAX: u64 = 64 << 20;

/// What is told if a commit is left to the owner.
const YOURSELF: &str = "commit it yourself";

type Told<T> = Result<T, String>;

/// Commits exactly these files. `scratch` is a name for a temporary file outside the repository. `Err` says in a line why it could not.
pub fn commit(folder: &Path, paths: &[PathBuf], message: &str, scratch: &Path) -> Told<()> {
    let real = std::fs::canonicalize(folder).map_err(|e| e.to_string())?;
    let place = Place::around(&real).ok_or("this folder is not in a git work tree")?;
    if !place.is_mutual() {
        return Err(format!("`.git` leads to a repository that does not know this folder; {YOURSELF}"));
    }
    if let Some(what) = place.under_way() {
        return Err(format!("{what} is under way; {YOURSELF} when it is done"));
    }
    let desk = Desk { place: &place, index: None };
    let inside = desk.committed(paths)?;
    if inside.is_empty() {
        return Ok(());
    }
    desk.no_filters(&inside)?;
    let listed = desk.stored(&inside)?;
    // The owner's index first: if it is locked nothing has happened yet, and a commit that it does not know would look taken back.
    desk.with_input(&["update-index", "-z", "--index-info"], &listed)?;
    let own = Desk { place: &place, index: Some(scratch) };
    let made = own.commit_listed(&listed, message);
    let _ = std::fs::remove_file(scratch);
    made
}

/// Git at the top of a work tree, over the owner's index or one of our own.
struct Desk<'a> {
    place: &'a Place,
    index: Option<&'a Path>,
}

impl Desk<'_> {
    fn git(&self, args: &[&str]) -> Command {
        let mut command = start(Some(&self.place.work_tree), Reach::Here);
        if let Some(index) = self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Told<String> {
        self.with_input(args, b"").map(|said| String::from_utf8_lossy(&said).trim().to_owned())
    }

    fn with_input(&self, args: &[&str], input: &[u8]) -> Told<Vec<u8>> {
        finish(self.git(args), input, |code| code == Some(0))
    }

    /// Those of the files that belong to this repository and are not ignored, from its top.
    fn committed(&self, paths: &[PathBuf]) -> Told<Vec<PathBuf>> {
        let top = &self.place.work_tree;
        let mut inside = Vec::new();
        for path in paths {
            let Some(inner) = below(top, path) else { continue };
            let hidden = |part: &OsStr| {
                // What was only on its way to its place is no file of the memory.
                let passing = part.as_bytes().starts_with(b".heirloom-tmp-");
                passing || part.eq_ignore_ascii_case(".git") || part == ".local"
            };
            // A name that begins like this means something else to git.
            let magic = inner.as_os_str().as_bytes().starts_with(b":");
            if magic || top.join(&inner).is_dir() || inner.components().any(|part| hidden(part.as_os_str())) {
                continue;
            }
            let nearest = top
                .join(&inner)
                .ancestors()
                .skip(1)
                .find(|dir| dir.join(".git").exists())
                .map(Path::to_owned);
            if nearest.as_deref() != Some(top) {
                return Err(format!("another repository is inside this one; {YOURSELF}"));
            }
            if !inside.contains(&inner) {
                inside.push(inner);
            }
        }
        if inside.is_empty() {
            return Ok(inside);
        }
        // It ends with 1 if none is ignored.
        let asked = self.git(&["check-ignore", "-z", "--stdin"]);
        let ignored = finish(asked, &joined(&inside), |code| matches!(code, Some(0 | 1)))?;
        let ignored: Vec<&[u8]> = ignored.split(|b| *b == 0).collect();
        inside.retain(|path| !ignored.contains(&path.as_os_str().as_bytes()));
        Ok(inside)
    }

    /// A filter may hide what the file says, as encryption does. It is not run here, so its files are left to the owner.
    fn no_filters(&self, paths: &[PathBuf]) -> Told<()> {
        let told = self.with_input(&["check-attr", "-z", "--stdin", "filter"], &joined(paths))?;
        // With -z: path NUL attribute NUL value NUL.
        let fields: Vec<&[u8]> = told.split(|b| *b == 0).collect();
        let free = |row: &[&[u8]]| matches!(row.get(2).copied(), None | Some(b"unspecified" | b"unset"));
        if fields.chunks(3).all(free) {
            Ok(())
        } else {
            Err(format!("the repository names a filter for memory files; {YOURSELF}"))
        }
    }

    /// Stores each file as it is. What comes back tells an index of them; a file that is gone is taken out.
    fn stored(&self, paths: &[PathBuf]) -> Told<Vec<u8>> {
        // The zero of an object that is none has as many digits as those that are.
        let nothing = "0".repeat(self.place.head().map_or(40, |head| head.len()));
        let mut listed = Vec::new();
        for path in paths {
            let full = self.place.work_tree.join(path);
            let entry = match files::read_if_there(&full, MAX).map_err(|fault| fault.message)? {
                None => format!("0 {nothing}\t"),
                Some(bytes) => {
                    let name = self.with_input(&["hash-object", "-w", "--no-filters", "--stdin"], &bytes)?;
                    format!("100644 {}\t", String::from_utf8_lossy(&name).trim())
                }
            };
            listed.extend_from_slice(entry.as_bytes());
            listed.extend_from_slice(path.as_os_str().as_bytes());
            listed.push(0);
        }
        Ok(listed)
    }

    fn commit_listed(&self, listed: &[u8], message: &str) -> Told<()> {
        let head = self.run(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ok();
        if let Some(head) = &head {
            self.run(&["read-tree", head])?;
        }
        self.with_input(&["update-index", "-z", "--index-info"], listed)?;
        let tree = self.run(&["write-tree", "--missing-ok"])?;
        let mut parts = vec!["commit-tree", "--no-gpg-sign", "-m", message];
        if let Some(head) = &head {
            if self.run(&["rev-parse", "--verify", "--quiet", &format!("{head}^{{tree}}")])? == tree {
                return Ok(());
            }
            parts.extend(["-p", head]);
        }
        parts.push(&tree);
        let made = self.run(&parts)?;
        // Only if nobody else committed in the meantime; an empty name says that there was no commit.
        let first_line = message.lines().next().unwrap_or_default();
        let said = format!("commit: {first_line}");
        self.run(&["update-ref", "-m", &said, "HEAD", &made, head.as_deref().unwrap_or_default()]).map(drop)
    }
}

fn joined(paths: &[PathBuf]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path.as_os_str().as_bytes());
        bytes.push(0);
    }
    bytes
}

fn finish(mut command: Command, input: &[u8], good: impl Fn(Option<i32>) -> bool) -> Told<Vec<u8>> {
    let cannot = |e: std::io::Error| format!("git could not be started: {e}");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(cannot)?;
    let (pipe, input) = (child.stdin.take(), input.to_vec());
    // A file larger than a pipe holds must not wait for an answer that waits for it.
    let feeding = std::thread::spawn(move || pipe.map(|mut pipe| pipe.write_all(&input)));
    let output = child.wait_with_output().map_err(cannot)?;
    let _ = feeding.join();
    if good(output.status.code()) {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("git refused");
    Err(heirloom_core::text::one_line(line).chars().take(300).collect())
}
