//! Steps: how much one command may cost to be read.
//!
//! Comes in: work, in steps of about one character or one word each. Goes out: whether there is any left. Never here: a clock; the same
//! command costs the same everywhere.

/// Steps for one command. Ordinary ones take some hundreds.
pub(super) const STEPS_MAX: usize = 1 << 20;
/// Scripts in scripts, substitutions in substitutions, calls in calls.
pub(super) const DEPTH_MAX: usize = 24;

/// What is left.
#[derive(Debug)]
pub(super) struct Steps {
    spent: usize,
    gave_up: bool,
}

impl Steps {
    pub(super) fn new() -> Steps {
        Steps { spent: 0, gave_up: false }
    }

    /// Takes steps; `false` if there are none left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.spent = self.spent.saturating_add(steps).min(STEPS_MAX);
        if self.spent == STEPS_MAX {
            self.gave_up = true;
        }
        !self.gave_up
    }

    /// The grammar says nothing more about this command: another, simpler look decides.
    pub(super) fn give_up(&mut self) {
        self.gave_up = true;
    }

    pub(super) fn gave_up(&self) -> bool {
        self.gave_up
    }

    #[cfg(test)]
    pub(super) fn spent(&self) -> usize {
        self.spent
    }
}
