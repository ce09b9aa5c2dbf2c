//! The PIN: checked, set and taken away.
//!
//! Comes in: what was typed. Goes out: right or wrong, and a caller who counts as checked from then on; or the PIN changed together with the
//! setting that asks for it. Who changes a PIN gave the old one first. Never here: asking; a PIN in an answer, a message or the audit.

use super::change::{own_file, read};
use super::only_a_person;
use crate::call::Call;
use crate::files::Mode;
pub use crate::pin::Answer;
use crate::pin::Pin;
use crate::settings::audited::Turn;
use crate::settings::{PERSON_CHECK, write_document};
use heirloom_core::settings::flat;
use heirloom_core::{Code, Fault, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A PIN to be set. It has no form in which it could be printed.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetPin {
    /// The new PIN.
    pub pin: String,
}

impl std::fmt::Debug for SetPin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SetPin { .. }")
    }
}

/// What became of the PIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PinChanged {
    /// `set` or `removed`.
    #[schemars(extend("enum" = ["set", "removed"]))]
    pub status: &'static str,
}

fn pin(call: &Call) -> Pin {
    Pin::of(&call.project().world().data)
}

/// Whether this user has one.
pub fn has_pin(call: &Call) -> bool {
    pin(call).is_set()
}

/// Refuses while no PIN is set to answer or a pause is on: whoever must wait is told so before typing anything.
pub fn waits_for_pin(call: &Call) -> Result<()> {
    pin(call).open(call.project().world().now)
}

/// Looks whether this is the PIN. If it is, the caller counts as checked for the rest of this call.
pub fn check_pin(call: &mut Call, typed: &str) -> Result<Answer> {
    let answer = pin(call).answer(typed, call.project().world().now)?;
    if answer == Answer::Right {
        call.check_person();
    }
    Ok(answer)
}

/// Sets the PIN, in the place of the one before, and switches the check on.
pub fn set_pin(call: &Call, ask: &SetPin) -> Result<PinChanged> {
    change(call, Some(&ask.pin))
}

/// Takes the PIN away and switches the check off.
pub fn remove_pin(call: &Call) -> Result<PinChanged> {
    change(call, None)
}

fn change(call: &Call, new: Option<&str>) -> Result<PinChanged> {
    let kept = pin(call);
    // Whoever has the old one was checked; where there is none, there is nothing to give.
    match (call.caller().is_person(), kept.is_set() && !call.caller().is_checked()) {
        (false, _) => only_a_person(call, "the PIN")?,
        (true, true) => {
            let verb = Verb::ConfigGuarded;
            return Err(call.refuse(verb, "", verb.unchecked()));
        }
        (true, false) => {}
    }
    if new.is_none() && !kept.is_set() {
        return Err(Fault::new(Code::NotFound, "no PIN is set").hint("`heirloom config pin` sets one"));
    }
    let turn = Turn::wait(call)?;
    let path = own_file(call)?;
    let mut document = read(path)?;
    if let Some(new) = new {
        Pin::fits(new)?;
    }
    let noted = turn.intend(Verb::ConfigGuarded, PERSON_CHECK, false)?;
    match new {
        Some(new) => {
            kept.set(new, &call.random()?)?;
            flat::set(&mut document, PERSON_CHECK, json!("pin"));
            write_document(path, &document, Mode::Private)?;
        }
        None => {
            flat::remove(&mut document, PERSON_CHECK);
            write_document(path, &document, Mode::Private)?;
            kept.remove()?;
        }
    }
    noted.done();
    Ok(PinChanged { status: if new.is_some() { "set" } else { "removed" } })
}
