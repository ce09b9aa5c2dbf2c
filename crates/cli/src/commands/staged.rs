//! `verify --staged`: the memory as the next commit will have it, for the pre-commit hook.
//!
//! Comes in: git's index. Goes out: what is wrong with the memory files in it. They are laid out in a passing folder and checked there, so that what
//! only lies in the work tree neither hides a mistake nor makes one. Never here: the work tree's own files, or a change to anything.

use super::visible;
use crate::args::Args;
use crate::output::Out;
use crate::{environment, wiring};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Fault, ShelfName, fault::Result};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::git;
use heirloom_engine::shelf::Problem;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

/// A folder that goes away however this ends.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn verify(args: &Args, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let project = wired.call.project();
    let name = format!("heirloom-staged-{}", &project.world().nonce[..12]);
    let passing = Temporary(environment::private_temp().join(name));
    let (folder, root) = (passing.0.clone(), passing.0.join(".claude/memory"));
    files::make_folder(&root, Mode::Private)?;
    let index = environment::text("GIT_INDEX_FILE").map(PathBuf::from);
    let staged = git::staged(project.folder(), project.root().folder(), index.as_deref(), &root)?;
    if staged.written == 0 {
        out.answer(&json!({ "ok": true, "files": 0, "problems": [] }), || {
            out.line("no memory file is staged")
        });
        return Ok(exit::OK);
    }
    stand_in(&folder, &root, project.folder(), &staged.names)?;
    let laid_out = wiring::wire_at(args, &folder, Some(&root), folder.clone())?;
    let mut problems: Vec<Problem> = Vec::new();
    for shelf in laid_out.call.shelves() {
        if shelf.name() != ShelfName::Tiers {
            problems.extend(shelf.verify()?);
        }
    }
    let shown = |text: &str| visible(&one_line(&text.replace(&format!("{}/", folder.display()), "")));
    out.answer(&json!({ "ok": problems.is_empty(), "files": staged.written, "problems": problems }), || {
        if problems.is_empty() {
            out.line(out.style.green("everything that is staged fits"));
        }
        for problem in &problems {
            let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
            let (file, message) = (shown(&problem.file), shown(&problem.message));
            out.line(format!("{}{line}: {message} [{}]", out.style.bold(&file), problem.code));
            out.line(format!("  {}", out.style.dim(&shown(&problem.fix))));
        }
    });
    Ok(if problems.is_empty() { exit::OK } else { exit::REFUSED })
}

/// Records name files of the project. Those that are staged stand here as empty files, so that only missing ones are missing.
fn stand_in(folder: &Path, root: &Path, project: &Path, staged: &HashSet<PathBuf>) -> Result<()> {
    let top = git::Place::around(&std::fs::canonicalize(project).unwrap_or_else(|_| project.to_owned()));
    let above = top.and_then(|place| {
        let real = std::fs::canonicalize(project).ok()?;
        real.strip_prefix(&place.work_tree).ok().map(Path::to_owned)
    });
    let above = above.unwrap_or_default();
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
