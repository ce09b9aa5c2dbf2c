//! Our own words in a conversation: blocks that were given to an agent, wherever they turn up again.
//!
//! Comes in: a text of a transcript or a prompt. Goes out: the same without what recall, session start, snapshot, brief and triage put there,
//! whether a host wrote it into the person's message or an agent repeated it, and however it was escaped on the way: hosts hand our blocks back
//! with `&lt;`, inside JSON strings, with look-alike brackets, or escaped twice. A memory would otherwise be learnt again from its own echo, each
//! time with another source. Never here: anything else of the text. Linear in its length.

use super::unescaped::Unescaped;
use std::borrow::Cow;

/// A block with a beginning and an end of its own. The last two are the wrappers in which hosts hand on what hooks said.
const FENCED: [(&str, &str); 7] = [
    ("<memory-context", "</memory-context>"),
    ("<lessons note=", "</lessons>"),
    ("The following items should be saved as memories before stopping:", "</triage_data>"),
    ("<triage_data>", "</triage_data>"),
    (STOP_BEGINS, STOP_ENDS),
    ("<hook_context>", "</hook_context>"),
    ("<hook_prompt", "</hook_prompt>"),
];

/// How the short request at a stop begins and ends; [`crate::hook::stop`] writes it.
pub(crate) const STOP_BEGINS: &str = "Heirloom: ";
/// See [`STOP_BEGINS`].
pub(crate) const STOP_ENDS: &str = "Then you may stop.";
/// What such a request says in between; a person may begin a message with our name.
pub(crate) const STOP_SAYS: &str = "should be saved as memories before stopping";

/// Headings of blocks that have no end of their own: list items and their headings follow.
const HEADED: [&str; 2] = ["## Memory Snapshot", "## Long-Term Memory Context"];
const INNER: [&str; 4] = ["### Canon", "### Active Registers", "### Registers", "("];

/// The text without our own blocks, and without the blanks they leave at its ends.
pub(crate) fn without(text: &str) -> Cow<'_, str> {
    let plain = Unescaped::of(text);
    let cuts = cuts(plain.text());
    if cuts.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (from, to) in cuts {
        let (from, to) = (plain.origin(from), plain.origin(to));
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
            if open == STOP_BEGINS {
                // Anybody may write our name; the request is known by what it says on its first line.
                let asks = text[inner..line_end(text, inner)].contains(STOP_SAYS);
                from = if asks { end.unwrap_or_else(|| line_end(text, inner)) } else { inner };
                if asks {
                    cuts.push((start, from));
                }
                continue;
            }
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

    const BLOCK: &str = "<memory-context source=\".claude/memory/\">\n- [DECISION] Use Postgres -> x.json\n</memory-context>\n";

    #[test]
    fn a_block_goes_and_what_stands_around_it_stays() {
        assert_eq!(without(&format!("{BLOCK}Where are the jobs?")), "Where are the jobs?");
        assert_eq!(
            without(&format!("I was told:\n{BLOCK}and so it is.\n{BLOCK}")),
            "I was told:\n\nand so it is."
        );
        assert_eq!(without(BLOCK), "");
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
        for text in [
            "The tag `<memory-context>` fences it.",
            "## Memory Snapshot is a heading\nof ours.",
            "plain",
            "Heirloom: how do I set it up? Then you may stop.",
            "AT&amp;T sells &lt;b&gt; and a path C:\\new\\table",
        ] {
            assert_eq!(without(text), text);
        }
    }

    #[test]
    fn what_a_host_hands_back_in_its_own_wrapper_goes_with_the_wrapper() {
        let gemini = "<hook_context>&lt;memory-context source=\".claude/memory/\"&gt;\n- [CONSTRAINT] x\n&lt;/memory-context&gt;\n</hook_context>\n\nWhich cache?";
        assert_eq!(without(gemini), "Which cache?");
        let codex = "&lt;hook_prompt hook_run_id=&quot;stop:6&quot;&gt;Heirloom: 1 item (decision) should be saved as memories before stopping.\nRead it. Then you may stop.&lt;/hook_prompt&gt;";
        assert_eq!(without(codex), "");
    }

    #[test]
    fn the_short_request_at_a_stop_is_ours() {
        let asked = "Heirloom: 2 items (decision, runbook) should be saved as memories before stopping.\nRead `/tmp/x`. Then you may stop.";
        assert_eq!(without(&format!("{asked} And I say no.")), "And I say no.");
    }

    /// How hosts escape what they hand on.
    fn escaped(text: &str, how: usize) -> String {
        let html = |text: &str| {
            text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
        };
        match how {
            0 => text.to_owned(),
            1 => html(text),
            2 => html(&html(text)),
            3 => text.replace('<', "‹").replace('>', "›"),
            4 => {
                let quoted = serde_json::to_string(text).unwrap();
                quoted[1..quoted.len() - 1].to_owned()
            }
            5 => {
                let quoted = serde_json::to_string(text).unwrap();
                quoted[1..quoted.len() - 1].replace('<', "\\u003c").replace('>', "\\u003E")
            }
            6 => {
                let once = serde_json::to_string(text).unwrap();
                let twice = serde_json::to_string(&once[1..once.len() - 1]).unwrap();
                twice[1..twice.len() - 1].to_owned()
            }
            _ => text.replace('<', "&#60;").replace('>', "&#x3e;"),
        }
    }

    proptest! {
        #[test]
        fn a_block_is_recognised_in_every_escaping(how in 0usize..8, before in "[a-z ]{0,20}", after in "[a-z ]{0,20}", item in "[a-zA-Z0-9 .,:-]{0,40}") {
            let block = format!("<memory-context source=\".claude/memory/\">\n- [DECISION] {item}\n</memory-context>");
            let text = format!("{before}{}{after}", escaped(&block, how));
            let left = without(&text).into_owned();
            let around = format!("{before}{after}");
            prop_assert_eq!(left, around.trim());
        }

        #[test]
        fn what_is_left_stood_there_in_that_order(parts in prop::collection::vec(
            prop::sample::select(vec!["<memory-context", "&lt;memory-context", ">", "</memory-context>", "\n", "\\n", "- a", "## Memory Snapshot", "<triage_data>", "</triage_data>", "wörds ", "Heirloom: ", "should be saved as memories before stopping", "Then you may stop.", "&amp;", "\\"]), 0..30)) {
            let text = parts.concat();
            let left = without(&text);
            let mut rest = text.chars();
            prop_assert!(left.chars().all(|c| rest.any(|other| other == c)));
            let closed = left.find("<memory-context").is_some_and(|open| left[open..].contains("</memory-context>"));
            prop_assert!(!closed, "{left}");
        }
    }
}
