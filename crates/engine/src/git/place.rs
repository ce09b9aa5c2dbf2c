//! Where a repository is and what its names stand for, read from its files.
//!
//! Comes in: a folder. Goes out: the work tree around it, git's folders, the commit that is checked out. Never here: a process, a setting of
//! the repository, a folder that only looks like a repository without a work tree. A clone can hold one of those, and asking git inside it
//! would be asking by its settings.

use crate::files;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// The longest file with one name or path in it.
const MAX_LINE: u64 = 4096;
/// The longest list of packed names.
const MAX_PACKED: u64 = 64 << 20;
/// Repositories around a submodule that are looked at.
const DEEPEST: usize = 8;
/// A name that leads to a name, at most so often.
const MOST_NAMES: usize = 5;

/// A repository with a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The top of the work tree.
    pub work_tree: PathBuf,
    /// Git's folder of this work tree.
    pub own: PathBuf,
    /// Git's folder that all work trees of the repository share.
    pub common: PathBuf,
}

impl Place {
    /// The repository around a folder, whose links should be resolved already.
    pub fn around(folder: &Path) -> Option<Place> {
        let work_tree = folder.ancestors().find(|dir| dir.join(".git").exists())?.to_owned();
        let dot_git = work_tree.join(".git");
        if dot_git.is_dir() {
            return Some(Place { work_tree, own: dot_git.clone(), common: dot_git });
        }
        let pointer = files::read_text(&dot_git, MAX_LINE).ok().flatten()?;
        let own = work_tree.join(pointer.strip_prefix("gitdir:")?.trim());
        let common = files::read_text(&own.join("commondir"), MAX_LINE).ok().flatten();
        let common = common.map_or(own.clone(), |inner| own.join(inner.trim()));
        let common = std::fs::canonicalize(&common).unwrap_or(common);
        Some(Place { work_tree, own, common })
    }

    /// Whether the repository knows this work tree as one of its own. A file called `.git` in an unpacked archive can name any repository of
    /// the user's; one that git made is a linked work tree, which the repository names in turn, or a submodule of a repository around it.
    pub(crate) fn is_mutual(&self) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let dot_git = self.work_tree.join(".git");
        if self.own == dot_git {
            return true;
        }
        let Some(own) = real(&self.own) else { return false };
        let named = files::read_text(&own.join("gitdir"), MAX_LINE).ok().flatten();
        let linked = named
            .and_then(|named| real(&own.join(named.trim())))
            .is_some_and(|named| Some(named) == real(&dot_git));
        let around = self
            .work_tree
            .ancestors()
            .skip(1)
            .filter_map(|folder| Place::around(folder).map(|place| place.common));
        linked
            || around
                .take(DEEPEST)
                .filter_map(|common| real(&common))
                .any(|common| own.starts_with(common.join("modules")))
    }

    /// The commit that is checked out, as git writes it; `None` before the first one, or if the names are kept in a way that is not known
    /// here.
    pub(super) fn head(&self) -> Option<String> {
        let mut text = first_line(&self.own.join("HEAD"))?;
        for _ in 0..MOST_NAMES {
            if is_object_name(&text) {
                return Some(text);
            }
            let name = text.strip_prefix("ref:")?.trim();
            if !is_plain(name) {
                return None;
            }
            match first_line(&self.common.join(name)) {
                Some(next) => text = next,
                None => return self.packed(name),
            }
        }
        None
    }

    /// The first commit of what is checked out, if it can be read here.
    pub fn first_commit(&self) -> Option<String> {
        match super::first_commit(self) {
            super::First::Commit(name) => Some(name),
            super::First::None | super::First::Unreadable => None,
        }
    }

    fn packed(&self, wanted: &str) -> Option<String> {
        let (file, size) = files::open_if_there(&self.common.join("packed-refs")).ok().flatten()?;
        if size > MAX_PACKED {
            return None;
        }
        let mut list = BufReader::with_capacity(64 << 10, file.take(MAX_PACKED));
        let mut line = Vec::new();
        loop {
            line.clear();
            // A line is read as far as one can be; the rest of a longer one begins with no name that is looked for.
            if list.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).ok()? == 0 {
                return None;
            }
            let text = std::str::from_utf8(line.trim_ascii_end()).unwrap_or_default();
            if let Some((object, _)) = text.split_once(' ').filter(|(_, name)| *name == wanted) {
                return is_object_name(object).then(|| object.to_owned());
            }
        }
    }

    /// What git is in the middle of in this work tree, if it is.
    pub(super) fn under_way(&self) -> Option<&'static str> {
        const MARKS: [(&str, &str); 6] = [
            ("MERGE_HEAD", "a merge"),
            ("CHERRY_PICK_HEAD", "a cherry-pick"),
            ("REVERT_HEAD", "a revert"),
            ("rebase-merge", "a rebase"),
            ("rebase-apply", "a rebase"),
            ("sequencer", "a series of commits"),
        ];
        MARKS.iter().find(|(mark, _)| self.own.join(mark).exists()).map(|(_, what)| *what)
    }
}

fn first_line(path: &Path) -> Option<String> {
    let text = files::read_text(path, MAX_LINE).ok().flatten()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

/// Whether a text is the name of an object: 40 digits, or 64 in repositories of the newer kind.
pub(super) fn is_object_name(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a name of a branch leads to where such names are kept.
fn is_plain(name: &str) -> bool {
    name.starts_with("refs/") && name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}
