//! Editing a lesson: its title and fields, or its whole entry.
//!
//! Comes in: the memory as it is and the change. Goes out: the lesson under its old id. Never here: another day, which is part of that id.

use super::{Edit, hold, not_one};
use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::topics::{Lesson, lessons_in};
use crate::shelf::unknown;
use crate::verbs::{Added, Outcome};
use heirloom_core::{Memory, fault::Result, text};

pub(super) fn draft(call: &Call, memory: &Memory) -> Result<String> {
    let lesson = stored(call, memory)?;
    Ok(lesson.write(&text::slug(&lesson.title)))
}

fn stored(call: &Call, memory: &Memory) -> Result<Lesson> {
    call.topics().lesson(&memory.id).ok_or_else(|| unknown(memory.id.as_str()))
}

pub(super) fn edit(
    call: &Call,
    ask: &Edit,
    memory: &Memory,
    entry: Entry,
    waits: bool,
) -> Result<Outcome<Added>> {
    let mut lesson = stored(call, memory)?;
    if let Some(whole) = &ask.whole {
        let mut found = lessons_in(whole);
        lesson = match (found.pop(), found.is_empty()) {
            (Some(one), true) => one,
            _ => return Err(not_one("lesson", "it needs exactly one heading `## YYYY-MM-DD: Title`")),
        };
    } else {
        lesson.set(&ask.fields)?;
        if let Some(title) = &ask.title {
            lesson.title = text::one_line(title);
        }
    }
    let topics = call.topics();
    if waits {
        topics.expect_edit(&memory.id, &lesson, Some(&memory.version))?;
        return hold(call, ask, memory).map(Outcome::Waits);
    }
    let changed = topics.edit(&memory.id, lesson, Some(&memory.version), entry);
    Outcome::of(call, changed.map(Added::from))
}
