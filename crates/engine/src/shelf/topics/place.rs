//! The place: which folder is the memory base of the lessons.
//!
//! Comes in: settings, project, home. Goes out: the base folder, and if the configured one cannot be used, the project's own with the
//! reason. Never here: a clone while somebody only reads; the network is for writes and `sync`.

use super::git::Git;
use super::{path_rules, rest, url};
use crate::call::Call;
use crate::files::{self, LOCK_LIMIT, Lock, Mode};
use heirloom_core::settings::{External, MemoryType};
use heirloom_core::{Code, Fault, fault::Result, hash, time};
use serde_json::json;
use std::path::{Path, PathBuf};

/// What a call is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Look only: nothing is made, nobody is called.
    Read,
    /// Write: the folder is made, a repository that is not here yet is cloned.
    Write,
}

/// Where lessons live.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The memory base.
    pub(super) base: PathBuf,
    /// Its repository, if it is an external one.
    pub(super) git: Option<Git>,
    /// Whether it lies outside the project's own memory.
    pub(super) external: bool,
    /// Why the configured place is not used.
    pub(super) fault: Option<Fault>,
    /// Why nothing may be written here: the project's own folder is a link that leads out of its memory.
    pub(super) blocked: Option<Fault>,
}

impl Place {
    /// Finds the place. A configured place that cannot be used is reported and the project's own counts.
    pub(super) fn find(call: &Call, need: Need) -> Place {
        let own = |fault| own(call, fault);
        let settings = &call.settings().memory_configuration;
        if !settings.enabled {
            return own(None);
        }
        match external(call, settings, need) {
            Ok(Some(place)) => place,
            Ok(None) => own(None),
            Err(fault) => {
                // The log is for `doctor`; a log that cannot be written must not cost the memory itself. Whoever only looks makes no folder for it.
                if need == Need::Write || call.project().has_local() {
                    let _ = log(call, &fault);
                }
                own(Some(fault))
            }
        }
    }

    /// Where the lock of an external place lies, which other projects may share. Git is asked for it before anybody waits for a lock.
    pub(super) fn lock_path(&self) -> Result<Option<PathBuf>> {
        match (&self.git, self.external) {
            (_, false) => Ok(None),
            (Some(git), true) => in_git(git, "heirloom-lock").map(Some),
            (None, true) => Ok(Some(self.base.join(".heirloom-lock"))),
        }
    }

    /// Waits for the lock of an external place. Whoever writes a lesson has the project's own as well.
    pub(super) fn lock(&self) -> Result<Option<Lock>> {
        self.lock_path()?.map(|path| Lock::acquire(&path, LOCK_LIMIT)).transpose()
    }
}

/// A file of ours beside those of a repository.
pub(super) fn in_git(git: &Git, name: &str) -> Result<PathBuf> {
    Ok(git.folder().join(git.must(&["rev-parse", "--git-path", name])?.trim_end_matches('\n')))
}

/// The project's own folder. One that leads elsewhere is not read either: what lies there is nobody's word here.
pub(super) fn own(call: &Call, fault: Option<Fault>) -> Place {
    let root = call.project().root();
    let base = root.join(&["topics"]);
    // Only a link can lead anywhere else, and asking whether it is one is all that most prompts need.
    let is_link = std::fs::symlink_metadata(&base).is_ok_and(|there| there.is_symlink());
    match is_link.then(|| root.resolve(&base).err()).flatten() {
        None => Place { base, git: None, external: false, fault, blocked: None },
        leads_out => {
            let nowhere = root.join(&[".local", "no-topics"]);
            Place { base: nowhere, git: None, external: false, fault, blocked: leads_out }
        }
    }
}

fn external(call: &Call, settings: &External, need: Need) -> Result<Option<Place>> {
    let configured = settings.path.as_deref().ok_or_else(|| path_rules::no_access(""))?;
    if settings.type_unknown {
        return Err(unknown_type(configured));
    }
    let (home, project) = (call.home(), call.project().folder());
    let there =
        |base: PathBuf, git| Ok(Some(Place { base, git, external: true, fault: None, blocked: None }));
    match settings.memory_type {
        MemoryType::LocalDir if need == Need::Read => {
            there(path_rules::reachable(configured, home, project)?, None)
        }
        MemoryType::LocalDir => there(path_rules::checked(configured, home, project)?, None),
        MemoryType::GitRepo => {
            let Some(folder) = repository(call, configured, home, project, need)? else { return Ok(None) };
            let git = Git::open(&folder, settings.git_limit())?;
            there(folder, Some(git))
        }
    }
}

fn unknown_type(configured: &str) -> Fault {
    Fault::new(Code::Config, "`memory_configuration.memory_type` is not a type of external memory")
        .fact("path", configured)
        .hint("set it to `local_dir` or `git_repo`: `heirloom config set --user memory_configuration.memory_type local_dir`")
}

/// The work tree of a configured repository; `None` if it is still to be cloned and only a look was wanted.
fn repository(
    call: &Call,
    configured: &str,
    home: Option<&Path>,
    project: &Path,
    need: Need,
) -> Result<Option<PathBuf>> {
    let address = if url::is_address(configured) {
        let address = url::checked(configured)?;
        if let Some(folder) = url::local_folder(address) {
            path_rules::placed(&folder.to_string_lossy(), home, project)?;
        }
        address.to_owned()
    } else {
        let folder = path_rules::placed(configured, home, project)?;
        if !Git::is_bare(&folder) {
            // A repository is never made here: an empty one would hide a mistyped path.
            return if folder.is_dir() {
                path_rules::checked(configured, home, project).map(Some)
            } else {
                Err(path_rules::no_access(configured))
            };
        }
        folder.to_string_lossy().into_owned()
    };
    let clones = call.project().world().data.join("repositories");
    let folder = clones.join(&hash::sha256(address.as_bytes())[..24]);
    if folder.join(".git").exists() {
        return Ok(Some(folder));
    }
    if need == Need::Read {
        return Ok(None);
    }
    if let Some(resting) = rest::reason(call, &address) {
        return Err(resting);
    }
    files::make_folder(&clones, Mode::Private)?;
    // Into a folder of this process's own first: a clone that breaks off leaves nothing that looks whole.
    let fresh = clones.join(format!(".clone-{}", call.project().world().unique()));
    let _ = std::fs::remove_dir_all(&fresh);
    let limit = call.settings().memory_configuration.git_limit();
    let cloned = Git::clone_into(&address, &fresh, limit)
        .inspect_err(|fault| rest::note(call, &address, fault))
        .and_then(|_| match std::fs::rename(&fresh, &folder) {
            // Another process was faster: its clone is as good.
            Err(_) if folder.join(".git").exists() => Ok(()),
            other => other.map_err(|e| Fault::io(&folder, "make", &e)),
        });
    let _ = std::fs::remove_dir_all(&fresh);
    cloned?;
    rest::clear(call, &address);
    Ok(Some(folder))
}

/// Notes once a day why a configured place is not used.
fn log(call: &Call, fault: &Fault) -> Result<()> {
    let now = time::format(call.project().world().now);
    let path = call.project().health()?.join("external.jsonl");
    let line = json!({ "at": now, "what": "external_memory", "code": fault.code.name(),
        "message": rest::cause(fault), "next": fault.next_step() });
    let tail = files::read_tail(&path, 64 << 10)?.unwrap_or_default();
    let known = String::from_utf8_lossy(&tail).lines().any(|old| {
        let old = heirloom_core::json::parse(old.as_bytes()).unwrap_or_default();
        let at = old.get("at").and_then(|at| at.as_str()).unwrap_or_default();
        old.get("message") == line.get("message") && at.get(..10) == now.get(..10)
    });
    if known { Ok(()) } else { files::append_line(&path, &line.to_string(), Mode::Private) }
}

/// The fault for a call that needs an external repository where there is none.
pub(super) fn no_repository(place: &Place) -> Fault {
    place.fault.clone().unwrap_or_else(|| {
        Fault::new(Code::Config, "lessons live in the project's own memory, so there is nothing to sync")
            .hint("set `external_memory_enabled` and `memory_path` under `memory_configuration` in your settings")
    })
}
