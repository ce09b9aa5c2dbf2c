//! `setup --uninstall --purge`: everything that Heirloom made outside the memory folders.
//!
//! Comes in: this project and this account. Goes out: a list of what is there, then the same without it. Never here: a memory of a project, which is its
//! owner's to delete, or a folder that is not Heirloom's own.

use crate::environment;
use crate::machine::shown;
use crate::wiring::Wired;
use heirloom_core::{Fault, Verb, fault::Result};
use heirloom_engine::verbs::init;
use std::path::{Path, PathBuf};

/// What is to go.
pub(super) struct Purge {
    project: Vec<init::Step>,
    folders: Vec<(PathBuf, &'static str)>,
}

impl Purge {
    /// What is there.
    pub(super) fn look(wired: &Wired) -> Result<Purge> {
        let folders = [
            (
                environment::data_folder(),
                "your turns and facts, trust book, audit and undo; this cannot be undone",
            ),
            (environment::config_folder(), "your settings"),
        ];
        Ok(Purge {
            project: init::registered(&wired.call),
            folders: folders.into_iter().filter(|(folder, _)| folder.is_dir()).collect(),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.project.is_empty() && self.folders.is_empty()
    }

    /// A line for each.
    pub(super) fn shown(&self) -> Vec<String> {
        let project = self.project.iter().map(|step| format!("{}: {}", step.what, step.path));
        let folders = self.folders.iter().map(|(folder, what)| format!("{}: {what}", shown(folder)));
        project.chain(folders).collect()
    }

    /// Removes it all; the folder with the audit goes last.
    pub(super) fn carry_out(&mut self, wired: &Wired) -> Result<()> {
        wired.call.permit(Verb::Clear, heirloom_core::ShelfName::Tiers, "")?;
        init::unregister(&wired.call)?;
        for (folder, _) in self.folders.iter().rev() {
            remove(folder)?;
        }
        Ok(())
    }
}

fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Fault::io(folder, "remove", &e)),
        _ => Ok(()),
    }
}
