//! What a change replaced, kept for a while so that the change can be taken back.
//!
//! Comes in: every change of a file shelf, just before it happens. Goes out: the same, newest last, to `undo` and to whoever has to find out what
//! became of a change that was interrupted. It lies in the user's data folder, a file for each day, private, and goes after thirty days or
//! when a memory is forgotten. Putting it back is the shelves' (`shelf/door/`). Never here: what the gate cut out.

mod numbers;

pub(crate) use numbers::Numbers;

use crate::files::{self, Mode};
use crate::gate::inbox::Waiting;
use crate::gate::trust::Standing;
use heirloom_core::{Channel, Status, fault::Result, json, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How long a change can be taken back.
pub const KEPT_DAYS: u32 = 30;

const FOLDER: &str = "undo";
/// The largest day that is read.
const LIMIT: u64 = 256 << 20;

/// What was there before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Before {
    /// Nothing: the change made it.
    Nothing,
    /// A text that must not be kept, or more than one.
    Unkept,
    /// This text.
    Text {
        /// The bytes as the shelf stored them.
        text: String,
        /// The name of its status.
        status: String,
        /// How it had arrived, and whether a person had accepted it.
        channel: Channel,
        /// See `channel`.
        accepted: bool,
    },
}

/// A change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Its number in the audit.
    pub seq: u64,
    /// The number of the first change of the same call: they are taken back together.
    pub group: u64,
    /// When.
    pub at: String,
    /// The same in microseconds: two chains are put in one order by it.
    #[serde(default)]
    pub when: i64,
    /// The memory, under the id it has afterwards.
    pub id: String,
    /// What was done.
    pub action: String,
    /// Who did it.
    pub by: String,
    /// Whether that was a person.
    pub person: bool,
    /// What was there before.
    pub was: Before,
    /// The content hash that the change leaves; empty if the text is not the memory's.
    pub hash: String,
    /// The name of the status that it leaves.
    pub status: String,
    /// The change it takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// The draft that was decided about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Waiting>,
}

impl Kept {
    /// Whether a memory with this hash and status is what the change left.
    pub fn left(&self, now: Option<(&str, Status)>) -> bool {
        now.is_some_and(|(hash, status)| hash == self.hash && status.name() == self.status)
    }

    /// Whether it is what the change found.
    pub fn found(&self, now: Option<(&str, Status)>) -> bool {
        match (&self.was, now) {
            (Before::Nothing, None) => true,
            (Before::Text { text, status, .. }, Some((hash, is))) => {
                *status == is.name() && heirloom_core::hash::sha256(text.as_bytes()) == hash
            }
            _ => false,
        }
    }
}

impl Before {
    /// How the text stood before the change.
    pub fn standing(&self) -> Standing {
        match self {
            Before::Text { channel, accepted, .. } => Standing { channel: *channel, accepted: *accepted },
            _ => Standing::STRANGER,
        }
    }
}

/// The folder of one store's changes: clones and work trees share the data folder, but each has an audit of its own.
pub(crate) fn folder(project_data: &Path, store: &str) -> PathBuf {
    project_data.join(FOLDER).join(store)
}

/// Keeps changes that are about to happen.
pub(crate) fn keep(project_data: &Path, store: &str, now: Timestamp, changes: &[Kept]) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let folder = folder(project_data, store);
    let file = folder.join(format!("{}.jsonl", time::format_date(now)));
    if !file.exists() {
        files::make_folder(&folder, Mode::Private)?;
        sweep(project_data, now)?;
    }
    let lines: Vec<String> = changes.iter().filter_map(|change| serde_json::to_string(change).ok()).collect();
    files::append_passing(&file, lines.iter().map(String::as_str), Mode::Private)
}

/// The changes of a store that are still kept, oldest first. A line that cannot be read costs only itself.
pub(crate) fn kept(project_data: &Path, store: &str, now: Timestamp) -> Result<Vec<Kept>> {
    let mut changes: Vec<Kept> = Vec::new();
    for file in days(&folder(project_data, store)) {
        if is_over(&file, now) {
            continue;
        }
        let bytes = files::read_if_there(&file, LIMIT)?.unwrap_or_default();
        let lines = bytes.split(|b| *b == b'\n').filter_map(|line| json::parse(line).ok());
        changes.extend(lines.filter_map(|line| serde_json::from_value(line).ok()));
    }
    Ok(changes)
}

/// Removes the days that are over, of every store of the project.
pub(crate) fn sweep(project_data: &Path, now: Timestamp) -> Result<()> {
    for file in all(project_data).into_iter().filter(|file| is_over(file, now)) {
        files::remove(&file)?;
    }
    Ok(())
}

/// Drops everything about an id, for `forget`.
pub(crate) fn forget(project_data: &Path, id: &str) -> Result<()> {
    all(project_data).iter().try_for_each(|file| crate::gate::trust::drop_lines_about(file, LIMIT, id))
}

fn all(project_data: &Path) -> Vec<PathBuf> {
    let Ok(stores) = std::fs::read_dir(project_data.join(FOLDER)) else { return Vec::new() };
    stores.flatten().flat_map(|store| days(&store.path())).collect()
}

/// The files of a folder, oldest day first.
fn days(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut days: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| day_of(path).is_some()).collect();
    days.sort();
    days
}

fn day_of(path: &Path) -> Option<Timestamp> {
    if path.extension()? != "jsonl" {
        return None;
    }
    time::parse(path.file_stem()?.to_str()?)
}

fn is_over(path: &Path, now: Timestamp) -> bool {
    day_of(path).is_some_and(|day| time::days_between(day, now) > i64::from(KEPT_DAYS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(seq: u64, id: &str) -> Kept {
        Kept {
            seq,
            group: seq,
            at: "2026-01-10T09:00:00Z".into(),
            when: 0,
            id: id.into(),
            action: "memory_write".into(),
            by: "account:ana".into(),
            person: true,
            was: Before::Nothing,
            hash: "h".into(),
            status: "active".into(),
            undoes: None,
            draft: None,
        }
    }

    #[test]
    fn changes_are_kept_for_thirty_days_and_only_for_the_owner() {
        use std::os::unix::fs::PermissionsExt as _;
        let data = tempfile::tempdir().unwrap();
        let day = |text: &str| time::parse(text).unwrap();
        keep(data.path(), "a", day("2026-01-10T09:00:00Z"), &[change(1, "note:a")]).unwrap();
        keep(data.path(), "a", day("2026-02-09T09:00:00Z"), &[change(2, "note:b")]).unwrap();
        let seqs = |now: &str| -> Vec<u64> {
            kept(data.path(), "a", day(now)).unwrap().iter().map(|one| one.seq).collect()
        };
        assert_eq!(seqs("2026-02-09T23:00:00Z"), [1, 2]);
        assert_eq!(seqs("2026-02-10T01:00:00Z"), [2]);
        let file = data.path().join("undo/a/2026-01-10.jsonl");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        // Another store of the same project sweeps too.
        keep(data.path(), "b", day("2026-02-10T09:00:00Z"), &[change(1, "note:c")]).unwrap();
        assert!(!file.exists());
        assert_eq!(kept(data.path(), "b", day("2026-02-10T09:00:00Z")).unwrap().len(), 1);
    }

    #[test]
    fn what_is_forgotten_is_forgotten_in_every_store() {
        let data = tempfile::tempdir().unwrap();
        let now = time::parse("2026-01-10T09:00:00Z").unwrap();
        for store in ["a", "b"] {
            keep(data.path(), store, now, &[change(1, "note:a"), change(2, "note:b")]).unwrap();
        }
        forget(data.path(), "note:a").unwrap();
        for store in ["a", "b"] {
            let left = kept(data.path(), store, now).unwrap();
            assert_eq!(left.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["note:b"]);
        }
    }
}
