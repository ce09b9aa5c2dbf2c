//! Receipts of `setup`: what it takes to give a settings file back as it was.
//!
//! Comes in: a file and an edit. Goes out: the receipt of a file, from the user's data folder. Never here: the file's own text beyond
//! what was changed in it.

use crate::environment;
use heirloom_agents::install::Undo;
use heirloom_core::fault::Result;
use heirloom_core::hash;
use heirloom_engine::files::{self, Mode};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const MAX: u64 = 4 << 20;

/// What was done to a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Receipt {
    /// The file.
    pub(super) file: PathBuf,
    /// How to undo it.
    pub(super) undo: Undo,
    /// Folders that had to be made for it, innermost first.
    pub(super) made: Vec<PathBuf>,
}

fn place(file: &Path) -> PathBuf {
    let name = &hash::sha256(file.as_os_str().as_encoded_bytes())[..24];
    environment::data_folder().join("setup").join(format!("{name}.json"))
}

/// The receipt of a file, if there is one.
pub(super) fn read(file: &Path) -> Option<Receipt> {
    let bytes = files::read_if_there(&place(file), MAX).ok().flatten()?;
    serde_json::from_slice::<Receipt>(&bytes).ok().filter(|receipt| receipt.file == file)
}

pub(super) fn keep(receipt: &Receipt) -> Result<()> {
    let path = place(&receipt.file);
    if let Some(folder) = path.parent() {
        files::make_folder(folder, Mode::Private)?;
    }
    // Paths and text always serialise.
    files::write(&path, &serde_json::to_vec(receipt).unwrap_or_default(), Mode::Private)
}

/// Drops the receipt of a file. The folder goes with the last one.
pub(super) fn drop(file: &Path) -> Result<()> {
    let path = place(file);
    files::remove(&path)?;
    if let Some(folder) = path.parent() {
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}
