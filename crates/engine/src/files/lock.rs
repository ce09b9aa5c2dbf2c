//! The store's lock: a kernel lock with a time limit that refuses rather than goes on.
//!
//! Comes in: the lock file's path. Goes out: a [`Lock`], which is held until it is dropped, also by the kernel if the process
//! dies. Threads of this process queue in order first ([`super::queue`]), so that only one of them asks the kernel. Never here: going on without
//! the lock, breaking somebody else's, a thread that goes on waiting for somebody who gave up, or anything to clean up.

use super::journal::{Changed, Keeping};
use super::queue::Turn;
use super::step;
use heirloom_core::{Code, Fault, fault::Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::thread::ThreadId;
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
    // What is kept of changes ends before anybody else makes any.
    _keeping: Option<Keeping>,
    inner: Arc<Inner>,
    again: bool,
}

#[derive(Debug)]
struct Inner {
    // In this order: the kernel's lock is given back before the next thread is called.
    _file: File,
    _turn: Turn,
}

/// Who holds a lock, so that the same thread may ask for it again inside: several changes in one piece need it throughout, and each of them
/// asks for itself.
#[derive(Debug, Default)]
pub(crate) struct Holder(std::sync::Mutex<Option<(ThreadId, Weak<Inner>)>>);

impl Holder {
    fn slot(&self) -> std::sync::MutexGuard<'_, Option<(ThreadId, Weak<Inner>)>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The lock, if this thread has it.
    pub(crate) fn again(&self) -> Option<Lock> {
        let (thread, inner) = self.slot().clone()?;
        let inner = inner.upgrade().filter(|_| thread == std::thread::current().id())?;
        Some(Lock { _keeping: None, inner, again: true })
    }

    /// Notes that this thread has it.
    pub(crate) fn by(&self, lock: &Lock) {
        *self.slot() = Some((std::thread::current().id(), Arc::downgrade(&lock.inner)));
    }
}

impl Lock {
    /// Whether this thread had the lock already when it asked for this one.
    pub(crate) fn is_again(&self) -> bool {
        self.again
    }

    /// The same lock; while it is held, what this thread changes is kept for whoever wants to know.
    #[must_use]
    pub(crate) fn keeping(mut self, changed: Option<Arc<Changed>>) -> Lock {
        self._keeping = changed.map(Keeping::into);
        self
    }

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
        Ok(Lock { _keeping: None, inner: Arc::new(Inner { _file: file, _turn: turn }), again: false })
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
    Fault::new(
        Code::LockBusy,
        format!("another process has locked the store for {} seconds", limit.as_secs()),
    )
    .fact("path", path.display().to_string())
    .hint("try again in a moment; nothing was written")
}
