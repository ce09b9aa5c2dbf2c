//! Adding a note: a message worth keeping, word for word.
//!
//! Comes in: [`NewNote`]. Goes out: the note, new or known. Never here: a second copy of a message.

use super::super::Added;
use super::unnamed;
use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::notes::{Given, Moment, NoteDraft, one_line};
use heirloom_core::{Code, Fault, Kind, fault::Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A note to save.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewNote {
    /// The message.
    #[serde(default)]
    pub text: String,
    /// Its subject; derived if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its keywords; derived if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Where it holds: `file:PATH`, `area:NAME` or `global`; derived if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// When it was said; now if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The fields of a note as its file has them, in place of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Value>,
}

fn draft(call: &Call, new: &NewNote) -> Result<NoteDraft> {
    let now = call.project().world().now;
    let mut draft = match &new.fields {
        Some(fields) => NoteDraft::from_fields(fields, now)?,
        None => NoteDraft::of(new.text.as_str(), Moment::of(now), call.settings().notes.max_keywords),
    };
    if let Some(title) = &new.title {
        draft.subject = Given::Yes(title.clone());
    }
    if let Given::Yes(subject) = &mut draft.subject {
        *subject = one_line(subject);
    }
    if !new.tags.is_empty() {
        draft.keywords = Given::Yes(new.tags.clone());
    }
    if let Some(scope) = &new.scope {
        draft.applies_to = Given::Yes(scope.clone());
    }
    if let Some(at) = &new.at {
        draft.occurred_at = Moment::parse(at).ok_or_else(|| {
            Fault::new(Code::Validation, "the time cannot be read")
                .fact("field", "at")
                .hint("write it like 2026-01-10T09:00:00Z")
        })?;
    }
    Ok(draft)
}

pub(super) fn add(call: &Call, new: &NewNote, entry: Entry) -> Result<Added> {
    Ok(call.notes().create(draft(call, new)?, entry)?.done.into())
}

pub(super) fn rehearse(call: &Call, new: &NewNote) -> Result<Added> {
    let draft = draft(call, new)?;
    draft.check()?;
    Ok(Added::rehearsed(unnamed(&Kind::Note), None, Some(draft.to_fields().to_string())))
}
