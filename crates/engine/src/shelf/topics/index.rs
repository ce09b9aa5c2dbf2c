//! `index.md`: one heading per topic, one line per subtopic.
//!
//! Comes in: the index as it is and what a change brings. Goes out: the index with one line put in or taken out. A line that is there
//! keeps its words: people write better descriptions than titles are. Never here: files.

use std::collections::BTreeMap;
use std::ops::Range;

const EMPTY: &str = "# Memory Index\n\n## Topics\n";

/// Where a topic's section and its lines are.
#[derive(Debug, Default)]
struct Section {
    /// From its heading to the next heading.
    range: Range<usize>,
    lines: BTreeMap<String, Range<usize>>,
}

#[derive(Debug, Default)]
struct Layout {
    /// Where the list of topics ends.
    end: usize,
    sections: BTreeMap<String, Section>,
}

/// The topic a heading names.
fn topic_of(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix("### ").map(str::trim).filter(|name| !name.is_empty())
}

/// The subtopic a line is about, and its description.
fn subtopic_of(line: &str) -> Option<(&str, &str)> {
    let inner = line.trim().strip_prefix(['-', '*'])?.trim_start().strip_prefix('`')?;
    let (file, rest) = inner.split_once('`')?;
    let rest = rest.trim_start();
    Some((file.strip_suffix(".md")?, rest.strip_prefix(['-', '–', '—', ':']).unwrap_or(rest).trim()))
}

fn layout(text: &str) -> Layout {
    let mut out = Layout { end: text.len(), ..Layout::default() };
    let mut at = 0;
    let mut topic: Option<String> = None;
    let mut listing = false;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if let Some(name) = topic_of(line) {
            out.sections.entry(name.to_owned()).or_default().range = start..at;
            topic = Some(name.to_owned());
            continue;
        }
        if line.starts_with("## ") || line.starts_with("# ") {
            if listing {
                out.end = start;
                listing = false;
            }
            listing |= line.trim_end().eq_ignore_ascii_case("## topics");
            topic = None;
            continue;
        }
        let Some(section) = topic.as_ref().and_then(|name| out.sections.get_mut(name)) else { continue };
        if !line.trim().is_empty() {
            section.range.end = at;
        }
        if let Some((subtopic, _)) = subtopic_of(line) {
            section.lines.insert(subtopic.to_owned(), start..at);
        }
    }
    out
}

/// The lines of an index: topic, subtopic, description.
pub(super) fn lines(text: &str) -> Vec<(String, String, String)> {
    let mut topic = String::new();
    let mut out = Vec::new();
    for line in text.lines() {
        if let Some(name) = topic_of(line) {
            topic = name.to_owned();
        } else if let Some((subtopic, words)) = subtopic_of(line).filter(|_| !topic.is_empty()) {
            out.push((topic.clone(), subtopic.to_owned(), words.to_owned()));
        }
    }
    out
}

/// The index with a line for a subtopic; one that is there stays as it is unless `replace`.
pub(super) fn with(text: &str, topic: &str, subtopic: &str, description: &str, replace: bool) -> String {
    let text = if text.trim().is_empty() { EMPTY } else { text };
    let line = format!("- `{subtopic}.md` - {description}\n");
    let layout = layout(text);
    match layout.sections.get(topic) {
        Some(section) => match section.lines.get(subtopic) {
            Some(_) if !replace => text.to_owned(),
            Some(range) => spliced(text, range.clone(), &line),
            None => {
                let next = section.lines.iter().find(|(name, _)| name.as_str() > subtopic);
                let at = next.map_or(section.range.end, |(_, range)| range.start);
                spliced(text, at..at, &line)
            }
        },
        None => {
            let next = layout.sections.iter().find(|(name, _)| name.as_str() > topic);
            match next {
                Some((_, section)) => {
                    let at = section.range.start;
                    spliced(text, at..at, &format!("### {topic}\n{line}\n"))
                }
                None => {
                    let (head, tail) = text.split_at(layout.end);
                    let tail = if tail.is_empty() { "" } else { &format!("\n{tail}") };
                    format!("{}\n\n### {topic}\n{line}{tail}", head.trim_end())
                }
            }
        }
    }
}

/// The index without a line; a topic that has no line left loses its heading too.
pub(super) fn without(text: &str, topic: &str, subtopic: &str) -> String {
    let layout = layout(text);
    let Some(section) = layout.sections.get(topic) else { return text.to_owned() };
    let Some(range) = section.lines.get(subtopic) else { return text.to_owned() };
    let alone = section.lines.len() == 1
        && text[section.range.clone()].lines().filter(|line| !line.trim().is_empty()).count() == 2;
    if !alone {
        return spliced(text, range.clone(), "");
    }
    let rest = &text[section.range.end..];
    let blank = rest.len() - rest.trim_start_matches(['\n', '\r']).len();
    spliced(text, section.range.start..section.range.end + blank, "")
}

fn spliced(text: &str, range: Range<usize>, piece: &str) -> String {
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let gap = if piece.is_empty() || before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    format!("{before}{gap}{piece}{after}")
}
