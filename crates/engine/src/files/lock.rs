//! The store's lock: a kernel lock with a time limit that refuses rather than goes on.
//!
//! Comes in: the lock file's path. Goes out: a [`Lock`], which is held until it is dropped, also by the kernel if the process
//! dies. Never here: going on without the lock, breaking somebody else's, or leaving anything to clean up.

use super::step;
use heirloom_core::{Code, Fault, fault::Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// How long a writer waits for its turn.
pub const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// Proof that this process holds the store's lock.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock, at most `limit`.
    pub fn acquire(path: &Path, limit: Duration) -> Result<Lock> {
        let cannot = |e: &std::io::Error| Fault::io(path, "lock", e);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32)
            .open(path)
            .map_err(|e| cannot(&e))?;
        let file = match file.try_lock() {
            Ok(()) => file,
            Err(TryLockError::WouldBlock) => wait_for(file, limit).map_err(|e| match e {
                Waited::TooLong => busy(path, limit),
                Waited::Failed(e) => cannot(&e),
            })?,
            Err(TryLockError::Error(e)) => return Err(cannot(&e)),
        };
        step::reached("locked");
        Ok(Lock { _file: file })
    }
}

enum Waited {
    TooLong,
    Failed(std::io::Error),
}

/// Queues in the kernel, which hands the lock over in turn; polling would leave it idle between looks. If the limit passes
/// first, the thread gives the lock straight back once it gets it.
fn wait_for(file: File, limit: Duration) -> std::result::Result<File, Waited> {
    let (send, receive) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let outcome = file.lock().map(|()| file);
        let _ = send.send(outcome);
    });
    match receive.recv_timeout(limit) {
        Ok(Ok(file)) => Ok(file),
        Ok(Err(e)) => Err(Waited::Failed(e)),
        Err(_) => Err(Waited::TooLong),
    }
}

fn busy(path: &Path, limit: Duration) -> Fault {
    Fault::new(Code::LockBusy, format!("another process has held the store for {} seconds", limit.as_secs()))
        .fact("path", path.display().to_string())
        .hint("try again in a moment; nothing was written")
}
