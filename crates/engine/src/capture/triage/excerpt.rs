//! Context files: what a drafting model is given to read about a finding.
//!
//! Comes in: a conversation and a finding. Goes out: the file's text, at most [`CONTEXT_MAX`] bytes plus its ending. Never
//! here: a closing tag from the transcript, which would end the fence early; code, which was taken out before.

use super::message::two_decimals;
use super::score::{Conversation, Evidence, Finding};
use heirloom_core::text::clean_snippet;
use std::ops::Range;

/// Bytes after which a context file is cut.
pub const CONTEXT_MAX: usize = 50_000;
/// Lines shown before and after a match.
const AROUND: usize = 10;
const CLOSE: &str = "</transcript_data>";
const CUT_MARK: &str = "[Truncated: context exceeded 50KB]";

/// The text of a finding's context file.
pub fn context_text(conversation: &Conversation, finding: &Finding) -> String {
    let mut out = format!("Category: {}\nScore: {}\n", finding.kind, two_decimals(finding.score));
    if let Some(description) = &finding.description {
        out.push_str(&format!("Description: {}\n", clean_snippet(description)));
    }
    out.push_str("\n<transcript_data>\n");
    match &finding.evidence {
        Evidence::Activity(activity) => out.push_str(&format!(
            "Activity Metrics:\n  Tool uses: {}\n  Distinct tools: {}\n  Exchanges: {}\n",
            activity.tool_uses, activity.distinct_tools, activity.exchanges
        )),
        Evidence::Lines { matched, .. } | Evidence::Stated(matched) => {
            // A threshold of zero reports kinds nobody spoke of.
            if !matched.is_empty() {
                out.push_str("Relevant transcript excerpts:\n\n");
            }
            for (at, window) in windows(&in_order(matched), conversation.line_count()).into_iter().enumerate()
            {
                if at > 0 {
                    out.push_str("---\n");
                }
                for line in window {
                    out.push_str(&fenced(conversation.line(line)));
                    out.push('\n');
                    if out.len() > CONTEXT_MAX {
                        return cut(out);
                    }
                }
            }
        }
    }
    out.push_str(CLOSE);
    let snippets = conversation.snippets(finding);
    if !snippets.is_empty() {
        out.push_str("\n\nKey snippets:");
        for snippet in snippets {
            out.push_str("\n  - ");
            out.push_str(&fenced(&snippet));
        }
    }
    if out.len() > CONTEXT_MAX { cut(out) } else { out }
}

fn in_order(lines: &[usize]) -> Vec<usize> {
    let mut lines = lines.to_vec();
    lines.sort_unstable();
    lines
}

/// Lines around the matches; windows that touch or overlap are one.
fn windows(matched: &[usize], lines: usize) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    for &at in matched {
        let (start, end) = (at.saturating_sub(AROUND), lines.min(at + AROUND + 1));
        match windows.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => windows.push(start..end),
        }
    }
    windows
}

fn cut(mut text: String) -> String {
    let end = (0..=CONTEXT_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.truncate(end);
    text.push('\n');
    text.push_str(CLOSE);
    text.push('\n');
    text.push_str(CUT_MARK);
    text
}

/// The line with every closing tag of the fence made harmless, in whatever case and spacing.
fn fenced(line: &str) -> std::borrow::Cow<'_, str> {
    let mut out = String::new();
    let mut kept = 0;
    for (at, _) in line.match_indices('<') {
        if let Some(len) = closing_tag_len(&line[at..]) {
            out.push_str(&line[kept..at]);
            out.push_str("&lt;");
            out.push_str(&line[at + 1..at + len]);
            kept = at + len;
        }
    }
    if kept == 0 {
        return line.into();
    }
    out.push_str(&line[kept..]);
    out.into()
}

/// Length of `</transcript_data` at the start of a text that begins with `<`.
fn closing_tag_len(text: &str) -> Option<usize> {
    let name = "transcript_data";
    let rest = text[1..].trim_start().strip_prefix('/')?.trim_start();
    let is_name = rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
    is_name.then(|| text.len() - rest.len() + name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closing_tag_in_the_transcript_does_not_close_the_fence() {
        assert_eq!(fenced("a </transcript_data> b"), "a &lt;/transcript_data> b");
        assert_eq!(fenced("< / TRANSCRIPT_DATA >"), "&lt; / TRANSCRIPT_DATA >");
        assert_eq!(fenced("<b>x</b> </other>"), "<b>x</b> </other>");
        assert_eq!(fenced("</"), "</");
    }

    #[test]
    fn windows_that_touch_are_one() {
        assert_eq!(windows(&[0, 21], 100), std::iter::once(0..32).collect::<Vec<_>>());
        assert_eq!(windows(&[0, 22], 100), [0..11, 12..33]);
        assert_eq!(windows(&[5], 7), std::iter::once(0..7).collect::<Vec<_>>());
    }
}
