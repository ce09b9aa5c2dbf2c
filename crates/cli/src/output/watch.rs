//! That a command still works, where nothing else says so.
//!
//! Comes in: the start and the end of a command, and how far it is where that is known. Goes out: on a terminal, after half a second, one line on stderr that
//! overwrites itself; elsewhere, after two seconds, a line on stderr, and another at the end. Never here: a word of a hook, of `record` or of a server,
//! anything on stdout, or a line between a question and its answer.

use heirloom_engine::verbs::Progress;
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What takes no longer than this needs no words on a terminal.
const QUIET: Duration = Duration::from_millis(500);
/// The same where nobody looks at a terminal.
const QUIET_ELSEWHERE: Duration = Duration::from_secs(2);
/// How often the line changes.
const EVERY: Duration = Duration::from_millis(100);
/// Until somebody answers.
const LONG: Duration = Duration::from_secs(3600);

#[derive(Default)]
struct State {
    /// What runs; nothing before a command began and after it ended.
    what: Option<(&'static str, Instant)>,
    /// When counting began, and how far it is.
    counted: Option<(Instant, Progress)>,
    /// Whether a person has the screen.
    silent: bool,
    /// Columns of the line on the screen.
    drawn: usize,
    /// Whether something was said where there is no terminal.
    said: bool,
}

static STATE: Mutex<State> =
    Mutex::new(State { what: None, counted: None, silent: false, drawn: 0, said: false });
static CHANGED: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches a command until this is dropped.
pub(crate) struct Watch {
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Watch {
    pub(crate) fn over(what: &'static str) -> Watch {
        let on_terminal = std::io::stderr().is_terminal();
        state().what = Some((what, Instant::now()));
        // Without a thread nothing is said, and everything else goes on.
        let thread = std::thread::Builder::new().name("watch".to_owned()).stack_size(64 << 10);
        Watch { thread: thread.spawn(move || watch(on_terminal)).ok() }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let (what, said) = {
            let mut state = state();
            erase(&mut state);
            (state.what.take(), state.said)
        };
        CHANGED.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let (Some((what, began)), true) = (what, said) {
            let took = began.elapsed().as_secs_f64();
            let _ = writeln!(std::io::stderr().lock(), "heirloom {what}: ended after {took:.1} s");
        }
    }
}

fn watch(on_terminal: bool) {
    let mut state = state();
    // Asked before the first wait as well: a short command ends before this thread begins, and nobody wakes it then.
    while let Some(wait) = look(&mut state, on_terminal) {
        (state, _) = CHANGED.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Says what there is to say by now, and how long to wait for more; `None` if there is no more.
fn look(state: &mut State, on_terminal: bool) -> Option<Duration> {
    let (what, began) = state.what?;
    let quiet = if on_terminal { QUIET } else { QUIET_ELSEWHERE };
    let still_quiet = quiet.saturating_sub(began.elapsed());
    if !still_quiet.is_zero() {
        return Some(still_quiet);
    }
    if state.silent {
        return Some(LONG);
    }
    let far = state.counted.map(|(began, at)| line(at, began.elapsed()));
    if on_terminal {
        let text = far.unwrap_or_else(|| format!("{what}: {} s", began.elapsed().as_secs()));
        let blank = " ".repeat(state.drawn.saturating_sub(text.len()));
        state.drawn = text.len();
        let mut err = std::io::stderr().lock();
        let _ = write!(err, "\r{text}{blank}").and_then(|()| err.flush());
        return Some(EVERY);
    }
    let far = far.map(|far| format!(": {far}")).unwrap_or_default();
    let _ = writeln!(std::io::stderr().lock(), "heirloom {what}: still working{far}");
    state.said = true;
    None
}

fn erase(state: &mut State) {
    if state.drawn > 0 {
        let mut err = std::io::stderr().lock();
        let _ = write!(err, "\r{}\r", " ".repeat(state.drawn)).and_then(|()| err.flush());
        state.drawn = 0;
    }
}

/// The screen without the line, for as long as this is held: something else is about to be printed.
pub(crate) fn still() -> impl Drop {
    let mut state = state();
    erase(&mut state);
    Still(state)
}

struct Still(#[allow(dead_code, reason = "held, not read")] MutexGuard<'static, State>);

impl Drop for Still {
    fn drop(&mut self) {}
}

/// A person has the screen until this is dropped: for a question, a list to choose from, an editor or a pager.
pub(crate) fn hush() -> Hushed {
    let mut state = state();
    erase(&mut state);
    state.silent = true;
    Hushed
}

pub(crate) struct Hushed;

impl Drop for Hushed {
    fn drop(&mut self) {
        let mut state = state();
        state.silent = false;
        if let Some((what, _)) = state.what {
            state.what = Some((what, Instant::now()));
        }
        drop(state);
        CHANGED.notify_all();
    }
}

/// How far it is.
pub(super) fn count(began: Instant, at: Option<Progress>) {
    let mut state = state();
    state.counted = at.map(|at| (began, at));
    if state.counted.is_none() {
        erase(&mut state);
    }
}

fn line(at: Progress, since: Duration) -> String {
    let Progress { what, done, of } = at;
    match of {
        Some(of) if done > 0 && done <= of => {
            let left = since.as_secs_f64() * (of - done) as f64 / done as f64;
            format!("{done} of {of} {what}, {} left", spoken(left))
        }
        Some(of) => format!("{done} of {of} {what}"),
        None => format!("{done} {what}"),
    }
}

fn spoken(seconds: f64) -> String {
    let whole = seconds.ceil().max(1.0) as u64;
    if whole < 60 { format!("{whole} s") } else { format!("{} min {} s", whole / 60, whole % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_ended_before_its_watch_began_is_not_waited_for() {
        for on_terminal in [true, false] {
            assert_eq!(look(&mut State::default(), on_terminal), None);
            let mut running = State { what: Some(("list", Instant::now())), ..State::default() };
            assert!(look(&mut running, on_terminal).is_some_and(|wait| !wait.is_zero()));
            assert!(!running.said && running.drawn == 0);
        }
    }

    #[test]
    fn a_line_says_how_many_and_how_long() {
        let at = |done, of| line(Progress { what: "files", done, of }, Duration::from_secs(2));
        assert_eq!(at(500, Some(20_000)), "500 of 20000 files, 1 min 18 s left");
        assert_eq!(at(10_000, Some(20_000)), "10000 of 20000 files, 2 s left");
        assert_eq!(at(20_000, Some(20_000)), "20000 of 20000 files, 1 s left");
        assert_eq!(at(0, Some(20_000)), "0 of 20000 files");
        assert_eq!(at(7, None), "7 files");
    }
}
