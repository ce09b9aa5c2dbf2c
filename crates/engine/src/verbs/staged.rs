//! Verify what is staged: the memory as the next commit will have it.
//!
//! Comes in: git's index, and an empty folder of its own. Goes out: what is wrong with the memory files in it. They are laid out in that folder
//! ([`lay_out`]) and checked there by a call of its own ([`check`]), so that what lies only in the work tree neither hides a mistake nor makes one.
//! Never here: the work tree's own files, or a change to anything.

use super::may_read;
use crate::call::Call;
use crate::files::{self, Mode};
use crate::git;
use crate::shelf::Problem;
use heirloom_core::{Fault, ShelfName, Verb, fault::Result};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

/// What was found in what is staged.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Staged {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// How many memory files are staged.
    pub files: usize,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl Staged {
    /// No memory file is staged, so none is wrong.
    pub fn nothing() -> Staged {
        Staged { ok: true, files: 0, problems: Vec::new() }
    }
}

/// Lays the staged memory files out in `root`, which is a memory folder of the project folder `folder`. `index` is git's index, if it is not the
/// usual one. Returns how many there are.
pub fn lay_out(call: &Call, index: Option<&Path>, folder: &Path, root: &Path) -> Result<usize> {
    may_read(call, Verb::Verify)?;
    let project = call.project();
    files::make_folder(root, Mode::Private)?;
    let staged = git::staged(project.folder(), project.root().folder(), index, root)?;
    if staged.written > 0 {
        stand_in(folder, root, project.folder(), &staged.names)?;
    }
    Ok(staged.written)
}

/// Checks what was laid out, by a call on the folder it lies in. Problems name files from that folder.
pub fn check(laid_out: &Call, files: usize) -> Result<Staged> {
    may_read(laid_out, Verb::Verify)?;
    let mut problems: Vec<Problem> = Vec::new();
    for shelf in laid_out.shelves().into_iter().filter(|shelf| shelf.name() != ShelfName::Tiers) {
        problems.extend(shelf.verify()?);
    }
    let top = format!("{}/", laid_out.project().folder().display());
    for problem in &mut problems {
        for text in [&mut problem.file, &mut problem.message, &mut problem.fix] {
            *text = text.replace(&top, "");
        }
    }
    Ok(Staged { ok: problems.is_empty(), files, problems })
}

/// Records name files of the project. Those that are staged stand here as empty files, so that only missing ones are missing.
fn stand_in(folder: &Path, root: &Path, project: &Path, staged: &HashSet<PathBuf>) -> Result<()> {
    let real = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let above = git::Place::around(&real)
        .and_then(|place| real.strip_prefix(&place.work_tree).ok().map(Path::to_owned))
        .unwrap_or_default();
    for record in records_below(root) {
        let Ok(Some(text)) = files::read_text(&record, files::MAX_FILE) else { continue };
        let Ok(Value::Object(fields)) = serde_json::from_str(&text) else { continue };
        let named = fields.get("related_files").and_then(Value::as_array).cloned().unwrap_or_default();
        for name in named.iter().filter_map(Value::as_str).map(Path::new) {
            let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
            let below = |known: &PathBuf| known.starts_with(above.join(name));
            if !plain || !(staged.contains(&above.join(name)) || staged.iter().any(below)) {
                continue;
            }
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                files::make_folder(parent, Mode::Private)?;
            }
            if !path.exists() {
                std::fs::write(&path, []).map_err(|e| Fault::io(&path, "write", &e))?;
            }
        }
    }
    Ok(())
}

/// The JSON files of the categories' folders.
fn records_below(root: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = folders.filter(|path| path.is_dir()).flat_map(std::fs::read_dir).flatten().flatten();
    files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "json")).collect()
}
