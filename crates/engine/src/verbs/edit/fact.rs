//! Editing what the tiers hold: a fact's words, how sure it is, how long an episode is kept.
//!
//! Comes in: the memory as it is and the change. Goes out: the fact under the id of its newest words; the old ones are superseded, with
//! history kept. Never here: other words for what was said.

use super::{Edit, hold};
use crate::call::Call;
use crate::gate::Entry;
use crate::verbs::{Added, Outcome, remember};
use heirloom_core::{Code, Fault, Memory, fault::Result};

/// A number a field was given.
pub(super) enum Number {
    Confidence(f64),
    Days(u32),
}

pub(super) fn edit(
    call: &Call,
    ask: &Edit,
    memory: &Memory,
    mut entry: Entry,
    waits: bool,
) -> Result<Outcome<Added>> {
    if waits {
        return hold(call, ask, memory).map(Outcome::Waits);
    }
    let tiers = call.tiers()?;
    let id = memory.id.as_str();
    for number in numbers(ask)? {
        match number {
            Number::Confidence(confidence) => tiers.set_confidence(id, confidence)?,
            Number::Days(days) => tiers.set_days(id, days)?,
        };
    }
    let words = ask.whole.as_ref().map(|whole| whole.trim().to_owned()).or_else(|| ask.text.clone());
    let mut changed = Added {
        status: "changed",
        id: memory.id.clone(),
        path: None,
        notes: Vec::new(),
        assumed: Vec::new(),
        from: None,
        would: None,
    };
    if let Some(words) = words {
        entry.confirmed |= ask.yes.possible_secret && remember::possible_secret(call, &words, true).is_some();
        match tiers.reword(id, &words, entry) {
            Ok(kept) => changed = Added { status: "changed", ..Added::from(kept) },
            Err(fault) => return Outcome::of(call, Err(fault)),
        }
    }
    Ok(Outcome::Done(changed))
}

/// The numbers that fields were given, all read before anything is changed.
pub(super) fn numbers(ask: &Edit) -> Result<Vec<Number>> {
    ask.fields.iter().map(number).collect()
}

fn number((name, value): &(String, String)) -> Result<Number> {
    let number = |hint: &str| {
        value
            .parse::<f64>()
            .map_err(|_| Fault::new(Code::Usage, format!("`{value}` is not a number")).hint(hint.to_owned()))
    };
    match name.as_str() {
        "confidence" => number("use 0 to 1").map(Number::Confidence),
        "days" => number("use 1 to 365").map(|days| Number::Days(days as u32)),
        _ => Err(Fault::new(Code::Usage, format!("`{name}` cannot be changed"))
            .hint("use --text for a fact's words, --field confidence=0.8, --field days=30")),
    }
}
