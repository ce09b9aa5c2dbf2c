//! Our own words in a conversation: blocks that were given to an agent, wherever they turn up again.
//!
//! Comes in: a text of a transcript. Goes out: the same without what recall, session start, snapshot, brief and triage put there, whether a host wrote
//! it into the person's message or an agent repeated it. A memory would otherwise be learnt again from its own echo, each time with another
//! source. Never here: anything else of the text. Linear in its length.

use std::borrow::Cow;

/// A block with a beginning and an end of its own.
const FENCED: [(&str, &str); 4] = [
    ("<memory-context", "</memory-context>"),
    ("<lessons note=", "</lessons>"),
    ("The following items should be saved as memories before stopping:", "</triage_data>"),
    ("<triage_data>", "</triage_data>"),
];

/// Headings of blocks that have no end of their own: list items and their headings follow.
const HEADED: [&str; 2] = ["## Memory Snapshot", "## Long-Term Memory Context"];
const INNER: [&str; 4] = ["### Canon", "### Active Registers", "### Registers", "("];

/// The text without our own blocks, and without the blanks they leave at its ends.
pub(crate) fn without(text: &str) -> Cow<'_, str> {
    let cuts = cuts(text);
    if cuts.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (from, to) in cuts {
        out.push_str(&text[at..from]);
        at = to;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out.trim().to_owned())
}

/// Where our blocks begin and end, in order and apart.
fn cuts(text: &str) -> Vec<(usize, usize)> {
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for (open, close) in FENCED {
        let mut from = 0;
        // Where there is no end any more, there is none for a later beginning either.
        let mut ends = true;
        while let Some(start) = text[from..].find(open).map(|at| from + at) {
            let inner = start + open.len();
            let end = if ends { text[inner..].find(close).map(|at| inner + at + close.len()) } else { None };
            ends &= end.is_some();
            from = end.unwrap_or_else(|| after_items(text, inner));
            // A tag that is only spoken of has nothing below it.
            if end.is_some() || from > line_end(text, inner) {
                cuts.push((start, from));
            }
        }
    }
    for heading in HEADED {
        let mut from = 0;
        while let Some(start) = text[from..].find(heading).map(|at| from + at) {
            from = after_items(text, start + heading.len());
            if from > line_end(text, start) {
                cuts.push((start, from));
            }
        }
    }
    cuts.sort_unstable();
    let mut apart: Vec<(usize, usize)> = Vec::with_capacity(cuts.len());
    for (from, to) in cuts {
        match apart.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => apart.push((from, to)),
        }
    }
    apart
}

/// Just behind the line break that ends the line of a place.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// Behind the list items and inner headings that follow the line of a place.
fn after_items(text: &str, at: usize) -> usize {
    let mut end = line_end(text, at);
    let mut next = end;
    while next < text.len() {
        let stop = line_end(text, next);
        let line = text[next..stop].trim();
        let ours = line.starts_with("- ") || INNER.iter().any(|inner| line.starts_with(inner));
        if ours {
            end = stop;
        } else if !line.is_empty() {
            break;
        }
        next = stop;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_block_goes_and_what_stands_around_it_stays() {
        let block = "<memory-context source=\".claude/memory/\">\n- [DECISION] Use Postgres -> x.json\n</memory-context>\n";
        assert_eq!(without(&format!("{block}Where are the jobs?")), "Where are the jobs?");
        assert_eq!(
            without(&format!("I was told:\n{block}and so it is.\n{block}")),
            "I was told:\n\nand so it is."
        );
        assert_eq!(without(block), "");
        assert_eq!(without("<lessons note=\"x\">\n## Git\nreflog\n</lessons>\ngo on"), "go on");
    }

    #[test]
    fn a_block_that_lost_its_end_goes_as_far_as_its_items() {
        assert_eq!(
            without("<memory-context source=\"x\">\n- [NOTE] one\n- [NOTE] two\nMy own words."),
            "My own words."
        );
        let snapshot = "## Memory Snapshot\n\n### Canon\n- mission\n\n### Active Registers\n- [focus] importer\n\n(2 more: `heirloom list`)\n\nMine.";
        assert_eq!(without(snapshot), "Mine.");
    }

    #[test]
    fn whoever_speaks_of_a_tag_is_heard() {
        for text in
            ["The tag `<memory-context>` fences it.", "## Memory Snapshot is a heading\nof ours.", "plain"]
        {
            assert_eq!(without(text), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_left_stood_there_in_that_order(parts in prop::collection::vec(
            prop::sample::select(vec!["<memory-context", ">", "</memory-context>", "\n", "- a", "## Memory Snapshot", "<triage_data>", "</triage_data>", "wörds "]), 0..30)) {
            let text = parts.concat();
            let left = without(&text);
            let mut rest = text.chars();
            prop_assert!(left.chars().all(|c| rest.any(|other| other == c)));
            let closed = left.find("<memory-context").is_some_and(|open| left[open..].contains("</memory-context>"));
            prop_assert!(!closed, "{left}");
        }
    }
}
