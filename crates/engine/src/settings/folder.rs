//! Which folder is the project's, and whether its memory folder is one this user wants.
//!
//! Comes in: where somebody is, and a call whose settings name a memory folder. Goes out: the project folder, or a refusal that names the
//! folder. A clone chooses neither a place outside itself nor one where other files lie; the user does. Never here: a change to anything,
//! or another folder in place of the one that was refused.

use super::{DEFAULT_ROOT, PROJECT_SETTINGS, Said, approved};
use crate::call::Call;
use crate::files;
use heirloom_core::settings::Origin;
use heirloom_core::{Code, Fault, Settings, fault::Result};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Longest piece of a project's own words in a message.
const NAMED: usize = 80;

/// The project folder around a folder: the nearest one with a memory, else the nearest git work tree, else itself. Above where somebody is
/// only what belongs to this account counts: in a shared folder anybody can leave a memory for those who work below.
pub fn project_folder(from: &Path) -> PathBuf {
    let is_ours = |dir: &Path, parts: &[&str]| {
        dir == from || {
            let mut place = dir.to_owned();
            parts.iter().all(|part| {
                place.push(part);
                is_own(&place)
            })
        }
    };
    let with_memory =
        from.ancestors().find(|dir| dir.join(DEFAULT_ROOT).is_dir() && is_ours(dir, &[".claude", "memory"]));
    let with_git = from.ancestors().find(|dir| dir.join(".git").exists() && is_ours(dir, &[".git"]));
    // A memory above the work tree belongs to something else, for example to the home folder.
    match (with_memory, with_git) {
        (Some(memory), Some(git)) if memory.starts_with(git) => memory.to_owned(),
        (Some(memory), None) => memory.to_owned(),
        (_, Some(git)) => git.to_owned(),
        (None, None) => from.to_owned(),
    }
}

/// Whether a folder can be part of a project with a memory: there is one at the usual place, where a project's settings lie too, or the user's
/// own settings say where memories are. It costs a few looks at the disk, so that a hook ends at once where nobody asked for it.
pub fn may_have_memory(from: &Path, user_file: &Path) -> bool {
    /// The largest settings file.
    const MAX: u64 = 1 << 20;
    let named =
        || files::read_text(user_file, MAX).ok().flatten().is_some_and(|text| text.contains("memory_root"));
    project_folder(from).join(DEFAULT_ROOT).is_dir() || named()
}

/// Whether a file or folder belongs to this account. A link is its own owner's, wherever it leads.
fn is_own(path: &Path) -> bool {
    let me = rustix::process::geteuid().as_raw();
    std::fs::symlink_metadata(path).is_ok_and(|found| found.uid() == me)
}

/// The memory folder that settings name.
pub fn memory_root(folder: &Path, settings: &Settings, home: Option<&Path>) -> PathBuf {
    let named = &settings.memory_root;
    match (named.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(named),
    }
}

/// Where the name of the memory folder comes from.
fn origin(said: &Said) -> Option<Origin> {
    said.values.iter().find(|value| value.name == "memory_root").map(|value| value.origin)
}

/// A repository may hold a link where the memory folder should be; only the user decides that memory lives elsewhere.
pub fn stays_inside(call: &Call) -> Result<()> {
    let of_the_user = matches!(origin(call.said()), Some(Origin::Flag | Origin::Environment | Origin::User));
    let project = call.project();
    let root = project.root();
    let real = root.real();
    if of_the_user || (real.starts_with(project.real()) && !has_link(project.folder(), root.folder())) {
        return Ok(());
    }
    let root = root.folder();
    let elsewhere = if real.starts_with(project.real()) {
        "is a link"
    } else {
        "is a link that leads out of the project"
    };
    Err(Fault::new(Code::Path, format!("`{}` {elsewhere}", root.display()))
        .fact("target", root.display().to_string())
        .hint(format!(
            "if you want that, set it yourself: heirloom config set --user memory_root {}",
            real.display()
        )))
}

/// Whether any folder between a project and its memory, the memory folder included, is a link.
fn has_link(project: &Path, root: &Path) -> bool {
    let Ok(inner) = root.strip_prefix(project) else { return false };
    let mut place = project.to_owned();
    inner.components().any(|part| {
        place.push(part);
        std::fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink())
    })
}

/// A project's own choice of a memory folder counts only where nothing else lies; otherwise a person approves it first. A choice that
/// cannot be used is refused, not replaced.
pub fn is_wanted(call: &Call) -> Result<()> {
    let settings = call.settings();
    let mut warnings = call.said().warnings.iter();
    let refused = warnings.find(|warning| warning.name == "memory_root" && warning.origin == Origin::Project);
    let from = origin(call.said());
    if let Some(warning) = refused.filter(|_| matches!(from, Some(Origin::Project | Origin::Default) | None))
    {
        return Err(Fault::new(
            Code::Path,
            format!("the project's `memory_root` is refused: {}", warning.message),
        )
        .hint("`heirloom config unset memory_root` takes it out of the project's settings"));
    }
    let named = settings.memory_root.trim_end_matches('/');
    if named == DEFAULT_ROOT {
        return Ok(());
    }
    let of_a_process = matches!(from, Some(Origin::Flag | Origin::Environment)) && !call.caller().is_person();
    if from != Some(Origin::Project) && !of_a_process {
        return Ok(());
    }
    let project = call.project();
    let folders: Vec<&str> = settings.categories.iter().map(|category| category.folder.as_str()).collect();
    let settings_file = project.folder().join(PROJECT_SETTINGS);
    let approved = || approved::is_given(project.folder(), &settings_file, "memory_root", project.world());
    if files::holds_only_memory(project.root().folder(), &folders)
        || (from == Some(Origin::Project) && approved())
    {
        return Ok(());
    }
    let shown: String = named.chars().take(NAMED).collect();
    Err(Fault::new(Code::Path, format!("the memory folder `{shown}` contains files that are not memories"))
        .fact("target", shown.clone())
        .hint(format!("if you want it anyway, approve it: heirloom config set memory_root {shown}")))
}
