//! The model in use, kept open until its file changes.
//!
//! Comes in: the user's data folder, perhaps a model that was handed in. Goes out: the model of this moment. A process that runs for long follows
//! what is installed or removed under it; looking costs one question to the file system. Never here: which model that is (`chosen.rs`).

use super::chosen::{Chosen, Given};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// By what a model's file is known to be unchanged: where it is, how long, and since when.
type Stamp = Option<(u64, u64, u64, i64, i64)>;

fn stamp(file: &Path) -> Stamp {
    let meta = std::fs::metadata(file).ok()?;
    Some((meta.dev(), meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec()))
}

/// A model that was opened, and the file it was opened from.
#[derive(Debug)]
struct Model {
    file: PathBuf,
    stamp: Stamp,
    model: Option<Arc<Chosen>>,
}

/// The model in use.
#[derive(Debug, Default)]
pub struct Followed(Mutex<Option<Model>>);

impl Followed {
    /// The model of this moment.
    pub fn now(&self, given: Option<&Given>, data: &Path) -> Option<Arc<Chosen>> {
        let file = Chosen::file(data);
        let stamp = stamp(&file);
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &*kept()
            && kept.stamp == stamp
            && kept.file == file
        {
            return kept.model.clone();
        }
        // Opened without the lock: two threads that come at once open it twice, and nobody waits.
        let model = Chosen::of(given, data).map(Arc::new);
        tracing::debug!(opened = model.is_some(), "model");
        *kept() = Some(Model { file, stamp, model: model.clone() });
        model
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_opened_once_and_again_when_its_file_changes() {
        let data = tempfile::tempdir().unwrap();
        let followed = Followed::default();
        let now = || followed.now(None, data.path()).unwrap();
        let first = now();
        assert!(Arc::ptr_eq(&first, &now()));
        let file = Chosen::file(data.path());
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        // One that cannot be read leaves the built-in one in use, but it was looked at.
        std::fs::write(&file, b"no model").unwrap();
        let second = now();
        assert!(!Arc::ptr_eq(&first, &second) && Arc::ptr_eq(&second, &now()));
    }
}
