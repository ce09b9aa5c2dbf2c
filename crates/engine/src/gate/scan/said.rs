//! Finds the value behind a word that names a password, as people write it: after a sign, a verb, an option, in the next cell or argument. In:
//! the text and the word. Out: the value and how it hangs on its name. Reads a bounded stretch; does not judge the value.

use super::{
    chosen::listed,
    parse::Link,
    rules::{BEFORE, COPULAS, NOUNS, ONTO, RELAYS},
    value,
};
use std::ops::Range;

/// How far behind the name a value may begin.
const REACH: usize = 110;

/// The longest password that is looked at.
const LONGEST: usize = 96;

/// A value and how it hangs on its name.
pub(super) struct Said {
    pub span: Range<usize>,
    pub link: Link,
    pub quoted: bool,
    /// `name=value` without blanks: nobody writes prose like that.
    pub tight: bool,
}

/// The identifier or option the name is a part of.
pub(super) struct Name {
    /// Where it begins, dashes of an option included.
    pub start: usize,
    pub option: bool,
    /// A member of something: `self.password`.
    pub member: bool,
    /// The mark it is quoted with.
    pub quote: Option<u8>,
}

pub(super) fn name(text: &[u8], at: &Range<usize>, after: usize) -> Name {
    let back = text[..at.start].iter().rev().take(48);
    let run =
        back.take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'$')).count();
    let start = at.start - run;
    let option = text[start] == b'-' && start < at.start && text.get(start + 1) != Some(&b' ');
    // Two dots are a name in a properties file: `spring.mail.password`.
    let member = text[start..at.start].iter().filter(|b| **b == b'.').count() == 1;
    let quote = start
        .checked_sub(1)
        .map(|i| text[i])
        .filter(|q| matches!(q, b'"' | b'\'' | b'`') && text.get(after) == Some(q));
    Name { start, option, member, quote }
}

/// Finds the value behind a name.
pub(super) fn said(text: &[u8], name: &Name, after: usize, short: bool) -> Option<Said> {
    let limit = text.len().min(after + REACH);
    let mut p = after;
    if name.option {
        return option(text, name, after);
    }
    while p < limit && matches!(text[p], b'"' | b'\'' | b'`' | b']' | b'*' | b'}' | b'\\')
        || p < limit && text[p] == b'_' && text.get(p + 1) == Some(&b':')
        || p < limit && text[p] == b')' && text.get(p + 1).is_some_and(|b| matches!(b, b':' | b' ' | b'='))
    {
        p += 1;
    }
    if let Some(cell) = markup(text, p) {
        return bare(text, cell, Link::Assign, false);
    }
    // `fill('#password', 'x')`, `define('DB_PASSWORD', 'x')`: the next argument of a call.
    if let Some(quote) = name.quote
        && text.get(p) == Some(&b',')
    {
        let next = p + 1 + text[p + 1..].iter().take(3).take_while(|b| **b == b' ').count();
        let called = text[..name.start].iter().rev().skip(1).take(48).take_while(|b| **b != b'\n');
        let call = called.clone().any(|b| *b == b'(') && !called.clone().any(|b| matches!(b, b'{' | b'['));
        return (call && text.get(next).is_some_and(|b| matches!(b, b'"' | b'\'')))
            .then(|| value_at(text, next, Link::Quote, quote == b'`'))?;
    }
    // `key="Password" value="x"`, `name: DB_PASSWORD` with `value: x` in the next line or field.
    if let Some(at) = value_field(text, p) {
        return value_at(text, at, Link::Assign, false);
    }
    // A line of its own with two cells: `password,x`.
    let begins = name.start.checked_sub(1).is_none_or(|i| text[i] == b'\n');
    if begins && text.get(p) == Some(&b',') && text.get(p + 1).is_some_and(u8::is_ascii_alphanumeric) {
        let said = bare(text, p + 1, Link::Assign, false)?;
        let ends = text.get(said.span.end).is_none_or(|b| matches!(b, b'\n' | b'\r'));
        return (ends && text[said.span.clone()].iter().any(u8::is_ascii_digit)).then_some(said);
    }
    // `setPassword("x")`
    if text.get(p) == Some(&b'(') && text.get(p + 1).is_some_and(|b| matches!(b, b'"' | b'\'')) {
        let called = &text[name.start..after];
        let setter = value::holds(called, "set") || name.member || called == b"PASSWORD";
        return if setter { value_at(text, p + 1, Link::Quote, false) } else { None };
    }
    // "the password's swordfish"
    if text[p..].starts_with(b"s ") && text.get(p.wrapping_sub(1)) == Some(&b'\'') {
        return value_at(text, relayed(text, p + 1), Link::Copula, false);
    }
    let mut first = None;
    let mut words = 0;
    let mut onto = false;
    while p < limit {
        let gap = text[p..limit].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let spaced = gap > 0;
        p += gap;
        match *text.get(p)? {
            b'=' | b':' | b'|' | b'>' => return assigned(text, p, spaced),
            b'-' if text.get(p + 1) == Some(&b'>') => return assigned(text, p + 1, true),
            0xe2 if text[p..].starts_with("→".as_bytes()) => {
                return value_at(text, p + 3, Link::Assign, false);
            }
            b'(' => p += text[p..limit].iter().take(48).position(|b| *b == b')')? + 1,
            b',' => p += 1,
            b'"' | b'\'' | b'`' if words == 0 && spaced => return value_at(text, p, Link::Quote, false),
            b if b.is_ascii_alphanumeric() || b >= 0x80 || b == b'*' => {
                let end = p + word_length(&text[p..limit]);
                let word = &text[p..end];
                if first.is_none() {
                    first = Some(p);
                }
                let moved = matches!(word, b"to" | b"auf" | b"\xc3\xa0");
                if listed(COPULAS, word) && spaced && !article(text, end) && (!moved || set_before(text, p)) {
                    return value_at(text, relayed(text, end), Link::Copula, false);
                }
                if !onto && listed(NOUNS, word) || words > 7 || end == p || short && words > 0 {
                    return None;
                }
                onto |= listed(ONTO, word);
                words += 1;
                p = end;
            }
            _ => break,
        }
    }
    let direct = ["requirepass", "masterauth"]
        .iter()
        .any(|d| text[name.start..after].eq_ignore_ascii_case(d.as_bytes()));
    let at = first.filter(|_| direct || licensed(text, name.start))?;
    value_at(text, at, Link::Space, false)
}

/// Where the value of a field called `value` begins, if that field follows.
fn value_field(text: &[u8], at: usize) -> Option<usize> {
    let gap = text[at..]
        .iter()
        .take(24)
        .take_while(|b| b.is_ascii_whitespace() || matches!(b, b',' | b'"' | b'\''))
        .count();
    let name = text[at + gap..].get(..5)?;
    if gap == 0 || !name.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let p = at + gap + 5;
    let sign = text[p..].iter().take(5).position(|b| matches!(b, b':' | b'='))?;
    let quiet = text[p..p + sign].iter().all(|b| matches!(b, b'"' | b'\'' | b' '));
    let from = p + sign + 1;
    quiet.then(|| from + text[from..].iter().take(3).take_while(|b| **b == b' ').count())
}

/// A word of a sentence, with marks that stand inside of words.
pub(super) fn word_length(text: &[u8]) -> usize {
    let inside = |b: u8| {
        b.is_ascii_alphanumeric() || b >= 0x80 || matches!(b, b'\'' | b'-' | b'_' | b'.' | b'/' | b'@' | b'!')
    };
    let run = text.iter().take_while(|b| inside(**b)).count();
    let marks = text[..run].iter().rev().take_while(|b| matches!(b, b'\'' | b'.' | b'-')).count();
    if marks == run { run } else { run - marks }
}

/// Whether a password is set or changed: "we changed the password to …".
fn set_before(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(48)..start];
    [
        "set ", "chang", "reset", "updat", "switch", "rotated", "änder", "gesetzt", "setz", "wurde",
        "changé", "mis ", "cambi", "mud",
    ]
    .iter()
    .any(|w| value::holds(before, w))
}

/// Whether an article follows: "auf dem Server", "to the box".
fn article(text: &[u8], at: usize) -> bool {
    let from = at + text[at..].iter().take(2).take_while(|b| **b == b' ').count();
    let word = &text[from..from + word_length(&text[from..text.len().min(from + 12)])];
    ["dem", "den", "der", "the", "our", "la", "le", "el", "du"]
        .iter()
        .any(|a| word.eq_ignore_ascii_case(a.as_bytes()))
}

/// Past "now", "set to" and a colon.
fn relayed(text: &[u8], at: usize) -> usize {
    let mut p = at;
    for _ in 0..4 {
        p += text[p..].iter().take(3).take_while(|b| matches!(b, b' ' | b':' | b'=')).count();
        let end = p + word_length(&text[p..text.len().min(p + 24)]);
        if !listed(RELAYS, &text[p..end]) {
            break;
        }
        p = end;
    }
    p
}

/// `--password x`, `--password=x`, `"--requirepass", "x"`.
fn option(text: &[u8], name: &Name, after: usize) -> Option<Said> {
    let mut p = after;
    if name.quote.is_some() {
        p += 1;
        if text.get(p) != Some(&b',') {
            return None;
        }
        p += 1;
        p += text[p..].iter().take(2).take_while(|b| **b == b' ').count();
    } else if text.get(p).is_some_and(|b| matches!(b, b'=' | b' ')) {
        p += 1;
    } else {
        return None;
    }
    (text.get(p) != Some(&b'-')).then(|| value_at(text, p, Link::Assign, true))?
}

/// `</td><td>`, `</key><string>`: where the next cell begins.
fn markup(text: &[u8], at: usize) -> Option<usize> {
    if !text[at..].starts_with(b"</") {
        return None;
    }
    let mut p = at + text[at..].iter().take(16).position(|b| *b == b'>')? + 1;
    p += text[p..].iter().take(8).take_while(|b| b.is_ascii_whitespace()).count();
    if text.get(p) == Some(&b'<') {
        p += text[p..].iter().take(24).position(|b| *b == b'>')? + 1;
    }
    Some(p)
}

/// Behind `=`, `:`, `:=`, `=>`, `===`, `|`, and the folded blocks of YAML.
fn assigned(text: &[u8], at: usize, spaced: bool) -> Option<Said> {
    let mut p = at + text[at..].iter().take(3).take_while(|b| matches!(b, b'=' | b':' | b'>' | b'|')).count();
    // `password != old`, `password:::` and the like assign nothing.
    let sign = text[at];
    p += text[p..].iter().take(2).take_while(|b| **b == b'*').count();
    let blanks = text[p..].iter().take(24).take_while(|b| matches!(b, b' ' | b'\t')).count();
    p += blanks;
    let tight = !spaced && blanks == 0 && sign == b'=';
    if sign == b':' {
        // `: >-` and `: |`, with the value on the next line.
        let block = text[p..].iter().take(2).take_while(|b| matches!(b, b'>' | b'|' | b'-')).count();
        let line = p + block;
        if text.get(line).is_some_and(|b| matches!(b, b'\n' | b'\r')) {
            let indent = text[line..].iter().take(24).take_while(|b| b.is_ascii_whitespace()).count();
            if indent < 2 || text[line..line + indent].iter().filter(|b| **b == b'\n').count() != 1 {
                return None;
            }
            p = line + indent;
            // The next line of a mapping is a name of its own, not a value.
            let said = value_at(text, p, Link::Assign, false)?;
            return (text.get(said.span.end) != Some(&b':')).then_some(said);
        }
    }
    value_at(text, p, Link::Assign, tight)
}

/// The value that begins at `at`, in quotes or not.
pub(super) fn value_at(text: &[u8], at: usize, link: Link, tight: bool) -> Option<Said> {
    let mut p = at;
    let bold = text[p..].starts_with(b"**");
    if bold {
        p += 2;
    }
    if text.get(p) == Some(&b'\\') && text.get(p + 1).is_some_and(|b| matches!(b, b'"' | b'\'')) {
        p += 1;
    }
    p += text[p..].iter().take(1).take_while(|b| **b == b' ').count();
    if text[p..].starts_with("«".as_bytes()) {
        p += 2;
        p += text[p..].iter().take(2).take_while(|b| **b == b' ').count();
        return bare(text, p, link, tight).map(|said| Said { quoted: true, ..said });
    }
    let quote = *text.get(p)?;
    if matches!(quote, b'"' | b'\'' | b'`') {
        let limit = text.len().min(p + LONGEST);
        let close = text[p + 1..limit].iter().position(|b| *b == quote || *b == b'\n').map(|i| p + 1 + i)?;
        let end = if text[close - 1] == b'\\' { close - 1 } else { close };
        // A name in quotes before a colon is a key.
        let key = text.get(close + 1) == Some(&b':');
        return (text[close] == quote && !key).then_some(Said {
            span: p + 1..end,
            link,
            quoted: true,
            tight,
        });
    }
    bare(text, p, link, tight)
}

fn bare(text: &[u8], at: usize, link: Link, tight: bool) -> Option<Said> {
    let limit = text.len().min(at + LONGEST);
    let stop = |b: u8| {
        b.is_ascii_whitespace()
            || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b';' | b',')
            || tight && b == b'&'
    };
    let mut end = at + text[at..limit].iter().position(|b| stop(*b)).unwrap_or(limit - at);
    while end > at && matches!(text[end - 1], b'.' | b':' | b'?' | b')' | b']' | b'}' | b'*' | b'\\') {
        end -= 1;
    }
    (end > at).then_some(Said { span: at..end, link, quoted: false, tight })
}

/// Whether what stands before a name lets a value follow it without any mark: "log in with password …", "user admin, password …".
pub(super) fn licensed(text: &[u8], start: usize) -> bool {
    let from = start.saturating_sub(48);
    let line = text[from..start].iter().rposition(|b| *b == b'\n').map_or(from, |i| from + i + 1);
    let words =
        text[line..start].split(|b| !(b.is_ascii_alphanumeric() || *b >= 0x80)).filter(|w| !w.is_empty());
    words.rev().take(5).any(|word| listed(BEFORE, word))
}
