//! The store's lock: a kernel lock with a time limit that refuses rather than goes on.
//!
//! Comes in: the lock file's path. Goes out: a [`Lock`], which is held until it is dropped, also by the kernel if the process
//! dies. Threads of this process queue in order first ([`super::queue`]), so that only one of them asks the kernel. Never here: going on without
//! the lock, breaking somebody else's, a thread that goes on waiting for somebody who gave up, or anything to clean up.

use super::queue::Turn;
use super::step;
use heirloom_core::{Code, Fault, fault::Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a writer waits for its turn.
pub const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// The first pause between two looks at a lock that another process holds.
const FIRST_PAUSE: Duration = Duration::from_micros(50);

/// The longest one. The kernel would hand a lock over without a gap, but a wait in the kernel cannot be given up without leaving a thread behind.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// How long a process leaves the lock alone when others are due: longer than any of them pauses.
const GAP: Duration = Duration::from_millis(2);

/// Proof that this thread holds the store's lock.
#[derive(Debug)]
pub struct Lock {
    // In this order: the kernel's lock is given back before the next thread is called.
    _file: File,
    _turn: Turn,
}

impl Lock {
    /// Waits for the lock, at most `limit`.
    pub fn acquire(path: &Path, limit: Duration) -> Result<Lock> {
        let until = Instant::now() + limit;
        let turn = Turn::take(path, until).ok_or_else(|| busy(path, limit))?;
        if turn.polite {
            std::thread::sleep(GAP);
        }
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
        match take(&file, until) {
            Ok(true) => {}
            Ok(false) => return Err(busy(path, limit)),
            Err(e) => return Err(cannot(&e)),
        }
        step::reached("locked");
        tracing::trace!("lock taken");
        Ok(Lock { _file: file, _turn: turn })
    }
}

/// Looks for a file's lock until it is free; says whether that was in time.
pub(super) fn take(file: &File, until: Instant) -> std::io::Result<bool> {
    let mut pause = FIRST_PAUSE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(e),
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

pub(super) fn busy(path: &Path, limit: Duration) -> Fault {
    Fault::new(Code::LockBusy, format!("another process has held the store for {} seconds", limit.as_secs()))
        .fact("path", path.display().to_string())
        .hint("try again in a moment; nothing was written")
}
