//! A folder for the time of one call: a copy to rehearse on, or files that came over a line.
//!
//! Comes in: a call and what the folder is for. Goes out: a folder in the user's data folder that nobody else can read; it goes away however the call
//! ends. One that a killed process left goes when the next is opened a day later. Never here: what lies in it.

use crate::call::Call;
use crate::files::{self, Mode};
use heirloom_core::fault::Result;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// After how long a folder is nobody's: no call takes that long.
const NOBODYS: Duration = Duration::from_secs(24 * 60 * 60);

/// The folder; it goes away when it is dropped.
pub(crate) struct Stage(PathBuf);

impl Drop for Stage {
    fn drop(&mut self) {
        // If even this fails, what is left is private and named for what it is.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Stage {
    /// A new folder for this.
    pub(crate) fn open(call: &Call, what: &str) -> Result<Stage> {
        let world = call.project().world();
        sweep(&world.data, &format!("{what}-"), SystemTime::from(world.now));
        let stage = Stage(world.data.join(format!("{what}-{}", world.unique())));
        files::make_folder(&stage.0, Mode::Private)?;
        Ok(stage)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }
}

/// Removes what killed processes left.
fn sweep(data: &Path, begins: &str, now: SystemTime) {
    for entry in std::fs::read_dir(data).into_iter().flatten().flatten() {
        let is_one = entry.file_name().to_string_lossy().starts_with(begins)
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        let made = entry.metadata().and_then(|meta| meta.modified());
        if is_one && made.is_ok_and(|made| now.duration_since(made).is_ok_and(|age| age > NOBODYS)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_a_killed_process_left_goes_after_a_day_and_no_other() {
        let data = tempfile::tempdir().unwrap();
        for name in ["incoming-a", "server"] {
            std::fs::create_dir(data.path().join(name)).unwrap();
        }
        let there = |name: &str| data.path().join(name).is_dir();
        let made = std::fs::metadata(data.path().join("incoming-a")).unwrap().modified().unwrap();
        sweep(data.path(), "incoming-", made + NOBODYS);
        assert!(there("incoming-a") && there("server"));
        sweep(data.path(), "incoming-", made + NOBODYS + NOBODYS);
        assert!(!there("incoming-a") && there("server"));
    }
}
