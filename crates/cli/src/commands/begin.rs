//! A folder that has no memory yet, asked about before the first thing is written into it.
//!
//! Comes in: a call. Goes out: whether there is a memory now. At a terminal a person is asked; a program is told what to run. Never here: a memory folder that
//! nobody wanted.

use crate::machine::shown;
use crate::person;
use crate::wiring::{PROJECT_SETTINGS, Wired};
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::verbs::init::{Init, init};

/// What to do about a folder.
#[derive(PartialEq, Eq)]
pub(super) enum Begun {
    /// There was a memory.
    Already,
    /// There is one now.
    Now,
    /// The person does not want one.
    No,
}

/// Sees to it that there is a memory to write into.
pub(super) fn begun(wired: &Wired) -> Result<Begun> {
    let project = wired.call.project();
    if project.root().folder().is_dir() || project.folder().join(PROJECT_SETTINGS).is_file() {
        return Ok(Begun::Already);
    }
    let place = shown(project.folder());
    if !person::is_present() {
        return Err(Fault::new(Code::NotFound, format!("there is no memory in `{place}` yet"))
            .fact("path", project.folder().display().to_string())
            .hint("run `heirloom init` in the folder of your project first"));
    }
    if !person::confirm(&format!("There is no memory in {place} yet. Start one here?"), false)? {
        return Ok(Begun::No);
    }
    init(&wired.call, Init::default())?;
    Ok(Begun::Now)
}
