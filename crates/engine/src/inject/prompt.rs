//! The block a prompt is answered with.
//!
//! Comes in: what the shelves have for it. Goes out: one fence; records first, as their format has them, then a labelled section for each
//! other shelf, whole lines only, within the budget. With nothing but records it is exactly their block. Never here: choosing; a line that
//! could close the fence, or that speaks to a model in a way the gate knows.

use super::calm::{tame, tame_place};
use super::fence::{TAIL, head, records_block};
use crate::call::Call;
use crate::recall::prompt::{Beside, Called};
use crate::shelf::anchors::Anchored;
use heirloom_core::text::{cut, escape};

const NOTES: &str = "Notes (what an assistant said here, word for word):";
const LESSONS: &str = "Lessons (what went wrong here and how it was fixed):";

/// Most characters of what a note or a lesson says.
const TEXT_MAX: usize = 300;

/// The block, at most `max` characters; empty if nothing fits.
pub fn prompt_block(call: &Call, called: &Called, max: usize) -> String {
    let records = records_block(call, &called.records, max);
    if !called.has_more() {
        return records;
    }
    let without_records = records.is_empty();
    let mut block = match records.strip_suffix(TAIL) {
        Some(open) => open.to_owned(),
        None => head(call),
    };
    let empty = block.len();
    let mut room = max.saturating_sub(block.chars().count() + TAIL.len());
    let mut add = |line: String| {
        let fits = room.checked_sub(line.chars().count());
        if let Some(left) = fits {
            room = left;
            block.push_str(&line);
        }
        fits.is_some()
    };
    for (title, memories) in [(NOTES, &called.notes), (LESSONS, &called.lessons)] {
        let mut title = Some(title);
        for memory in memories {
            let line = line(call, memory);
            let with_title = title.map_or_else(|| line.clone(), |title| format!("{title}\n{line}"));
            if add(with_title) {
                title = None;
            }
        }
    }
    // It keeps its own order and headings, so it is given whole or not at all.
    if !called.vault.is_empty() {
        add(called.vault.clone());
    }
    if block.len() == empty && without_records {
        return String::new();
    }
    block.push_str(TAIL);
    block
}

/// A memory in a line: when and how far to believe it, its title, the beginning of its text, where the rest is.
fn line(call: &Call, beside: &Beside) -> String {
    let memory = &beside.memory;
    let day: String = memory.occurred_at.as_deref().unwrap_or_default().chars().take(10).collect();
    let title = tame(call, &memory.title);
    let body = tame(call, &memory.body);
    // A note's title is mostly the first line of its text.
    let rest = body.strip_prefix(title.trim_end_matches('…')).unwrap_or(&body).trim();
    let text = cut(rest, TEXT_MAX);
    let more = if text.len() < rest.len() { "…" } else { "" };
    let colon = match (text.is_empty(), title.ends_with(|c: char| c.is_alphanumeric())) {
        (true, _) => "",
        (false, true) => ": ",
        (false, false) => " ",
    };
    let stale = beside.cited.as_ref().and_then(Anchored::label);
    let stale = stale.map(|label| format!(", {}", tame(call, &label))).unwrap_or_default();
    let place = tame_place(call, memory.path.as_deref().unwrap_or(memory.id.as_str()));
    format!(
        "- ({}trust {}, {}{stale}) {title}{colon}{text}{more} -> {place}\n",
        if day.is_empty() { day } else { format!("{}, ", escape(&day, true)) },
        memory.trust.name(),
        memory.source.name(),
    )
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
