//! One git commit of the memory files that a verb changed, where the settings ask for it.
//!
//! Comes in: a call, and a message from the verb that changed something. Goes out: nothing; a commit that could not be made is noted with the call,
//! for the door to tell ([`Call::uncommitted`]). It never fails a save. Verbs commit, so no door can forget to. Never here: a file that this call
//! did not write.

use crate::call::Call;
use crate::git;
use std::path::PathBuf;

/// From here on the files that are changed are remembered, if the settings ask for commits.
pub fn begin(call: &Call) {
    if call.settings().auto_commit {
        call.project().keep_changed();
    }
}

/// Commits what was changed since. A message stays for good: it never names a memory that was forgotten.
pub(super) fn commit(call: &Call, message: &str) {
    if !call.settings().auto_commit {
        return;
    }
    if let Err(why) = committed(call, message) {
        call.not_committed(&why);
    }
}

fn committed(call: &Call, message: &str) -> Result<(), String> {
    let project = call.project();
    let root = project.root();
    // What a machine keeps beside the memories is never committed.
    let local = |path: &PathBuf| path.components().any(|part| part.as_os_str() == ".local");
    let is_memory =
        |path: &PathBuf| (path.starts_with(root.folder()) || path.starts_with(root.real())) && !local(path);
    let changed: Vec<PathBuf> = project.take_changed().into_iter().filter(is_memory).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let data = project.data().map_err(|fault| fault.message)?;
    let scratch = data.join(format!("git-index-{}", project.world().nonce));
    git::commit(project.folder(), &changed, message, &scratch)
}
