//! What lives as long as the process: compiled rules, models, the user's home, the database of the tiers.
//!
//! Comes in: what the door found out about this machine and its user. Goes out: what every call shares (`call.rs` makes those).
//! Any number of threads may use it at once. Never here: a project, a caller or a time; those belong to one call.
//!
//! A hook makes one deployment, one call, and ends. A server keeps one deployment and makes thousands of calls.

use crate::gate::Screen;
use crate::gate::books::Books;
use crate::gate::inbox::Dice;
use crate::index::embed::chosen::{Chosen, Given};
use crate::index::embed::followed::Followed;
use crate::threads::locked;
use crate::working::Workings;
use heirloom_core::settings::Gate;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Sets of rules that are kept compiled. A server has one for each project that sets its own.
const SCREENS: usize = 16;

/// What lives as long as the process.
#[derive(Debug, Default)]
pub struct Deployment {
    home: Option<PathBuf>,
    given: Option<Given>,
    dice: Option<Dice>,
    screens: Mutex<Vec<(Gate, Arc<Screen>)>>,
    books: Books,
    model: Followed,
    user_settings: Option<PathBuf>,
    workings: Arc<Mutex<Workings>>,
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

    /// Another deployment of this process, for settings that name another model. Running conversations are those of the process.
    #[must_use]
    pub fn beside(&self, given: Option<Given>) -> Deployment {
        Deployment {
            home: self.home.clone(),
            given,
            dice: self.dice,
            user_settings: self.user_settings.clone(),
            workings: Arc::clone(&self.workings),
            ..Deployment::default()
        }
    }

    /// The same with a source of random bytes, for keys that nobody may guess.
    #[must_use]
    pub fn with_dice(mut self, dice: Dice) -> Deployment {
        self.dice = Some(dice);
        self
    }

    /// The same with the place of the user's own settings, without which those cannot be changed.
    #[must_use]
    pub fn with_user_settings(mut self, file: PathBuf) -> Deployment {
        self.user_settings = Some(file);
        self
    }

    pub(crate) fn user_settings(&self) -> Option<&Path> {
        self.user_settings.as_deref()
    }

    /// The running conversations, which live and end with the process.
    pub(crate) fn workings(&self) -> &Mutex<Workings> {
        &self.workings
    }

    pub(crate) fn dice(&self) -> Option<Dice> {
        self.dice
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The model that makes vectors. It is kept open until another one is installed.
    pub(crate) fn model(&self, data: &Path) -> Option<Arc<Chosen>> {
        self.model.now(self.given.as_ref(), data)
    }

    /// The trust books that were read.
    pub(crate) fn books(&self) -> &Books {
        &self.books
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_rules_is_compiled_once() {
        let deployment = Deployment::default();
        let gate = heirloom_core::Settings::standard().gate;
        let first = deployment.screen(&gate);
        assert!(Arc::ptr_eq(&first, &deployment.screen(&gate)));
        let other = Gate { contact: heirloom_core::settings::Contact::Redact, ..gate };
        assert!(!Arc::ptr_eq(&first, &deployment.screen(&other)));
    }
}
