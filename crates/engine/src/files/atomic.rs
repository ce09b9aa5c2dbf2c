//! Atomic writes: temp file in the same folder, fsync, rename, fsync the folder.
//!
//! Comes in: a path and all the bytes. Goes out: the new file whole, or the old one untouched. Never here: a write in
//! place. A process killed half-way leaves at most a hidden temp file, which `gc` sweeps up. Files that belong together are
//! [`Prepared`] first and put in place one after the other, so that a full disk is noticed before either changed.

use super::{journal, step};
use heirloom_core::{Code, Fault, fault::Result};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
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
    Prepared::new(path, bytes, mode)?.commit()
}

/// A file that is on disk under a temporary name and only has to take its place. Dropped without that, it is gone.
#[derive(Debug)]
#[must_use = "nothing changes until it is committed"]
pub struct Prepared {
    temp: PathBuf,
    path: PathBuf,
    committed: bool,
    derived: bool,
    /// Locked as long as it is in use, so that a sweep can tell it from what a killed process left.
    file: File,
}

impl Prepared {
    /// Writes the bytes beside `path` and waits until they are on disk.
    pub fn new(path: &Path, bytes: &[u8], mode: Mode) -> Result<Prepared> {
        let mut prepared = Prepared::derived(path, bytes, mode)?;
        prepared.derived = false;
        prepared.file.sync_all().map_err(|e| Fault::io(path, "write", &e))?;
        step::reached("temp-synced");
        Ok(prepared)
    }

    /// The same for a file that can be made anew from others: it does not wait for the disk.
    pub fn derived(path: &Path, bytes: &[u8], mode: Mode) -> Result<Prepared> {
        parent(path)?;
        let cannot = |e: &std::io::Error| Fault::io(path, "write", e);
        let (file, temp) = create_beside(path, mode).map_err(|e| cannot(&e))?;
        let mut prepared = Prepared { temp, path: path.to_owned(), committed: false, derived: true, file };
        step::reached("temp-created");
        prepared.file.write_all(bytes).map_err(|e| cannot(&e))?;
        step::reached("temp-written");
        Ok(prepared)
    }

    /// Puts it in place and makes that durable.
    pub fn commit(self) -> Result<()> {
        self.place()?.sync()
    }

    /// Puts it in place: everybody sees it now, but a power cut may still undo it. Whoever holds a lock gives it back before waiting for
    /// the disk, so that writers who come one after the other wait for it together.
    pub fn place(mut self) -> Result<Placed> {
        if !(self.derived && exchange(&self.temp, &self.path)) {
            std::fs::rename(&self.temp, &self.path).map_err(|e| Fault::io(&self.path, "replace", &e))?;
        }
        self.committed = true;
        journal::changed(&self.path);
        step::reached("renamed");
        Ok(Placed { folder: parent(&self.path)?.to_owned() })
    }
}

/// Writes a private file so that other processes see the old or the new one, without waiting for the disk: for what may be
/// lost in a power cut. A link in the file's place is replaced, never followed.
pub fn write_passing(path: &Path, bytes: &[u8]) -> Result<()> {
    Prepared::derived(path, bytes, Mode::Private)?.place().map(|_| ())
}

/// Swaps two files and removes the one that had the place. Renaming over a file makes some systems write the new one out at once, lest a
/// power cut leave it empty; a file that can be made anew need not wait for that. `false` if there is none yet, or the system cannot swap;
/// a folder in the place is somebody's and is left there.
fn exchange(new: &Path, place: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let swapped = std::fs::symlink_metadata(place).is_ok_and(|found| !found.is_dir())
        && renameat_with(CWD, new, CWD, place, RenameFlags::EXCHANGE).is_ok();
    if swapped {
        // What is under the temporary name now is the old one; if it stays, `gc` sweeps it up.
        let _ = std::fs::remove_file(new);
    }
    swapped
}

/// A file in its place, not yet proof against a power cut.
#[derive(Debug)]
#[must_use = "it is not durable until its folder is synced"]
pub struct Placed {
    folder: PathBuf,
}

impl Placed {
    /// Waits until it is.
    pub fn sync(self) -> Result<()> {
        sync_folder(&self.folder)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if !self.committed {
            // The temp file is ours alone; if even removing it fails, `gc` will.
            let _ = std::fs::remove_file(&self.temp);
        }
    }
}

/// A new file under a name nobody has, locked. A killed process may have left one under the same process id (ids come around, and every
/// container starts at one), so a taken name is passed over; so is one that a sweep took before it was locked.
fn create_beside(path: &Path, mode: Mode) -> std::io::Result<(File, PathBuf)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    loop {
        let n = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temp = path.with_file_name(format!("{TEMP_MARK}{}-{n}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(mode.file()).open(&temp) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
            Ok(file) => {
                if file.try_lock().is_ok() && file.metadata()?.nlink() > 0 {
                    return Ok((file, temp));
                }
            }
        }
    }
}

fn parent(path: &Path) -> Result<&Path> {
    path.parent()
        .map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
        .ok_or_else(|| Fault::new(Code::Path, format!("`{}` has no folder", path.display())))
}

fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|f| f.sync_all()).map_err(|e| Fault::io(folder, "sync", &e))?;
    step::reached("folder-synced");
    Ok(())
}

/// Writes a new file without waiting for the disk, for whoever waits for many at once with [`sync_all_below`]. What is there already is an
/// error.
pub(crate) fn create_unsynced(path: &Path, bytes: &[u8], mode: Mode) -> Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(mode.file()).open(path);
    made.and_then(|mut file| file.write_all(bytes)).map_err(|e| Fault::io(path, "write", &e))
}

/// Waits until everything that was written to the file system of a folder is on its disk.
pub(crate) fn sync_all_below(folder: &Path) -> Result<()> {
    let opened = File::open(folder).map_err(|e| Fault::io(folder, "sync", &e))?;
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(&opened).map_err(|e| Fault::io(folder, "sync", &e.into()))?;
    #[cfg(not(target_os = "linux"))]
    {
        drop(opened);
        rustix::fs::sync();
    }
    Ok(())
}

/// Moves a file within one file system and makes the move durable.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(|e| Fault::io(from, "move", &e))?;
    journal::changed(from);
    journal::changed(to);
    sync_folder(parent(to)?)?;
    sync_folder(parent(from)?)
}

/// Removes a file and makes that durable; a file that is not there is fine.
pub fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Ok(()) => {
            journal::changed(path);
            sync_folder(parent(path)?)
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(Fault::io(path, "remove", &e)),
    }
}

/// Removes a folder in which nothing is left. One that holds something stays, and so does one that cannot be removed: it holds no text.
pub fn remove_empty_folder(path: &Path) {
    if std::fs::remove_dir(path).is_ok() {
        journal::changed(path);
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

/// A name for a folder that is made whole before it takes its place.
pub(crate) fn temporary_folder(beside: &Path, name: &str) -> PathBuf {
    beside.with_file_name(format!("{TEMP_MARK}{name}"))
}

/// Removes temp files and folders that killed processes left in a folder; those in use are locked and stay. A half-made folder is in use
/// by nobody who could be here at the same time.
pub fn sweep_temporary(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let remove = |path: &Path| -> std::io::Result<()> {
        if std::fs::symlink_metadata(path)?.is_dir() {
            return std::fs::remove_dir_all(path);
        }
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path);
        // Held while the file is removed, so that nobody starts to use it in between.
        match &file {
            Ok(file) if file.try_lock().is_err() => Ok(()),
            _ => std::fs::remove_file(path),
        }
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(TEMP_MARK))
        .filter(|entry| remove(&entry.path()).is_ok() && !entry.path().exists())
        .count()
}
