//! What lives as long as the process: compiled rules, models, the user's home, the database of the tiers.
//!
//! Comes in: what the door found out about this machine and its user. Goes out: [`Call`]s, one for each request, which share what is here.
//! Any number of threads may use it at once. Never here: a project, a caller or a time; those belong to one call.
//!
//! A hook makes one deployment, one call, and ends. A server keeps one deployment and makes thousands of calls.

use crate::call::Call;
use crate::gate::Screen;
use crate::gate::inbox::Dice;
use crate::index::embed::chosen::{Chosen, Given};
use crate::project::Project;
use heirloom_core::settings::Gate;
use heirloom_core::{Caller, Settings};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sets of rules that are kept compiled. A server has one for each project that sets its own.
const SCREENS: usize = 16;

/// What lives as long as the process.
#[derive(Debug, Default)]
pub struct Deployment {
    home: Option<PathBuf>,
    given: Option<Given>,
    dice: Option<Dice>,
    screens: Mutex<Vec<(Gate, Arc<Screen>)>>,
}

impl Deployment {
    /// A deployment for a user with this home folder; without one, `~` in a setting leads nowhere.
    pub fn new(home: Option<PathBuf>) -> Deployment {
        Deployment { home, ..Deployment::default() }
    }

    /// The same with vectors of this model instead of the one on this machine.
    #[must_use]
    pub fn with_model(mut self, given: Option<Given>) -> Deployment {
        self.given = given;
        self
    }

    /// The same with a source of random bytes, for keys that nobody may guess.
    #[must_use]
    pub fn with_dice(mut self, dice: Dice) -> Deployment {
        self.dice = Some(dice);
        self
    }

    pub(crate) fn dice(&self) -> Option<Dice> {
        self.dice
    }

    /// A call: this project, by this caller, under these settings.
    pub fn call(self: &Arc<Self>, project: Project, settings: Settings, caller: Caller) -> Call {
        Call::of(Arc::clone(self), project, settings, caller)
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The model that makes vectors, opened anew.
    pub(crate) fn model(&self, data: &Path) -> Option<Chosen> {
        Chosen::of(self.given.as_ref(), data)
    }

    /// The gate's eyes for these settings. Compiling rules costs, so a set that was asked for is kept.
    pub(crate) fn screen(&self, gate: &Gate) -> Arc<Screen> {
        let mut kept = locked(&self.screens);
        if let Some((_, screen)) = kept.iter().find(|(known, _)| known == gate) {
            return Arc::clone(screen);
        }
        let screen = Arc::new(Screen::new(gate.clone()));
        if kept.len() == SCREENS {
            kept.remove(0);
        }
        kept.push((gate.clone(), Arc::clone(&screen)));
        screen
    }
}

/// What a panicking thread left behind is still whole: every value behind these locks is replaced at once or not at all.
pub(crate) fn locked<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

// A server uses one deployment, and any call, from all of its threads.
const _: () = {
    const fn usable_from_any_thread<T: Send + Sync>() {}
    usable_from_any_thread::<Deployment>();
    usable_from_any_thread::<Call>();
    usable_from_any_thread::<Project>();
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_rules_is_compiled_once() {
        let deployment = Deployment::default();
        let gate = Settings::standard().gate;
        let first = deployment.screen(&gate);
        assert!(Arc::ptr_eq(&first, &deployment.screen(&gate)));
        let other = Gate { contact: heirloom_core::settings::Contact::Redact, ..gate };
        assert!(!Arc::ptr_eq(&first, &deployment.screen(&other)));
    }
}
