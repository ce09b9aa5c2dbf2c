//! Files mapped into memory for reading.
//!
//! In: an open file. Out: its bytes. The only place of the index where mapping happens, since it is the
//! one thing the compiler cannot vouch for.
#![allow(unsafe_code, reason = "mapping a file is unsafe by nature: another process may change it")]

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// Maps the first `len` bytes of `file` for reading.
///
/// Bytes may change under the reader when another process writes a slot; readers take every byte as data
/// (numbers, never lengths or addresses they trust), so a torn read can cost a wrong score, nothing else.
/// Files are only ever extended, never cut, while someone may have them open.
///
/// What remains: the system ends a process with `SIGBUS` that touches a mapped page it cannot bring, because a disk fails or somebody who is not us
/// cuts the file. A hook loses one answer by that; a server would lose every request under way, so it should read such files into memory, or
/// answer for indexes that lie on a disk it trusts.
pub(crate) fn map(file: &File, len: u64) -> io::Result<Mmap> {
    let have = file.metadata()?.len();
    let len = usize::try_from(len.min(have)).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    // SAFETY: the mapping is read-only, `len` does not pass the end of the file, and the file is one of
    // ours, which are extended or replaced by rename but never truncated in place.
    unsafe { MmapOptions::new().len(len).map(file) }
}

/// Has the pages of a stretch mapped at once, which costs less than being interrupted for each. A system that cannot do it is none the worse.
pub(crate) fn fetch(map: &Mmap, at: usize, len: usize) {
    #[cfg(target_os = "linux")]
    {
        let _ = map.advise_range(memmap2::Advice::PopulateRead, at, len);
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (map, at, len);
    }
}
