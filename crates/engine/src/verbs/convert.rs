//! Convert: a memory of another kind from one that is there.
//!
//! Comes in: the source, the new kind, and perhaps the words of whoever distilled it. Goes out: the new memory, or what waits: an agent makes
//! nothing else of a person's text without a yes. Never here: how each kind is made, which is [`crate::convert`]'s.

use super::names::{self, Enough};
use super::{Added, Outcome, asked_of, commit, seen, waiting};
use crate::call::Call;
pub use crate::convert::Conversion;
use crate::convert::convert as made;
use crate::gate::Entry;
pub use crate::shelf::records::Missing;
use heirloom_core::{May, Memory, Trust, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// What is to become of what.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convert {
    /// The source, by id or name.
    pub id: String,
    /// The new kind.
    pub kind: String,
    /// What is wanted.
    #[serde(default)]
    pub wanted: Conversion,
    /// The version of the source that a person was shown and takes over as it is. From anybody else it counts for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

/// Somebody else's text, which becomes this person's only once it was seen: to be shown before [`convert`], with its version as
/// [`Convert::seen`]. Nothing if nobody is to be asked.
pub fn to_show(call: &Call, ask: &Convert) -> Result<Option<Memory>> {
    if ask.wanted.words.is_some() || !call.caller().is_person() {
        return Ok(None);
    }
    Ok(Some(source(call, ask)?).filter(|source| source.trust < Trust::High))
}

/// The fields that are still to be said before this can be made. A door with a person asks for them; for anybody else [`convert`] names them.
pub fn lacks(call: &Call, ask: &Convert) -> Result<Vec<Missing>> {
    let source = source(call, ask)?;
    crate::convert::lacks(call, &source, &super::list::known_kind(call, &ask.kind)?, &ask.wanted)
}

/// Makes a memory of another kind.
pub fn convert(call: &Call, ask: &Convert) -> Result<Outcome<Added>> {
    let outcome = run(call, ask, call.entry())?;
    if let Outcome::Done(made) = &outcome {
        let source = made.from.as_ref().map_or(ask.id.as_str(), |from| from.as_str());
        commit::commit(call, &format!("memory: convert {source} to {}", made.id));
    }
    Ok(outcome)
}

pub(super) fn run(call: &Call, ask: &Convert, mut entry: Entry) -> Result<Outcome<Added>> {
    let source = source(call, ask)?;
    let kind = super::list::known_kind(call, &ask.kind)?;
    if asked_of(call, Verb::Convert, &source, call.stands_behind(&source)?)? == May::Waits {
        crate::convert::ready(call, &source, &kind, &ask.wanted)?;
        let ask = Convert { id: source.id.to_string(), seen: None, ..ask.clone() };
        return Ok(Outcome::Waits(waiting::wait(call, Verb::Convert, &source, &ask)?));
    }
    entry.confirmed |= call.caller().is_person()
        && ask.wanted.words.is_none()
        && ask.seen.as_ref().is_some_and(|seen| *seen == source.version);
    Outcome::of(
        call,
        made(call, &source.id, &kind, &ask.wanted, entry).map(|made| Added {
            from: Some(source.id.clone()),
            assumed: made.assumed,
            ..Added::from(made.done)
        }),
    )
}

fn source(call: &Call, ask: &Convert) -> Result<Memory> {
    seen(call, &names::find(call, &ask.id, Enough::to_change(call))?)
}
