//! Places: whether a path leads into a memory folder, by whatever way.
//!
//! Comes in: a path as a tool names it. Goes out: whether it is inside a memory folder, this project's or any other's. A path is
//! looked at as written, as the links in it lead, and at every step between, so that neither a link into the folder nor one
//! in it helps. A pattern is inside if it can be. Never here: creating or changing anything.

use super::pattern::{fits_name, is_mark, is_pattern};
use super::shell::Deed;
use crate::files::real_path;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// The file that holds a project's settings: people and agents may edit it directly.
const CONFIG: &str = "memory-config.json";
/// The folder every project keeps its memory in, unless its settings move it.
const USUAL: [&str; 2] = [".claude", "memory"];
const PATH_MAX: usize = 4 << 10;
/// Names longer than this are on no disk; a pattern that long is taken for one that fits.
const NAME_MAX: usize = 512;
/// Looks at the disk that one command is worth, counted in parts of paths.
pub(super) const LOOKS_MAX: usize = 200_000;

/// The folders of this machine that no tool writes into directly.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Folders by their place: where this project's memory is, and whatever else is protected.
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
    /// The folders of the user's own settings and data, guarded in the same way.
    own: Option<Box<Memory>>,
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
        let memory = Memory { roots: Vec::new(), home: home.map(Path::to_owned), own: None, same_place };
        memory.and([root.to_owned()])
    }

    /// The same, with folders of the user's that no tool writes to either: what lies there decides how far everything else is believed.
    #[must_use]
    pub fn with_own(mut self, folders: [PathBuf; 2]) -> Memory {
        let [first, second] = folders;
        self.own = Some(Box::new(Memory::new(&first, self.home.as_deref()).and([second])));
        self
    }

    /// The same, and these folders besides.
    #[must_use]
    pub fn and(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Memory {
        for folder in folders {
            let real = real_path(&folder);
            for root in [folder, real] {
                if !self.roots.contains(&root) {
                    self.roots.push(root);
                }
            }
        }
        self
    }

    /// The user's home folder.
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The folders of the user's own.
    pub(super) fn own(&self) -> Option<&Memory> {
        self.own.as_deref()
    }

    /// The same, with another idea of when two paths that differ in case are one place.
    #[cfg(test)]
    pub(crate) fn on_disk_where(mut self, same_place: fn(&Path, &Path) -> bool) -> Memory {
        self.same_place = same_place;
        self
    }

    /// Whether doing something to a path changes a protected folder in any way that is not for people and agents to do. `looks` is how
    /// often the disk may still be asked; without any the path is taken as it is written.
    pub(super) fn would_change(&self, path: &str, cwd: &Path, deed: Deed, looks: &mut usize) -> bool {
        // No system opens a path this long; a tool that shortens it first is still asked.
        if path.len() > PATH_MAX {
            return path.to_lowercase().contains(".claude/memory");
        }
        if path.contains('\0') {
            return false;
        }
        if is_pattern(path) || cwd.to_str().is_some_and(is_pattern) {
            return self.could_be_inside(&plain(&self.absolute(path, cwd)), deed);
        }
        let ways = self.ways(path, cwd, looks);
        ways.iter().any(|way| {
            self.inside(way).is_some_and(|inside| !inside.is_config())
                || deed == Deed::Remove && self.roots.iter().any(|root| self.below(root, way).is_some())
        })
    }

    /// Whether a pattern can name a protected folder, something in one, or, if it takes away, something around one.
    fn could_be_inside(&self, path: &Path, deed: Deed) -> bool {
        let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let fits = |pattern: &str, name: &str| {
            pattern.len() > NAME_MAX && is_pattern(pattern) || fits_name(pattern, name)
        };
        let usual = parts.windows(2).any(|pair| USUAL.iter().zip(pair).all(|(name, part)| fits(part, name)));
        usual
            || self.roots.iter().any(|root| {
                let around = deed == Deed::Remove;
                let root = root.iter().map(std::ffi::OsStr::to_string_lossy);
                (around || root.clone().count() <= parts.len())
                    && root.zip(&parts).all(|(name, part)| fits(part, &name))
            })
    }

    /// Whether a text names a protected folder, looked at without a grammar: quotes and backslashes out, in whatever case, the last two
    /// parts of the folder's path anywhere.
    pub(super) fn named_in(&self, text: &str) -> bool {
        let bare: String =
            text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\' | '`')).collect::<String>().to_lowercase();
        let usual = USUAL.map(str::to_owned);
        let of_roots = self.roots.iter().map(|root| {
            let mut parts = root.iter().rev().map(|part| part.to_string_lossy().to_lowercase());
            let last = parts.next().unwrap_or_default();
            // A short name of one folder alone would be found in any text.
            [parts.next().unwrap_or_default(), last]
        });
        [usual].into_iter().chain(of_roots).any(|pair| pair.iter().all(|name| bare.contains(name.as_str())))
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
    fn ways(&self, path: &str, cwd: &Path, looks: &mut usize) -> Vec<PathBuf> {
        let absolute = self.absolute(path, cwd);
        let parts: Vec<Component<'_>> = absolute.components().collect();
        let mut ways = vec![plain(&absolute)];
        // A path with something unknown in it is on no disk.
        if path.contains(is_mark) {
            return ways;
        }
        if *looks < parts.len() {
            *looks = 0;
            return ways;
        }
        ways.push(real_path(&absolute));
        let mut prefix = PathBuf::new();
        for (at, part) in parts.iter().enumerate() {
            prefix.push(part);
            *looks = looks.saturating_sub(at + 1);
            // Only a link makes a difference to what comes after it, and nothing is below what is not there.
            match std::fs::symlink_metadata(&prefix) {
                Ok(meta) if meta.is_symlink() => {
                    let rest: PathBuf = parts[at + 1..].iter().collect();
                    ways.push(plain(&real_path(&prefix).join(rest)));
                }
                Ok(_) => {}
                Err(_) => break,
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
pub(super) fn plain(path: &Path) -> PathBuf {
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
