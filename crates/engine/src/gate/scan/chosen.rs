//! Passwords people choose: `password: swordfish`, "the admin password is letmein99", `--password rosebud`. In: the text and a word that
//! names a password. Out: the span of the value and how sure that is. A plain word counts only where the grammar of the line says that it is
//! the value: a state ("is required"), a place ("in the vault"), a type, a placeholder or a name of a variable is none. What a machine made is
//! found by [`assign`](super::assign).

use super::{
    assign::{self, Announced},
    finding::Level,
    parse::Link,
    rules::{Cue, JOINS, NAMED, NOUNS, PLACES, STATES},
    said::{self, Name, Said, licensed, word_length},
    value,
};
use std::ops::Range;

/// Whether a sorted table holds a word, whatever its case.
pub(super) fn listed(table: &[&str], word: &[u8]) -> bool {
    let mut folded = [0; 24];
    let Some(folded) = folded.get_mut(..word.len()) else { return false };
    folded.copy_from_slice(word);
    folded.make_ascii_lowercase();
    if !folded.is_ascii() {
        let word = String::from_utf8_lossy(word).to_lowercase();
        return table.binary_search(&word.as_str()).is_ok();
    }
    let folded = &*folded;
    table.binary_search_by(|known| known.as_bytes().cmp(folded)).is_ok()
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
    let name = said::name(text, &at, after);
    if text[..name.start].ends_with(b"</")
        || text[..name.start].ends_with(b"{") && text[..name.start].ends_with(b"${")
    {
        return None;
    }
    let mut said = said::said(text, &name, after, short)?;
    let from = name.start.saturating_sub(1);
    if text[from..at.start].contains(&b'$') && !said.quoted {
        return None;
    }
    if cue == Cue::Phrase && !said.quoted {
        said.span = whole_phrase(text, said.span);
    }
    let level = judged(text, &said, &name, cue, short)?;
    Some(Announced { level, rule: "chosen-password", span: said.span })
}

fn judged(text: &[u8], said: &Said, name: &Name, cue: Cue, short: bool) -> Option<Level> {
    let token = &text[said.span.clone()];
    if token.contains(&b' ') {
        return phrase(token, said, cue).or_else(|| quoted_words(token, said));
    }
    let count = |f: fn(&u8) -> bool| token.iter().filter(|b| f(b)).count();
    let (digits, letters) = (count(u8::is_ascii_digit), count(|b| b.is_ascii_alphabetic() || *b >= 0x80));
    let mixed = digits > 0 && letters > 0
        || token.iter().any(|b| matches!(b, b'!' | b'@' | b'#' | b'$' | b'%' | b'&' | b'*' | b'+' | b'?'));
    if !password(token) || letters < 3 {
        return None;
    }
    let plain = !said.quoted;
    if plain && !said.tight && (listed(NOUNS, token) || said.link == Link::Space && listed(JOINS, token)) {
        return None;
    }
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
    let between = &text[name.start..said.span.start];
    let part_of_name = between.iter().take_while(|b| !matches!(b, b'=' | b':' | b' ')).any(|b| *b == b'_');
    let sure =
        said.quoted || said.tight || part_of_name || licensed(text, name.start) || sibling(text, name.start);
    if short && !mixed && !sure {
        let begins = name.start.checked_sub(1).is_none_or(|i| text[i] == b'\n');
        let said_so = between.contains(&b'=') || begins && between.len() > 5;
        return (said.link == Link::Assign && said_so && token.len() >= 6).then_some(Level::Possible);
    }
    Some(level)
}

/// Several plain words behind a passphrase.
fn phrase(token: &[u8], said: &Said, cue: Cue) -> Option<Level> {
    let words: Vec<&[u8]> = token.split(|b| *b == b' ').filter(|w| !w.is_empty()).collect();
    (cue == Cue::Phrase && said.link >= Link::Copula && (3..=12).contains(&words.len()) && told(&words))
        .then_some(Level::Probable)
}

/// A passphrase that stands without quotes: three words or more, up to the end of the clause.
fn whole_phrase(text: &[u8], span: Range<usize>) -> Range<usize> {
    let rest = &text[span.start..text.len().min(span.start + 160)];
    let body = |b: &u8| b.is_ascii_lowercase() || *b == b' ';
    let len = rest.iter().take_while(|b| body(b)).count();
    let len = value::trim_end(&rest[..len], |b| b == b' ').len();
    let words: Vec<&[u8]> = rest[..len].split(|b| *b == b' ').filter(|w| !w.is_empty()).collect();
    let whole = (3..=12).contains(&words.len())
        && clause_end(text, span.start + len)
        && words.first().is_some_and(|w| !adjective(w))
        && told(&words);
    if whole { span.start..span.start + len } else { span }
}

/// A password of two to four words in quotes: `PGPASSWORD='rainy day'`, `password: "p@ss w0rd"`. A label or a message is none.
fn quoted_words(token: &[u8], said: &Said) -> Option<Level> {
    let words: Vec<&[u8]> = token.split(|b| *b == b' ').filter(|w| !w.is_empty()).collect();
    let said_so = |w: &&[u8]| listed(STATES, w) || listed(NAMED, w) || listed(PLACES, w) || listed(NOUNS, w);
    let inner =
        |w: &[u8]| value::trim_end(w, |b| matches!(b, b'.' | b'!' | b'?' | b':' | b',')).len() == w.len();
    let odd = |w: &&[u8]| {
        w.iter().any(u8::is_ascii_alphabetic)
            && w.iter().any(|b| b.is_ascii_digit() || matches!(b, b'@' | b'$' | b'#' | b'!' | b'&' | b'*'))
    };
    let sound = said.quoted
        && said.link == Link::Assign
        && (2..=4).contains(&words.len())
        && !value::is_placeholder(token)
        && words.iter().all(|w| inner(w) && !said_so(w) && w.iter().all(u8::is_ascii_graphic))
        && token.iter().all(|b| !matches!(b, b'(' | b')' | b'{' | b'}' | b'<' | b'>' | b'=' | b'|'));
    let small = token.iter().all(|b| b.is_ascii_lowercase() || *b == b' ');
    (sound && (words.iter().any(odd) || said.tight && small)).then_some(Level::Probable)
}

/// Whether several words are a phrase and not a sentence about one.
pub(super) fn told(words: &[&[u8]]) -> bool {
    let small = words.iter().filter(|w| listed(STATES, w)).count();
    words.iter().all(|w| w.iter().all(u8::is_ascii_alphanumeric) && !listed(NAMED, w) && !listed(PLACES, w))
        && words.first().is_some_and(|w| !listed(STATES, w) || small == 1 && !adjective(w))
        && small * 2 < words.len()
}

/// Whether a value can be a password at all: not a placeholder, a state, a place, a type, or the name of one.
pub(super) fn password(token: &[u8]) -> bool {
    let dots = token.chunks(3).all(|c| c == "•".as_bytes() || c == "●".as_bytes());
    if !(4..=64).contains(&token.len())
        || dots
        || value::is_placeholder(token)
        || value::holds(token, "xxx")
        || stated(token)
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

/// Whether a word says how something is, also in the plural or with the endings of German and French.
fn stated(token: &[u8]) -> bool {
    listed(STATES, token)
        || ["s", "es", "e", "en", "er"]
            .iter()
            .any(|end| token.ends_with(end.as_bytes()) && listed(STATES, &token[..token.len() - end.len()]))
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
pub(super) fn ends(text: &[u8], said: &Said, mixed: bool) -> bool {
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
