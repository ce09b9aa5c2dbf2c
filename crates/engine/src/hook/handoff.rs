//! Handing files to the model that drafts: context files out, a folder for its drafts.
//!
//! Comes in: text that the redactor has seen. Goes out: paths of private files below the temporary folder. Never here: a
//! file through somebody else's link, in somebody else's folder, or readable by anybody else. The well-known names in a
//! shared temporary folder are used only where they can be made safely and nobody else needs them; otherwise the files go
//! into a folder of this user's own.

use crate::files;
use heirloom_core::hash;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a session's files are kept.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// Where files for one stop go.
#[derive(Debug)]
pub struct Handoff<'a> {
    temp: &'a Path,
    own: &'a Path,
    session: Option<&'a str>,
    nonce: &'a str,
}

impl<'a> Handoff<'a> {
    /// The well-known names below `temp`, this user's folder below `own`; for a session if the host names one. `nonce` makes names nobody can
    /// have guessed.
    pub fn new(temp: &'a Path, own: &'a Path, session: Option<&'a str>, nonce: &'a str) -> Handoff<'a> {
        Handoff { temp, own, session, nonce }
    }

    /// Writes a context file. Sessions with a name get a folder each, so that two of them never overwrite each other.
    /// `None` if there is no safe place: context is a help, not a must.
    pub fn context_file(&self, kind: &str, text: &str) -> Option<PathBuf> {
        let name = context_name(kind);
        if self.session.is_none() {
            let shared = self.temp.join(&name);
            if is_ours_to_replace(&shared) && files::write_passing(&shared, text.as_bytes()).is_ok() {
                return Some(shared);
            }
        }
        let path = self.folder()?.join(name);
        files::write_passing(&path, text.as_bytes()).ok()?;
        Some(path)
    }

    /// Writes what a stop has to say in full, for a host that shows people every word of a hook.
    pub fn details(&self, text: &str) -> Option<PathBuf> {
        let path = self.folder()?.join("worth-saving.md");
        files::write_passing(&path, text.as_bytes()).ok()?;
        Some(path)
    }

    /// The folder for this stop's drafts, which only this user can enter.
    pub fn folder(&self) -> Option<PathBuf> {
        let folder = self.own_folder()?.join(self.tag());
        private_folder(&folder).then_some(folder)
    }

    fn tag(&self) -> String {
        match self.session {
            Some(session) => hash::sha256(session.as_bytes())[..16].to_owned(),
            None => self.nonce.to_owned(),
        }
    }

    fn own_folder(&self) -> Option<PathBuf> {
        let usual = self.own.join(format!("heirloom-{}", uid()));
        if private_folder(&usual) {
            return Some(usual);
        }
        // Somebody squats on the usual name.
        let fresh = self.own.join(format!("heirloom-{}-{}", uid(), self.nonce));
        private_folder(&fresh).then_some(fresh)
    }

    /// Removes the folders of sessions that nobody has touched for a day, and the context files of these kinds that are as old. Makes nothing.
    pub fn sweep<'k>(&self, now: jiff::Timestamp, kinds: impl Iterator<Item = &'k str>) {
        let Ok(oldest) = now.checked_sub(KEPT) else { return };
        let is_old = |meta: &std::fs::Metadata| {
            let made = meta.modified().ok().and_then(|time| jiff::Timestamp::try_from(time).ok());
            made.is_some_and(|at| at < oldest)
        };
        for entry in self.folders().flat_map(std::fs::read_dir).flatten().flatten() {
            if entry.metadata().is_ok_and(|meta| is_old(&meta)) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        for shared in kinds.map(|kind| self.temp.join(context_name(kind))) {
            if is_ours(&shared).is_some_and(|meta| is_old(&meta)) {
                let _ = std::fs::remove_file(shared);
            }
        }
    }

    /// Removes what was handed over in a session that ended. One without a name cannot tell its files from another's; those go after a day.
    pub fn end(&self) {
        if self.session.is_none() {
            return;
        }
        for folder in self.folders().map(|own| own.join(self.tag())).filter(|folder| is_private(folder)) {
            let _ = std::fs::remove_dir_all(folder);
        }
    }

    /// This user's folder, if it is there.
    fn folders(&self) -> impl Iterator<Item = PathBuf> + use<> {
        let usual = self.own.join(format!("heirloom-{}", uid()));
        Some(usual).filter(|folder| is_private(folder)).into_iter()
    }
}

fn context_name(kind: &str) -> String {
    format!(".memory-triage-context-{kind}.txt")
}

/// What is known of a plain file of this user's; nothing of anybody else's.
fn is_ours(path: &Path) -> Option<std::fs::Metadata> {
    std::fs::symlink_metadata(path).ok().filter(|meta| meta.is_file() && meta.uid() == uid())
}

fn uid() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Whether a file may be put at this path: nothing is there, or a plain file of this user's.
fn is_ours_to_replace(path: &Path) -> bool {
    match std::fs::symlink_metadata(path) {
        Ok(meta) => meta.is_file() && meta.uid() == uid(),
        Err(e) => e.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Makes a folder only this user can enter, or finds that it is one already.
fn private_folder(path: &Path) -> bool {
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => true,
        Err(_) => is_private(path),
    }
}

/// Whether this is a folder that only this user can enter.
fn is_private(path: &Path) -> bool {
    std::fs::symlink_metadata(path)
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == uid() && meta.mode() & 0o077 == 0)
}
