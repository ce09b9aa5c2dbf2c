//! Merging for git: two versions of a memory file become one.
//!
//! Comes in: the names git gives: base, ours (which takes the result), theirs and the file's own path. Goes out: the joined version, in the
//! place of ours. Never here: a write anywhere but into a temporary file that git made for this, a link followed, a merge of anything that
//! is not a memory file. The line that calls this stands in the repository's settings and may be called by anybody.

use crate::files::{self, Mode};
use crate::git::Place;
use crate::project::World;
use crate::settings::{DEFAULT_ROOT, PROJECT_SETTINGS, Sources, load, memory_root, project_folder};
use crate::shelf::merge;
use heirloom_core::{Code, Fault, fault::Result};
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};

/// The largest version that is read.
const MAX: u64 = 64 << 20;
/// How git calls its temporary files, before six characters of its choice.
const TEMPORARY: &str = ".merge_file_";

/// What git hands over.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Merge {
    /// The common version.
    pub base: PathBuf,
    /// Our version, which takes the result.
    pub ours: PathBuf,
    /// Their version.
    pub theirs: PathBuf,
    /// The file's path from the top of the work tree; drivers of 0.1 do not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Joins two versions. `here` is where git started the driver: the top of the work tree. There is no call yet: a merge comes before anybody
/// knows which project the file belongs to, and nothing is read or written but git's own temporary files. Gives the fields that both sides
/// changed differently, which stand between marks in the file.
pub fn run(
    ask: &Merge,
    here: &Path,
    sources: &Sources,
    home: Option<&Path>,
    world: &World,
) -> Result<Vec<String>> {
    let place = Place::around(here);
    let named_root = |folder: &Path| {
        let loaded = load(sources, folder, &folder.join(PROJECT_SETTINGS), world);
        memory_root(folder, &loaded.settings, home)
    };
    if let Some(path) = &ask.path
        && !is_memory_file(place.as_ref().map_or(here, |place| &place.work_tree), path, named_root)
    {
        return Err(refused(path, "is not a memory file"));
    }
    let temporary = |path: &Path| handed_over(here, place.as_ref(), path);
    let (base, ours, theirs) = (temporary(&ask.base)?, temporary(&ask.ours)?, temporary(&ask.theirs)?);
    let bytes = |path: &Path| files::read(path, MAX);
    let merged = merge(ask.path.as_deref(), &bytes(&base)?, &bytes(&ours)?, &bytes(&theirs)?)?;
    files::write(&ours, &merged.bytes, Mode::Shared)?;
    Ok(merged.conflicts)
}

/// A temporary file of git's: a regular file of that name at the top of the work tree, or in git's folder.
fn handed_over(here: &Path, place: Option<&Place>, path: &Path) -> Result<PathBuf> {
    let shown = path.display().to_string();
    let no = |why: &str| refused(&shown, why);
    let named = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(TEMPORARY));
    if !named.is_some_and(|rest| rest.len() == 6 && rest.bytes().all(|b| b.is_ascii_alphanumeric())) {
        return Err(no("is not a temporary file of a merge"));
    }
    let full = here.join(path);
    let real = |folder: &Path| std::fs::canonicalize(folder).ok();
    let folder = full.parent().and_then(real).ok_or_else(|| no("does not exist"))?;
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
        return Err(no("is neither at the top of this work tree nor in git's folder"));
    }
    let file = folder.join(path.file_name().unwrap_or_default());
    match std::fs::symlink_metadata(&file) {
        Ok(found) if found.is_file() => Ok(file),
        Ok(_) => Err(no("is not a regular file")),
        Err(_) => Err(no("does not exist")),
    }
}

/// Whether a path from the top of the work tree names an index, a topic file or a record of a memory folder: the usual one of any folder, or the one
/// that the settings name.
fn is_memory_file(top: &Path, path: &str, named_root: impl Fn(&Path) -> PathBuf) -> bool {
    let path = Path::new(path);
    let plain = path.components().all(|part| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    });
    if !plain {
        return false;
    }
    let usual = path.ancestors().find(|folder| folder.ends_with(DEFAULT_ROOT));
    if let Some(inside) = usual.and_then(|root| path.strip_prefix(root).ok()) {
        return merges(inside);
    }
    let full = top.join(path);
    let root = named_root(&project_folder(full.parent().unwrap_or(top)));
    let real = std::fs::canonicalize(&root).ok();
    let inside = full.strip_prefix(&root).ok().or_else(|| full.strip_prefix(real?).ok());
    inside.is_some_and(merges)
}

/// Whether a file of a memory folder is one that this driver joins.
fn merges(inside: &Path) -> bool {
    let ends = |ending: &str| inside.extension().is_some_and(|found| found == ending);
    let hidden = inside.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
    inside == Path::new("index.md")
        || (inside.starts_with("topics") && ends("md"))
        || (inside.components().count() == 2 && ends("json") && !hidden)
}

fn refused(path: &str, why: &str) -> Fault {
    Fault::new(Code::Path, format!("`{path}` {why}; nothing was written"))
        .fact("path", path)
        .hint("this command is for git: `heirloom init` registers it")
}
