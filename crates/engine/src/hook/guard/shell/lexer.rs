//! From a command line to words and operators, as a shell would part them.
//!
//! Comes in: text. Goes out: tokens; a word is made of parts, so that quoted text, variables and commands inside it stay apart. Every
//! character is looked at a bounded number of times, and what is never closed ends with the text. Never here: a value of a variable.

use super::steps::{DEPTH_MAX, Steps};
use super::token::{Break, Part, Token, Variable, Word, literal, names_stream, plain, push, unescaped};
use std::cell::OnceCell;
use std::rc::Rc;

/// Where a word ends, and what is special in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// A blank or an operator.
    Blank,
    /// `}` of `${…}`; the flag says whether that stands in quotes.
    Brace(bool),
    /// `"`.
    Quote,
    /// The end of a here-document.
    Body,
}

struct Pending {
    delimiter: String,
    tabs: bool,
    plain: bool,
    body: Rc<OnceCell<Word>>,
}

/// The tokens of a text.
pub(super) fn tokens(text: &str, steps: &mut Steps) -> Vec<Token> {
    Lexer { rest: text, pending: Vec::new(), depth: 0, steps }.script(false)
}

struct Lexer<'a, 's> {
    rest: &'a str,
    pending: Vec<Pending>,
    depth: usize,
    steps: &'s mut Steps,
}

impl<'a> Lexer<'a, '_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        if !self.steps.spend(len) {
            self.rest = "";
        }
        taken
    }

    fn took(&mut self, text: &str) -> bool {
        let there = self.rest.starts_with(text);
        if there {
            self.take(text.len());
        }
        there
    }

    /// One level deeper; nothing more is read below the deepest.
    fn deeper<T: Default>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= DEPTH_MAX {
            self.steps.give_up();
            self.rest = "";
            return T::default();
        }
        self.depth += 1;
        let out = read(self);
        self.depth -= 1;
        out
    }

    /// Another text in the same way: what stood in backticks or in a here-document.
    fn inner<T: Default>(&mut self, text: &str, read: impl FnOnce(&mut Lexer<'_, '_>) -> T) -> T {
        if self.depth >= DEPTH_MAX {
            self.steps.give_up();
            return T::default();
        }
        read(&mut Lexer { rest: text, pending: Vec::new(), depth: self.depth + 1, steps: self.steps })
    }

    /// Tokens up to the end, or to the `)` that closes what was opened before.
    fn script(&mut self, closes: bool) -> Vec<Token> {
        let mut out: Vec<Token> = Vec::new();
        let (mut open, mut cases) = (0usize, 0usize);
        while let Some(c) = self.peek() {
            match c {
                '\n' => {
                    self.take(1);
                    out.push(Token::Break(Break::End));
                    self.bodies();
                }
                _ if c.is_whitespace() => {
                    self.take(c.len_utf8());
                }
                '\\' if self.rest.starts_with("\\\n") => {
                    self.take(2);
                }
                '#' => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.take(end);
                }
                '>' | '<' if self.rest[1..].starts_with('(') => {
                    self.take(2);
                    let tokens = self.deeper(|lexer| lexer.script(true));
                    out.push(Token::Word(vec![Part::Process(tokens.into())]));
                }
                '>' => self.redirect_out(&mut out),
                '<' => self.redirect_in(&mut out),
                '&' if self.rest.starts_with("&>") => {
                    self.take(1);
                    self.redirect_out(&mut out);
                }
                '(' if self.is_calculation() => {
                    self.take(2);
                    let parts = self.calculation();
                    out.push(Token::Word(parts));
                }
                '(' => {
                    self.take(1);
                    open += 1;
                    out.push(Token::Break(Break::Open));
                }
                ')' => {
                    self.take(1);
                    if open == 0 && cases == 0 && closes {
                        return out;
                    }
                    // A pattern of `case` closes nothing.
                    let pattern = open == 0 && cases > 0;
                    open = open.saturating_sub(1);
                    out.push(Token::Break(if pattern { Break::End } else { Break::Close }));
                }
                ';' | '|' | '&' => {
                    let kind = match () {
                        () if self.took("&&") || self.took("||") => Break::Maybe,
                        () if self.took("|&") || self.took("|") => Break::Pipe,
                        () => {
                            self.take(1);
                            Break::End
                        }
                    };
                    out.push(Token::Break(kind));
                }
                _ => {
                    let first = !matches!(
                        out.last(),
                        Some(Token::Word(_) | Token::Into | Token::From | Token::Given)
                    );
                    let word = self.parts(Until::Blank);
                    match plain(&word) {
                        // The number before it names a stream, not a file; so does a name in braces.
                        Some(text) if self.rest.starts_with(['<', '>']) && names_stream(text) => continue,
                        Some("case") if first => cases += 1,
                        Some("esac") if first => cases = cases.saturating_sub(1),
                        _ => {}
                    }
                    out.push(Token::Word(word));
                }
            }
        }
        out
    }

    fn redirect_out(&mut self, out: &mut Vec<Token>) {
        let joins = self.rest.starts_with(">&");
        let _ = self.took(">>") || self.took(">|") || self.took(">&") || self.took(">");
        // `>&2` joins two streams; `>&file` writes one.
        if joins && self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(self.rest.len());
            self.take(end);
            return;
        }
        out.push(Token::Into);
    }

    fn redirect_in(&mut self, out: &mut Vec<Token>) {
        if self.took("<<<") {
            out.push(Token::Given);
        } else if self.took("<<") {
            let tabs = self.took("-");
            let blanks = self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len();
            self.take(blanks);
            let before = self.rest;
            let word = self.parts(Until::Blank);
            let spelled = &before[..before.len() - self.rest.len()];
            let body = Rc::new(OnceCell::new());
            let plain = spelled.contains(['\'', '"', '\\']);
            let delimiter = word.iter().map(literal).collect();
            self.pending.push(Pending { delimiter, tabs, plain, body: body.clone() });
            out.push(Token::Here(body));
        } else if self.took("<&") {
            let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(self.rest.len());
            self.take(end);
        } else if self.took("<>") {
            out.push(Token::Into);
        } else {
            self.take(1);
            out.push(Token::From);
        }
    }

    /// The bodies of the here-documents of the line that has just ended.
    fn bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            while !self.rest.is_empty() {
                let end = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
                let line = self.take(end);
                let line = if pending.tabs { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches(['\n', '\r']) == pending.delimiter {
                    break;
                }
                text.push_str(line);
            }
            let word = if pending.plain {
                vec![Part::Text { text, quoted: true }]
            } else {
                self.inner(&text, |lexer| lexer.parts(Until::Body))
            };
            let _ = pending.body.set(word);
        }
    }

    fn parts(&mut self, until: Until) -> Word {
        let quoted = !matches!(until, Until::Blank | Until::Brace(false));
        let mut word = Word::new();
        while let Some(c) = self.peek() {
            match (c, until) {
                (_, Until::Blank) if c.is_whitespace() || ";|&<>)".contains(c) => break,
                ('(', Until::Blank) => {
                    if !word.last().is_some_and(|part| literal(part).ends_with('=')) {
                        break;
                    }
                    self.take(1);
                    let tokens = self.deeper(|lexer| lexer.script(true));
                    let words = tokens.into_iter().filter_map(|token| match token {
                        Token::Word(word) => Some(word),
                        _ => None,
                    });
                    word.push(Part::List(words.collect()));
                }
                ('}', Until::Brace(_)) | ('"', Until::Quote) => {
                    self.take(1);
                    break;
                }
                ('\'', Until::Blank | Until::Brace(false)) => {
                    self.take(1);
                    let end = self.rest.find('\'').unwrap_or(self.rest.len());
                    let text = self.take(end);
                    self.take(1);
                    push(&mut word, text, true);
                }
                ('"', Until::Blank | Until::Brace(_)) => {
                    self.take(1);
                    let inner = self.deeper(|lexer| lexer.parts(Until::Quote));
                    // Empty quotes are a word, too.
                    push(&mut word, "", true);
                    word.extend(inner);
                }
                ('\\', _) => {
                    self.take(1);
                    let Some(next) = self.peek() else { break };
                    let taken = self.take(next.len_utf8());
                    if next != '\n' {
                        if quoted && !"$`\"\\}".contains(next) {
                            push(&mut word, "\\", true);
                        }
                        push(&mut word, taken, true);
                    }
                }
                ('$', _) => self.dollar(quoted, &mut word),
                ('`', _) => {
                    self.take(1);
                    let text = self.backticked();
                    let tokens = self.inner(&text, |lexer| lexer.script(false));
                    word.push(Part::Output { tokens: tokens.into(), quoted });
                }
                _ => {
                    let special = |c: char| {
                        c.is_whitespace()
                            || matches!(
                                c,
                                ';' | '|' | '&' | '<' | '>' | '(' | ')' | '\'' | '"' | '\\' | '$' | '`' | '}'
                            )
                    };
                    let end = self.rest.char_indices().skip(1).find(|(_, c)| special(*c));
                    let end = end.map_or(self.rest.len(), |(at, _)| at);
                    let text = self.take(end);
                    push(&mut word, text, quoted);
                }
            }
        }
        word
    }

    fn backticked(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.peek() {
            self.take(c.len_utf8());
            match c {
                '`' => break,
                '\\' => match self.peek() {
                    Some(next @ ('`' | '\\' | '$')) => {
                        self.take(1);
                        text.push(next);
                    }
                    _ => text.push('\\'),
                },
                _ => text.push(c),
            }
        }
        text
    }

    fn dollar(&mut self, quoted: bool, word: &mut Word) {
        self.take(1);
        if !quoted && self.took("'") {
            let text = self.escaped();
            push(word, &text, true);
        } else if !quoted && self.rest.starts_with('"') {
        } else if self.took("((") {
            word.extend(self.calculation());
        } else if self.took("(") {
            let tokens = self.deeper(|lexer| lexer.script(true));
            word.push(Part::Output { tokens: tokens.into(), quoted });
        } else if self.took("{") {
            let variable = self.deeper(|lexer| Some(lexer.braced(quoted)));
            word.extend(variable.map(|variable| Part::Variable(Box::new(variable))));
        } else {
            let name = self.name();
            if name.is_empty() {
                return push(word, "$", true);
            }
            let (index, argument) = (None, Word::new());
            let variable =
                Variable { name: name.to_owned(), index, indirect: false, operator: "", argument, quoted };
            word.push(Part::Variable(Box::new(variable)));
        }
    }

    fn name(&mut self) -> &'a str {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let len = match self.peek() {
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => 1,
            _ => self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len()),
        };
        self.take(len)
    }

    fn braced(&mut self, quoted: bool) -> Variable {
        const OPERATORS: [&str; 19] = [
            ":-", ":=", ":+", ":?", "%%", "##", "//", "^^", ",,", "-", "=", "+", "?", "%", "#", "/", "^",
            ",", ":",
        ];
        let indirect = self.rest.len() > 1 && !self.rest.starts_with("!}") && self.took("!");
        // The length of a value is a number, whatever the value.
        let length = !self.rest.starts_with("#}") && self.took("#");
        let mut name = self.name().to_owned();
        if length {
            name.clear();
        }
        let mut index = None;
        if self.took("[") {
            let end = self.rest.find([']', '}']).unwrap_or(self.rest.len());
            index = Some(self.take(end).to_owned());
            self.took("]");
        }
        let operator = OPERATORS.into_iter().find(|operator| self.took(operator)).unwrap_or("");
        let argument = self.parts(Until::Brace(quoted));
        Variable { name, index, indirect, operator, argument, quoted }
    }

    /// `$'…'`.
    fn escaped(&mut self) -> String {
        let mut end = 0;
        let bytes = self.rest.as_bytes();
        while end < bytes.len() && bytes[end] != b'\'' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let mut end = end.min(bytes.len());
        while !self.rest.is_char_boundary(end) {
            end += 1;
        }
        let text = self.take(end);
        self.take(1);
        unescaped(text)
    }

    /// Whether `((` begins a calculation: its inner bracket is closed right before the outer one.
    fn is_calculation(&mut self) -> bool {
        if !self.rest.starts_with("((") {
            return false;
        }
        let mut depth = 0usize;
        for (at, b) in self.rest.bytes().enumerate() {
            match b {
                b'(' => depth += 1,
                b')' if depth == 2 => {
                    self.steps.spend(at);
                    return self.rest[at + 1..].starts_with(')');
                }
                b')' => depth -= 1,
                _ => {}
            }
        }
        self.steps.spend(self.rest.len());
        false
    }

    /// A number, and the commands that are run to find it.
    fn calculation(&mut self) -> Word {
        let (mut depth, mut word) = (2usize, vec![Part::Number]);
        while let Some(c) = self.peek() {
            match c {
                '$' if self.rest.starts_with("$(") || self.rest.starts_with("${") => {
                    self.dollar(true, &mut word);
                    continue;
                }
                '`' => {
                    self.take(1);
                    let text = self.backticked();
                    let tokens = self.inner(&text, |lexer| lexer.script(false));
                    word.push(Part::Output { tokens: tokens.into(), quoted: true });
                    continue;
                }
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            self.take(c.len_utf8());
            if depth == 0 {
                break;
            }
        }
        word
    }
}
