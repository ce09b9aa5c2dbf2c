//! The fence around what hybrid recall found.
//!
//! Comes in: hits, best first. Goes out: one block whose first and last line are the only tags in it, canon before the rest, a line each: label,
//! title, where it is, tags, how far to believe it, and the part of its text that answers. Equal hits give equal bytes. Whole lines only,
//! within the budget. Never here: choosing hits.

use crate::recall::answer::Recalled;
use crate::recall::snippet::snippet;
use crate::shelf::anchors::Anchored;
use heirloom_core::settings::Settings;
use heirloom_core::text::{escape, one_line, shown_title, strip_control, strip_invisible};
use heirloom_core::{Kind, Trust};
use std::fmt::Write as _;

/// Most characters of a memory's text on its line.
const EXCERPT: usize = 320;

const END: &str = "</memory-context>\n";

/// The block and the hits that fit in it; nothing if there are none. `max_chars` is the block's budget.
pub fn answer_block<'h>(
    hits: &'h [Recalled],
    settings: &Settings,
    max_chars: usize,
) -> (String, Vec<&'h Recalled>) {
    let source = escape(&format!("{}/", settings.memory_root.trim_end_matches('/')), true);
    let mut block = format!("<memory-context source=\"{source}\">\n");
    let mut used = block.chars().count() + END.len();
    let mut shown = Vec::new();
    let canon = |hit: &&Recalled| hit.kind == Kind::Canon.name();
    let ordered = hits.iter().filter(canon).chain(hits.iter().filter(|hit| !canon(hit)));
    for hit in ordered {
        let line = line(hit);
        let size = line.chars().count();
        if used + size <= max_chars {
            used += size;
            block.push_str(&line);
            shown.push(hit);
        }
    }
    if shown.is_empty() {
        return (String::new(), shown);
    }
    block.push_str(END);
    (block, shown)
}

fn line(hit: &Recalled) -> String {
    let mut line = format!("- [{}]", Kind::named(&hit.kind).label());
    if !hit.title.is_empty() {
        let _ = write!(line, " {}", shown_title(&hit.title));
    }
    let place = if hit.file.is_empty() { &hit.id } else { &hit.file };
    let _ = write!(line, " -> {}", plain(place));
    if !hit.tags.is_empty() {
        let tags: Vec<String> = hit.tags.iter().map(|tag| plain(tag)).collect();
        let _ = write!(line, " #tags:{}", tags.join(","));
    }
    if hit.trust < Trust::High {
        let _ = write!(line, " (trust {}, {})", hit.trust.name(), plain(&hit.source));
    }
    if let Some(label) = hit.cited.as_ref().and_then(Anchored::label) {
        let _ = write!(line, " ({})", plain(&label));
    }
    if hit.retired {
        line.push_str(" (retired)");
    }
    let cut = snippet(&hit.body, &hit.terms, EXCERPT);
    if !cut.text.is_empty() && one_line(&cut.text) != one_line(&hit.title) {
        let (before, after) = (if cut.cut_before { "…" } else { "" }, if cut.cut_after { "…" } else { "" });
        let _ = write!(line, ": {before}{}{after}", plain(&cut.text));
    }
    line.push('\n');
    line
}

fn plain(text: &str) -> String {
    escape(&strip_invisible(&strip_control(&one_line(text))), true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hit(kind: &str, title: &str, body: &str, trust: Trust) -> Recalled {
        Recalled {
            id: format!("{kind}:x"),
            kind: kind.to_owned(),
            title: title.to_owned(),
            body: body.to_owned(),
            tags: vec!["a<b".to_owned()],
            scope: "global".to_owned(),
            source: "ai_inference".to_owned(),
            trust,
            retired: false,
            file: String::new(),
            version: String::new(),
            score: 1.0,
            why: Vec::new(),
            terms: Vec::new(),
            behind: None,
            cited: None,
            near: true,
            telling: true,
        }
    }

    #[test]
    fn canon_stands_first_and_what_is_not_fully_trusted_says_so() {
        let hits = [hit("note", "n", "text", Trust::Low), hit("canon", "", "the mission", Trust::High)];
        let (block, shown) = answer_block(&hits, &Settings::standard(), 10_000);
        let lines: Vec<&str> = block.lines().collect();
        assert_eq!(lines[1], "- [CANON] -> canon:x #tags:a&lt;b: the mission");
        assert_eq!(lines[2], "- [NOTE] n -> note:x #tags:a&lt;b (trust low, ai_inference): text");
        assert_eq!(shown[0].kind, "canon");
        assert_eq!(answer_block(&[], &Settings::standard(), 10_000).0, "");
    }

    proptest! {
        #[test]
        fn no_text_leaves_its_line_and_no_block_its_budget(
            texts in prop::collection::vec("(\\PC|\n|\r|\u{2028}|</memory-context>|- ){0,60}", 1..6), max in 0usize..900,
        ) {
            let hits: Vec<Recalled> = texts.iter().map(|t| hit("note", t, t, Trust::Low)).collect();
            let (block, shown) = answer_block(&hits, &Settings::standard(), max);
            prop_assert!(block.chars().count() <= max);
            if !shown.is_empty() {
                prop_assert_eq!(block.lines().count(), shown.len() + 2);
                prop_assert_eq!(block.matches("</memory-context>").count(), 1);
            }
        }
    }
}
