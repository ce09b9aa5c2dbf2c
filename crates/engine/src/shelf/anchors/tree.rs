//! The working tree, read carefully.
//!
//! Comes in: a path that a provenance line names. Goes out: the bytes of a regular file inside the project, or that there is none, or that it
//! was not looked at. Every file is read once per call, no file is larger than [`FILE_MAX`], and all of them together cost at most [`ALL_MAX`].
//! Never here: a path that leaves the project by `..`, by being absolute, or by a link.

use crate::files::{self, Root};
use std::collections::{HashMap, VecDeque};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// The largest file that is compared.
pub(super) const FILE_MAX: u64 = 2 << 20;
/// Most bytes read for one answer.
const ALL_MAX: u64 = 16 << 20;
/// Files beside a missing one that are looked through.
const BESIDE: usize = 64;
/// Folder entries walked over in search of a file of the same name.
const WALKED: usize = 2_000;

/// What a path names.
#[derive(Debug, Clone)]
pub(super) enum Seen {
    /// A file, with its bytes.
    File(Rc<Vec<u8>>),
    /// Nothing that could be cited.
    Missing,
    /// Too large, not allowed, or too much for one call.
    Unread,
}

/// The project's files as one call sees them.
pub(super) struct Tree {
    root: Root,
    seen: HashMap<String, Seen>,
    left: u64,
    named: Option<Vec<String>>,
}

impl Tree {
    pub(super) fn new(folder: &Path) -> Tree {
        Tree { root: Root::new(folder), seen: HashMap::new(), left: ALL_MAX, named: None }
    }

    /// The project folder, links resolved.
    pub(super) fn folder(&self) -> &Path {
        self.root.real()
    }

    /// The file at a path from the project folder.
    pub(super) fn read(&mut self, path: &str) -> Seen {
        if let Some(seen) = self.seen.get(path) {
            return seen.clone();
        }
        let seen = self.look(path);
        self.seen.insert(path.to_owned(), seen.clone());
        seen
    }

    fn look(&mut self, path: &str) -> Seen {
        let relative = Path::new(path);
        if !relative.components().all(|part| matches!(part, Component::Normal(_))) || path.contains('\0') {
            return Seen::Unread;
        }
        // A link is followed as long as it stays inside.
        let Ok(real) = self.root.resolve(&self.root.real().join(relative)) else { return Seen::Unread };
        let limit = FILE_MAX.min(self.left);
        match files::open_if_there(&real) {
            Ok(None) => return Seen::Missing,
            Ok(Some((_, size))) if size > limit => return Seen::Unread,
            Ok(Some(_)) => {}
            // A folder where a file was cited.
            Err(_) if real.is_dir() => return Seen::Missing,
            Err(_) => return Seen::Unread,
        }
        match files::read_if_there(&real, limit) {
            Ok(Some(bytes)) => {
                self.left -= (bytes.len() as u64).min(self.left);
                Seen::File(Rc::new(bytes))
            }
            Ok(None) => Seen::Missing,
            Err(_) => Seen::Unread,
        }
    }

    /// Files that a missing one may have become: those of the same sort beside it, then those of the same name elsewhere.
    pub(super) fn instead_of(&mut self, path: &str) -> Vec<String> {
        let given = Path::new(path);
        let plain = given.components().all(|part| matches!(part, Component::Normal(_)));
        let Some(name) = given.file_name().filter(|_| plain) else { return Vec::new() };
        let folder = given.parent().unwrap_or(Path::new(""));
        let mut found: Vec<String> = entries(&self.root.real().join(folder))
            .into_iter()
            .filter(|(entry, is_folder)| !is_folder && Path::new(entry).extension() == given.extension())
            .map(|(entry, _)| folder.join(entry).to_string_lossy().into_owned())
            .filter(|other| other != path)
            .take(BESIDE)
            .collect();
        let everywhere = self.named.get_or_insert_with(|| walk(self.root.real()));
        let elsewhere = everywhere.iter().filter(|other| Path::new(other).file_name() == Some(name));
        found.extend(elsewhere.filter(|other| *other != path).take(BESIDE).cloned());
        found
    }
}

/// Files and folders of a folder by name, links left out.
fn entries(folder: &Path) -> Vec<(String, bool)> {
    let mut all: Vec<(String, bool)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .take(WALKED)
        .filter_map(|entry| {
            let kind = entry.file_type().ok().filter(|kind| kind.is_dir() || kind.is_file())?;
            Some((entry.file_name().into_string().ok()?, kind.is_dir()))
        })
        .collect();
    all.sort();
    all
}

/// Files of the project, nearest the top first, as far as a bounded walk comes. What tools make is not walked into.
fn walk(top: &Path) -> Vec<String> {
    const MADE: [&str; 6] = ["target", "node_modules", "build", "dist", "vendor", "__pycache__"];
    let mut found = Vec::new();
    let mut left = WALKED;
    let mut open: VecDeque<PathBuf> = VecDeque::from([PathBuf::new()]);
    while let Some(folder) = open.pop_front() {
        for (name, is_folder) in entries(&top.join(&folder)) {
            if left == 0 {
                return found;
            }
            left -= 1;
            if is_folder && !name.starts_with('.') && !MADE.contains(&name.as_str()) {
                open.push_back(folder.join(&name));
            } else if !is_folder {
                found.push(folder.join(&name).to_string_lossy().into_owned());
            }
        }
    }
    found
}
