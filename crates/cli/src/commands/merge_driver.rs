//! `merge-driver`: what git calls to join two versions of a memory file.
//!
//! Comes in: the names git gives: base, ours (which takes the result), theirs and the file's own path. Goes out: the joined version, in the
//! place of ours. Never here: a write anywhere but into a temporary file that git made for this, a link followed, a merge of anything that
//! is no memory file. The line that calls this stands in the repository's settings and may be called by anybody.

use crate::args::{Args, MergeDriver};
use crate::{environment, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::git::Place;
use heirloom_engine::shelf::merge;
use std::path::{Component, Path, PathBuf};

/// The largest version that is read.
const MAX: u64 = 64 << 20;
/// How git calls its temporary files, before six characters of its choice.
const TEMPORARY: &str = ".merge_file_";

pub(crate) fn run(args: &Args, call: &MergeDriver) -> Result<u8> {
    // Git names them from the top of the work tree, where it starts us.
    let here = environment::current_folder()
        .map_err(|e| Fault::new(Code::Io, format!("the current folder cannot be found: {e}")))?;
    let place = Place::around(&here);
    if let Some(path) = &call.path
        && !is_memory_file(args, place.as_ref().map_or(&here, |place| &place.work_tree), path)
    {
        return Err(refused(path, "is no memory file"));
    }
    let temporary = |path: &Path| handed_over(&here, place.as_ref(), path);
    let (base, ours, theirs) = (temporary(&call.base)?, temporary(&call.ours)?, temporary(&call.theirs)?);
    let bytes = |path: &Path| files::read(path, MAX);
    let merged = merge(call.path.as_deref(), &bytes(&base)?, &bytes(&ours)?, &bytes(&theirs)?)?;
    files::write(&ours, &merged, Mode::Shared)?;
    Ok(exit::OK)
}

/// A temporary file of git's: a regular file of that name at the top of the work tree, or in git's folder.
fn handed_over(here: &Path, place: Option<&Place>, path: &Path) -> Result<PathBuf> {
    let shown = path.display().to_string();
    let no = |why: &str| refused(&shown, why);
    let named = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(TEMPORARY));
    if !named.is_some_and(|rest| rest.len() == 6 && rest.bytes().all(|b| b.is_ascii_alphanumeric())) {
        return Err(no("is no temporary file of a merge"));
    }
    let full = here.join(path);
    let real = |folder: &Path| std::fs::canonicalize(folder).ok();
    let folder = full.parent().and_then(real).ok_or_else(|| no("is not there"))?;
    let is_git = |folder: &Path| {
        folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
    };
    let gits = match place {
        Some(place) => [&place.work_tree, &place.own, &place.common]
            .into_iter()
            .any(|own| real(own).as_ref() == Some(&folder)),
        // Without a work tree git merges in its own folder.
        None => real(here).as_ref() == Some(&folder) && is_git(&folder),
    };
    if !gits {
        return Err(no("lies neither at the top of this work tree nor in git's folder"));
    }
    let file = folder.join(path.file_name().unwrap_or_default());
    match std::fs::symlink_metadata(&file) {
        Ok(found) if found.is_file() => Ok(file),
        Ok(_) => Err(no("is no regular file")),
        Err(_) => Err(no("is not there")),
    }
}

/// Whether a path from the top of the work tree names an index or a topic file of a memory folder: the usual one of any folder, or the one
/// that the settings name.
fn is_memory_file(args: &Args, top: &Path, path: &str) -> bool {
    let path = Path::new(path);
    let plain = path.components().all(|part| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    });
    if !plain {
        return false;
    }
    let usual = path.ancestors().find(|folder| folder.ends_with(wiring::DEFAULT_ROOT));
    if let Some(inside) = usual.and_then(|root| path.strip_prefix(root).ok()) {
        return merges(inside);
    }
    let full = top.join(path);
    let named = wiring::configured_root(args, &wiring::project_folder(full.parent().unwrap_or(top)));
    named.is_some_and(|root| {
        let real = std::fs::canonicalize(&root).ok();
        let inside = full.strip_prefix(&root).ok().or_else(|| full.strip_prefix(real?).ok());
        inside.is_some_and(merges)
    })
}

/// Whether a file of a memory folder is one that this driver joins.
fn merges(inside: &Path) -> bool {
    inside == Path::new("index.md")
        || (inside.starts_with("topics") && inside.extension().is_some_and(|e| e == "md"))
}

fn refused(path: &str, why: &str) -> Fault {
    Fault::new(Code::Path, format!("`{path}` {why}; nothing was written"))
        .fact("path", path)
        .hint("this command is for git: `heirloom init` registers it")
}
