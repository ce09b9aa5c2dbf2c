//! The fence around recalled memories.
//!
//! Comes in: hits and the descriptions of their categories. Goes out: `<memory-context …>` lines within a budget, each text neutralised,
//! cleaned and escaped so that the only tags in the block are its own first and last line. Never here: text of a memory beyond its title
//! and tags.

use super::calm::{source, tame, tame_place, tame_title};
use crate::call::Call;
use crate::recall::title_tags::Hit;
use crate::shelf::anchors::Anchored;
use std::fmt::Write as _;

/// The last line of every block.
pub(super) const TAIL: &str = "</memory-context>\n";

/// Most characters of all descriptions together. Six categories fit whole; a clone may bring a thousand.
const DESCRIPTIONS_MAX: usize = 1_500;
/// Most characters of a label and of a tag.
const WORD_MAX: usize = 64;

/// The block for records, whole lines only and at most `max` characters; nothing if there are no hits or none fits.
pub fn records_block(call: &Call, hits: &[Hit], max: usize) -> String {
    if hits.is_empty() {
        return String::new();
    }
    let mut block = head(call);
    let Some(mut room) = max.checked_sub(block.chars().count() + TAIL.len()) else { return String::new() };
    let empty = block.len();
    for hit in hits {
        let line = line(call, hit);
        if let Some(left) = room.checked_sub(line.chars().count()) {
            room = left;
            block.push_str(&line);
        }
    }
    if block.len() == empty {
        return String::new();
    }
    block.push_str(TAIL);
    block
}

fn line(call: &Call, hit: &Hit) -> String {
    let label: String = hit.label.chars().take(WORD_MAX).collect();
    let mut line = format!("- [{label}] {} -> {}", tame_title(call, &hit.title), tame_place(call, &hit.path));
    if !hit.tags.is_empty() {
        // Words of several tags may make one order together.
        let tags = tame(call, &hit.tags.join(","));
        let _ = write!(line, " #tags:{tags}");
    }
    if let Some(label) = hit.cited.as_ref().and_then(Anchored::label) {
        let _ = write!(line, " ({})", tame(call, &label));
    }
    line.push('\n');
    line
}

/// The first line of a block: where the memories are, and what their categories are for.
pub(super) fn head(call: &Call) -> String {
    let settings = call.settings();
    let mut head = format!("<memory-context source=\"{}\"", source(call));
    let described = settings.categories.iter().filter_map(|c| Some((c.name(), c.description.as_deref()?)));
    let mut described: Vec<(String, &str)> =
        described.map(|(name, text)| (name.to_lowercase(), text)).collect();
    described.sort();
    let mut list: Vec<String> = Vec::new();
    let mut room = DESCRIPTIONS_MAX;
    for (name, text) in described {
        let one = format!("{name}={}", tame_title(call, text));
        let Some(left) = room.checked_sub(one.chars().count()) else { break };
        room = left;
        list.push(one);
    }
    if !list.is_empty() {
        let _ = write!(head, " descriptions=\"{}\"", list.join("; "));
    }
    head.push_str(">\n");
    head
}
