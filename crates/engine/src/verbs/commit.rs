//! One git commit of the memory files that a call changed, where the settings want it.
//!
//! Comes in: a message. Goes out: nothing, or why there is no commit. Failing to commit never fails a save. Never here: a file that this call
//! did not write.

use crate::call::Call;
use crate::git;
use std::path::PathBuf;

/// From here on the files that are changed are remembered, if the settings want them committed.
pub fn begin(call: &Call) {
    if call.settings().auto_commit {
        call.project().keep_changed();
    }
}

/// Commits what was changed since. `Err` says why it could not be.
pub fn commit(call: &Call, message: &str) -> Result<(), String> {
    if !call.settings().auto_commit {
        return Ok(());
    }
    let project = call.project();
    let root = project.root();
    let is_memory = |path: &PathBuf| path.starts_with(root.folder()) || path.starts_with(root.real());
    let changed: Vec<PathBuf> = project.take_changed().into_iter().filter(is_memory).collect();
    let data = project.data().map_err(|fault| fault.message)?;
    let scratch = data.join(format!("git-index-{}", project.world().nonce));
    git::commit(project.folder(), &changed, message, &scratch)
}
