//! Credentials by context: a word that announces one, followed by a value that can be one. In: the
//! text and a cue word. Out: the span of the value and how sure that is. This is what finds the
//! thousand services nobody wrote a rule for.

use super::{
    finding::Level,
    parse::{self, Link, Value},
    rules::{Cue, HEADS, TAILS},
    value::{self, Shape},
};
use std::ops::Range;

/// A credential found by its context.
pub(super) struct Announced {
    pub level: Level,
    pub rule: &'static str,
    pub span: Range<usize>,
}

/// Values longer than this are judged once, by the first cue that leads to them: a text of cues
/// without a break would otherwise be read again from each of them.
const LONG: usize = 96;

/// How far the text has been judged.
#[derive(Default)]
pub(super) struct Judged {
    until: usize,
}

impl Judged {
    fn first(&mut self, span: &Range<usize>) -> bool {
        if span.start < self.until {
            return false;
        }
        if span.len() > LONG {
            self.until = span.end;
        }
        true
    }
}

/// The credential that the cue at `at` announces.
pub(super) fn announced(text: &[u8], at: Range<usize>, cue: Cue, judged: &mut Judged) -> Option<Announced> {
    let head = head(text, at.start);
    if !word_start(text, at.start)
        || cue != Cue::Session && HEADS.iter().any(|h| head.eq_ignore_ascii_case(h.as_bytes()))
    {
        return None;
    }
    if in_arn(text, at.start) || in_slug(text, &at) {
        return None;
    }
    // The `=` of a cookie is part of its cue.
    let (after, tail) = if cue == Cue::Session { (at.end - 1, true) } else { tail(text, at.end, cue)? };
    let found = parse::value_after(text, after)?;
    if !judged.first(&found.span) {
        return None;
    }
    // A policy, a field, a page: what follows is not the password.
    if matches!(cue, Cue::Password | Cue::Phrase)
        && found.fillers > 0
        && about_else(&text[after..found.span.start])
    {
        return None;
    }
    // A value that is itself the next cue (`secret key = …`) is read from there.
    judge(text, cue, found, tail)
}

/// Whether a word is one of words joined by hyphens, as in an id made from a title: `passwords-are-hashed-with-argon2`,
/// `rotate-the-api-token-every-90-days`. A value would follow behind another mark.
fn in_slug(text: &[u8], at: &Range<usize>) -> bool {
    let part = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
    if text.get(at.end).is_none_or(|b| *b != b'-' && !b.is_ascii_lowercase()) {
        return false;
    }
    let from = at.start - text[..at.start].iter().rev().take(80).take_while(|b| part(b)).count();
    let to = at.end + text[at.end..].iter().take(80).take_while(|b| part(b)).count();
    !text[from..].starts_with(b"-") && value::is_slug(&text[from..to])
}

/// Whether one of the words between a name and its value makes it something else than a password.
fn about_else(between: &[u8]) -> bool {
    let words = between.split(|b| !(b.is_ascii_alphanumeric() || *b >= 0x80)).filter(|w| !w.is_empty());
    // "for the login page" says what it opens.
    let words = words.take_while(|w| !super::chosen::listed(super::rules::ONTO, w));
    words.filter(|w| w.len() > 2).take(8).any(|w| super::chosen::listed(super::rules::NOUNS, w))
}

/// Where the identifier around a word for a password ends; nothing if the word is part of something else.
pub(super) fn named(text: &[u8], at: &Range<usize>, cue: Cue) -> Option<usize> {
    let head = head(text, at.start);
    let other = HEADS.iter().any(|h| head.eq_ignore_ascii_case(h.as_bytes()));
    if !word_start(text, at.start) || other || in_arn(text, at.start) || in_slug(text, at) {
        return None;
    }
    tail(text, at.end, cue).map(|(end, _)| end)
}

/// Inside `arn:aws:…:secret:name` and its like, what follows is a name.
fn in_arn(text: &[u8], at: usize) -> bool {
    let run = text[..at]
        .iter()
        .rev()
        .take(96)
        .take_while(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\''))
        .count();
    text[at - run..at].starts_with(b"arn:") || text[at - run..at].starts_with(b"ssm:")
}

/// The letters right before a cue, or the word before it if the cue starts a word.
fn head(text: &[u8], start: usize) -> &[u8] {
    let mut end = start;
    while end > 0 && matches!(text[end - 1], b' ' | b'_' | b'-' | b'.') && start - end < 2 {
        end -= 1;
    }
    let from = text[..end].iter().rev().take(24).take_while(|b| b.is_ascii_alphanumeric()).count();
    &text[end - from..end]
}

/// Whether a cue starts a word: after a non-letter, or where camel case turns upper.
fn word_start(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|i| text[i]) else {
        return true;
    };
    !before.is_ascii_alphabetic() || before.is_ascii_lowercase() && text[at].is_ascii_uppercase()
}

/// Where the identifier around the cue ends, and whether its rest is a known one. `None` if the
/// rest says that no credential follows (`token_type`, `key_file`, `secretary`).
fn tail(text: &[u8], end: usize, cue: Cue) -> Option<(usize, bool)> {
    let len = text[end..].iter().take(32).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    if len == 0 {
        return Some((end, true));
    }
    let rest = &text[end..end + len];
    let mut parts = Vec::new();
    let mut from = 0;
    for i in 0..=rest.len() {
        let turn =
            i < rest.len() && i > from && rest[i].is_ascii_uppercase() && rest[i - 1].is_ascii_lowercase();
        if i == rest.len() || rest[i] == b'_' || turn {
            if i > from {
                parts.push(&rest[from..i]);
            }
            from = if turn { i } else { i + 1 };
        }
    }
    let known = parts.iter().all(|part| {
        part.iter().all(u8::is_ascii_digit) || TAILS.iter().any(|t| part.eq_ignore_ascii_case(t.as_bytes()))
    });
    let last_id = parts.last().is_some_and(|p| p.eq_ignore_ascii_case(b"id"));
    match () {
        () if known && !last_id => Some((end + len, true)),
        // `secretKEYX-…`, `SECRETsomesecret-…`: unknown, but not a word of its own.
        () if cue == Cue::Token && !last_id && parts.len() == 1 && value::holds(rest, "secret") => {
            Some((end + len, false))
        }
        // The value follows without a mark: `TOKENabc…` is left to the formats.
        () => None,
    }
}

fn judge(text: &[u8], cue: Cue, found: Value, known: bool) -> Option<Announced> {
    let Value { link, quoted, fillers, .. } = found;
    let mut span = found.span;
    match cue {
        Cue::Pin => return pin(text, span, link),
        Cue::Phrase => {
            if let Some(words) = phrase(text, &span, quoted, link) {
                return Some(Announced { level: Level::Probable, rule: "secret-phrase", span: words });
            }
        }
        _ => {}
    }
    if !quoted {
        span = cut_query(text, span);
    }
    let token = &text[span.clone()];
    if token.len() < 4
        || token.iter().any(u8::is_ascii_whitespace)
            && !(cue == Cue::Password && quoted && link >= Link::Copula)
    {
        return None;
    }
    // Three asterisks before it mask a value; two are emphasis.
    let before = text[..span.start].iter().rev().take(3).take_while(|b| **b == b'*').count();
    let stars = before + token.iter().take_while(|b| **b == b'*').count();
    if value::is_placeholder(token) || stars >= 3 {
        return None;
    }
    if matches!(cue, Cue::Token | Cue::Weak) && value::is_slug(token) {
        return None;
    }
    let shape = value::shape(token);
    let level = match cue {
        Cue::Password | Cue::Phrase => password_level(token, shape, link, quoted, fillers)?,
        Cue::Session => matches!(shape, Shape::Random | Shape::Hex | Shape::Uuid)
            .then_some(Level::Probable)
            .filter(|_| link == Link::Assign && token.len() >= 16)?,
        Cue::Weak => weak_level(token, shape, link, fillers)?,
        _ => token_level(token, shape, link, quoted, fillers, known)?,
    };
    let rule = match cue {
        Cue::Password | Cue::Phrase => "password-in-context",
        Cue::Session => "session-cookie",
        Cue::Weak => "key-in-context",
        _ => "token-in-context",
    };
    Some(Announced { level, rule, span })
}

fn password_level(token: &[u8], shape: Shape, link: Link, quoted: bool, fillers: u8) -> Option<Level> {
    let n = token.len();
    let strong = match shape {
        Shape::Random | Shape::Gibberish | Shape::Hex | Shape::Uuid => n >= 8,
        Shape::Chosen => n >= 6 && chosen(token),
        Shape::Number => {
            return (link >= Link::Copula && (6..=16).contains(&n) && fillers == 0)
                .then_some(Level::Possible);
        }
        Shape::Plain => n >= 8 && value::mixed_case(token),
    };
    if strong {
        return match link {
            Link::Assign | Link::Copula if fillers <= 4 => Some(Level::Probable),
            Link::Quote if fillers == 0 => Some(Level::Probable),
            Link::Space if fillers == 0 && token.iter().any(u8::is_ascii_digit) && n >= 8 => {
                Some(Level::Probable)
            }
            Link::Space if fillers <= 1 && matches!(shape, Shape::Random | Shape::Hex) => {
                Some(Level::Possible)
            }
            _ => None,
        };
    }
    // A single unusual word in quotes, said to be the password.
    let word = (5..=24).contains(&n) && token.iter().all(u8::is_ascii_alphabetic);
    (word
        && quoted
        && link >= Link::Copula
        && fillers == 0
        && !common_word(token)
        && super::chosen::password(token))
    .then_some(Level::Possible)
}

/// Looks like something a person made up: digits beside letters, or a symbol inside, and not a
/// name with parts.
fn chosen(token: &[u8]) -> bool {
    let digits = token.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = token.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let symbols = token
        .iter()
        .filter(|b| {
            b.is_ascii_punctuation()
                && !matches!(
                    b,
                    b'_' | b'-'
                        | b'.'
                        | b'/'
                        | b':'
                        | b'('
                        | b')'
                        | b'['
                        | b']'
                        | b'{'
                        | b'}'
                        | b'='
                        | b'<'
                        | b'>'
                )
        })
        .count();
    let code = token
        .iter()
        .any(|b| matches!(b, b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b'|' | b'\\'));
    letters >= 2 && (digits >= 1 || symbols >= 1) && !code && !token.starts_with(b"--")
}

fn common_word(token: &[u8]) -> bool {
    super::letters::surprise(token) < 5.0 || token.iter().all(u8::is_ascii_uppercase)
}

fn token_level(
    token: &[u8],
    shape: Shape,
    link: Link,
    quoted: bool,
    fillers: u8,
    known: bool,
) -> Option<Level> {
    let n = token.len();
    let firm = match shape {
        Shape::Random => n >= 12,
        Shape::Hex => n >= 16,
        Shape::Uuid => true,
        Shape::Gibberish => n >= 16,
        Shape::Chosen => {
            return (n >= 8
                && link == Link::Assign
                && fillers == 0
                && chosen(token)
                && token.iter().filter(|b| b.is_ascii_digit()).count() >= 2)
                .then_some(Level::Possible);
        }
        Shape::Number => {
            return (n >= 20 && link > Link::Far && fillers == 0).then_some(Level::Possible);
        }
        Shape::Plain => {
            return (quoted
                && link == Link::Assign
                && fillers == 0
                && n >= 20
                && super::letters::wordy(token) * 2 < n
                && token.iter().any(u8::is_ascii_digit))
            .then_some(Level::Possible);
        }
    };
    if !firm {
        return None;
    }
    let sure = known
        && match link {
            Link::Assign => fillers <= 3,
            Link::Copula => fillers <= 4,
            Link::Quote => fillers == 0,
            Link::Space => fillers == 0 && n >= 16,
            Link::Far => false,
        };
    let digest = matches!(shape, Shape::Hex | Shape::Uuid) && (link < Link::Copula || fillers > 1);
    if sure {
        return Some(if digest && n != 32 { Level::Possible } else { Level::Probable });
    }
    (fillers <= 2 && n >= 16 && shape != Shape::Uuid || fillers == 0).then_some(Level::Possible)
}

fn weak_level(token: &[u8], shape: Shape, link: Link, fillers: u8) -> Option<Level> {
    let n = token.len();
    let firm = match shape {
        Shape::Random => n >= 20,
        Shape::Hex => n >= 24 || n >= 16 && link > Link::Far && fillers == 0,
        Shape::Number => n >= 24 && fillers == 0,
        Shape::Gibberish => n >= 20,
        Shape::Uuid => link >= Link::Space && fillers == 0,
        _ => false,
    };
    (firm && fillers <= 2 && link > Link::Far || firm && n >= 32 && fillers <= 1).then_some(Level::Possible)
}

/// Four to eight digits that are said to be the code.
fn pin(text: &[u8], span: Range<usize>, link: Link) -> Option<Announced> {
    let token = &text[span.clone()];
    let digits = token.iter().take_while(|b| b.is_ascii_digit()).count();
    (digits == token.len()
        && (4..=8).contains(&digits)
        && link >= Link::Copula
        && !value::is_placeholder(token))
    .then_some(Announced { level: Level::Probable, rule: "pin-code", span })
}

/// At least four plain lower-case words up to the end of the line or quote.
fn phrase(text: &[u8], span: &Range<usize>, quoted: bool, link: Link) -> Option<Range<usize>> {
    if link < Link::Quote {
        return None;
    }
    let end = if quoted {
        span.end
    } else {
        text[span.start..]
            .iter()
            .take(400)
            .position(|b| !(b.is_ascii_lowercase() || matches!(b, b' ' | b'-' | b',')))
            .map_or(text.len().min(span.start + 400), |i| span.start + i)
    };
    let body = value::trim_end(&text[span.start..end], |b| b == b' ' || b == b',');
    let words: Vec<&[u8]> =
        body.split(|b| matches!(b, b' ' | b'-' | b',')).filter(|w| !w.is_empty()).collect();
    let plain = words.iter().all(|w| w.len() <= 12 && w.iter().all(u8::is_ascii_lowercase));
    (plain && (4..=25).contains(&words.len()) && super::chosen::told(&words))
        .then_some(span.start..span.start + body.len())
}

/// In a query string the value ends at `&` or `#`.
fn cut_query(text: &[u8], span: Range<usize>) -> Range<usize> {
    let before = &text[span.start.saturating_sub(160)..span.start];
    let query = before.iter().rev().take_while(|b| !b.is_ascii_whitespace()).any(|b| *b == b'?');
    if !query {
        return span;
    }
    let end =
        text[span.clone()].iter().position(|b| matches!(b, b'&' | b'#')).map_or(span.end, |i| span.start + i);
    span.start..end
}

/// A service's name right before a value nobody would write by hand.
pub(super) fn issued(text: &[u8], at: Range<usize>, judged: &mut Judged) -> Option<Announced> {
    let before = at.start.checked_sub(1).map(|i| text[i]);
    if before.is_some_and(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = text[at.end..]
        .iter()
        .take(24)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
        .count();
    let found = parse::value_after(text, at.end + rest)?;
    if found.fillers > 2 || found.link == Link::Far || !judged.first(&found.span) {
        return None;
    }
    let span = cut_query(text, found.span);
    let token = &text[span.clone()];
    let n = token.len();
    let firm = match value::shape(token) {
        Shape::Random => n >= 20 || n >= 16 && token.iter().filter(|b| b.is_ascii_digit()).count() >= 4,
        Shape::Hex => n >= 24,
        Shape::Uuid => found.fillers == 0,
        Shape::Gibberish => n >= 20,
        _ => false,
    };
    (firm && !value::is_placeholder(token)).then_some(Announced {
        level: Level::Possible,
        rule: "service-key",
        span,
    })
}
