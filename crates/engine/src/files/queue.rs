//! Turns inside this process: threads that want the same lock wait for each other here, in order, before one of them asks the kernel.
//!
//! Comes in: a lock file's path and a time by which the wait must end. Goes out: a [`Turn`], which ends when it is dropped. A thread that gives up
//! leaves the queue and nothing behind. Never here: a look at the disk, or slow work under the table's own lock.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long the threads of one process may pass a lock among themselves before they let others have a chance. Other processes look for it at
/// intervals; without a gap they might never find it free.
const LONGEST_ROW: Duration = Duration::from_millis(50);

/// Who has the turn for one path, and who waits.
#[derive(Debug)]
struct Queue {
    held: bool,
    /// Since when this process has passed the lock from thread to thread.
    row: Instant,
    waiting: VecDeque<(u64, Thread)>,
    next: u64,
}

static QUEUES: LazyLock<Mutex<HashMap<PathBuf, Queue>>> = LazyLock::new(Mutex::default);

/// A panic elsewhere leaves the table whole: each change to it is one step.
fn queues() -> MutexGuard<'static, HashMap<PathBuf, Queue>> {
    QUEUES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// This thread's turn.
#[derive(Debug)]
pub(super) struct Turn {
    path: PathBuf,
    /// Whether other processes are due.
    pub(super) polite: bool,
}

impl Turn {
    /// Waits for this thread's turn; `None` if it did not come in time.
    pub(super) fn take(path: &Path, until: Instant) -> Option<Turn> {
        let turn = |polite| Some(Turn { path: path.to_owned(), polite });
        let mut all = queues();
        let Some(queue) = all.get_mut(path) else {
            let queue = Queue { held: true, row: Instant::now(), waiting: VecDeque::new(), next: 0 };
            all.insert(path.to_owned(), queue);
            return turn(false);
        };
        let ticket = queue.next;
        queue.next += 1;
        queue.waiting.push_back((ticket, thread::current()));
        loop {
            let queue = all.get_mut(path)?;
            if !queue.held && queue.waiting.front().is_some_and(|(first, _)| *first == ticket) {
                queue.waiting.pop_front();
                queue.held = true;
                let polite = queue.row.elapsed() >= LONGEST_ROW;
                if polite {
                    queue.row = Instant::now();
                }
                return turn(polite);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                queue.waiting.retain(|(other, _)| *other != ticket);
                // The turn may have been offered to this thread while it was giving up.
                call_next(&mut all, path);
                return None;
            }
            drop(all);
            thread::park_timeout(left);
            all = queues();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut all = queues();
        if let Some(queue) = all.get_mut(&self.path) {
            queue.held = false;
        }
        call_next(&mut all, &self.path);
    }
}

/// Wakes the first who waits if the turn is free; a queue without anybody goes.
fn call_next(all: &mut HashMap<PathBuf, Queue>, path: &Path) {
    let Some(queue) = all.get(path).filter(|queue| !queue.held) else { return };
    match queue.waiting.front() {
        Some((_, first)) => first.unpark(),
        None => {
            all.remove(path);
        }
    }
}

/// How many threads wait for a path.
#[cfg(test)]
pub(super) fn waiting(path: &Path) -> usize {
    queues().get(path).map_or(0, |queue| queue.waiting.len())
}

/// Whether anything is kept about a path.
#[cfg(test)]
pub(super) fn is_known(path: &Path) -> bool {
    queues().contains_key(path)
}
