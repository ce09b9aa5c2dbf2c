//! The fence around recalled memories.
//!
//! Comes in: hits and the descriptions of their categories. Goes out: `<memory-context …>` lines, each title cleaned and escaped so that
//! the only tags in the block are its own first and last line. Never here: text of a memory beyond its title and tags.

use crate::recall::title_tags::Hit;
use crate::shelf::anchors::Anchored;
use heirloom_core::settings::Settings;
use heirloom_core::text::{escape, shown_title, strip_control, strip_invisible};
use std::fmt::Write as _;

/// The last line of every block.
pub(super) const TAIL: &str = "</memory-context>\n";

/// The block for records; nothing if there are no hits.
pub fn records_block(hits: &[Hit], settings: &Settings) -> String {
    if hits.is_empty() {
        return String::new();
    }
    let mut block = head(settings);
    for hit in hits {
        let _ = write!(block, "- [{}] {} -> {}", hit.label, shown_title(&hit.title), plain(&hit.path));
        if !hit.tags.is_empty() {
            let tags: Vec<String> = hit.tags.iter().map(|tag| plain(tag)).collect();
            let _ = write!(block, " #tags:{}", tags.join(","));
        }
        if let Some(label) = hit.cited.as_ref().and_then(Anchored::label) {
            let _ = write!(block, " ({})", plain(&label));
        }
        block.push('\n');
    }
    block.push_str(TAIL);
    block
}

/// The first line of a block: where the memories are, and what their categories are for.
pub(super) fn head(settings: &Settings) -> String {
    let source = escape(&format!("{}/", settings.memory_root.trim_end_matches('/')), true);
    let mut head = format!("<memory-context source=\"{source}\"");
    let mut described: Vec<(String, String)> = settings
        .categories
        .iter()
        .filter_map(|c| Some((c.name().to_lowercase(), shown_title(c.description.as_deref()?))))
        .collect();
    described.sort();
    if !described.is_empty() {
        let list: Vec<String> = described.iter().map(|(name, text)| format!("{name}={text}")).collect();
        let _ = write!(head, " descriptions=\"{}\"", list.join("; "));
    }
    head.push_str(">\n");
    head
}

fn plain(text: &str) -> String {
    escape(&strip_invisible(&strip_control(text)), true)
}
