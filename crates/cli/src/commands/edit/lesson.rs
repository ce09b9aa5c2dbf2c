//! `edit` of a lesson: by fields, or as its entry in an editor.

use super::super::pairs;
use super::{current, in_editor, no_flags, not_one};
use crate::args::Edit;
use crate::person;
use crate::wiring::Wired;
use heirloom_core::{MemoryId, fault::Result, text};
use heirloom_engine::shelf::topics::lessons_in;
use heirloom_engine::shelf::{Done, unknown};

pub(super) fn edit(wired: &Wired, call: &Edit, id: &MemoryId) -> Result<Option<Done>> {
    let others = [
        ("--tag", !call.tag.is_empty()),
        ("--text", call.text.is_some()),
        ("--topic", call.topic.is_some()),
        ("--category", call.category.is_some()),
    ];
    no_flags(call, id, &others)?;
    let memory = current(wired, call, id)?;
    let topics = wired.call.topics();
    let mut lesson = topics.lesson(id).ok_or_else(|| unknown(id.as_str()))?;
    if call.title.is_some() || !call.field.is_empty() {
        lesson.set(&pairs(&call.field)?)?;
        if let Some(title) = &call.title {
            lesson.title = text::one_line(title);
        }
    } else {
        let before = lesson.write(&text::slug(&lesson.title));
        let Some(after) = in_editor(wired, "md", before.as_bytes())? else { return Ok(None) };
        let after = String::from_utf8(after).map_err(|_| not_one("lesson", "it is no UTF-8 text"))?;
        let mut found = lessons_in(&after);
        lesson = match (found.pop(), found.is_empty()) {
            (Some(one), true) => one,
            _ => return Err(not_one("lesson", "it needs exactly one heading `## YYYY-MM-DD: Title`")),
        };
    }
    topics.edit(id, lesson, Some(&memory.version), person::entry()).map(Some)
}
