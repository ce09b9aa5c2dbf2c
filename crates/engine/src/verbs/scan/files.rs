//! Files and folders.
//!
//! Comes in: paths. Goes out: what is in the files that git tracks or would track, in a folder without git in all of them. Whatever is passed over
//! is named: what git ignores, a repository's own folder, what is no text, links. Never here: a link followed.

use super::pieces::{self, Piece};
use super::{Eyes, LeftOut, Place, Scan, Scanned};
use crate::call::Call;
use crate::shelf::forgets::is_forgotten_mark;
use crate::verbs::{Progress, Watch};
use crate::{files, git, threads};
use heirloom_core::{Code, Fault, fault::Result};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Where version control keeps its own things.
const VERSIONS: [&str; 4] = [".git", ".hg", ".svn", ".jj"];
/// Files looked at between two words about how far it is.
const STRETCH: usize = 1_000;
/// A zero byte so near the beginning means that a file is no text, as git has it.
const HEAD: usize = 8_000;
/// The rule for lines that look like those of an index of records.
const INDEX_LINE: &str = "forged-index-line";
/// The file of a store that has marks of forgotten ids.
const PROVENANCE: &str = "provenance.jsonl";

/// The files to be looked at, and what is passed over.
#[derive(Default)]
struct Listed {
    files: Vec<PathBuf>,
    left_out: Vec<LeftOut>,
}

impl Listed {
    fn leave(&mut self, path: &Path, why: &str) {
        self.left_out.push(LeftOut { path: path.display().to_string(), why: why.to_owned() });
    }
}

pub(super) fn scan(call: &Call, eyes: &Eyes<'_>, ask: &Scan, watch: &mut Watch<'_>) -> Result<Scanned> {
    let mut listed = Listed::default();
    for path in &ask.paths {
        let meta = std::fs::symlink_metadata(path).map_err(|_| {
            let shown = shown(ask, path);
            Fault::new(Code::NotFound, format!("`{shown}` does not exist"))
                .fact("path", shown)
                .hint("check the name")
        })?;
        match meta.is_dir() {
            true => below(call, path, &mut listed),
            false => listed.files.push(path.clone()),
        }
    }
    let own = OwnIndex::among(call, &listed.files);
    let mut scanned = Scanned { looked: 0, findings: Vec::new(), left_out: listed.left_out };
    let of = Some(listed.files.len() as u64);
    let mut done = 0;
    for some in listed.files.chunks(STRETCH) {
        let looked = threads::halves(some, |some, found| {
            found.extend(some.iter().map(|path| one(eyes, ask, path, own.as_ref())));
        });
        for file in looked {
            match file {
                Ok(places) => {
                    scanned.looked += 1;
                    scanned.findings.extend(places);
                }
                Err(left_out) => scanned.left_out.push(left_out),
            }
        }
        done += some.len() as u64;
        watch(Progress { what: "files", done, of });
    }
    for left in &mut scanned.left_out {
        left.path = shown(ask, Path::new(&left.path));
    }
    Ok(scanned)
}

fn shown(ask: &Scan, path: &Path) -> String {
    let from = ask.from.as_deref();
    let inner = from.and_then(|from| path.strip_prefix(from).ok()).unwrap_or(path);
    inner.display().to_string()
}

/// What is in one file, or why it was passed over.
fn one(
    eyes: &Eyes<'_>,
    ask: &Scan,
    path: &Path,
    own: Option<&OwnIndex>,
) -> std::result::Result<Vec<Place>, LeftOut> {
    let left = |why: String| LeftOut { path: path.display().to_string(), why };
    let mut file = match files::open_if_there(path) {
        Ok(Some((file, _))) => file,
        Ok(None) => return Err(left("no longer exists".to_owned())),
        Err(fault) if fault.code == Code::Path => return Err(left("is a link".to_owned())),
        Err(fault) => return Err(left(fault.message)),
    };
    let unreadable = |e: std::io::Error| left(format!("cannot be read: {e}"));
    if is_binary(&mut file).map_err(unreadable)? {
        return Err(left("is not text".to_owned()));
    }
    let name = shown(ask, path);
    let mut places = Vec::new();
    let own = own.filter(|own| own.path == path);
    let mut look = |piece: Piece<'_>| {
        let before = places.len();
        eyes.look(&name, &piece, &mut places);
        if let Some(own) = own {
            own.pass_over(&piece, before, &mut places);
        }
        if places.len() > before && path.ends_with(PROVENANCE) {
            pass_over_marks(&piece, before, &mut places);
        }
    };
    pieces::each(&mut file, &mut look).map_err(unreadable)?;
    Ok(places)
}

fn is_binary(file: &mut File) -> std::io::Result<bool> {
    let mut head = Vec::with_capacity(HEAD);
    (&mut *file).take(HEAD as u64).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(head.contains(&0))
}

/// Takes back what was found in marks of forgotten ids: random letters beside the word "salt", and nothing else on the line.
fn pass_over_marks(piece: &Piece<'_>, before: usize, places: &mut Vec<Place>) {
    let text = String::from_utf8_lossy(piece.bytes);
    let lines: Vec<&str> = text.lines().collect();
    let line = |number: usize| lines.get(number.checked_sub(piece.first_line)?).copied();
    let mut at = 0;
    places.retain(|place| {
        at += 1;
        at <= before || !line(place.line).is_some_and(is_forgotten_mark)
    });
}

/// The index of this project's records: its lines look like forged ones everywhere but here. A line counts as its own only if the records say
/// exactly that, so a forged one in it is found like anywhere else.
struct OwnIndex {
    path: PathBuf,
    lines: HashSet<String>,
}

impl OwnIndex {
    fn among(call: &Call, files: &[PathBuf]) -> Option<OwnIndex> {
        let place = call.records().index_path();
        let real = std::fs::canonicalize(&place).ok()?;
        let is_it = |path: &&PathBuf| {
            path.file_name() == place.file_name()
                && (**path == place || std::fs::canonicalize(path).is_ok_and(|path| path == real))
        };
        let path = files.iter().find(is_it)?.clone();
        Some(OwnIndex { path, lines: call.records().index_lines().into_iter().collect() })
    }

    /// Takes back what was found in this index's own lines.
    fn pass_over(&self, piece: &Piece<'_>, before: usize, places: &mut Vec<Place>) {
        if !places[before..].iter().any(|place| place.rule == INDEX_LINE) {
            return;
        }
        let text = String::from_utf8_lossy(piece.bytes);
        let lines: Vec<&str> = text.lines().collect();
        let line = |number: usize| lines.get(number.checked_sub(piece.first_line)?).copied();
        let mut at = 0;
        places.retain(|place| {
            at += 1;
            // The rule begins with a line break before the line.
            let after =
                (place.line + 1..=place.line + 3).filter_map(line).find(|line| !line.trim().is_empty());
            let is_own = || after.is_some_and(|line| self.lines.contains(line));
            at <= before || place.rule != INDEX_LINE || !is_own()
        });
    }
}

/// The files of a folder: what git tracks or would track, else everything.
fn below(call: &Call, folder: &Path, listed: &mut Listed) {
    if !known_to_git(folder, listed) {
        walk(call, folder, listed);
    }
}

fn walk(call: &Call, folder: &Path, listed: &mut Listed) {
    let local = call.project().root().folder().join(".local");
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(next) = open.pop() {
        let entries = match std::fs::read_dir(&next) {
            Ok(entries) => entries,
            Err(e) => {
                listed.leave(&next, &format!("cannot be read: {e}"));
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            match (kind.is_dir(), kind.is_file()) {
                (true, _) if VERSIONS.iter().any(|name| entry.file_name() == *name) => {
                    listed.leave(
                        &path,
                        "belongs to version control; `heirloom scan --history` looks into git's",
                    );
                }
                (true, _) if path == local => listed.leave(&path, "is derived from the memory, and private"),
                (true, _) => open.push(path),
                (_, true) => found.push(path),
                _ => listed.leave(&path, "is not a regular file"),
            }
        }
    }
    found.sort();
    listed.files.extend(found);
}

/// Lists what git tracks or would track in a folder, and names what it ignores; `false` if there is no work tree around it.
fn known_to_git(folder: &Path, listed: &mut Listed) -> bool {
    let asked = |more: &[&str]| -> Option<Vec<PathBuf>> {
        let (mut command, top) = git::command(folder)?;
        let real = std::fs::canonicalize(folder).ok()?;
        let inside = real.strip_prefix(&top).ok()?;
        command.args(["--literal-pathspecs", "ls-files", "-z"]).args(more);
        if !inside.as_os_str().is_empty() {
            command.arg("--").arg(inside);
        }
        let output = command.output().ok().filter(|output| output.status.success())?;
        let names = output.stdout.split(|b| *b == 0).filter(|name| !name.is_empty());
        // Named as the folder was, not by where its links lead.
        let path = |name| Some(folder.join(Path::new(OsStr::from_bytes(name)).strip_prefix(inside).ok()?));
        Some(names.filter_map(path).collect())
    };
    let Some(found) = asked(&["--cached", "--others", "--exclude-standard"]) else { return false };
    let mut seen = HashSet::new();
    for path in found {
        // In the middle of a merge git names a file once for each side.
        if !seen.insert(path.clone()) {
            continue;
        }
        match std::fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => listed.leave(&path, "is a repository of its own"),
            Ok(_) => listed.files.push(path),
            // Tracked and removed from the work tree: there is nothing to look at.
            Err(_) => {}
        }
    }
    for path in asked(&["--others", "--ignored", "--exclude-standard", "--directory"]).unwrap_or_default() {
        listed.leave(&path, "is ignored by git");
    }
    true
}
