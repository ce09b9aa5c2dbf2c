//! `setup` from a folder that does not stay: uv's cache, npx's, a build folder.
//!
//! Comes in: where this program runs from. Goes out: nothing if agents can rely on it; otherwise an offer to copy the program to where it stays, and
//! the rest of `setup` from there. Never here: a program replaced by another, or a copy that nobody said yes to.

use crate::args::Setup;
use crate::machine::{self, shown};
use crate::{environment, person};
use heirloom_core::{Fault, fault::Result};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder for programs of one's own, below the home folder.
const PROGRAMS: &str = ".local/bin";

/// Installs the program first if it has to be; how the command ended that went on from there.
pub(super) fn installed(call: &Setup) -> Result<Option<u8>> {
    // A project's settings name the program and no path.
    let Some(passing) = machine::is_passing().filter(|_| !call.uninstall && !call.shared) else {
        return Ok(None);
    };
    let place = environment::home().map(|home| home.join(PROGRAMS).join(machine::NAME));
    let fault = machine::unsettled(passing);
    let asks = person::is_present() && !call.yes && !call.dry_run;
    let Some(place) = place.filter(|place| asks && !place.exists()) else { return Err(fault) };
    let question = format!(
        "This program runs from {}, where agents may not find it tomorrow. Copy it to {} first?",
        passing.what,
        shown(&place)
    );
    if !person::confirm(&question, false)? {
        return Err(fault);
    }
    copied(&place)?;
    let mut again = Command::new(&place);
    let status = again.args(environment::words()).status().map_err(|e| Fault::io(&place, "start", &e))?;
    Ok(Some(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Copies this program beside its place and then into it, so that a half-written one is never there.
fn copied(place: &Path) -> Result<()> {
    let failed = |e: std::io::Error| Fault::io(place, "write", &e);
    let own = environment::own_program().map_err(failed)?;
    let folder = place.parent().map(Path::to_owned).unwrap_or_default();
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let new: PathBuf = folder.join(format!(".heirloom-{}", std::process::id()));
    let done = std::fs::copy(&own, &new)
        .and_then(|_| std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o755)))
        .and_then(|()| std::fs::hard_link(&new, place));
    let _ = std::fs::remove_file(&new);
    done.map_err(failed)
}
