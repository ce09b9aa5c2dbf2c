//! A text in Markdown, taken apart into what it states.
//!
//! Comes in: a file's text. Goes out: every point, sentence and row with its line, and beside them what states nothing: headings, code, comments. Nothing is lost:
//! each line with a word in it is in exactly one of them. Never here: deciding what becomes of any of it.

use super::markdown::front_matter;

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// The line it begins in, from 1.
    pub(super) line: usize,
    /// Its words, on one line.
    pub(super) text: String,
    /// What it is.
    pub(super) form: Form,
}

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A point, a sentence or a row of a table.
    Says,
    Heading,
    Code,
    Comment,
    FrontMatter,
}

impl Form {
    /// Why nothing is made of it; nothing for what says something.
    pub(super) fn why(self) -> Option<&'static str> {
        match self {
            Form::Says => None,
            Form::Heading => Some("a heading"),
            Form::Code => Some("code"),
            Form::Comment => Some("a comment"),
            Form::FrontMatter => Some("a field of the file's head"),
        }
    }
}

/// How a sentence begins that only makes sense after the one before it.
const GOES_ON: [&str; 17] = [
    "it ",
    "it's ",
    "this ",
    "that ",
    "they ",
    "these ",
    "those ",
    "because ",
    "so ",
    "otherwise",
    "the reason",
    "reason:",
    "why:",
    "but ",
    "and ",
    "then ",
    "for example",
];
/// Words with a full stop that end no sentence.
const SHORT: [&str; 12] =
    ["e.g", "i.e", "etc", "vs", "no", "cf", "approx", "resp", "incl", "max", "min", "st"];

/// Everything a text says, piece by piece.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let body = front_matter(text).1;
    let head = text.len() - body.len();
    let mut taken = Taken::default();
    let before = text[..head].lines().count();
    for (at, line) in text[..head].lines().enumerate() {
        if line.trim_end() != "---" && !line.trim().is_empty() {
            taken.push(at + 1, line.trim(), Form::FrontMatter);
        }
    }
    for (at, line) in body.lines().enumerate() {
        taken.see(before + at + 1, line);
    }
    taken.flush();
    taken.found
}

/// What has been read of a file.
#[derive(Default)]
struct Taken {
    found: Vec<Statement>,
    /// The fence of an open block of code.
    fence: Option<&'static str>,
    comment: bool,
    /// The piece that may go on in the next line: where it began, its words, and whether it is a point of a list.
    open: Option<(usize, String, bool)>,
    /// Whether the line before was a row of a table.
    table: bool,
}

impl Taken {
    fn push(&mut self, line: usize, text: &str, form: Form) {
        self.found.push(Statement { line, text: text.to_owned(), form });
    }

    fn see(&mut self, at: usize, line: &str) {
        let inner = line.trim();
        if let Some(fence) = self.fence {
            match inner.starts_with(fence) {
                true => self.fence = None,
                false if !inner.is_empty() => self.push(at, inner, Form::Code),
                false => {}
            }
            return;
        }
        if self.comment || inner.starts_with("<!--") {
            self.flush();
            self.comment = !inner.contains("-->");
            let words = inner.trim_start_matches("<!--").trim_end_matches("-->").trim();
            if !words.is_empty() {
                self.push(at, words, Form::Comment);
            }
            return;
        }
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| inner.starts_with(fence)) {
            self.flush();
            self.fence = Some(fence);
            return;
        }
        let in_table = std::mem::replace(&mut self.table, inner.starts_with('|'));
        if inner.is_empty() {
            self.flush();
        } else if inner.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | ' ')) {
            // A line below a paragraph makes it a heading; alone it is a rule.
            match self.open.take() {
                Some((line, text, false)) if inner.starts_with(['-', '=']) => {
                    self.push(line, &text, Form::Heading)
                }
                other => {
                    self.open = other;
                    self.flush();
                }
            }
        } else if inner.starts_with('#') && inner.trim_start_matches('#').starts_with(' ') {
            self.flush();
            self.push(at, inner.trim_start_matches('#').trim(), Form::Heading);
        } else if self.table {
            self.flush();
            self.row(at, inner, in_table);
        } else if let Some(point) = super::markdown::marked(inner) {
            self.flush();
            self.open = Some((at, point.to_owned(), true));
        } else {
            let inner = inner.strip_prefix('>').map_or(inner, str::trim);
            match &mut self.open {
                Some((_, text, point)) if !*point || line.starts_with([' ', '\t']) => {
                    text.push(' ');
                    text.push_str(inner);
                }
                _ => {
                    self.flush();
                    self.open = Some((at, inner.to_owned(), false));
                }
            }
        }
    }

    /// A row of a table: the first is its head, the line below that holds no words.
    fn row(&mut self, at: usize, line: &str, in_table: bool) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':' | ' '))) {
            return;
        }
        let filled: Vec<&str> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        self.push(at, &filled.join(" | "), if in_table { Form::Says } else { Form::Heading });
    }

    /// What was open is whole.
    fn flush(&mut self) {
        match self.open.take() {
            None => {}
            Some((line, text, true)) => self.push(line, &text, Form::Says),
            Some((line, text, false)) => {
                let first = self.found.len();
                for sentence in sentences(&text) {
                    let lower = sentence.to_lowercase();
                    let goes_on = GOES_ON.iter().any(|start| lower.starts_with(start));
                    match self.found.get_mut(first..).and_then(<[Statement]>::last_mut).filter(|_| goes_on) {
                        Some(before) => {
                            before.text.push(' ');
                            before.text.push_str(sentence);
                        }
                        None => self.push(line, sentence, Form::Says),
                    }
                }
            }
        }
    }
}

/// The sentences of a paragraph.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        if !matches!(c, '.' | '!' | '?') {
            continue;
        }
        let end = at + c.len_utf8();
        let rest = &text[end..];
        let next = rest.trim_start();
        let begins = next.starts_with(|c: char| !c.is_lowercase() && !matches!(c, ',' | ';' | ')'));
        let word = text[start..at].rsplit(char::is_whitespace).next().unwrap_or_default();
        let word = word.trim_start_matches(['(', '"', '`']).to_lowercase();
        let short = SHORT.contains(&word.as_str()) || (word.chars().count() == 1 && word != "i");
        if rest.starts_with(char::is_whitespace) && begins && !short && !next.is_empty() {
            found.push(text[start..end].trim());
            start = end;
        }
    }
    found.push(text[start..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn says(text: &str) -> Vec<String> {
        statements(text).into_iter().filter(|one| one.form == Form::Says).map(|one| one.text).collect()
    }

    #[test]
    fn points_sentences_and_rows_are_told_apart_from_what_states_nothing() {
        let text = "---\nname: x\n---\n# Rules\n\n- Use pnpm,\n  never npm\n- Two\n\nWe use SQLite. It needs no server. Ask first, e.g. here.\n\n\
                    ```sh\nmake\n```\n<!-- hidden -->\n| a | b |\n|---|---|\n| Database | SQLite |\n\nTitle\n-----\n> Quoted.\n";
        assert_eq!(
            says(text),
            [
                "Use pnpm, never npm",
                "Two",
                "We use SQLite. It needs no server.",
                "Ask first, e.g. here.",
                "Database | SQLite",
                "Quoted."
            ]
        );
        let others: Vec<(usize, &str)> =
            statements(text).iter().filter_map(|one| Some((one.line, one.form.why()?))).collect();
        assert_eq!(
            others,
            [
                (2, "a field of the file's head"),
                (4, "a heading"),
                (13, "code"),
                (15, "a comment"),
                (16, "a heading"),
                (20, "a heading")
            ]
        );
    }

    proptest! {
        #[test]
        fn no_word_is_lost(text in "([a-z]{1,6}|\n|# |- |```|\\. |\\| |> |<!--|-->| ){0,60}") {
            let all: String = statements(&text).into_iter().map(|one| one.text + " ").collect();
            // What stands in the line of a fence names the code's language.
            let lines = text.lines().filter(|line| !line.trim().starts_with("```"));
            for word in lines.flat_map(|line| line.split(|c: char| !c.is_ascii_alphabetic())) {
                prop_assert!(all.contains(word), "{word} of {text:?} is not in {all:?}");
            }
        }
    }
}
