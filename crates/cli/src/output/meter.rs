//! How far a long piece of work has come.
//!
//! Comes in: counts. Goes out: the same to the watch over this command, which shows them in its own time. Never here: printing.

use super::watch;
use heirloom_engine::verbs::Progress;
use std::time::Instant;

/// Counts one piece of work until it is dropped.
#[derive(Debug)]
pub(crate) struct Meter {
    began: Instant,
}

impl Meter {
    pub(crate) fn new() -> Meter {
        Meter { began: Instant::now() }
    }

    /// Says how far it is.
    pub(crate) fn show(&mut self, at: Progress) {
        watch::count(self.began, Some(at));
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        watch::count(self.began, None);
    }
}
