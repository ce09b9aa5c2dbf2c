//! Rehearsing: what an import would do, found out by doing it to a copy.
//!
//! Comes in: an engine and sorted files. Goes out: the report of the import itself, so that the preview cannot say anything else than
//! what will happen. The copy lies in the user's own data folder, readable by nobody else, and goes away however this ends. Never here:
//! a byte changed in the project, its external memory, its audit or its inbox.

use super::import::{Imported, import};
use super::sort::Source;
use crate::call::Call;
use crate::files::{self, Mode};
use crate::gate::Entry;
use crate::project::{Project, World};
use heirloom_core::settings::External;
use heirloom_core::{Fault, fault::Result};
use std::path::{Path, PathBuf};

/// The copy; it goes away when it is dropped.
struct Stage(PathBuf);

impl Drop for Stage {
    fn drop(&mut self) {
        // If even this fails, what is left is private and named for what it is.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What [`import`] would do.
pub fn rehearse(call: &Call, sources: &[Source], entry: Entry) -> Result<Imported> {
    let world = call.project().world();
    let copy = Stage(world.data.join(format!("rehearsal-{}", world.unique())));
    files::make_folder(&copy.0, Mode::Private)?;
    let root = copy.0.join("project/.claude/memory");
    duplicate(call.project().root().folder(), &root)?;
    let topics = call.topics().base();
    if !topics.starts_with(call.project().root().folder()) {
        duplicate(&topics, &root.join("topics"))?;
    }
    let mut settings = call.settings().clone();
    settings.memory_configuration = External::default();
    let project =
        Project::new(&copy.0.join("project"), &root, World { data: copy.0.join("data"), ..world.clone() });
    let mut report = import(&Call::new(project, settings), sources, entry)?;
    report.dry_run = true;
    Ok(report)
}

/// Copies the files that an import looks at. Links and hidden folders stay behind: nothing that counts is in them.
fn duplicate(from: &Path, to: &Path) -> Result<()> {
    files::make_folder(to, Mode::Private)?;
    let Ok(entries) = std::fs::read_dir(from) else { return Ok(()) };
    for entry in entries.flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let Ok(kind) = entry.file_type() else { continue };
        let hidden_folder = entry.file_name().as_encoded_bytes().starts_with(b".") && kind.is_dir();
        if kind.is_dir() && !hidden_folder {
            duplicate(&source, &target)?;
        } else if kind.is_file() {
            std::fs::copy(&source, &target).map_err(|e| Fault::io(&source, "copy", &e))?;
        }
    }
    Ok(())
}
