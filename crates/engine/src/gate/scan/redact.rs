//! Takes findings out of a text, or takes their sting. In: a text and findings of that very text.
//! Out: a new text. Doing it twice changes nothing more: the markers are not findings.

use super::{
    finding::{Class, Finding},
    fold,
};
use std::ops::Range;

/// What neutralised text is wrapped in.
const OPEN: &str = "[content: ";

/// Blanks that belong to the text around a marker.
const EDGE: [char; 4] = [' ', '\t', '\n', '\r'];

/// The marker that stands for a redacted span; of one size, so that it tells nothing of the length.
pub fn marker(class: Class) -> &'static str {
    match class {
        Class::Secret => "[SECRET_REDACTED]",
        Class::Identity => "[IDENTITY_REDACTED]",
        Class::Contact => "[CONTACT_REDACTED]",
        Class::Injection => "[INJECTION_REDACTED]",
    }
}

/// `text` with every span replaced by the marker of its class. Spans that overlap or touch become
/// one marker, that of the gravest class.
pub fn redact(text: &str, findings: &[&Finding]) -> String {
    replace(text, findings, |class, _| marker(class).to_owned())
}

/// `text` with every span readable but harmless: wrapped as quoted content, invisible characters
/// gone, brackets that a reader of markup could take for syntax exchanged. Blanks at the edges of a
/// span stay where they were, outside the wrapping.
pub fn neutralise(text: &str, findings: &[&Finding]) -> String {
    let wrapped = contents(text);
    let open: Vec<&Finding> = findings.iter().copied().filter(|f| !inside(&wrapped, &f.span)).collect();
    replace(text, &open, |_, part| {
        let marker = part.trim_matches(EDGE);
        let (before, after) = match part.find(marker).filter(|_| !marker.is_empty()) {
            Some(at) => (&part[..at], &part[at + marker.len()..]),
            None => ("", ""),
        };
        let plain: String = marker
            .chars()
            .filter_map(|c| fold::tag(c).or_else(|| (!fold::invisible(c)).then_some(c)))
            .map(|c| match c {
                '<' => '‹',
                '>' => '›',
                '[' | '{' => '(',
                ']' | '}' => ')',
                '`' => '\'',
                '|' => '¦',
                c if c.is_control() => ' ',
                c => c,
            })
            .collect();
        // Text that was wrapped before keeps one wrapping.
        format!("{before}{OPEN}{}]{after}", plain.replace("(content: ", "").trim())
    })
}

/// The stretches of a text that are quoted content already.
pub(super) fn contents(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(OPEN).map(|i| from + i) {
        let inner = start + OPEN.len();
        let Some(close) =
            text[inner..].find([']', '[', '\n', '<', '>', '`', '|', '{', '}']).map(|i| inner + i)
        else {
            break;
        };
        if text.as_bytes()[close] == b']' {
            found.push(start..close + 1);
        }
        from = close;
    }
    found
}

/// Whether a span lies inside one of the sorted stretches.
pub(super) fn inside(stretches: &[Range<usize>], span: &Range<usize>) -> bool {
    let at = stretches.partition_point(|s| s.end <= span.start);
    stretches.get(at).is_some_and(|s| s.start <= span.start && span.end <= s.end)
}

fn replace(text: &str, findings: &[&Finding], with: impl Fn(Class, &str) -> String) -> String {
    let mut spans: Vec<(Range<usize>, Class)> = findings
        .iter()
        .map(|f| (snap(text, f.span.clone()), f.class))
        .filter(|(s, _)| !s.is_empty())
        .collect();
    spans.sort_by_key(|(s, class)| (s.start, s.end, *class));
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    let mut i = 0;
    while i < spans.len() {
        let (mut span, mut class) = spans[i].clone();
        i += 1;
        while i < spans.len() && spans[i].0.start <= span.end {
            span.end = span.end.max(spans[i].0.end);
            class = class.min(spans[i].1);
            i += 1;
        }
        out.push_str(&text[done..span.start]);
        out.push_str(&with(class, &text[span.clone()]));
        done = span.end;
    }
    out.push_str(&text[done..]);
    out
}

/// The smallest span on character boundaries inside the text that covers `span`.
pub(super) fn snap(text: &str, span: Range<usize>) -> Range<usize> {
    let mut start = span.start.min(text.len());
    let mut end = span.end.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end.max(start)
}
