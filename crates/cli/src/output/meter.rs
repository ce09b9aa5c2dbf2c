//! How far a long piece of work has come, on a terminal.
//!
//! Comes in: counts. Goes out: one line on stderr that overwrites itself, from half a second on: how many, of how many, and how long it still takes.
//! Never here: anything where no terminal is, or a line left behind.

use heirloom_engine::verbs::Progress;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// What takes no longer than this needs no words.
const QUIET: Duration = Duration::from_millis(500);
/// How often the line changes.
const EVERY: Duration = Duration::from_millis(100);

/// The line.
#[derive(Debug)]
pub(crate) struct Meter {
    began: Instant,
    last: Option<Instant>,
    on_terminal: bool,
    width: usize,
}

impl Meter {
    pub(crate) fn new() -> Meter {
        Meter { began: Instant::now(), last: None, on_terminal: std::io::stderr().is_terminal(), width: 0 }
    }

    /// Says how far it is, if it is time to.
    pub(crate) fn show(&mut self, at: Progress) {
        let since = self.began.elapsed();
        if !self.on_terminal || since < QUIET || self.last.is_some_and(|last| last.elapsed() < EVERY) {
            return;
        }
        self.last = Some(Instant::now());
        let line = line(at, since);
        let blank = " ".repeat(self.width.saturating_sub(line.len()));
        self.width = line.len();
        let mut err = std::io::stderr().lock();
        let _ = write!(err, "\r{line}{blank}").and_then(|()| err.flush());
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if self.last.is_some() {
            let mut err = std::io::stderr().lock();
            let _ = write!(err, "\r{}\r", " ".repeat(self.width)).and_then(|()| err.flush());
        }
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
    fn a_line_says_how_many_and_how_long() {
        let at = |done, of| line(Progress { what: "files", done, of }, Duration::from_secs(2));
        assert_eq!(at(500, Some(20_000)), "500 of 20000 files, 1 min 18 s left");
        assert_eq!(at(10_000, Some(20_000)), "10000 of 20000 files, 2 s left");
        assert_eq!(at(20_000, Some(20_000)), "20000 of 20000 files, 1 s left");
        assert_eq!(at(0, Some(20_000)), "0 of 20000 files");
        assert_eq!(at(7, None), "7 files");
    }
}
