//! Marks: the lines of a topic file that mean something.
//!
//! Comes in: one line, with or without its line end. Goes out: what it is. Reading and writing use the same functions, so a line
//! that would be read as a mark is exactly a line that is escaped when it is written. Never here: state beyond one line.

use jiff::civil::Date;

/// A part of a lesson that has a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    Context,
    Problem,
    Solution,
    Code,
    /// Only in archives: the file an entry came from.
    Subtopic,
    /// Only in archives: when and why an entry was taken out of use.
    Retired,
}

const LABELS: [(&str, Label); 7] = [
    ("context", Label::Context),
    ("problem", Label::Problem),
    ("solution", Label::Solution),
    ("code", Label::Code),
    ("code example", Label::Code),
    ("subtopic", Label::Subtopic),
    ("retired", Label::Retired),
];

/// The heading of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dated {
    pub(super) date: Date,
    pub(super) title: String,
    /// The name written behind the title as `{#name}`, where the title alone does not give it.
    pub(super) anchor: Option<String>,
}

/// An open code fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: u8,
    len: usize,
}

/// Markdown lets a block start up to three spaces in.
fn unindented(line: &str) -> Option<&str> {
    let inner = line.trim_start_matches(' ');
    (line.len() - inner.len() <= 3).then_some(inner)
}

/// The fence a line opens.
pub(crate) fn fence(line: &str) -> Option<Fence> {
    let inner = unindented(line)?;
    let mark = *inner.as_bytes().first().filter(|b| matches!(b, b'`' | b'~'))?;
    let len = inner.bytes().take_while(|b| *b == mark).count();
    let plain = mark == b'~' || !inner[len..].contains('`');
    (len >= 3 && plain).then_some(Fence { mark, len })
}

/// The fence a line could close, whatever was opened.
fn bare_fence(line: &str) -> Option<Fence> {
    let found = fence(line)?;
    let rest = unindented(line)?.trim_start_matches(found.mark as char);
    rest.trim().is_empty().then_some(found)
}

impl Fence {
    /// The line that closes it.
    pub(crate) fn line(self) -> String {
        char::from(self.mark).to_string().repeat(self.len)
    }

    /// Whether a line closes this fence.
    pub(crate) fn closed_by(self, line: &str) -> bool {
        bare_fence(line).is_some_and(|other| other.mark == self.mark && other.len >= self.len)
    }

    /// For each line, whether a fence opened there is closed further down; one pass from the end.
    pub(super) fn closings(lines: &[&str]) -> Vec<bool> {
        let mut longest = [0usize; 2];
        let mut closed = vec![false; lines.len()];
        for (at, line) in lines.iter().enumerate().rev() {
            let slot = |f: Fence| usize::from(f.mark == b'~');
            closed[at] = fence(line).is_some_and(|f| longest[slot(f)] >= f.len);
            if let Some(f) = bare_fence(line) {
                longest[slot(f)] = longest[slot(f)].max(f.len);
            }
        }
        closed
    }
}

/// Level and text of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let inner = unindented(line)?;
    let level = inner.bytes().take_while(|b| *b == b'#').count();
    let text = &inner[level..];
    ((1..=6).contains(&level) && (text.is_empty() || text.starts_with(char::is_whitespace)))
        .then(|| (level, text.trim()))
}

/// Whether a line is a heading that no entry contains: first or second level.
pub(super) fn is_section(line: &str) -> bool {
    heading(line).is_some_and(|(level, _)| level <= 2)
}

/// Whether a line looks like an entry's heading but has no date that exists.
pub(super) fn is_almost_dated(line: &str) -> bool {
    dated(line).is_none()
        && heading(line).is_some_and(|(level, text)| {
            let text = text.strip_prefix('[').unwrap_or(text);
            level == 2
                && text.len() >= 8
                && text.bytes().take(8).all(|b| b.is_ascii_digit() || b"-/.".contains(&b))
        })
}

/// An entry's heading: `## 2026-01-15: Title`, also with the date in brackets or a dash for the colon.
pub(super) fn dated(line: &str) -> Option<Dated> {
    let (level, text) = heading(line)?;
    if level != 2 {
        return None;
    }
    let (text, bracket) = text.strip_prefix('[').map_or((text, false), |rest| (rest, true));
    let date = date(text.get(..10)?)?;
    let rest = &text[10..];
    let rest = if bracket { rest.strip_prefix(']')? } else { rest };
    let separators = [':', '-', '–', '—'];
    if !(rest.is_empty() || rest.starts_with(char::is_whitespace) || rest.starts_with(separators)) {
        return None;
    }
    let rest = rest.trim_start();
    let rest = rest.strip_prefix(separators).unwrap_or(rest).trim();
    let (title, anchor) = split_anchor(rest);
    Some(Dated { date, title: title.to_owned(), anchor: anchor.map(str::to_owned) })
}

/// A date exactly as `2026-01-15`.
pub(super) fn date(text: &str) -> Option<Date> {
    let shaped = text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, b)| if matches!(at, 4 | 7) { b == b'-' } else { b.is_ascii_digit() });
    if shaped { text.parse().ok() } else { None }
}

/// A title and the anchor behind it.
pub(super) fn split_anchor(text: &str) -> (&str, Option<&str>) {
    let found = text.strip_suffix('}').and_then(|inner| {
        let (title, name) = inner.rsplit_once("{#")?;
        let plain = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        (plain && title.ends_with(char::is_whitespace)).then(|| (title.trim_end(), Some(name)))
    });
    found.unwrap_or((text, None))
}

/// The rule that ends an entry.
pub(super) fn is_rule(line: &str) -> bool {
    let inner = unindented(line).unwrap_or_default().trim_end();
    inner.len() >= 3 && inner.bytes().all(|b| b == b'-')
}

/// A label at the start of a line, and the text behind it: `**Problem:** x`, `**Problem**: x`, `### Problem`.
pub(super) fn label(line: &str) -> Option<(Label, &str)> {
    let named =
        |name: &str| LABELS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, l)| *l);
    if let Some((3, text)) = heading(line) {
        return Some((named(text.trim_end_matches(':'))?, ""));
    }
    let inner = unindented(line)?;
    let inner = inner.strip_prefix("- ").or_else(|| inner.strip_prefix("* ")).unwrap_or(inner);
    let (name, rest) = inner.strip_prefix("**")?.split_once("**")?;
    match name.strip_suffix(':') {
        Some(name) => Some((named(name)?, rest)),
        None => Some((named(name)?, rest.strip_prefix(':')?)),
    }
}

/// A line that git puts around two versions it could not join.
pub(super) fn conflict(line: &str) -> Option<u8> {
    let mark = *line.as_bytes().first().filter(|b| b"<|=>".contains(b))?;
    let len = line.bytes().take_while(|b| *b == mark).count();
    let rest = &line[len..];
    (len == 7 && (rest.trim().is_empty() || (rest.starts_with(' ') && mark != b'='))).then_some(mark)
}

/// Whether a line is read as a mark even inside a code fence.
pub(super) fn is_hard_mark(line: &str) -> bool {
    conflict(line).is_some() || dated(line).is_some()
}

/// Whether a line is read as a mark outside code fences.
pub(super) fn is_mark(line: &str) -> bool {
    is_hard_mark(line) || is_section(line) || is_rule(line) || label(line).is_some() || fence(line).is_some()
}
