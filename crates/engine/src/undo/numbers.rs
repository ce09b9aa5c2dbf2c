//! The numbers under which what a call changes can be taken back.
//!
//! Comes in: the number of a change in its chain, or of the change that is taken back. Goes out: the number of the call's first change, which
//! stands for all of them. Never here: what changed.

use crate::threads::locked;
use std::sync::Mutex;

/// The numbers of a call's changes in one chain.
#[derive(Debug, Default)]
pub(crate) struct Numbers(Mutex<Counted>);

/// What [`Numbers`] holds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counted {
    group: Option<u64>,
    undoing: Option<(u64, bool)>,
}

impl Numbers {
    /// The number under which everything this call changes can be taken back: that of its first change.
    pub(crate) fn group(&self, seq: u64) -> u64 {
        *locked(&self.0).group.get_or_insert(seq)
    }

    /// That number, if this call changed anything yet.
    pub(crate) fn began(&self) -> Option<u64> {
        locked(&self.0).group
    }

    /// The change that this call takes back, if it does.
    pub(crate) fn undoing(&self) -> Option<u64> {
        locked(&self.0).undoing.map(|(number, _)| number)
    }

    /// Whether that was a person's, so that taking it back is no agent's either.
    pub(crate) fn undoes_a_persons(&self) -> bool {
        locked(&self.0).undoing.is_some_and(|(_, person)| person)
    }

    /// From here on everything this call changes takes back the change of this number.
    pub(crate) fn begin_undo(&self, number: u64, of_a_person: bool) {
        locked(&self.0).undoing = Some((number, of_a_person));
    }

    /// Lays this call's numbers aside, for what it does in nobody's name.
    pub(crate) fn aside(&self) -> Counted {
        std::mem::take(&mut locked(&self.0))
    }

    /// Takes them up again.
    pub(crate) fn resume(&self, counted: Counted) {
        *locked(&self.0) = counted;
    }
}
