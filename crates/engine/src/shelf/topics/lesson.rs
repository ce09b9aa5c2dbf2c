//! A lesson: what went wrong and how it was fixed, as an entry of a topic file.
//!
//! Comes in: fields of any text, or an entry as somebody wrote it. Goes out: the other one. What is written is read back exactly:
//! a line that would be taken for a mark gets a backslash in front (Markdown shows it as it was), white space at the edges of a
//! field is written as `&#32;`. Entries written by hand may use other spacings and headings. Never here: files, or ids.

use super::marks::{self, Dated, Fence, Label};
use heirloom_core::text::one_line;
use jiff::civil::Date;

/// A lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// The day it is of.
    pub date: Date,
    /// One line.
    pub title: String,
    /// The task or reference it belongs to.
    pub context: String,
    /// What went wrong.
    pub problem: String,
    /// How it was fixed.
    pub solution: String,
    /// Code, where there is some.
    pub code: String,
    /// What an entry written by hand says before its first label.
    pub lead: String,
}

/// The labels of the fields, in the order they are written.
const ORDER: [Label; 4] = [Label::Context, Label::Problem, Label::Solution, Label::Code];

impl Lesson {
    /// A lesson with a title and nothing else yet.
    pub fn new(date: Date, title: &str) -> Lesson {
        let empty = String::new;
        Lesson {
            date,
            title: one_line(title),
            context: empty(),
            problem: empty(),
            solution: empty(),
            code: empty(),
            lead: empty(),
        }
    }

    /// The same lesson as people mean it: one line of title, no blank lines around a field, code of several lines in a fence.
    #[must_use]
    pub fn tidied(mut self) -> Lesson {
        self.title = one_line(&self.title);
        for text in [&mut self.context, &mut self.problem, &mut self.solution, &mut self.code, &mut self.lead]
        {
            let kept = text.trim_start_matches(['\n', '\r']).trim_end();
            *text = if kept.trim().is_empty() { String::new() } else { kept.to_owned() };
        }
        if self.code.contains('\n') && !self.code.lines().any(|line| marks::fence(line).is_some()) {
            self.code = format!("```\n{}\n```", self.code);
        }
        self
    }

    /// Every text of the lesson, by name.
    pub(super) fn texts_mut(&mut self) -> [(&'static str, &mut String); 6] {
        [
            ("title", &mut self.title),
            ("context", &mut self.context),
            ("problem", &mut self.problem),
            ("solution", &mut self.solution),
            ("code", &mut self.code),
            ("text", &mut self.lead),
        ]
    }

    /// Every text of the lesson, by name.
    pub(super) fn texts(&self) -> [(&'static str, &str); 6] {
        [
            ("title", &self.title),
            ("context", &self.context),
            ("problem", &self.problem),
            ("solution", &self.solution),
            ("code", &self.code),
            ("text", &self.lead),
        ]
    }

    /// The text below the title, for people and models.
    pub fn body(&self) -> String {
        let mut parts = Vec::new();
        if !self.lead.is_empty() {
            parts.push(self.lead.clone());
        }
        for (name, text) in self.labelled() {
            if !text.is_empty() {
                // A fence opens a line of its own, or it opens nothing.
                let opens = text.split('\n').next().is_some_and(|line| marks::fence(line).is_some());
                let gap = if opens { "\n" } else { " " };
                parts.push(format!("**{name}:**{gap}{text}"));
            }
        }
        parts.join("\n")
    }

    /// The fields that have a label, in the order they are written.
    pub(super) fn labelled(&self) -> [(&'static str, &str); 4] {
        [
            ("Context", &self.context),
            ("Problem", &self.problem),
            ("Solution", &self.solution),
            ("Code", &self.code),
        ]
    }

    /// The entry as it stands in a file. `name` is what its id ends in; it is written only if the title does not give it.
    pub fn write(&self, name: &str) -> String {
        let title = one_line(&self.title);
        let mut out = format!("## {}: {title}", self.date);
        if super::names::slug_of(&title) != name || marks::split_anchor(&title).1.is_some() {
            out.push_str(&format!(" {{#{name}}}"));
        }
        out.push('\n');
        if !self.lead.is_empty() {
            write_field(&mut out, "", &self.lead);
        }
        for (name, text) in self.labelled() {
            if !text.is_empty() {
                write_field(&mut out, &format!("**{name}:**"), text);
            }
        }
        out.push_str("---\n");
        out
    }

    /// Reads an entry. `raw` starts with its heading.
    pub(super) fn read(heading: &Dated, raw: &str) -> Lesson {
        let mut lesson = Lesson::new(heading.date, "");
        lesson.title = heading.title.clone();
        let mut lines = raw.split('\n');
        // A file saved with CR LF has them in the heading too; a carriage return anywhere else is text.
        let crlf = lines.next().is_some_and(|first| first.ends_with('\r'));
        let mut fields: [Option<Vec<&str>>; 5] = [const { None }; 5];
        let mut current = 4;
        let mut open: Option<Fence> = None;
        for line in lines {
            let line = if crlf { line.strip_suffix('\r').unwrap_or(line) } else { line };
            if let Some(fence) = open {
                if fence.closed_by(line) {
                    open = None;
                }
                fields[current].get_or_insert_default().push(unescaped(line, marks::is_hard_mark));
                continue;
            }
            if marks::is_rule(line) {
                break;
            }
            let named = marks::label(line).and_then(|(label, rest)| {
                let at = ORDER.iter().position(|known| *known == label)?;
                fields[at].is_none().then_some((at, rest))
            });
            if let Some((at, rest)) = named {
                current = at;
                fields[at] = Some(vec![rest]);
                continue;
            }
            open = marks::fence(line);
            fields[current].get_or_insert_default().push(unescaped(line, marks::is_mark));
        }
        let [context, problem, solution, code, lead] =
            fields.map(|lines| open_edges(lines.unwrap_or_default().join("\n").trim()));
        Lesson { context, problem, solution, code, lead, ..lesson }
    }
}

fn unescaped(line: &str, is_mark: fn(&str) -> bool) -> &str {
    match line.strip_prefix('\\') {
        Some(rest) if is_mark(rest.trim_start_matches('\\')) => rest,
        _ => line,
    }
}

fn write_field(out: &mut String, label: &str, value: &str) {
    let text = close_edges(value);
    let lines: Vec<&str> = text.split('\n').collect();
    let closed = Fence::closings(&lines);
    out.push_str(label);
    let mut open: Option<Fence> = None;
    for (at, line) in lines.iter().enumerate() {
        let opens = open.is_none() && closed[at];
        if at == 0 && !label.is_empty() {
            if opens {
                out.push('\n');
            } else {
                // Behind its label a line starts nothing.
                out.push(' ');
                out.push_str(line);
                out.push('\n');
                continue;
            }
        }
        match open {
            Some(fence) => {
                if marks::is_hard_mark(line.trim_start_matches('\\')) {
                    out.push('\\');
                }
                if fence.closed_by(line) {
                    open = None;
                }
            }
            None if opens => open = marks::fence(line),
            None => {
                if marks::is_mark(line.trim_start_matches('\\')) {
                    out.push('\\');
                }
            }
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// Writes white space at the edges as numbers, so that trimming does not cost it. What looks like such a number is written as one.
fn close_edges(text: &str) -> String {
    let core = text.trim();
    let before = &text[..text.len() - text.trim_start().len()];
    let after = if core.is_empty() { "" } else { &text[before.len() + core.len()..] };
    let number = |c: char| format!("&#{};", u32::from(c));
    let mut out: String = before.chars().map(number).collect();
    let core = match core.strip_prefix("&#") {
        Some(rest) => {
            out.push_str("&#38;#");
            rest
        }
        None => core,
    };
    match core.strip_suffix(';') {
        Some(head) if last_number(core).is_some() => {
            out.push_str(head);
            out.push_str("&#59;");
        }
        _ => out.push_str(core),
    }
    out.extend(after.chars().map(number));
    out
}

/// Reads the numbers at both edges back.
fn open_edges(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((c, len)) = first_number(rest) {
        out.push(c);
        rest = &rest[len..];
    }
    let mut tail = Vec::new();
    while let Some((c, start)) = last_number(rest) {
        tail.push(c);
        rest = &rest[..start];
    }
    out.push_str(rest);
    out.extend(tail.into_iter().rev());
    out
}

fn number(text: &str) -> Option<char> {
    let digits = text.strip_prefix("&#")?.strip_suffix(';')?;
    let plain = (1..=7).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { digits.parse().ok().and_then(char::from_u32) } else { None }
}

fn first_number(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(10).position(|b| b == b';')? + 1;
    Some((number(&text[..end])?, end))
}

fn last_number(text: &str) -> Option<(char, usize)> {
    let from = text.len().saturating_sub(10);
    let start = from + text.as_bytes()[from..].windows(2).rposition(|w| w == b"&#")?;
    Some((number(&text[start..])?, start))
}
