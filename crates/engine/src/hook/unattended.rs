//! What unattended sessions found worth saving, kept for the next session that a person watches.
//!
//! Comes in: findings of a stop, with text that the redactor has seen. Goes out: the same, once, to the next stop that somebody watches. It lies
//! in the user's data folder and goes away after thirty days. Never here: a memory; whether something is saved is decided by whoever reads it.

use crate::files::{self, Mode};
use heirloom_core::{fault::Result, hash, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A finding of a stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Found {
    /// The kind of memory it would make.
    pub(super) kind: String,
    /// What was said around it.
    pub(super) context: String,
}

/// How many sessions are kept at most; a machine that only runs scripts must not fill a disk.
const MOST: usize = 20;
const KEPT_DAYS: u32 = 30;
const MAX: u64 = 1 << 20;
const FOLDER: &str = "unattended";

/// Keeps what a session found. `data` is the user's folder for the project.
pub(super) fn keep(data: &Path, session: Option<&str>, found: &[Found], now: Timestamp) -> Result<()> {
    let folder = data.join(FOLDER);
    files::make_folder(&folder, Mode::Private)?;
    sweep(&folder, now);
    if std::fs::read_dir(&folder).is_ok_and(|entries| entries.count() >= MOST) {
        return Ok(());
    }
    let name = hash::sha256(session.unwrap_or_default().as_bytes())[..24].to_owned();
    // Texts always serialise.
    let bytes = serde_json::to_vec(found).unwrap_or_default();
    files::write(&folder.join(format!("{name}.json")), &bytes, Mode::Private)
}

/// Takes everything that waits. A file that cannot be read is passed over; it goes after its time.
pub(super) fn take(data: &Path, now: Timestamp) -> Vec<Found> {
    let folder = data.join(FOLDER);
    sweep(&folder, now);
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let bytes = files::read_if_there(&path, MAX).ok().flatten();
        let Some(found) = bytes.and_then(|bytes| serde_json::from_slice::<Vec<Found>>(&bytes).ok()) else {
            continue;
        };
        // Of two who take it at once, the one who removed it has it.
        if std::fs::remove_file(&path).is_ok() {
            all.extend(found);
        }
    }
    all
}

fn sweep(folder: &Path, now: Timestamp) {
    let oldest = time::days_before(now, KEPT_DAYS);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let made = entry.metadata().and_then(|meta| meta.modified()).ok();
        if made.and_then(|made| Timestamp::try_from(made).ok()).is_some_and(|made| made < oldest) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
#[path = "unattended_tests.rs"]
mod tests;
