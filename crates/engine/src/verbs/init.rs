//! Init: a project made ready for a memory.
//!
//! Comes in: a project folder. Goes out: the steps, each with whether it was needed. Nothing that is there is replaced. Never here: a hook of
//! somebody else's overwritten.

use super::asked;
use crate::call::Call;
use crate::files::{self, Mode};
use crate::git;
use crate::settings::PROJECT_SETTINGS;
use heirloom_core::settings::empty_document;
use heirloom_core::{Code, Fault, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How the files of the memory folder merge.
const ATTRIBUTES: &[&str] = &[
    "vault.jsonl merge=union",
    "provenance.jsonl merge=union",
    ".aliases.jsonl merge=union",
    "index.md merge=heirloom",
    "topics/**/*.md merge=heirloom",
    "*/*.json merge=heirloom",
    // A note is known by its bytes; a changed line ending would be another note.
    "notes/**/*.md -text",
];

/// What git runs for these files.
const DRIVER: &str = "heirloom merge-driver %O %A %B %P";

const PRE_COMMIT: &str = "#!/bin/sh\n# Checks the project's memory before every commit; installed by `heirloom init --pre-commit`.\nexec heirloom verify --staged\n";

/// What an earlier version installed: it looked at the work tree.
const EARLIER: &str = "#!/bin/sh\n# Checks the project's memory before every commit; installed by `heirloom init --pre-commit`.\nexec heirloom verify\n";

/// What is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Init {
    /// Also a hook of git's that checks the memory before every commit.
    #[serde(default)]
    pub pre_commit: bool,
    /// Only say what would be made.
    #[serde(default)]
    pub dry_run: bool,
}

/// One thing to make.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Step {
    /// What.
    pub what: &'static str,
    /// Where, from the project folder.
    pub path: String,
    /// Whether it was, or would be, made; it was there otherwise.
    pub done: bool,
}

/// Makes the memory folder and what belongs to it.
pub fn init(call: &Call, ask: Init) -> Result<Vec<Step>> {
    asked(call, Verb::Init, ShelfName::Records, Owner::Nobody)?;
    let project = call.project();
    let folder = project.folder();
    let root = project.root().folder();
    if !ask.dry_run {
        project.note_used()?;
    }
    let mut steps = Vec::new();
    let mut step = |what, path: &Path, needed: bool, act: &dyn Fn() -> Result<()>| -> Result<()> {
        if needed && !ask.dry_run {
            act()?;
        }
        steps.push(Step { what, path: project.shown(path), done: needed });
        Ok(())
    };
    step("memory folder", root, !root.is_dir(), &|| files::make_folder(root, Mode::Shared))?;
    let settings = folder.join(PROJECT_SETTINGS);
    step("settings", &settings, !settings.exists(), &|| write_settings(&settings))?;
    let attributes = root.join(".gitattributes");
    let wanted = with_attributes(&attributes)?;
    step("git attributes", &attributes, wanted.is_some(), &|| {
        files::write(&attributes, wanted.as_deref().unwrap_or_default().as_bytes(), Mode::Shared)
    })?;
    step("machine-local folder (ignored by git)", &root.join(".local"), !project.has_local(), &|| {
        project.local().map(|_| ())
    })?;
    if let Some(git) = git_folder(folder) {
        let wanted = wanted_driver(git_config(folder, &["--get", "merge.heirloom.driver"]).as_deref());
        step("merge driver", &git.join("config"), wanted.is_some(), &|| {
            register_driver(folder, wanted.as_deref().unwrap_or(DRIVER))
        })?;
        if ask.pre_commit {
            let hook = hooks_folder(folder)?.join("pre-commit");
            let there = std::fs::read_to_string(&hook).unwrap_or_default();
            let ours = there.contains("heirloom verify") && there != EARLIER;
            if hook.exists() && !ours && there != EARLIER {
                return Err(Fault::new(Code::Usage, format!("`{}` exists already", hook.display()))
                    .hint("add the line `heirloom verify --staged` to it yourself"));
            }
            step("pre-commit hook", &hook, !ours, &|| write_hook(&hook))?;
        }
    } else if ask.pre_commit {
        return Err(
            Fault::new(Code::Usage, "this folder is not in a git work tree").hint("run `git init` first")
        );
    }
    Ok(steps)
}

fn write_settings(path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        files::make_folder(folder, Mode::Shared)?;
    }
    let mut document = empty_document();
    // Without the key recall stays what it was; a new memory gets the better one.
    document["retrieval"]["match_strategy"] = "hybrid".into();
    let text = serde_json::to_string_pretty(&document).unwrap_or_default() + "\n";
    files::write(path, text.as_bytes(), Mode::Shared)
}

/// The attributes file with our lines; `None` if they are there.
fn with_attributes(path: &Path) -> Result<Option<String>> {
    let mut text = files::read_text(path, 1 << 20)?.unwrap_or_default();
    let missing: Vec<&&str> =
        ATTRIBUTES.iter().filter(|line| !text.lines().any(|l| l.trim() == **line)).collect();
    if missing.is_empty() {
        return Ok(None);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for line in missing {
        text.push_str(line);
        text.push('\n');
    }
    Ok(Some(text))
}

fn write_hook(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if let Some(folder) = path.parent() {
        files::make_folder(folder, Mode::Shared)?;
    }
    files::write(path, PRE_COMMIT.as_bytes(), Mode::Shared)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .map_err(|e| Fault::io(path, "make executable", &e))
}

fn git_folder(folder: &Path) -> Option<PathBuf> {
    git::Place::around(&std::fs::canonicalize(folder).ok()?)
        .filter(git::Place::is_mutual)
        .map(|place| place.own)
}

/// Where git looks for the hooks of this work tree. A folder that other projects use as well is not ours to write into.
fn hooks_folder(folder: &Path) -> Result<PathBuf> {
    let nowhere =
        || Fault::new(Code::Usage, "this folder is not in a git work tree").hint("run `git init` first");
    let real = std::fs::canonicalize(folder).map_err(|e| Fault::io(folder, "find", &e))?;
    let place = git::Place::around(&real).ok_or_else(nowhere)?;
    if !place.is_mutual() {
        let message = "`.git` leads to a repository that does not know this folder; no hook was installed";
        return Err(Fault::new(Code::Usage, message).hint("check what the file `.git` here names"));
    }
    let Some(named) = named_hooks_folder(folder) else { return Ok(place.common.join("hooks")) };
    let hooks = place.work_tree.join(&named);
    let there = hooks.ancestors().find(|path| path.exists()).unwrap_or(&hooks);
    let lies_in = std::fs::canonicalize(there).unwrap_or_else(|_| there.to_owned());
    let common = std::fs::canonicalize(&place.common).unwrap_or_else(|_| place.common.clone());
    if lies_in.starts_with(&place.work_tree) || lies_in.starts_with(&common) {
        return Ok(hooks);
    }
    Err(Fault::new(
        Code::Usage,
        format!("git looks for hooks in `{}`, outside this project; no hook was installed", hooks.display()),
    )
    .fact("path", hooks.display().to_string())
    .hint("add the line `heirloom verify --staged` to the pre-commit hook there yourself"))
}

/// What `core.hooksPath` says, whichever of git's settings say so. The last value is our own, which keeps git from running hooks for us.
fn named_hooks_folder(folder: &Path) -> Option<PathBuf> {
    let mut command = git::command(folder)?.0;
    let output =
        command.args(["config", "-z", "--type=path", "--get-all", "core.hooksPath"]).output().ok()?;
    let mut values: Vec<&[u8]> = output.stdout.split(|b| *b == 0).filter(|value| !value.is_empty()).collect();
    values.pop();
    use std::os::unix::ffi::OsStrExt as _;
    values.pop().map(|value| PathBuf::from(std::ffi::OsStr::from_bytes(value)))
}

fn git_config(folder: &Path, args: &[&str]) -> Option<String> {
    let output = git::command(folder)?.0.args(["config", "--local"]).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The line to register; `None` if a good one is there. An older one, which does not name the file, gets that; its program stays as it is.
fn wanted_driver(registered: Option<&str>) -> Option<String> {
    let Some(line) = registered.filter(|line| !line.is_empty()) else { return Some(DRIVER.to_owned()) };
    let old = line.trim_end().strip_suffix("merge-driver %O %A %B")?;
    Some(format!("{old}merge-driver %O %A %B %P"))
}

fn register_driver(folder: &Path, line: &str) -> Result<()> {
    let set = |key: &str, value: &str| {
        git_config(folder, &[key, value]).map(|_| ()).ok_or_else(|| {
            Fault::new(Code::Io, "git refused to register the merge driver").hint("check `git config --list`")
        })
    };
    set("merge.heirloom.name", "memory files")?;
    set("merge.heirloom.driver", line)
}

/// What was registered with git for this project: the merge driver and a pre-commit hook of ours.
pub fn registered(call: &Call) -> Vec<Step> {
    let project = call.project();
    let Some(git) = git_folder(project.folder()) else { return Vec::new() };
    let mut steps = Vec::new();
    if git_config(project.folder(), &["--get", "merge.heirloom.driver"]).is_some_and(|line| !line.is_empty())
    {
        steps.push(Step { what: "merge driver", path: project.shown(&git.join("config")), done: false });
    }
    if let Some(hook) = own_hook(project.folder()) {
        steps.push(Step { what: "pre-commit hook", path: project.shown(&hook), done: false });
    }
    steps
}

/// Takes both out again. A hook that somebody changed stays.
pub fn unregister(call: &Call) -> Result<()> {
    asked(call, Verb::Uninstall, ShelfName::Records, Owner::Nobody)?;
    let folder = call.project().folder();
    git_config(folder, &["--remove-section", "merge.heirloom"]);
    own_hook(folder).map_or(Ok(()), |hook| files::remove(&hook))
}

/// The pre-commit hook, if it is exactly what was written here.
fn own_hook(folder: &Path) -> Option<PathBuf> {
    let hook = hooks_folder(folder).ok()?.join("pre-commit");
    let text = std::fs::read_to_string(&hook).ok()?;
    [PRE_COMMIT, EARLIER].contains(&text.as_str()).then_some(hook)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_driver_line_learns_to_name_the_file_and_a_good_one_stays() {
        assert_eq!(wanted_driver(None).as_deref(), Some(DRIVER));
        assert_eq!(wanted_driver(Some("heirloom merge-driver %O %A %B")).as_deref(), Some(DRIVER));
        let own = wanted_driver(Some("/opt/bin/heirloom merge-driver %O %A %B"));
        assert_eq!(own.as_deref(), Some("/opt/bin/heirloom merge-driver %O %A %B %P"));
        assert_eq!(wanted_driver(Some(DRIVER)), None);
        assert_eq!(wanted_driver(Some("my-own-tool %A")), None);
    }
}
