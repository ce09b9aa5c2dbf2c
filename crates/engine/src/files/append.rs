//! Appending: whole lines at the end of a file, in one write each call.
//!
//! Comes in: lines without a line break. Goes out: the file with them at its end. A last line that a killed process left
//! without a line break is closed first, so that it can never swallow a new one. Logs are appended to without the store's lock; whoever rewrites or
//! renames one of them holds it first ([`hold`]), and no line goes to a file that is on its way out. Never here: rewriting.

use super::atomic::Mode;
use super::journal;
use super::lock::{LOCK_LIMIT, busy, take};
use heirloom_core::{Fault, fault::Result};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Instant;

/// Whether a line must have reached the disk before the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durable {
    Yes,
    No,
}

/// Appends lines and waits until they are on disk.
pub fn append_lines<'a>(path: &Path, lines: impl IntoIterator<Item = &'a str>, mode: Mode) -> Result<()> {
    append(path, lines, mode, Durable::Yes)
}

/// A log that nobody appends to until this is dropped: for whoever rewrites it or renames it.
#[derive(Debug)]
pub struct Held {
    _file: File,
}

/// Waits until nobody else appends to a log or rewrites it, and keeps it so; `None` if there is no such file.
pub fn hold(path: &Path) -> Result<Option<Held>> {
    let cannot = |e: &std::io::Error| Fault::io(path, "lock", e);
    let until = Instant::now() + LOCK_LIMIT;
    loop {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
        let file = match options.open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(cannot(&e)),
        };
        if !take(&file, until).map_err(|e| cannot(&e))? {
            return Err(busy(path, LOCK_LIMIT));
        }
        if is_at(&file, path) {
            return Ok(Some(Held { _file: file }));
        }
    }
}

/// Makes a log that has grown beyond `max` the old one. Whoever comes second finds a small one, which stays: turned over as well, it would take the
/// place of the full one.
pub fn turn_over(path: &Path, old: &Path, max: u64) -> Result<()> {
    let is_full = || std::fs::metadata(path).is_ok_and(|meta| meta.len() > max);
    if is_full()
        && let Some(_held) = hold(path)?
        && is_full()
    {
        std::fs::rename(path, old).map_err(|e| Fault::io(path, "rename", &e))?;
    }
    Ok(())
}

/// Whether a file is still the one at its path, and not one that was replaced while its lock was waited for.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(ours), Ok(there)) = (file.metadata(), std::fs::symlink_metadata(path)) else { return false };
    (ours.dev(), ours.ino()) == (there.dev(), there.ino())
}

/// Appends a line without waiting for the disk: for logs that may lose their last lines in a power cut. Any number of threads and processes may
/// do so at once, and while somebody else rewrites the file.
pub fn append_line(path: &Path, line: &str, mode: Mode) -> Result<()> {
    append(path, [line], mode, Durable::No)
}

/// The same for several lines, in one write.
pub fn append_passing<'a>(path: &Path, lines: impl IntoIterator<Item = &'a str>, mode: Mode) -> Result<()> {
    append(path, lines, mode, Durable::No)
}

/// Takes the last bytes of a file away: the part of a line that a killed process left, of which nobody was told that it is there.
pub fn cut_tail(path: &Path, bytes: u64) -> Result<()> {
    let cannot = |e: &std::io::Error| Fault::io(path, "cut", e);
    let flags = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let file = OpenOptions::new().write(true).custom_flags(flags).open(path).map_err(|e| cannot(&e))?;
    let size = file.metadata().map_err(|e| cannot(&e))?.len();
    file.set_len(size.saturating_sub(bytes)).map_err(|e| cannot(&e))
}

fn append<'a>(
    path: &Path,
    lines: impl IntoIterator<Item = &'a str>,
    mode: Mode,
    durable: Durable,
) -> Result<()> {
    let cannot = |e: &std::io::Error| Fault::io(path, "append to", e);
    let is_new = std::fs::symlink_metadata(path).is_err();
    let mut file = opened(path, mode).map_err(|e| cannot(&e))?;
    if durable == Durable::No {
        // What is durable is written under the store's lock.
        let until = Instant::now() + LOCK_LIMIT;
        loop {
            if !take(&file, until).map_err(|e| cannot(&e))? {
                return Err(busy(path, LOCK_LIMIT));
            }
            if is_at(&file, path) {
                break;
            }
            file = opened(path, mode).map_err(|e| cannot(&e))?;
        }
    }
    let mut text = String::new();
    if ends_open(&mut file).map_err(|e| cannot(&e))? {
        text.push('\n');
    }
    for line in lines {
        debug_assert!(!line.contains('\n'), "one line is one line");
        text.push_str(line);
        text.push('\n');
    }
    let before = file.metadata().map_err(|e| cannot(&e))?.len();
    if let Err(e) = file.write_all(text.as_bytes()) {
        // A full disk takes part of a line; what it took goes again, so that the file ends where it did.
        let _ = file.set_len(before);
        if is_new && before == 0 {
            let _ = std::fs::remove_file(path);
        }
        return Err(cannot(&e));
    }
    journal::changed(path);
    if durable == Durable::Yes {
        file.sync_data().map_err(|e| cannot(&e))?;
    }
    Ok(())
}

fn opened(path: &Path, mode: Mode) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(if mode == Mode::Private { 0o600 } else { 0o644 })
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32)
        .open(path)
}

fn ends_open(file: &mut File) -> std::io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0u8];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
