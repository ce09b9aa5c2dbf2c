//! Passwords people choose: `password: swordfish`, "the admin password is letmein99", `--password rosebud`. In: the text and a word that
//! names a password. Out: the span of the value and how sure that is. A plain word counts only where the grammar of the line says that it is
//! the value: a state ("is required"), a place ("in the vault"), a type, a placeholder or a name of a variable is none. Reads a bounded
//! stretch around the word; what a machine made is found by [`assign`](super::assign).

use super::{
    assign::{self, Announced},
    finding::Level,
    parse::Link,
    rules::{BEFORE, COPULAS, Cue, JOINS, NAMED, NOUNS, PLACES, RELAYS, STATES, USERS},
    value,
};
use std::ops::Range;

/// How far behind the name a value may begin.
const REACH: usize = 110;
/// The longest password that is looked at.
const LONGEST: usize = 96;

/// Whether a sorted table holds a word, whatever its case.
pub(super) fn listed(table: &[&str], word: &[u8]) -> bool {
    if word.len() > 24 {
        return false;
    }
    let folded = String::from_utf8_lossy(word).to_lowercase();
    table.binary_search(&folded.as_str()).is_ok()
}

/// A value and how it hangs on its name.
struct Said {
    span: Range<usize>,
    link: Link,
    quoted: bool,
    /// `name=value` without blanks: nobody writes prose like that.
    tight: bool,
}

/// The identifier or option the name is a part of.
struct Name {
    /// Where it begins, dashes of an option included.
    start: usize,
    option: bool,
    /// A member of something: `self.password`.
    member: bool,
    /// The mark it is quoted with.
    quote: Option<u8>,
}

fn name(text: &[u8], at: &Range<usize>, after: usize) -> Name {
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

/// The password that the word at `at` names.
pub(super) fn chosen(text: &[u8], at: Range<usize>, cue: Cue) -> Option<Announced> {
    let word = &text[at.clone()];
    let short = word.eq_ignore_ascii_case(b"pass") || word.eq_ignore_ascii_case(b"clave");
    if short && text.get(at.end).is_some_and(|b| matches!(b | 0x20, b'w' | b'p' | b'c')) {
        return None;
    }
    let after = assign::named(text, &at, cue)?;
    // The closing tag of an element, and variables whose value stands elsewhere.
    let tail = &text[at.end..after];
    if value::holds(tail, "hash") || value::holds(tail, "enc") || value::holds(tail, "id") {
        return None;
    }
    let name = name(text, &at, after);
    if text[..name.start].ends_with(b"</")
        || text[..name.start].ends_with(b"{") && text[..name.start].ends_with(b"${")
    {
        return None;
    }
    let said = said(text, &name, after, short)?;
    if text[name.start] == b'$' && !said.quoted {
        return None;
    }
    let level = judged(text, &said, &name, cue, short)?;
    Some(Announced { level, rule: "chosen-password", span: said.span })
}

/// Finds the value behind a name.
fn said(text: &[u8], name: &Name, after: usize, short: bool) -> Option<Said> {
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
                if listed(NOUNS, word) || words > 7 || end == p || short && words > 0 {
                    return None;
                }
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
fn word_length(text: &[u8]) -> usize {
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
fn value_at(text: &[u8], at: usize, link: Link, tight: bool) -> Option<Said> {
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
fn licensed(text: &[u8], start: usize) -> bool {
    let from = start.saturating_sub(48);
    let line = text[from..start].iter().rposition(|b| *b == b'\n').map_or(from, |i| from + i + 1);
    let words =
        text[line..start].split(|b| !(b.is_ascii_alphanumeric() || *b >= 0x80)).filter(|w| !w.is_empty());
    words.rev().take(5).any(|word| listed(BEFORE, word))
}

fn judged(text: &[u8], said: &Said, name: &Name, cue: Cue, short: bool) -> Option<Level> {
    let token = &text[said.span.clone()];
    if token.contains(&b' ') {
        return phrase(token, said, cue);
    }
    let count = |f: fn(&u8) -> bool| token.iter().filter(|b| f(b)).count();
    let (digits, letters) = (count(u8::is_ascii_digit), count(|b| b.is_ascii_alphabetic() || *b >= 0x80));
    let mixed = digits > 0 && letters > 0
        || token.iter().any(|b| matches!(b, b'!' | b'@' | b'#' | b'$' | b'%' | b'&' | b'*' | b'+' | b'?'));
    if !password(token) || letters < 3 {
        return None;
    }
    let plain = !said.quoted;
    if plain && (!mixed && code(text, said, name) || !mixed && said.link == Link::Copula && adjective(token))
    {
        return None;
    }
    if plain && !said.tight && !ends(text, said, mixed) {
        return None;
    }
    let level = match said.link {
        Link::Assign => Level::Probable,
        Link::Copula if said.quoted || mixed || clause_end(text, said.span.end) => Level::Probable,
        Link::Quote if name.quote.is_some_and(|q| q == b'`') => return None,
        _ => Level::Possible,
    };
    // `pass` and `clave` mean other things too.
    if short
        && !mixed
        && !(said.quoted || said.tight || licensed(text, name.start) || sibling(text, name.start))
    {
        return None;
    }
    Some(level)
}

/// Several plain words behind a passphrase.
fn phrase(token: &[u8], said: &Said, cue: Cue) -> Option<Level> {
    let words: Vec<&[u8]> = token.split(|b| *b == b' ').filter(|w| !w.is_empty()).collect();
    (cue == Cue::Phrase && said.link >= Link::Copula && (3..=12).contains(&words.len()) && told(&words))
        .then_some(Level::Probable)
}

/// Whether several words are a phrase and not a sentence about one.
pub(super) fn told(words: &[&[u8]]) -> bool {
    let small = words.iter().filter(|w| listed(STATES, w)).count();
    words.iter().all(|w| w.iter().all(u8::is_ascii_alphanumeric) && !listed(NAMED, w) && !listed(PLACES, w))
        && words.first().is_some_and(|w| !listed(STATES, w))
        && small * 2 < words.len()
}

/// Whether a value can be a password at all: not a placeholder, a state, a place, a type, or the name of one.
pub(super) fn password(token: &[u8]) -> bool {
    if !(4..=64).contains(&token.len())
        || value::is_placeholder(token)
        || value::holds(token, "xxx")
        || listed(STATES, token)
        || listed(PLACES, token)
        || token
            .iter()
            .any(|b| matches!(b, b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b'=' | b'\\' | b'|'))
        || token.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'))
            && (token.contains(&b'_') || token.len() < 6)
            && !token.iter().any(u8::is_ascii_digit)
    {
        return false;
    }
    if ["pass", "passwd", "password", "pwd", "passwort", "secret"].iter().any(|end| {
        token.len() > end.len() && token[token.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
    }) {
        return false;
    }
    let mut from = 0;
    for i in 1..=token.len() {
        let turn = i < token.len() && token[i].is_ascii_uppercase() && token[i - 1].is_ascii_lowercase();
        if i == token.len() || matches!(token[i], b'_' | b'-' | b'.' | b'/' | b':') || turn {
            let part = &token[from..i];
            if listed(NAMED, part) || part.len() > 4 && listed(PLACES, part) {
                return false;
            }
            from = if turn { i } else { i + 1 };
        }
        if from > token.len() {
            break;
        }
    }
    true
}

/// English words that say how something is.
fn adjective(token: &[u8]) -> bool {
    let ends = ["ed", "ing", "able", "ible", "ful", "less", "ive", "ous", "ly", "ory", "ary", "ional"];
    token.len() >= 5 && ends.iter().any(|end| token.ends_with(end.as_bytes()))
}

/// Whether an unquoted value is a name in code.
fn code(text: &[u8], said: &Said, name: &Name) -> bool {
    let from = name.start.saturating_sub(120);
    let start = text[from..name.start].iter().rposition(|b| *b == b'\n').map_or(from, |i| from + i + 1);
    let to = text.len().min(said.span.end + 80);
    let end = text[said.span.end..to].iter().position(|b| *b == b'\n').map_or(to, |i| said.span.end + i);
    let before = &text[start..name.start];
    let rest = text[said.span.end..end].trim_ascii_end();
    let opens = called(before);
    let begins = |words: &[&str]| words.iter().any(|w| before.trim_ascii_start().starts_with(w.as_bytes()));
    name.member && !said.tight
        || opens && rest.first().is_some_and(|b| matches!(b, b',' | b')' | b';'))
        || !said.tight && rest.last().is_some_and(|b| matches!(b, b';' | b'{'))
        || begins(&[
            "let ",
            "const ",
            "var ",
            "val ",
            "def ",
            "fn ",
            "func ",
            "function ",
            "return ",
            "private ",
            "public ",
            "static ",
            "final ",
            "String ",
            "string ",
            "if ",
            "assert",
            "pub ",
            "self.",
            "this.",
            "$",
        ])
}

/// Whether a call is open at the end of a line's beginning: `connect(host, `, and not a remark in brackets.
fn called(before: &[u8]) -> bool {
    let count = |mark: u8| before.iter().filter(|b| **b == mark).count();
    let open = before.iter().rposition(|b| *b == b'(').and_then(|i| i.checked_sub(1));
    count(b'(') > count(b')') && open.is_some_and(|i| before[i].is_ascii_alphanumeric() || before[i] == b'_')
}

/// Whether a bare value ends where a value would: at the end of its clause, or before a word that goes on about it.
fn ends(text: &[u8], said: &Said, mixed: bool) -> bool {
    let end = said.span.end;
    if clause_end(text, end) {
        return text.get(end) != Some(&b':') || mixed;
    }
    let next = end
        + text[end..].iter().take(4).take_while(|b| matches!(b, b' ' | b'\t' | b'.' | b'*' | b'\\')).count();
    let Some(&b) = text.get(next) else { return true };
    if matches!(b, b'#' | b'(' | b'-' | b'/' | b'|' | b'&' | b'\n' | b'\r' | b'>')
        || text[next..].starts_with("—".as_bytes())
        || text[next..].starts_with("–".as_bytes())
        || text[next..].starts_with("»".as_bytes())
    {
        return true;
    }
    if mixed {
        return true;
    }
    let stop = next + word_length(&text[next..text.len().min(next + 24)]);
    let word = &text[next..stop];
    // The next `name=value` or `name: value`.
    text.get(stop).is_some_and(|b| matches!(b, b'=' | b':')) || listed(JOINS, word)
}

/// Whether nothing of the clause follows: the end of the text or line, a full stop, a comma, a closing mark.
fn clause_end(text: &[u8], end: usize) -> bool {
    match text.get(end) {
        None => true,
        Some(b'.' | b'!' | b'?') => {
            text.get(end + 1).is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b')'))
        }
        Some(b) => matches!(
            b,
            b'\n'
                | b'\r'
                | b','
                | b';'
                | b')'
                | b'"'
                | b'\''
                | b'`'
                | b'|'
                | b'<'
                | b'&'
                | b']'
                | b'}'
                | b'*'
                | b'\\'
                | b':'
        ),
    }
}

/// Whether a user's name is given shortly before.
fn sibling(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(72)..start];
    ["user", "login", "usr", "account", "host", "smtp", "ftp", "uid", "benutzer", "usuario"]
        .iter()
        .any(|w| value::holds(before, w))
}

/// A pair of account and password behind `login`, `credentials` and the like: `login: admin / hunter2`, "log in as backup with raincoat".
pub(super) fn pair(text: &[u8], at: Range<usize>) -> Option<Announced> {
    let edge = |i: Option<usize>| i.and_then(|i| text.get(i)).is_none_or(|b| !b.is_ascii_alphanumeric());
    if !edge(at.start.checked_sub(1)) || !edge(Some(at.end)) {
        return None;
    }
    let limit = text.len().min(at.end + 90);
    let limit = text[at.end..limit].iter().position(|b| *b == b'\n').map_or(limit, |i| at.end + i);
    let mut p = at.end;
    let mut linked = false;
    for _ in 0..8 {
        while p < limit && !(text[p].is_ascii_alphanumeric() || text[p] >= 0x80) {
            linked |= matches!(text[p], b':' | b'=' | b'>');
            // A slash or a bracket here begins a path or code.
            if matches!(text[p], b'/' | b'{' | b'<' | b'$' | b';' | b'.') {
                return None;
            }
            p += 1;
        }
        if p >= limit {
            return None;
        }
        let end = p + text[p..limit]
            .iter()
            .take_while(|b| {
                b.is_ascii_alphanumeric() || **b >= 0x80 || matches!(b, b'.' | b'_' | b'-' | b'@' | b'+')
            })
            .count();
        let account = &text[p..end];
        if let Some(found) = beside(text, account, end, limit, linked) {
            return Some(found);
        }
        linked |= listed(COPULAS, account) || matches!(account, b"with" | b"using" | b"as");
        p = end;
    }
    None
}

/// The password after an account's name: `admin / x`, `admin:x`, `backup with x`.
fn beside(text: &[u8], account: &[u8], end: usize, limit: usize, linked: bool) -> Option<Announced> {
    let mut p = end;
    p += text[p..limit].iter().take(1).take_while(|b| matches!(b, b'`' | b'"' | b'\'')).count();
    let blanks = text[p..limit].iter().take(2).take_while(|b| **b == b' ').count();
    p += blanks;
    let with = text[p..limit].starts_with(b"with ");
    match text.get(p)? {
        b'/' if blanks > 0 || linked => p += 1,
        b':' if blanks == 0 => p += 1,
        _ if with => p += 5,
        _ => return None,
    }
    let after = text[p..limit].iter().take(2).take_while(|b| **b == b' ').count();
    if text[p - 1] == b':' && after > 0 {
        return None;
    }
    let said = value_at(text, p + after, Link::Assign, false)?;
    let token = &text[said.span.clone()];
    let known = listed(USERS, account);
    let digits = token.iter().any(u8::is_ascii_digit) && token.iter().any(u8::is_ascii_alphabetic);
    let odd = account.iter().any(|b| b.is_ascii_digit() || matches!(b, b'@' | b'-' | b'_'));
    let followed = said.quoted || ends(text, &said, digits);
    let sound = token.len() >= 5
        && password(token)
        && !listed(USERS, token)
        && !listed(NOUNS, token)
        && !token.eq_ignore_ascii_case(account)
        && !token.contains(&b'/')
        && !token.starts_with(b"-")
        && !token.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    let told = known && (linked || with || blanks > 0 || digits)
        || odd && linked && !listed(STATES, account)
        || digits && linked && token.len() >= 6 && account.len() >= 3 && known;
    (followed && sound && told).then_some(Announced {
        level: if linked || digits { Level::Probable } else { Level::Possible },
        rule: "login-pair",
        span: said.span,
    })
}
