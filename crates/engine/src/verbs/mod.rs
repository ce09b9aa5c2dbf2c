//! The verbs: one function for each thing that can be asked, whichever door asks.
//!
//! Comes in: a [`Call`], which carries the caller, and a typed request. Goes out: a typed answer that serialises; it becomes `--json`, an
//! HTTP body and an MCP result. Authority, audience and redaction act in here, so that no door can forget them. Never here: arguments,
//! questions to a person, printing.
//!
//! A write ends in [`Outcome`]: done, or waiting for a person. Waiting is an answer, not an error; a door may still end with the exit code
//! of [`Code::NeedsConfirmation`].

pub mod life;
pub mod names;
pub mod remove;
pub mod undo;
mod waiting;

pub use waiting::{Waiting, change_of, resume};

use crate::call::Call;
use heirloom_core::{Code, Fault, May, Memory, MemoryId, Owner, Verb, fault::Result};
use serde::Serialize;

/// What came of a write.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Outcome<T> {
    /// It is done.
    Done(T),
    /// Nothing changed; a person decides.
    Waits(Waiting),
}

impl<T> Outcome<T> {
    /// What was done; the fault of something that waits otherwise. For doors that report waiting as an error code.
    pub fn done(self) -> Result<T> {
        match self {
            Outcome::Done(done) => Ok(done),
            Outcome::Waits(waiting) => Err(waiting.into()),
        }
    }

    /// An outcome from what a shelf answered: a draft that waits is no fault here.
    pub fn of(call: &Call, answer: Result<T>) -> Result<Outcome<T>> {
        match answer {
            Ok(done) => Ok(Outcome::Done(done)),
            Err(fault) if fault.code == Code::NeedsConfirmation => {
                Ok(Outcome::Waits(Waiting::of(call, &fault)?))
            }
            Err(fault) => Err(fault),
        }
    }
}

/// Asks the table of authority about an effect on a text of this owner. A refusal is audited by whoever writes down the outcome of the verb.
pub(crate) fn asked(call: &Call, verb: Verb, owner: Owner) -> Result<May> {
    match verb.may(call.caller(), owner) {
        May::Refused => Err(verb.refusal(call.caller())),
        may => Ok(may),
    }
}

/// The memory of an id as this caller may see it.
pub(crate) fn seen(call: &Call, id: &MemoryId) -> Result<Memory> {
    let memory = call.shelf_of(id)?.get(id)?.filter(|memory| call.caller().sees().sees(memory));
    memory.ok_or_else(|| unknown(id))
}

fn unknown(id: &MemoryId) -> Fault {
    crate::shelf::unknown(id.as_str())
}
