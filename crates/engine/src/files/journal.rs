//! Which files this process changed, for whoever commits exactly those.
//!
//! Comes in: every path that a write, a move or a removal touched, once somebody asked for it. Goes out: those paths. Nothing is kept
//! unless it was asked for, so a hook pays nothing. Never here: what anybody else changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

static CHANGED: Mutex<Option<BTreeSet<PathBuf>>> = Mutex::new(None);

/// Begins to keep the paths that change.
pub fn keep_changed() {
    if let Ok(mut changed) = CHANGED.lock() {
        changed.get_or_insert_default();
    }
}

/// The paths that changed since they were last asked for.
pub fn take_changed() -> Vec<PathBuf> {
    let Ok(mut changed) = CHANGED.lock() else { return Vec::new() };
    changed.as_mut().map(std::mem::take).into_iter().flatten().collect()
}

/// Says that a path changed.
pub(super) fn changed(path: &Path) {
    if let Ok(mut changed) = CHANGED.lock()
        && let Some(paths) = changed.as_mut()
    {
        paths.insert(path.to_owned());
    }
}
