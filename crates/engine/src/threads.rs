//! Threads: two pieces of work at once, and locks that a panic does not spoil.
//!
//! Comes in: two closures, or a list and what to do with a part of it. Goes out: the results. Never here: a thread that outlives the call, or more than one.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs the first on a thread of its own and the second here; where no thread can be had, one after the other.
pub(crate) fn both<A: Send, B>(first: impl Fn() -> A + Sync, second: impl FnOnce() -> B) -> (A, B) {
    // What this thread may cost, both may cost together.
    let budget = crate::budget::held();
    let first = || {
        let _holding = budget.hold();
        first()
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, first);
        let second = second();
        let first = match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(first)) => first,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => first(),
        };
        (first, second)
    })
}

/// From so many things on, two threads are faster than one.
const MANY: usize = 500;

/// Work over a list, of a long one in two halves at once; it adds to what is found, in the order of the list, at most one thing for each.
pub(crate) fn halves<T: Sync, R: Send>(all: &[T], work: impl Fn(&[T], &mut Vec<R>) + Sync) -> Vec<R> {
    // Room for all, since growing would move what may be large; room that is never touched costs nothing.
    let mut found = Vec::with_capacity(all.len());
    if all.len() < MANY {
        work(all, &mut found);
        return found;
    }
    let (early, late) = all.split_at(all.len() / 2);
    let later = || {
        let mut more = Vec::with_capacity(late.len());
        work(late, &mut more);
        more
    };
    let (mut more, ()) = both(later, || work(early, &mut found));
    found.append(&mut more);
    found
}

/// What a panicking thread left behind is still whole: every value behind these locks is replaced at once or not at all.
pub(crate) fn locked<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_keep_the_order() {
        for len in [0, 1, MANY - 1, MANY, MANY + 1, 3 * MANY] {
            let all: Vec<usize> = (0..len).collect();
            let odd =
                |some: &[usize], found: &mut Vec<usize>| found.extend(some.iter().filter(|n| *n % 2 == 1));
            assert_eq!(halves(&all, odd), (0..len).filter(|n| n % 2 == 1).collect::<Vec<_>>());
        }
    }
}
