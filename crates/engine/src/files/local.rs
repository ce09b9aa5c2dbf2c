//! `<root>/.local`: what belongs to this machine and is never committed: lock, audit, inbox, health, index.
//!
//! Comes in: the memory root and the mark that this user's data folder keeps for it. Goes out: paths. A `.local` that came
//! with the repository, or from another user, does not carry the mark: it is set aside and never read.

use super::atomic::{self, Mode};
use super::read;
use heirloom_core::fault::Result;
use std::path::{Path, PathBuf};

const IGNORE: &str = "# Belongs to this machine.\n*\n";

/// The folder, known to be ours.
#[derive(Debug, Clone)]
pub struct Local {
    folder: PathBuf,
}

impl Local {
    /// Opens or makes `<root>/.local`. `mark` is what the user's data folder knows this store by; `set_aside` names a
    /// stranger's folder.
    pub fn open(root: &Path, mark: &str, set_aside: &str) -> Result<Local> {
        let folder = root.join(".local");
        let mark_file = folder.join("mark");
        let known = read::read_if_there(&mark_file, 256).ok().flatten().is_some_and(|b| b == mark.as_bytes());
        if !known {
            if std::fs::symlink_metadata(&folder).is_ok() {
                atomic::rename(&folder, &root.join(set_aside))?;
            }
            atomic::make_folder(&folder, Mode::Private)?;
            atomic::write(&folder.join(".gitignore"), IGNORE.as_bytes(), Mode::Shared)?;
            atomic::write(&mark_file, mark.as_bytes(), Mode::Private)?;
        }
        Ok(Local { folder })
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
