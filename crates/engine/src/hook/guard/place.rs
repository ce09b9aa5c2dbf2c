//! Places: whether a path leads into a memory folder, by whatever way.
//!
//! Comes in: a path as a tool names it. Goes out: whether it is inside a memory folder, this project's or any other's. A path is
//! looked at as written, as the links in it lead, and at every step between, so that neither a link into the folder nor one
//! in it helps. Never here: creating or changing anything.

use crate::files::real_path;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// The file that holds a project's settings: people and agents may edit it directly.
const CONFIG: &str = "memory-config.json";
/// The folder every project keeps its memory in, unless its settings move it.
const USUAL: [&str; 2] = [".claude", "memory"];
const PATH_MAX: usize = 4 << 10;

/// The memory folders of this machine.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Where settings moved a memory folder to.
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
    /// Folders of the user's own settings and data, as named and as they really are.
    own: Vec<PathBuf>,
    /// Whether two paths that differ in case only are the same place.
    same_place: fn(&Path, &Path) -> bool,
}

/// A place inside a memory folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    /// The memory folder.
    pub folder: PathBuf,
    /// The rest of the path; empty for the folder itself.
    pub rest: PathBuf,
    /// Whether the folder is the usual one, which also holds the settings.
    usual: bool,
}

impl Inside {
    /// Whether this is a project's settings file.
    pub fn is_config(&self) -> bool {
        self.usual && self.rest == Path::new(CONFIG)
    }
}

impl Memory {
    /// The usual folders of all projects, and `root` if the settings moved this project's.
    pub fn new(root: &Path, home: Option<&Path>) -> Memory {
        let real = real_path(root);
        let roots = if real == root { vec![real] } else { vec![root.to_owned(), real] };
        Memory { roots, home: home.map(Path::to_owned), own: Vec::new(), same_place }
    }

    /// The same, with folders of the user's that no tool writes to either: what lies there decides how far everything else is believed.
    #[must_use]
    pub fn with_own(mut self, folders: &[PathBuf]) -> Memory {
        for folder in folders {
            let real = real_path(folder);
            if real != *folder {
                self.own.push(real);
            }
            self.own.push(folder.clone());
        }
        self
    }

    /// Whether writing to a path changes the user's own settings or data.
    pub(super) fn would_change_own(&self, path: &str, cwd: &Path) -> bool {
        if path.len() > PATH_MAX {
            let path = path.to_lowercase();
            return self.own.iter().any(|folder| path.contains(&folder.to_string_lossy().to_lowercase()));
        }
        self.ways(path, cwd).iter().any(|way| self.own.iter().any(|folder| self.below(way, folder).is_some()))
    }

    /// The same, with another idea of when two paths that differ in case are one place.
    #[cfg(test)]
    pub(crate) fn on_disk_where(mut self, same_place: fn(&Path, &Path) -> bool) -> Memory {
        self.same_place = same_place;
        self
    }

    /// Whether writing to a path changes a memory folder in any way that is not for people and agents to do.
    pub(super) fn would_change(&self, path: &str, cwd: &Path) -> bool {
        // No system opens a path this long; a tool that shortens it first is still asked.
        if path.len() > PATH_MAX {
            return path.to_lowercase().contains(".claude/memory");
        }
        self.ways(path, cwd).iter().any(|way| self.inside(way).is_some_and(|inside| !inside.is_config()))
    }

    /// Where a path really leads, and the memory folder that is in, if it is in one.
    pub fn find(&self, path: &str, cwd: &Path) -> (PathBuf, Option<Inside>) {
        if path.len() > PATH_MAX {
            return (PathBuf::from(path), None);
        }
        let real = real_path(&self.absolute(path, cwd));
        let inside = self.inside(&real);
        (real, inside)
    }

    fn absolute(&self, path: &str, cwd: &Path) -> PathBuf {
        match (path.strip_prefix('~'), &self.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => cwd.join(path),
        }
    }

    /// The path as written, as it really is, and with only its first parts resolved.
    fn ways(&self, path: &str, cwd: &Path) -> Vec<PathBuf> {
        if path.contains('\0') {
            return Vec::new();
        }
        let absolute = self.absolute(path, cwd);
        let parts: Vec<Component<'_>> = absolute.components().collect();
        let mut ways = vec![plain(&absolute), real_path(&absolute)];
        let mut prefix = PathBuf::new();
        for (at, part) in parts.iter().enumerate() {
            prefix.push(part);
            // Only a link makes a difference to what comes after it.
            if std::fs::symlink_metadata(&prefix).is_ok_and(|meta| meta.is_symlink()) {
                let rest: PathBuf = parts[at + 1..].iter().collect();
                ways.push(plain(&real_path(&prefix).join(rest)));
            }
        }
        ways
    }

    fn inside(&self, path: &Path) -> Option<Inside> {
        let configured = self.roots.iter().find_map(|root| self.below(path, root));
        let usual = self.usual(path);
        match (usual, configured) {
            // A configured root may itself be the usual folder, or lie in one.
            (Some(usual), _) => Some(usual),
            (None, Some((folder, rest))) => Some(Inside { folder, rest, usual: false }),
            (None, None) => None,
        }
    }

    fn below(&self, path: &Path, root: &Path) -> Option<(PathBuf, PathBuf)> {
        let depth = root.components().count();
        let mut parts = path.components();
        let head: PathBuf = parts.by_ref().take(depth).collect();
        (self.same(&head, root)).then(|| (root.to_owned(), parts.collect()))
    }

    /// The last `.claude/memory` in a path.
    fn usual(&self, path: &Path) -> Option<Inside> {
        let parts: Vec<Component<'_>> = path.components().collect();
        let is_named = |at: usize, name: &str| parts[at].as_os_str().eq_ignore_ascii_case(name);
        for at in (0..parts.len().saturating_sub(1)).rev() {
            if !is_named(at, USUAL[0]) || !is_named(at + 1, USUAL[1]) {
                continue;
            }
            let above: PathBuf = parts[..at].iter().collect();
            let folder: PathBuf = parts[..at + 2].iter().collect();
            let usual: PathBuf = above.join(USUAL[0]).join(USUAL[1]);
            if self.same(&folder, &usual) {
                return Some(Inside { folder: usual, rest: parts[at + 2..].iter().collect(), usual: true });
            }
        }
        None
    }

    fn same(&self, a: &Path, b: &Path) -> bool {
        if a == b {
            return true;
        }
        let (a_text, b_text) = (a.to_string_lossy(), b.to_string_lossy());
        a_text.to_lowercase() == b_text.to_lowercase() && (self.same_place)(a, b)
    }
}

/// Whether two paths that differ only in case are one place on this disk. If neither exists yet, the nearest folder that
/// does tells whether its disk distinguishes case.
fn same_place(a: &Path, b: &Path) -> bool {
    match (identity(a), identity(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a
            .ancestors()
            .filter(|folder| folder.file_name().is_some())
            .find_map(|folder| identity(folder).map(|id| (folder, id)))
            .and_then(|(folder, id)| Some(identity(&other_case(folder)?) == Some(id)))
            .unwrap_or(false),
        _ => false,
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// The path with the case of its last part turned round; `None` if that changes nothing.
fn other_case(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let turned: String = name
        .chars()
        .map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
        .collect();
    (turned != name).then(|| path.with_file_name(turned))
}

/// The path with `.` and `..` taken out, links left alone.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            _ => out.push(part),
        }
    }
    out
}
