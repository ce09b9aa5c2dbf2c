//! The archive's own lines: where an archived entry came from, and why it is there.
//!
//! Comes in: an entry as it stood in its topic file. Goes out: the same entry with one or two lines below its heading, and back.
//! Never here: a change to any other byte of the entry.

use super::marks::{self, Label};
use heirloom_core::text::one_line;

/// What the archive says about an entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tag {
    /// The file it came from.
    pub(super) subtopic: Option<String>,
    /// Day and reason, if it was taken out of use rather than pruned.
    pub(super) retired: Option<String>,
}

/// The entry as it stands in the archive.
pub(super) fn tagged(plain: &str, subtopic: &str, retired: Option<&str>) -> String {
    let (heading, rest) = plain.split_once('\n').unwrap_or((plain, ""));
    let mut out = format!("{heading}\n**Subtopic:** {subtopic}\n");
    if let Some(why) = retired {
        out.push_str(&format!("**Retired:** {}\n", one_line(why)));
    }
    out.push_str(rest);
    out
}

/// The entry as it stood in its topic file, and what the archive said about it.
pub(super) fn untagged(plain: &str) -> (Tag, String) {
    let mut tag = Tag::default();
    let Some((heading, mut rest)) = plain.split_once('\n') else { return (tag, plain.to_owned()) };
    if let Some((subtopic, after)) = line_of(rest, Label::Subtopic) {
        tag.subtopic = Some(subtopic);
        rest = after;
        if let Some((why, after)) = line_of(rest, Label::Retired) {
            tag.retired = Some(why);
            rest = after;
        }
    }
    (tag, format!("{heading}\n{rest}"))
}

fn line_of(text: &str, wanted: Label) -> Option<(String, &str)> {
    let (line, after) = text.split_once('\n').unwrap_or((text, ""));
    let (_, value) = marks::label(line).filter(|(label, _)| *label == wanted)?;
    Some((value.trim().to_owned(), after))
}
