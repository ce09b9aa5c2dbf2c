//! `add note`: a message worth keeping, word for word.

use super::{object, only, words};
use crate::args::Add;
use crate::output::Out;
use crate::person;
use crate::wiring::Wired;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::shelf::Done;
use heirloom_engine::shelf::notes::{Given, Moment, NoteDraft, read_file};

pub(super) fn add(wired: &Wired, call: &Add, out: &Out) -> Result<Option<Done>> {
    only(call, &["--title", "--tag", "--scope", "--at"])?;
    let mut draft = draft(wired, call)?;
    if let Some(title) = &call.title {
        draft.subject = Given::Yes(title.clone());
    }
    if !call.tag.is_empty() {
        draft.keywords = Given::Yes(call.tag.clone());
    }
    if let Some(scope) = &call.scope {
        draft.applies_to = Given::Yes(scope.clone());
    }
    if let Some(at) = &call.at {
        draft.occurred_at = Moment::parse(at).ok_or_else(|| {
            Fault::new(Code::Validation, "that is no time")
                .fact("field", "at")
                .hint("write it like 2026-01-10T09:00:00Z")
        })?;
    }
    if call.dry_run {
        draft.check()?;
        out.json(&draft.to_fields());
        return Ok(None);
    }
    Ok(Some(wired.call.notes().create(draft, person::entry())?.done))
}

/// A native file and an object of fields are taken as what they are, anything else is the message itself.
fn draft(wired: &Wired, call: &Add) -> Result<NoteDraft> {
    let message = words(call)?;
    let now = wired.call.project().world().now;
    if call.from.is_some() {
        if let Ok(note) = read_file(&message) {
            return Ok(NoteDraft::of_note(note));
        }
        if let Some(fields) = object(&message) {
            return NoteDraft::from_fields(&fields, now);
        }
    }
    Ok(NoteDraft::of(message, Moment::of(now), wired.call.settings().notes.max_keywords))
}
