//! Tokens and words: what a command line is made of.
//!
//! Comes in: nothing; `lexer` makes these. Goes out: to whoever follows a command. Never here: where a word ends.

use std::cell::OnceCell;
use std::rc::Rc;

/// A piece of a word.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Text {
        text: String,
        quoted: bool,
    },
    Variable(Box<Variable>),
    /// `$(…)` and backticks: what is in there runs, and its output stands here.
    Output {
        tokens: Rc<[Token]>,
        quoted: bool,
    },
    /// `<(…)` and `>(…)`: what is in there runs, and a name for it stands here.
    Process(Rc<[Token]>),
    /// `a=(…)`.
    List(Vec<Word>),
    /// A number that was calculated.
    Number,
}

/// `$name` and all that `${…}` can be.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) index: Option<String>,
    /// `${!name}`.
    pub(super) indirect: bool,
    /// What stands between the name and `argument`; empty for a plain value.
    pub(super) operator: &'static str,
    pub(super) argument: Word,
    pub(super) quoted: bool,
}

/// A word.
pub(super) type Word = Vec<Part>;

/// What a line is made of.
#[derive(Debug, Clone)]
pub(super) enum Token {
    Word(Word),
    /// `>`, `>>`, `>|`, `&>`, `<>`: the next word is written.
    Into,
    /// `<`: the next word is read.
    From,
    /// `<<<`: the next word is the input itself.
    Given,
    /// `<<`: the input, filled in when the line ends.
    Here(Rc<OnceCell<Word>>),
    /// `;`, `|`, `&&`, `(`, a line break, …: the next word is a command.
    Break(Break),
}

/// What ends a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    End,
    Pipe,
    /// `&&` and `||`: what follows may not happen.
    Maybe,
    Open,
    Close,
}

/// The text of a word that is nothing but text without quotes.
pub(super) fn plain(word: &Word) -> Option<&str> {
    match word.as_slice() {
        [Part::Text { text, quoted: false }] => Some(text),
        _ => None,
    }
}

/// The text of a part that is text.
pub(super) fn literal(part: &Part) -> &str {
    match part {
        Part::Text { text, .. } => text,
        _ => "",
    }
}

/// Whether a text right before a redirection names a stream.
pub(super) fn names_stream(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit()) || text.starts_with('{') && text.ends_with('}')
}

/// Puts text behind a word.
pub(super) fn push(word: &mut Word, more: &str, more_quoted: bool) {
    match word.last_mut() {
        Some(Part::Text { text, quoted }) if *quoted == more_quoted => text.push_str(more),
        _ => word.push(Part::Text { text: more.to_owned(), quoted: more_quoted }),
    }
}

/// Text with its `\x2e`, `\056`, `\u002e` and the like written out, as `$'…'`, `printf` and most languages have them.
pub(super) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(kind) = chars.next() else {
            out.push('\\');
            break;
        };
        let (most, radix, mut value) = match kind {
            'x' => (2, 16, 0),
            'u' => (4, 16, 0),
            'U' => (8, 16, 0),
            '0'..='7' => (2, 8, kind.to_digit(8).unwrap_or(0)),
            _ => {
                out.push(match kind {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                });
                continue;
            }
        };
        for _ in 0..most {
            let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value * radix + digit;
            chars.next();
        }
        out.push(char::from_u32(value).unwrap_or('\u{fffd}'));
    }
    out
}
