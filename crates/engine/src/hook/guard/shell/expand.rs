//! From a word to the texts it may become: variables, braces, `~`, and what a command inside it prints.
//!
//! Comes in: a word and what is known of variables. Goes out: fields. A value nobody can know is the mark [`UNKNOWN`], once as something and
//! once as nothing, since an unset variable is nothing; `*`, `?` and `[…]` that a shell would match against files are marks, too. Never here:
//! a look at files.

use super::super::pattern::{self, UNKNOWN, activated, is_mark};
use super::token::{Part, Variable, Word};
use super::walk::Walk;

/// Texts one word may become.
const FIELDS_MAX: usize = 256;
/// Longer ranges than this name nothing.
const RANGE_MAX: u32 = 64;

/// A text a word may become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) text: String,
    /// Whether something unknown was taken for nothing.
    pub(super) guess: bool,
    /// The word it comes from, counted from the command's first.
    pub(super) word: usize,
    /// Fields of one word with different numbers here exclude each other: values of a variable.
    pub(super) way: usize,
}

impl Field {
    pub(super) fn sure(text: impl Into<String>) -> Field {
        Field { text: text.into(), guess: false, word: 0, way: 0 }
    }

    /// Without the marks, as text.
    pub(super) fn written_out(&self) -> String {
        pattern::written_out(&self.text)
    }
}

/// Unquoted: matched against files, and parted at blanks.
const OPEN: u8 = 1;
/// Unquoted and written here: braces and `~` count.
const HERE: u8 = 2;

type Marked = Vec<(char, u8)>;

/// A part of a word and the texts it may stand for.
struct Piece {
    values: Vec<String>,
    flags: u8,
}

impl Walk<'_> {
    /// All that a word may become, parted at blanks.
    pub(super) fn fields(&mut self, word: &Word) -> Vec<Field> {
        if let [Part::Text { text, quoted }] = word.as_slice()
            && (*quoted || !text.contains(['*', '?', '[', '{', '~']))
            && !text.contains(is_mark)
        {
            self.steps.spend(text.len());
            return vec![Field::sure(text.clone())];
        }
        let pieces = self.pieces(word);
        let unknown = pieces.iter().any(|piece| piece.values.iter().any(|value| value.contains(UNKNOWN)));
        let mut fields = Vec::new();
        for guess in [false, true] {
            if guess && !unknown {
                break;
            }
            for (way, marked) in self.joined(&pieces, guess).into_iter().enumerate() {
                let way = way + if guess { FIELDS_MAX } else { 0 };
                for one in self.braces(marked) {
                    let one = self.tilde(one);
                    split(&one, |text| {
                        if !(guess && text.is_empty()) {
                            fields.push(Field { text, guess, word: 0, way });
                        }
                    });
                    if fields.len() > FIELDS_MAX {
                        self.steps.give_up();
                        return fields;
                    }
                }
            }
        }
        fields
    }

    /// A word as one text: what stands behind `=`, or is given as input.
    pub(super) fn value(&mut self, word: &Word) -> Vec<String> {
        let pieces = self.pieces(word);
        let all = self.joined(&pieces, false);
        let texts = all.into_iter().map(|marked| self.tilde(marked).into_iter().map(|(c, _)| c).collect());
        texts.collect()
    }

    fn pieces(&mut self, word: &Word) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for part in word {
            if self.steps.gave_up() {
                break;
            }
            let piece = match part {
                Part::Text { text, quoted } => {
                    let flags = if *quoted { 0 } else { OPEN | HERE };
                    Piece { values: vec![text.replace(is_mark, "\u{fffd}")], flags }
                }
                Part::Variable(variable) => {
                    let flags = if variable.quoted { 0 } else { OPEN };
                    Piece { values: self.variable(variable), flags }
                }
                Part::Output { tokens, quoted } => {
                    let flags = if *quoted { 0 } else { OPEN };
                    let printed = self.aside(|walk| walk.output_of(tokens));
                    let value = printed
                        .map_or_else(|| UNKNOWN.to_string(), |text| text.trim_end_matches('\n').to_owned());
                    Piece { values: vec![value], flags }
                }
                Part::Process(tokens) => {
                    self.aside(|walk| walk.output_of(tokens));
                    Piece { values: vec![UNKNOWN.to_string()], flags: 0 }
                }
                Part::List(words) => {
                    for word in words {
                        self.fields(word);
                    }
                    continue;
                }
                Part::Number => Piece { values: vec![UNKNOWN.to_string()], flags: 0 },
            };
            pieces.push(piece);
        }
        pieces
    }

    /// Every way to put the pieces together.
    fn joined(&mut self, pieces: &[Piece], guess: bool) -> Vec<Marked> {
        let mut all: Vec<Marked> = vec![Vec::new()];
        for piece in pieces {
            let ways = all.len().saturating_mul(piece.values.len());
            if ways > FIELDS_MAX {
                self.steps.give_up();
                return all;
            }
            let mut next = Vec::with_capacity(ways);
            for before in &all {
                for value in &piece.values {
                    if !self.steps.spend(before.len() + value.len()) {
                        return all;
                    }
                    let mut marked = before.clone();
                    let value = value.chars().filter(|c| !(guess && *c == UNKNOWN));
                    marked.extend(value.map(|c| (c, piece.flags)));
                    next.push(marked);
                }
            }
            all = next;
        }
        all
    }

    fn variable(&mut self, variable: &Variable) -> Vec<String> {
        let unknown = || vec![UNKNOWN.to_string()];
        let mut values = self.known(&variable.name, variable.index.as_deref());
        if variable.indirect {
            let names = values.unwrap_or_default();
            values = names.first().and_then(|name| self.known(name, None));
        }
        let operator = variable.operator;
        if operator.is_empty() {
            return values.unwrap_or_else(unknown);
        }
        // The argument may run something, whether it counts or not.
        let argument = self.value(&variable.argument);
        let first = argument.first().cloned().unwrap_or_default();
        match (operator, values) {
            (":-" | "-" | ":=" | "=", values) => {
                if operator.ends_with('=') && values.is_none() {
                    self.assign(&variable.name, argument.clone(), false);
                }
                match values {
                    Some(values) if values.iter().all(|value| !value.is_empty()) => values,
                    // Nobody knows whether it is set outside; what it is here is the better guess.
                    _ => argument,
                }
            }
            (":+" | "+", _) => argument,
            (":?" | "?", values) => values.unwrap_or_else(unknown),
            (_, None) => unknown(),
            (_, Some(values)) => values.iter().map(|value| self.changed(value, operator, &first)).collect(),
        }
    }

    /// `${x%…}` and its like.
    fn changed(&mut self, value: &str, operator: &str, argument: &str) -> String {
        let active = activated(argument);
        let ends: Vec<usize> = value.char_indices().map(|(at, _)| at).chain([value.len()]).collect();
        let mut fits =
            |text: &str| self.steps.spend(text.len() * active.len() + 1) && pattern::fits_text(&active, text);
        match operator {
            "%" => {
                ends.iter().rev().find(|at| fits(&value[**at..])).map_or(value, |at| &value[..*at]).to_owned()
            }
            "%%" => ends.iter().find(|at| fits(&value[**at..])).map_or(value, |at| &value[..*at]).to_owned(),
            "#" => ends.iter().find(|at| fits(&value[..**at])).map_or(value, |at| &value[*at..]).to_owned(),
            "##" => {
                ends.iter().rev().find(|at| fits(&value[..**at])).map_or(value, |at| &value[*at..]).to_owned()
            }
            "/" | "//" => {
                let (from, to) = argument.split_once('/').unwrap_or((argument, ""));
                match (from.is_empty(), operator) {
                    (true, _) => value.to_owned(),
                    (_, "/") => value.replacen(from, to, 1),
                    _ => value.replace(from, to),
                }
            }
            "^^" => value.to_uppercase(),
            ",," => value.to_lowercase(),
            ":" => {
                let (from, len) = argument.split_once(':').unwrap_or((argument, ""));
                let from: usize = from.trim().parse().unwrap_or(0);
                let len = len.trim().parse().unwrap_or(usize::MAX);
                value.chars().skip(from).take(len).collect()
            }
            _ => UNKNOWN.to_string(),
        }
    }

    /// `{a,b}` and `{1..3}`.
    fn braces(&mut self, word: Marked) -> Vec<Marked> {
        if !word.contains(&('{', OPEN | HERE)) {
            return vec![word];
        }
        let (mut waiting, mut done) = (vec![word], Vec::new());
        while let Some(word) = waiting.pop() {
            if waiting.len() + done.len() > FIELDS_MAX {
                self.steps.give_up();
                break;
            }
            if !self.steps.spend(word.len()) {
                break;
            }
            match self.alternatives(&word) {
                None => done.push(word),
                Some((range, inner)) => {
                    // The first comes off first, so that fields keep their order.
                    for one in inner.into_iter().rev() {
                        if !self.steps.spend(word.len()) {
                            break;
                        }
                        let mut whole = word[..range.start].to_vec();
                        whole.extend(one);
                        whole.extend_from_slice(&word[range.end..]);
                        waiting.push(whole);
                    }
                }
            }
        }
        done
    }

    fn alternatives(&mut self, word: &Marked) -> Option<(std::ops::Range<usize>, Vec<Marked>)> {
        let is = |at: usize, c: char| word[at] == (c, OPEN | HERE);
        for start in (0..word.len()).filter(|at| is(*at, '{')) {
            let (mut depth, mut commas) = (0usize, vec![start]);
            for at in start..word.len() {
                if !self.steps.spend(1) {
                    return None;
                }
                if is(at, '{') {
                    depth += 1;
                } else if is(at, ',') && depth == 1 {
                    commas.push(at);
                } else if is(at, '}') {
                    depth -= 1;
                    if depth == 0 {
                        commas.push(at);
                        break;
                    }
                }
            }
            if depth > 0 {
                continue;
            }
            let end = *commas.last()?;
            let inner = match commas.len() {
                2 => range(&word[start + 1..end]),
                _ => Some(commas.windows(2).map(|pair| word[pair[0] + 1..pair[1]].to_vec()).collect()),
            };
            if let Some(inner) = inner {
                return Some((start..end + 1, inner));
            }
        }
        None
    }

    fn tilde(&mut self, word: Marked) -> Marked {
        if word.first() != Some(&('~', OPEN | HERE)) {
            return word;
        }
        let end = word.iter().position(|(c, _)| *c == '/').unwrap_or(word.len());
        let name: String = word[1..end].iter().map(|(c, _)| *c).collect();
        let folder = match name.as_str() {
            "" => self.home(),
            "+" => self.known("PWD", None).and_then(|folders| folders.into_iter().next()),
            "-" => self.known("OLDPWD", None).and_then(|folders| folders.into_iter().next()),
            name => self.home().filter(|home| home.rsplit('/').next() == Some(name)),
        };
        match folder {
            None => word,
            Some(folder) => folder.chars().map(|c| (c, 0)).chain(word[end..].iter().copied()).collect(),
        }
    }
}

fn range(inner: &[(char, u8)]) -> Option<Vec<Marked>> {
    let text: String = inner.iter().map(|(c, _)| *c).collect();
    let (from, to) = text.split_once("..")?;
    let to = to.split("..").next()?;
    let made = |texts: Vec<String>| texts.iter().map(|text| text.chars().map(|c| (c, 0)).collect()).collect();
    let number = |text: &str| text.parse::<u32>().ok();
    let letter = |text: &str| text.chars().next().filter(|c| c.is_ascii_alphabetic() && text.len() == 1);
    if let (Some(a), Some(b)) = (number(from), number(to)) {
        let (low, high) = (a.min(b), a.max(b));
        let texts = match high - low {
            0..RANGE_MAX => (low..=high).map(|n| n.to_string()).collect(),
            _ => vec![UNKNOWN.to_string()],
        };
        return Some(made(texts));
    }
    let (a, b) = (letter(from)?, letter(to)?);
    Some(made((a.min(b)..=a.max(b)).map(String::from).collect()))
}

fn split(word: &[(char, u8)], mut push: impl FnMut(String)) {
    let is_blank = |(c, flags): &(char, u8)| flags & OPEN != 0 && c.is_whitespace();
    let whole = !word.iter().any(is_blank);
    for field in word.split(is_blank) {
        if whole || !field.is_empty() {
            let active = |(c, flags): &(char, u8)| if flags & OPEN != 0 { pattern::active(*c) } else { *c };
            push(field.iter().map(active).collect());
        }
    }
}
