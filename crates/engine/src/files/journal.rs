//! Which files a call changed, for whoever commits exactly those.
//!
//! Comes in: every path that a write, a move or a removal touched while this thread held the lock of a project that wants to know. Goes out: those
//! paths, to that call alone. Nothing is kept unless it was asked for, so a hook pays nothing. Never here: what anybody else changed, also in
//! another thread of this process.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The paths that one call changed.
#[derive(Debug, Default)]
pub struct Changed(Mutex<BTreeSet<PathBuf>>);

impl Changed {
    /// The paths that changed since they were last asked for.
    pub fn take(&self) -> Vec<PathBuf> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}

thread_local! {
    static CURRENT: RefCell<Vec<Arc<Changed>>> = const { RefCell::new(Vec::new()) };
}

/// While this is there, what this thread changes is kept.
#[derive(Debug)]
pub(super) struct Keeping(Arc<Changed>);

impl Keeping {
    pub(super) fn into(changed: Arc<Changed>) -> Keeping {
        CURRENT.with_borrow_mut(|current| current.push(Arc::clone(&changed)));
        Keeping(changed)
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| {
            if let Some(at) = current.iter().rposition(|one| Arc::ptr_eq(one, &self.0)) {
                current.remove(at);
            }
        });
    }
}

/// Says that a path changed.
pub(super) fn changed(path: &Path) {
    CURRENT.with_borrow(|current| {
        if let Some(changed) = current.last() {
            changed.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_kept_for_the_call_that_changed_it_and_for_no_other() {
        let (one, other) = (Arc::new(Changed::default()), Arc::new(Changed::default()));
        changed(Path::new("before"));
        let keeping = Keeping::into(Arc::clone(&one));
        changed(Path::new("a"));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _keeping = Keeping::into(Arc::clone(&other));
                changed(Path::new("b"));
            });
            scope.spawn(|| changed(Path::new("nobody asked")));
        });
        changed(Path::new("c"));
        drop(keeping);
        changed(Path::new("after"));
        assert_eq!(one.take(), [PathBuf::from("a"), PathBuf::from("c")]);
        assert_eq!(other.take(), [PathBuf::from("b")]);
        assert!(one.take().is_empty(), "taken once");
    }
}
