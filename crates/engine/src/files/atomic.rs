//! Atomic writes: temp file in the same folder, fsync, rename, fsync the folder.
//!
//! Comes in: a path and all the bytes. Goes out: the new file whole, or the old one untouched. Never here: a write in
//! place. A process killed half-way leaves at most a hidden temp file, which `gc` sweeps up.

use super::step;
use heirloom_core::{Code, Fault, fault::Result};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everybody the umask allows: what belongs into the project.
    Shared,
    /// Only the owner: what is private.
    Private,
}

impl Mode {
    const fn file(self) -> u32 {
        match self {
            Mode::Shared => 0o644,
            Mode::Private => 0o600,
        }
    }

    const fn folder(self) -> u32 {
        match self {
            Mode::Shared => 0o755,
            Mode::Private => 0o700,
        }
    }
}

const TEMP_MARK: &str = ".heirloom-tmp-";

/// Writes a file so that readers see the old or the new one, whole, whatever happens.
pub fn write(path: &Path, bytes: &[u8], mode: Mode) -> Result<()> {
    let folder = parent(path)?;
    let temp = temp_beside(path);
    let outcome = fill(&temp, bytes, mode).and_then(|()| {
        std::fs::rename(&temp, path).map_err(|e| Fault::io(path, "replace", &e))?;
        step::reached("renamed");
        sync_folder(folder)
    });
    if outcome.is_err() {
        // The temp file is ours alone; if even removing it fails, `gc` will.
        let _ = std::fs::remove_file(&temp);
    }
    outcome
}

/// Writes a private file so that other processes see the old or the new one, without waiting for the disk: for what may be
/// lost in a power cut. A link in the file's place is replaced, never followed.
pub fn write_passing(path: &Path, bytes: &[u8]) -> Result<()> {
    let temp = temp_beside(path);
    let mut options = OpenOptions::new();
    let outcome = options
        .write(true)
        .create_new(true)
        .mode(Mode::Private.file())
        .open(&temp)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| std::fs::rename(&temp, path));
    outcome.map_err(|e| {
        let _ = std::fs::remove_file(&temp);
        Fault::io(path, "write", &e)
    })
}

fn fill(temp: &Path, bytes: &[u8], mode: Mode) -> Result<()> {
    let cannot = |e: &std::io::Error| Fault::io(temp, "write", e);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode.file())
        .open(temp)
        .map_err(|e| cannot(&e))?;
    step::reached("temp-created");
    file.write_all(bytes).map_err(|e| cannot(&e))?;
    step::reached("temp-written");
    file.sync_all().map_err(|e| cannot(&e))?;
    step::reached("temp-synced");
    Ok(())
}

fn temp_beside(path: &Path) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let n = COUNTER.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!("{TEMP_MARK}{}-{n}", std::process::id()))
}

fn parent(path: &Path) -> Result<&Path> {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .ok_or_else(|| Fault::new(Code::Path, format!("`{}` has no folder", path.display())))
}

fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|f| f.sync_all()).map_err(|e| Fault::io(folder, "sync", &e))?;
    step::reached("folder-synced");
    Ok(())
}

/// Moves a file within one file system and makes the move durable.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(|e| Fault::io(from, "move", &e))?;
    sync_folder(parent(to)?)?;
    sync_folder(parent(from)?)
}

/// Removes a file and makes that durable; a file that is not there is fine.
pub fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Ok(()) => sync_folder(parent(path)?),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(Fault::io(path, "remove", &e)),
    }
}

/// Makes a folder and the folders above it.
pub fn make_folder(path: &Path, mode: Mode) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(mode.folder())
        .create(path)
        .map_err(|e| Fault::io(path, "create folder", &e))
}

/// Removes temp files that killed processes left in a folder. The caller holds the lock, so none is in use.
pub fn sweep_temporary(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(TEMP_MARK))
        .filter(|entry| std::fs::remove_file(entry.path()).is_ok())
        .count()
}
