//! The index as a prompt reads it: piece by piece, from the file that was opened, so that a large one costs no memory of its own.
//!
//! Comes in: an open file, or bytes. Goes out: whatever stands at an offset. Never here: what it means. A file that is replaced meanwhile
//! stays the one that was opened.

use heirloom_core::{Fault, fault::Result};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

/// An index.
#[derive(Debug)]
pub enum IndexSource {
    /// On disk.
    File(File, PathBuf),
    /// In memory.
    Bytes(Vec<u8>),
}

impl IndexSource {
    /// Fills a buffer from an offset on; less than all of it only at the end.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        match self {
            IndexSource::Bytes(bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let size = buffer.len().min(bytes.len() - from);
                buffer[..size].copy_from_slice(&bytes[from..from + size]);
                Ok(size)
            }
            IndexSource::File(file, path) => {
                let mut filled = 0;
                while filled < buffer.len() {
                    match file.read_at(&mut buffer[filled..], offset + filled as u64) {
                        Ok(0) => break,
                        Ok(read) => filled += read,
                        Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                        Err(e) => return Err(Fault::io(path, "read", &e)),
                    }
                }
                Ok(filled)
            }
        }
    }
}
