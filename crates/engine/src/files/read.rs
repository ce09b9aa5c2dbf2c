//! Reading with limits: regular files only, never through a link in the last place, never more than asked for.
//!
//! Comes in: a path. Goes out: bytes or text, or why not. A pipe, a device or a folder where a file should be is an
//! answer, not a hang. A hook reads within its budget, whichever function asks.

use crate::budget::{self, Left};
use heirloom_core::{Code, Fault, fault::Result};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The largest file of a store that is read. Records are a few kilobytes; a megabyte is already a mistake.
pub const MAX_FILE: u64 = 4 << 20;

/// Reads a file whole.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    read_if_there(path, limit)?.ok_or_else(|| {
        Fault::new(Code::NotFound, format!("file `{}` does not exist", path.display()))
            .fact("path", path.display().to_string())
    })
}

/// Reads a file whole; `None` if there is none.
pub fn read_if_there(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let Some((file, size)) = open_if_there(path)? else { return Ok(None) };
    if size > limit {
        budget::leave_out(Left::Large, 1);
        return Err(too_large(path, limit));
    }
    within_budget(path, size)?;
    let mut bytes = Vec::with_capacity(size as usize + 1);
    // One byte more than allowed shows a file that grew while it was read.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|e| Fault::io(path, "read", &e))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(path, limit));
    }
    Ok(Some(bytes))
}

/// Reads a file as UTF-8; `None` if there is none.
pub fn read_text(path: &Path, limit: u64) -> Result<Option<String>> {
    let Some(bytes) = read_if_there(path, limit)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|e| {
        Fault::new(Code::Damaged, format!("`{}` is not UTF-8 text: {e}", path.display()))
            .fact("path", path.display().to_string())
    })
}

/// The last `limit` bytes of a file; `None` if there is none.
pub fn read_tail(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let Some((mut file, size)) = open_if_there(path)? else { return Ok(None) };
    within_budget(path, size.min(limit))?;
    let cannot = |e: &std::io::Error| Fault::io(path, "read", e);
    file.seek(SeekFrom::Start(size.saturating_sub(limit))).map_err(|e| cannot(&e))?;
    let mut bytes = Vec::with_capacity(size.min(limit) as usize);
    file.take(limit).read_to_end(&mut bytes).map_err(|e| cannot(&e))?;
    Ok(Some(bytes))
}

/// A hook has bounds, whoever reads.
fn within_budget(path: &Path, size: u64) -> Result<()> {
    if budget::may_read(size) {
        return Ok(());
    }
    Err(Fault::new(Code::Read, format!("`{}` is more than a hook can read now", path.display()))
        .fact("path", path.display().to_string())
        .hint("`heirloom doctor` says what is left to do"))
}

fn too_large(path: &Path, limit: u64) -> Fault {
    Fault::new(Code::Damaged, format!("`{}` is larger than {limit} bytes", path.display()))
        .fact("path", path.display().to_string())
        .hint("move it out of the memory folder, or cut it down")
}

/// Opens a regular file for reading, with its size; `None` if there is none. For readers that do not want it whole.
pub fn open_if_there(path: &Path) -> Result<Option<(File, u64)>> {
    // NONBLOCK: opening a pipe without a writer must not wait for one.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path) {
        Ok(file) => file,
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(e) if e.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(Fault::new(Code::Path, format!("`{}` is a link", path.display()))
                .fact("path", path.display().to_string())
                .hint("put the file itself there; links are not followed"));
        }
        Err(e) => return Err(Fault::io(path, "read", &e)),
    };
    let meta = file.metadata().map_err(|e| Fault::io(path, "read", &e))?;
    if !meta.is_file() {
        let what = if meta.is_dir() { "a folder" } else { "not a regular file" };
        return Err(Fault::new(Code::Read, format!("`{}` is {what}", path.display()))
            .fact("path", path.display().to_string()));
    }
    Ok(Some((file, meta.len())))
}
