//! Stamps: by what a file or folder is known to be the one that was looked at, and which files a folder has.
//!
//! Comes in: a path. Goes out: a short text that differs when the file was changed, replaced or removed. A file that was changed in
//! the very moment it was looked at could change once more without a new time; such a stamp is [`UNSURE`] and equals nothing.
//! Never here: what is in a file.

use crate::budget::{self, Left};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The stamp of what is not there.
pub(crate) const ABSENT: &str = "-";

/// A stamp that no file has: whoever keeps it looks again.
pub(crate) const UNSURE: &str = "?";

/// How long file systems may give two changes the same time.
const TICK: i128 = 50_000_000;

fn modified(meta: &std::fs::Metadata) -> i128 {
    i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec())
}

/// The stamp of a file or folder. Links are not followed: a link is not what stands behind it.
pub(crate) fn of(path: &Path) -> String {
    match std::fs::symlink_metadata(path) {
        Ok(meta) => format!("{:x}:{:x}:{:x}", modified(&meta), meta.size(), meta.ino()),
        Err(_) => ABSENT.to_owned(),
    }
}

/// The time of the file system that holds `folder`, by a file written there now.
pub(crate) fn clock(folder: &Path) -> Option<i128> {
    let probe = folder.join("recall.time");
    {
        use std::io::Write as _;
        use std::os::unix::fs::OpenOptionsExt as _;
        std::fs::File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&probe)
            .ok()?
            .write_all(b"now")
            .ok()?;
    }
    std::fs::symlink_metadata(&probe).ok().map(|meta| modified(&meta))
}

/// When a file with this stamp was last written to; nothing for one that is not there.
fn time_in(stamp: &str) -> Option<i128> {
    stamp.split(':').next().and_then(|hex| i128::from_str_radix(hex, 16).ok())
}

/// Whether a file was last written to so long ago, by the clock of this machine, that another change cannot go unseen. Where the file system seems to
/// count whole seconds, these may be steps of two.
pub(crate) fn is_settled(stamp: &str, now: i128) -> bool {
    let long = |time: i128| if time % 1_000_000_000 == 0 { 4_000_000_000 } else { 2 * TICK };
    time_in(stamp).is_some_and(|time| now - time >= long(time))
}

/// The stamp as it may be kept at a time of the file system.
pub(crate) fn kept(stamp: String, clock: Option<i128>) -> String {
    match (time_in(&stamp), clock) {
        (Some(time), Some(clock)) if time + TICK <= clock => stamp,
        (None, _) => stamp,
        _ => UNSURE.to_owned(),
    }
}

/// The names of a folder's files with an ending, as far as there is time. A linked folder could lead anywhere: it has none.
pub(crate) fn names_in(folder: &Path, ending: &str) -> BTreeSet<String> {
    if std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_symlink()) {
        return BTreeSet::new();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .take_while(|_| budget::goes_on_or_leaves(Left::Files))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(ending) && !name.starts_with('.') && !name.contains(['\t', '\n']))
        .collect()
}

/// Stamps of the folders and Markdown files below a memory base, two levels down.
pub(crate) fn walk(base: &Path, inner: &str, depth: usize, stamps: &mut BTreeMap<String, String>) {
    let Ok(entries) = std::fs::read_dir(base.join(inner)) else { return };
    for entry in entries.flatten().take_while(|_| budget::goes_on_or_leaves(Left::Files)) {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(kind) = entry.file_type() else { continue };
        if name.starts_with('.') || name.contains(['\t', '\n']) {
            continue;
        }
        let inside = if inner.is_empty() { name.clone() } else { format!("{inner}/{name}") };
        if kind.is_dir() && depth < 2 {
            stamps.insert(inside.clone(), of(&base.join(&inside)));
            walk(base, &inside, depth + 1, stamps);
        } else if kind.is_file() && name.ends_with(".md") {
            stamps.insert(inside.clone(), of(&base.join(&inside)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changed_just_now_is_looked_at_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        std::fs::write(&file, "one").unwrap();
        let now = clock(dir.path());
        assert!(now.is_some());
        assert_eq!(kept(of(&file), now), UNSURE);
        assert_eq!(kept(of(&file), now.map(|now| now + TICK)), of(&file));
        assert_eq!(kept(of(&dir.path().join("b")), now), ABSENT);
    }

    #[test]
    fn a_changed_file_has_another_stamp() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        std::fs::write(&file, "one").unwrap();
        let before = of(&file);
        std::fs::write(&file, "three").unwrap();
        assert_ne!(of(&file), before);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(of(&file), ABSENT);
    }
}
