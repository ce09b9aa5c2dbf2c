//! The stop flag: a file that says "this stop was held up a moment ago, let the next one through".
//!
//! Comes in: the working folder and the time. Goes out: whether a fresh flag was there. Never here: reading what is in it;
//! only its age counts.

use crate::files::{self, Mode};
use heirloom_core::fault::Result;
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// How long a flag lets a stop through.
const TTL_SECONDS: i64 = 300;
/// A flag may be dated this far ahead: another process made it after this one looked at the clock.
const SKEW_SECONDS: i64 = 5;

fn path(cwd: &Path) -> PathBuf {
    cwd.join(".claude").join(".stop_hook_active")
}

/// Whether the folder of the flag is a link: what lies behind it is not the project's to write to.
fn is_linked(cwd: &Path) -> bool {
    std::fs::symlink_metadata(cwd.join(".claude")).is_ok_and(|found| found.is_symlink())
}

/// Takes the flag away. Returns whether it was fresh.
pub(super) fn take(cwd: &Path, now: Timestamp) -> Result<bool> {
    if is_linked(cwd) {
        return Ok(false);
    }
    let path = path(cwd);
    // The age is read before the file goes; of two processes only the one that removes it has taken it.
    let Ok(meta) = std::fs::symlink_metadata(&path) else { return Ok(false) };
    if std::fs::remove_file(&path).is_err() {
        return Ok(false);
    }
    let Some(made) = meta.modified().ok().and_then(|time| Timestamp::try_from(time).ok()) else {
        return Ok(false);
    };
    let age = now.as_second() - made.as_second();
    Ok((-SKEW_SECONDS..TTL_SECONDS).contains(&age))
}

/// Puts a flag up.
pub(super) fn raise(cwd: &Path, now: Timestamp) -> Result<()> {
    if is_linked(cwd) {
        return Ok(());
    }
    let path = path(cwd);
    if let Some(folder) = path.parent() {
        files::make_folder(folder, Mode::Shared)?;
    }
    files::write_passing(&path, now.as_second().to_string().as_bytes())
}
