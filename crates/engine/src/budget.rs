//! What one call may cost: time, bytes, and texts taken into the index.
//!
//! Comes in: a clock, from whoever answers a hook. Goes out: yes or no at the head of every loop and before every file, and what was left
//! out. It travels with the [`Call`](crate::Call); while the call works, the thread holds it, so that no reading of a file gets past it
//! (`files/read.rs` asks here) and no function below needs to be handed it. A command outside a hook has none and does everything.
//! Never here: a project's words; what was left out is named by its sort and counted.
//!
//! A hook answers somebody who waits, in a project that a stranger may have filled. So it does what its budget allows, keeps what it has
//! done, and says what is missing and which command does it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An unoptimised build is many times slower, and its deadlines as many times longer.
const SLOW: u32 = if cfg!(debug_assertions) { 40 } else { 1 };
/// When a hook stops to take anything more into the index.
pub const FOLLOW: Duration = Duration::from_millis(100 * SLOW as u64);
/// When it stops to begin anything new that can wait.
pub const SOON: Duration = Duration::from_millis(150 * SLOW as u64);
/// The same for work that is done once and noted as tried: what it makes spares every later hook.
pub const ONCE: Duration = Duration::from_millis(340 * SLOW as u64);
/// What is kept for answering from what was found, however late it has become.
pub const ANSWER: Duration = Duration::from_millis(50 * SLOW as u64);
/// When a hook reads nothing at all any more.
pub const LATE: Duration = Duration::from_millis(2_000 * SLOW as u64);
/// So much is looked at however late it is, so that a small store is never cut and a large one comes to its end.
pub const ALWAYS: u64 = 64 << 10;
/// So often it is asked whether to go on before the deadline counts.
pub const LOOKS: u64 = 1_000;
/// Bytes that a hook reads in all. The user's own trust book may be most of them; everything of a project has smaller limits below.
pub const BYTES: u64 = 320 << 20;
/// Bytes of texts that a hook takes into the index.
pub const TEXTS: u64 = 1 << 20;
/// The largest file with one memory in it, or a page of lessons, that a hook looks into.
pub const ONE_MEMORY: u64 = 128 << 10;
/// The largest file with a line for each memory that a hook takes apart: renames, and what happened to memories.
pub const LINES: u64 = 16 << 20;
/// The largest list of renames that a hook follows.
pub const RENAMES: u64 = 1 << 20;
/// The largest vault that a hook reads, and the most of its memories that it weighs.
pub const VAULT: u64 = 16 << 20;
/// Most memories of a vault that a hook weighs.
pub const IN_USE: usize = 2_000;

/// What a hook left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// Files that are larger than a hook looks into.
    Large,
    /// Files that a hook had no time or no room for.
    Files,
    /// Texts that are not in the index yet.
    Texts,
    /// The vault.
    Vault,
    /// The line that `index.md` has for each record.
    Index,
    /// Drafts in review.
    Drafts,
}

impl Left {
    /// What it is called, and the command that does it.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Left::Large => ("larger than a hook reads", "heirloom verify"),
            Left::Files => ("not read", "heirloom search"),
            Left::Texts => ("not in the search index yet", "heirloom search"),
            Left::Vault => ("of the vault not read", "heirloom vault stats"),
            Left::Index => ("parts of index.md not read or not made", "heirloom verify --fix"),
            Left::Drafts => ("in review not counted", "heirloom review"),
        }
    }
}

/// What a call may cost.
#[derive(Debug, Clone, Default)]
pub struct Budget(Option<Arc<Meter>>);

struct Meter {
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
    read: AtomicU64,
    texts: AtomicU64,
    looks: AtomicU64,
    /// When it is too late to begin something new, in milliseconds.
    soon: AtomicU64,
    left: Mutex<BTreeMap<Left, u64>>,
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter").field("read", &self.read).field("texts", &self.texts).finish()
    }
}

thread_local! {
    static HELD: RefCell<Budget> = const { RefCell::new(Budget(None)) };
}

/// Puts back what the thread held before.
#[derive(Debug)]
pub struct Holding(Budget);

impl Drop for Holding {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| std::mem::swap(held, &mut self.0));
    }
}

impl Budget {
    /// A budget without bounds, for whoever asked for all of it.
    pub fn open() -> Budget {
        Budget(None)
    }

    /// The budget of a hook. The clock says how long the hook has been at work.
    pub fn of_a_hook(clock: impl Fn() -> Duration + Send + Sync + 'static) -> Budget {
        Budget(Some(Arc::new(Meter {
            clock: Box::new(clock),
            read: AtomicU64::new(0),
            texts: AtomicU64::new(0),
            looks: AtomicU64::new(0),
            soon: AtomicU64::new(SOON.as_millis() as u64),
            left: Mutex::default(),
        })))
    }

    /// Has this thread keep to the budget until what is returned goes.
    #[must_use]
    pub fn hold(&self) -> Holding {
        Holding(HELD.replace(self.clone()))
    }

    /// What was left out so far, a line each with the command that does it.
    pub fn left_out(&self) -> Vec<String> {
        let Some(meter) = &self.0 else { return Vec::new() };
        let left = meter.left.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |(left, count): (&Left, &u64)| {
            let (what, command) = left.words();
            format!("{count} {what}: `{command}`")
        };
        left.iter().map(line).collect()
    }

    /// Bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.0.as_ref().map_or(0, |meter| meter.read.load(Ordering::Relaxed))
    }

    /// Bytes of texts taken into the index so far.
    pub fn texts_taken(&self) -> u64 {
        self.0.as_ref().map_or(0, |meter| meter.texts.load(Ordering::Relaxed))
    }

    fn leave(&self, what: Left, count: u64) {
        if let Some(meter) = &self.0
            && count > 0
        {
            *meter.left.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_default() += count;
        }
    }
}

impl Meter {
    fn soon(&self) -> Duration {
        Duration::from_millis(self.soon.load(Ordering::Relaxed))
    }

    fn goes_on(&self) -> bool {
        let spent = self.read.load(Ordering::Relaxed);
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        spent < BYTES && ((spent < ALWAYS && looks < LOOKS) || (self.clock)() < self.soon())
    }
}

/// The budget this thread holds.
pub fn held() -> Budget {
    HELD.with_borrow(Budget::clone)
}

/// Whether this thread has bounds.
pub fn is_bounded() -> bool {
    HELD.with_borrow(|held| held.0.is_some())
}

/// Whether there is time and room to begin something new that can wait. Asked at the head of every loop over what a project holds.
pub fn goes_on() -> bool {
    HELD.with_borrow(|held| held.0.as_ref().is_none_or(|meter| meter.goes_on()))
}

/// Whether there is time to go on listing what a folder holds, of which so much is listed. A list that has become long takes nothing from what
/// is always looked at: whoever has names only has nothing to answer from.
pub fn lists_or_leaves(listed: usize, what: Left) -> bool {
    let goes_on = HELD.with_borrow(|held| {
        held.0.as_ref().is_none_or(|meter| (listed as u64) < LOOKS || (meter.clock)() < meter.soon())
    });
    if !goes_on {
        leave_out(what, 1);
    }
    goes_on
}

/// Does a piece of work that is done once, with more patience than the rest.
pub fn once<T>(work: impl FnOnce() -> T) -> T {
    until(ONCE, work)
}

/// Brings the index up to date, so that there is time left to answer.
pub fn following<T>(work: impl FnOnce() -> T) -> T {
    until(FOLLOW, work)
}

/// Answers from what is at hand: a hook that spent its time on finding it is not to throw it away.
pub fn answering<T>(work: impl FnOnce() -> T) -> T {
    let now = HELD.with_borrow(|held| held.0.as_ref().map(|meter| (meter.clock)()));
    until(now.map_or(SOON, |now| SOON.max(now + ANSWER)), work)
}

fn until<T>(end: Duration, work: impl FnOnce() -> T) -> T {
    let set = |to: Duration| {
        HELD.with_borrow(|held| {
            if let Some(meter) = &held.0 {
                meter.soon.store(to.as_millis() as u64, Ordering::Relaxed);
            }
        });
    };
    set(end);
    let done = work();
    set(SOON);
    done
}

/// Whether there is; notes one of these as left out if not.
pub fn goes_on_or_leaves(what: Left) -> bool {
    let goes_on = goes_on();
    if !goes_on {
        leave_out(what, 1);
    }
    goes_on
}

/// Notes what was left out.
pub fn leave_out(what: Left, count: u64) {
    HELD.with_borrow(|held| held.leave(what, count));
}

/// How much was left out so far, whatever it is: whoever compares two moments knows whether what lies between is whole.
pub fn gaps() -> u64 {
    HELD.with_borrow(|held| {
        held.0
            .as_ref()
            .map_or(0, |meter| meter.left.lock().unwrap_or_else(PoisonError::into_inner).values().sum())
    })
}

/// The limit that counts for a file: the usual one, or that of a hook.
pub fn limit(usual: u64, of_a_hook: u64) -> u64 {
    if is_bounded() { usual.min(of_a_hook) } else { usual }
}

/// The limit of a file with one memory in it.
pub fn one_memory(usual: u64) -> u64 {
    limit(usual, ONE_MEMORY)
}

/// Takes room for reading a file; says whether there is any. What is too late or too much is noted.
pub(crate) fn may_read(size: u64) -> bool {
    HELD.with_borrow(|held| {
        let Some(meter) = &held.0 else { return true };
        let before = meter.read.fetch_add(size, Ordering::Relaxed);
        let fits = before + size <= BYTES && (before < ALWAYS || (meter.clock)() < LATE);
        if !fits {
            meter.read.fetch_sub(size, Ordering::Relaxed);
            held.leave(Left::Files, 1);
        }
        fits
    })
}

/// Takes room for a text of the index; says whether there is any.
pub(crate) fn may_take(size: usize) -> bool {
    HELD.with_borrow(|held| {
        let Some(meter) = &held.0 else { return true };
        let size = size as u64;
        let before = meter.texts.fetch_add(size, Ordering::Relaxed);
        let fits = before + size <= TEXTS && (before < ALWAYS || meter.goes_on());
        if !fits {
            meter.texts.fetch_sub(size, Ordering::Relaxed);
            held.leave(Left::Texts, 1);
        }
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_no_bounds_and_a_hook_is_held_to_its_bytes() {
        assert!(goes_on() && may_read(u64::MAX / 2) && may_take(usize::MAX / 2));
        let budget = Budget::of_a_hook(|| Duration::ZERO);
        {
            let _holding = budget.hold();
            assert!(may_read(BYTES - 1) && goes_on() && !may_read(2) && may_read(1));
            assert!(may_take(TEXTS as usize) && !may_take(1));
        }
        assert!(goes_on() && !is_bounded(), "it is put down again");
        assert_eq!(budget.bytes_read(), BYTES);
        assert_eq!(budget.left_out().len(), 2);
        assert!(budget.left_out().iter().all(|line| line.contains("`heirloom ")));
    }

    #[test]
    fn a_late_hook_begins_nothing_new_but_always_looks_at_a_little() {
        let budget = Budget::of_a_hook(|| LATE);
        let _holding = budget.hold();
        assert!(goes_on() && may_read(ALWAYS), "the first bytes are never too late");
        assert!(!goes_on() && !may_read(1) && gaps() == 1);
        assert!(may_take(ALWAYS as usize) && !may_take(1));
        let budget = Budget::of_a_hook(|| SOON);
        let _holding = budget.hold();
        assert_eq!(
            (0..2 * LOOKS).filter(|_| goes_on()).count() as u64,
            LOOKS,
            "looking without reading ends too"
        );
    }

    #[test]
    fn what_is_done_once_has_more_time() {
        let budget = Budget::of_a_hook(|| SOON);
        let _holding = budget.hold();
        assert!(may_read(ALWAYS) && !goes_on() && once(goes_on) && !goes_on());
    }

    #[test]
    fn a_hook_that_is_late_still_answers_from_what_it_found() {
        let budget = Budget::of_a_hook(|| ONCE);
        let _holding = budget.hold();
        assert!(may_read(ALWAYS) && !goes_on() && answering(goes_on) && !goes_on());
    }

    #[test]
    fn a_second_thread_keeps_to_the_same_budget() {
        let budget = Budget::of_a_hook(|| Duration::ZERO);
        let _holding = budget.hold();
        crate::threads::both(|| may_read(10), || may_read(20));
        assert_eq!(budget.bytes_read(), 30);
    }
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod floods;
