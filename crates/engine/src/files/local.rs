//! `<root>/.local`: what belongs to this machine and is never committed: lock, audit, inbox, health, index.
//!
//! Comes in: the memory root and the mark that this user's data folder keeps for it. Goes out: paths. A `.local` that came
//! with the repository, or from another user, does not carry the mark: it is set aside and never read.

use super::atomic::{self, Mode};
use super::read;
use heirloom_core::{Fault, fault::Result};
use std::path::{Path, PathBuf};

const IGNORE: &str = "# Belongs to this machine.\n*\n";

/// The folder, known to be ours.
#[derive(Debug, Clone)]
pub struct Local {
    folder: PathBuf,
}

impl Local {
    /// Opens or makes `<root>/.local`. `mark` is what the user's data folder knows this store by; `set_aside` names a
    /// stranger's folder. The caller sees to it that no other process does the same at this moment.
    pub fn open(root: &Path, mark: &str, set_aside: &str) -> Result<Local> {
        let folder = root.join(".local");
        if !knows(&folder, mark) {
            if std::fs::symlink_metadata(&folder).is_ok() {
                atomic::rename(&folder, &root.join(set_aside))?;
            }
            // Made whole under another name: a folder without its mark would look like a stranger's to the next process.
            let new = atomic::temporary_folder(&folder, "local");
            if new.exists() {
                std::fs::remove_dir_all(&new).map_err(|e| Fault::io(&new, "remove", &e))?;
            }
            atomic::make_folder(&new, Mode::Private)?;
            atomic::write(&new.join(".gitignore"), IGNORE.as_bytes(), Mode::Private)?;
            atomic::write(&new.join("mark"), mark.as_bytes(), Mode::Private)?;
            atomic::rename(&new, &folder)?;
        }
        Ok(Local { folder })
    }

    /// A folder of this user's own instead, for a store that nothing can be written beside.
    pub fn elsewhere(folder: PathBuf) -> Result<Local> {
        atomic::make_folder(&folder, Mode::Private)?;
        Ok(Local { folder })
    }

    /// The folder, if it is there and carries the mark: for the common case, which needs no lock.
    pub fn known(root: &Path, mark: &str) -> Option<Local> {
        let folder = root.join(".local");
        knows(&folder, mark).then_some(Local { folder })
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file or folder in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn knows(folder: &Path, mark: &str) -> bool {
    read::read_if_there(&folder.join("mark"), 256).ok().flatten().is_some_and(|b| b == mark.as_bytes())
}
