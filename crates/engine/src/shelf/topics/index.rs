//! `index.md`: one heading per topic, one line per subtopic.
//!
//! Comes in: the index as it is and what a change brings. Goes out: the index with one line put in or taken out. A line that is there
//! keeps its words: people write better descriptions than titles are. Never here: files.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};

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

/// A line that a change brings: its description, and whether it takes the place of one that is there.
pub(super) type Lines = BTreeMap<(String, String), (String, bool)>;

/// The index with a line for a subtopic; one that is there stays as it is unless `replace`.
pub(super) fn with(text: &str, topic: &str, subtopic: &str, description: &str, replace: bool) -> String {
    let key = (topic.to_owned(), subtopic.to_owned());
    with_all(text, &BTreeMap::from([(key, (description.to_owned(), replace))]))
}

/// The index with many lines, in one pass: a merge may bring as many as a file holds.
pub(super) fn with_all(text: &str, lines: &Lines) -> String {
    let text = if text.trim().is_empty() { EMPTY } else { text };
    let layout = layout(text);
    let mut pieces = Vec::new();
    // Topics that are new here, with the place of the topic they come before.
    let mut new: BTreeMap<&str, (Option<usize>, String)> = BTreeMap::new();
    for ((topic, subtopic), (description, replace)) in lines {
        let line = format!("- `{subtopic}.md` - {description}\n");
        let Some(section) = layout.sections.get(topic) else {
            let next = || after(&layout.sections, topic).map(|section| section.range.start);
            new.entry(topic).or_insert_with(|| (next(), format!("### {topic}\n"))).1.push_str(&line);
            continue;
        };
        match section.lines.get(subtopic) {
            Some(_) if !replace => {}
            Some(range) => pieces.push(Piece { range: range.clone(), last: false, text: line }),
            None => {
                let at = after(&section.lines, subtopic).map_or(section.range.end, |range| range.start);
                pieces.push(Piece { range: at..at, last: false, text: line });
            }
        }
    }
    let mut below = String::new();
    for (place, section) in new.into_values() {
        match place {
            Some(at) => pieces.push(Piece { range: at..at, last: true, text: format!("{section}\n") }),
            None => {
                below.push_str("\n\n");
                below.push_str(section.trim_end_matches('\n'));
            }
        }
    }
    if below.is_empty() {
        return spliced(text, pieces);
    }
    let (upper, lower): (Vec<Piece>, Vec<Piece>) =
        pieces.into_iter().partition(|piece| piece.range.start <= layout.end);
    let (head, tail) = text.split_at(layout.end);
    let lower = lower.into_iter().map(|piece| piece.from(layout.end)).collect();
    let tail = if tail.is_empty() { String::new() } else { format!("\n{}", spliced(tail, lower)) };
    format!("{}{below}\n{tail}", spliced(head, upper).trim_end())
}

/// What comes after a name.
fn after<'m, T>(map: &'m BTreeMap<String, T>, name: &str) -> Option<&'m T> {
    map.range::<str, _>((Bound::Excluded(name), Bound::Unbounded)).next().map(|(_, next)| next)
}

/// The index without a line; a topic that has no line left loses its heading too.
pub(super) fn without(text: &str, topic: &str, subtopic: &str) -> String {
    without_all(text, &BTreeSet::from([(topic.to_owned(), subtopic.to_owned())]))
}

/// The index without many lines, in one pass.
pub(super) fn without_all(text: &str, lines: &BTreeSet<(String, String)>) -> String {
    let layout = layout(text);
    let mut by_topic: BTreeMap<&str, Vec<&Range<usize>>> = BTreeMap::new();
    for (topic, subtopic) in lines {
        if let Some(range) = layout.sections.get(topic).and_then(|section| section.lines.get(subtopic)) {
            by_topic.entry(topic).or_default().push(range);
        }
    }
    let mut pieces = Vec::new();
    let mut out = |range: Range<usize>| pieces.push(Piece { range, last: false, text: String::new() });
    for (topic, ranges) in by_topic {
        let section = &layout.sections[topic];
        let words = text[section.range.clone()].lines().filter(|line| !line.trim().is_empty()).count();
        if section.lines.len() == ranges.len() && words == ranges.len() + 1 {
            let rest = &text[section.range.end..];
            let blank = rest.len() - rest.trim_start_matches(['\n', '\r']).len();
            out(section.range.start..section.range.end + blank);
        }
        ranges.into_iter().for_each(|range| out(range.clone()));
    }
    spliced(text, pieces)
}

/// Text that takes the place of a range.
struct Piece {
    range: Range<usize>,
    /// Of several at one place this one comes last: a new topic stands behind what belongs to the topic before it.
    last: bool,
    text: String,
}

impl Piece {
    /// The same piece in the part of the text that begins there.
    fn from(self, start: usize) -> Piece {
        Piece { range: self.range.start - start..self.range.end - start, ..self }
    }
}

fn spliced(text: &str, mut pieces: Vec<Piece>) -> String {
    pieces.sort_by_key(|piece| (piece.range.start, piece.range.end, piece.last));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for piece in pieces {
        out.push_str(&text[at..piece.range.start.max(at)]);
        at = at.max(piece.range.end);
        if !piece.text.is_empty() && !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&piece.text);
    }
    out.push_str(&text[at..]);
    out
}
