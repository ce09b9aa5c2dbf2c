//! The shelves of a call.
//!
//! Comes in: a [`Call`]. Goes out: each shelf, all of them, or the one that holds an id; and what reaches over all of them: what waits, what is
//! refused, what must be cut. Never here: a shelf's own rules.

use super::notes::Notes;
use super::records::Records;
use super::tiers::{Access, Tiers};
use super::topics::Topics;
use super::vault::Vault;
use super::{Problem, Shelf};
use crate::call::Call;
use crate::gate::Entry;
use crate::gate::inbox::{Inbox, Waiting};
use heirloom_core::{Code, Fault, MemoryId, Owner, ShelfName, Verb, fault::Result};

/// Why a call has no tiers.
struct NoTiers(Fault);

impl Call {
    /// The same call with the tiers of an authenticated user.
    #[must_use]
    pub fn with_tiers(self, access: Access) -> Call {
        self.with_key(access)
    }

    /// The record shelf.
    pub fn records(&self) -> Records<'_> {
        Records::new(self)
    }

    /// The topics shelf.
    pub fn topics(&self) -> Topics<'_> {
        Topics::new(self)
    }

    /// The notes shelf.
    pub fn notes(&self) -> Notes<'_> {
        Notes::new(self)
    }

    /// The vault.
    pub fn vault(&self) -> Vault<'_> {
        Vault::new(self)
    }

    /// The tiers of the user this engine was made for.
    pub fn tiers(&self) -> Result<Tiers<'_>> {
        match (self.key::<Access>(), self.key::<NoTiers>()) {
            (Some(access), _) => Ok(Tiers::new(self, access)),
            (None, Some(NoTiers(why))) => Err(why.clone()),
            (None, None) => Err(Fault::new(Code::Unauthenticated, "no user is signed in")),
        }
    }

    /// The same call without tiers, and why there are none.
    #[must_use]
    pub fn without_tiers(self, why: Fault) -> Call {
        self.with_key(NoTiers(why))
    }

    /// Every shelf there is.
    pub fn shelves(&self) -> Vec<Box<dyn Shelf + '_>> {
        let mut shelves: Vec<Box<dyn Shelf + '_>> = match self.project().is_nowhere() {
            true => Vec::new(),
            false => vec![
                Box::new(self.records()),
                Box::new(self.topics()),
                Box::new(self.notes()),
                Box::new(self.vault()),
            ],
        };
        if let Ok(tiers) = self.tiers() {
            shelves.push(Box::new(tiers));
        }
        shelves
    }

    /// The shelf that holds an id.
    pub fn shelf_of(&self, id: &MemoryId) -> Result<Box<dyn Shelf + '_>> {
        Ok(match id.kind().shelf() {
            ShelfName::Records => Box::new(self.records()),
            ShelfName::Topics => Box::new(self.topics()),
            ShelfName::Notes => Box::new(self.notes()),
            ShelfName::Vault => Box::new(self.vault()),
            ShelfName::Tiers => match self.tiers() {
                Ok(tiers) => Box::new(tiers),
                Err(fault) if fault.code == Code::Unavailable => return Err(fault),
                Err(_) => return Err(super::unknown(id.as_str())),
            },
        })
    }

    /// What the shelves hold that the gate would refuse.
    pub fn refused_content(&self) -> Result<Vec<Problem>> {
        let mut held = Vec::new();
        for shelf in self.shelves() {
            held.extend(
                shelf.verify()?.into_iter().filter(|problem| problem.code == Code::GateRefused.name()),
            );
        }
        Ok(held)
    }

    /// Cuts what the gate refuses out of every shelf. Returns the files that changed.
    pub fn redact_stored(&self, entry: Entry) -> Result<Vec<String>> {
        let mut changed = Vec::new();
        for shelf in self.shelves() {
            changed.extend(shelf.redact_stored(entry)?);
        }
        Ok(changed)
    }

    /// Every inbox: the project's, and that of the user's tiers.
    pub fn inboxes(&self) -> Result<Vec<Inbox>> {
        // Without a project only what is the user's own can wait.
        let mut all = if self.project().is_nowhere() { Vec::new() } else { vec![self.inbox()?] };
        all.extend(self.tiers().ok().map(|tiers| tiers.inbox()));
        Ok(all)
    }

    /// Has something wait for a person, and notes that it does. Returns its key.
    pub(crate) fn hold(&self, shelf: ShelfName, item: Waiting) -> Result<String> {
        if shelf == ShelfName::Tiers {
            return self.tiers()?.hold(item);
        }
        let lock = self.lock()?;
        // What waits without a line in the audit would be a store that nobody was told of.
        self.say(&lock, "memory_write", "confirm", shelf, &item.id, self.entry(), &[], None)?;
        self.inbox()?.put(item, self.project().world().now)
    }

    /// Whether this caller may do what only a person or a token with the scope for it may. A refusal is audited.
    pub fn permit(&self, verb: Verb, shelf: ShelfName, about: &str) -> Result<()> {
        self.asks(verb, shelf, Owner::Person).map(|_| ()).map_err(|fault| self.refuse(verb, about, fault))
    }

    /// Notes that the table of authority refused this, and hands the refusal on. A store that cannot be written to keeps nobody from
    /// being refused.
    pub(crate) fn refuse(&self, verb: Verb, id: &str, fault: Fault) -> Fault {
        if self.project().has_local()
            && let Ok(lock) = self.lock()
        {
            let shelf = MemoryId::parse(id).map_or(ShelfName::Records, |id| id.kind().shelf());
            let code = Some(fault.code.name());
            let _ = self.say(&lock, verb.name(), "refuse", shelf, id, self.entry(), &[], code);
        }
        if let Ok(tiers) = self.tiers() {
            tiers.refused(verb, &fault);
        }
        fault
    }
}
