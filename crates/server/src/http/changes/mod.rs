//! Word from the system that files of a served project changed.
//!
//! Comes in: memory folders. Goes out: a signal for each burst of changes. One module per system; where there is none, nobody signals and the full
//! look from time to time has to do. Never here: what changed; whoever looks finds out.

#[cfg(target_os = "linux")]
mod linux;

use std::path::PathBuf;
use tokio::sync::mpsc;

/// Signals whenever something below these folders changes.
pub(crate) fn watch(folders: Vec<PathBuf>) -> mpsc::Receiver<()> {
    // One place: a signal that nobody has taken yet stands for all that follow.
    let (signal, changes) = mpsc::channel(1);
    #[cfg(target_os = "linux")]
    if let Err(e) = linux::watch(folders, signal.clone()) {
        tracing::warn!(kind = ?e.kind(), "the system does not report changed files");
    }
    #[cfg(not(target_os = "linux"))]
    drop(folders);
    // Held for ever, so that the other side waits instead of ending.
    std::mem::forget(signal);
    changes
}
