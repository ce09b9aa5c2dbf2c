//! One pass over the text for things that have no keyword: card and social security numbers, IBANs,
//! phone numbers, e-mail, IP and MAC addresses. In: bytes. Out: raw spans with their rule. Whatever
//! needs a word beside it to mean anything is a pattern rule instead.

use super::{
    check,
    finding::{Class, Level},
    iban, ids,
    rules::Check,
};
use std::ops::Range;

/// Something found without a keyword.
pub(super) struct Swept {
    pub class: Class,
    pub level: Level,
    pub rule: &'static str,
    pub span: Range<usize>,
}

const OTHER: u8 = 0;
const DIGIT: u8 = 1;
const COLON: u8 = 2;
const AT: u8 = 3;

const fn kinds() -> [u8; 256] {
    let mut table = [OTHER; 256];
    let mut i = b'0';
    while i <= b'9' {
        table[i as usize] = DIGIT;
        i += 1;
    }
    table[b':' as usize] = COLON;
    table[b'@' as usize] = AT;
    table
}
static KINDS: [u8; 256] = kinds();

/// Sweeps `text` once.
pub(super) fn sweep(text: &[u8], mut each: impl FnMut(Swept)) {
    let mut at = 0;
    while at < text.len() {
        match KINDS[text[at] as usize] {
            OTHER => at += 1,
            DIGIT => at = digits(text, at, &mut each),
            COLON => at = colons(text, at, &mut each),
            _ => at = email(text, at, &mut each),
        }
    }
}

/// A run of digits with single separators, and its groups.
struct Run {
    span: Range<usize>,
    digits: Vec<u32>,
    groups: Vec<usize>,
    marks: Vec<u8>,
}

fn run(text: &[u8], at: usize) -> Run {
    let mut run = Run { span: at..at, digits: Vec::new(), groups: Vec::new(), marks: Vec::new() };
    let mut p = at;
    loop {
        let len = text[p..].iter().take(40).take_while(|b| b.is_ascii_digit()).count();
        run.digits.extend(text[p..p + len].iter().map(|b| u32::from(b - b'0')));
        run.groups.push(len);
        p += len;
        run.span.end = p;
        let mark = matches!(text.get(p), Some(b' ' | b'-' | b'.'))
            && text.get(p + 1).is_some_and(u8::is_ascii_digit);
        if !mark || run.digits.len() > 40 {
            return run;
        }
        run.marks.push(text[p]);
        p += 1;
    }
}

fn digits(text: &[u8], at: usize, each: &mut impl FnMut(Swept)) -> usize {
    let before = at.checked_sub(1).map(|i| text[i]);
    if let Some(span) = iban::at(text, at) {
        let end = span.end;
        each(Swept { class: Class::Identity, level: Level::Definite, rule: "iban", span });
        return end;
    }
    // Inside a word, a path, a decimal or an identifier there is nothing to find.
    if before.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'#')) {
        return at + text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    }
    if let Some(span) = broken_card(text, at) {
        let end = span.end;
        each(Swept { class: Class::Identity, level: Level::Definite, rule: "payment-card", span });
        return end;
    }
    let run = run(text, at);
    let end = run.span.end;
    // A number with a leading zero that is the whole text is an identifier, not a quantity.
    if run.groups == [9] && text[at] == b'0' && text.trim_ascii().len() == 9 && ids::ssn(&run.digits) {
        each(Swept { class: Class::Identity, level: Level::Probable, rule: "us-ssn", span: run.span });
        return end;
    }
    if run.digits.len() < 7 {
        return end;
    }
    let after = text.get(end).copied();
    let closed = !after.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    let same = run.marks.windows(2).all(|p| p[0] == p[1]);
    let glued = matches!(before, Some(b'.' | b'-' | b'/' | b'=' | b'+')) && before != Some(b'=');
    if closed && same {
        if run.marks.first() == Some(&b'.')
            && run.groups.len() == 4
            && check::passes(Check::Ip4, &text[run.span.clone()], text, &run.span).is_some()
        {
            each(Swept {
                class: Class::Contact,
                level: Level::Possible,
                rule: "ip-address",
                span: run.span.clone(),
            });
            return end;
        }
        if !glued && number(&run, text, each) {
            return end;
        }
    }
    if closed && !same && !glued {
        // Numbers in a row with different separators: look at each piece split at spaces.
        pieces(text, &run, each);
    }
    phone(text, &run, before, closed, each);
    end
}

/// What stands before the number of a card.
const CARD_WORDS: [&str; 11] =
    ["card", "visa", "credit", "debit", "amex", "maestro", "mastercard", "pan", "karte", "carte", "tarjeta"];

/// A card whose four groups stand on two lines. Only beside a word that says so: columns of numbers look the same.
fn broken_card(text: &[u8], at: usize) -> Option<Range<usize>> {
    let mut p = at;
    let mut digits = Vec::new();
    let mut breaks = 0;
    for group in 0..4 {
        if group > 0 {
            let gap = text[p..]
                .iter()
                .take(8)
                .take_while(|b| matches!(b, b' ' | b'-' | b'\r' | b'\n' | b'>'))
                .count();
            let lines = text[p..p + gap].iter().filter(|b| **b == b'\n').count();
            if lines == 0 && gap > 1 {
                return None;
            }
            breaks += lines;
            p += gap;
        }
        let four = text.get(p..p + 4)?;
        if !four.iter().all(u8::is_ascii_digit) {
            return None;
        }
        digits.extend(four.iter().map(|b| u32::from(b - b'0')));
        p += 4;
    }
    let closed = !text.get(p).is_some_and(u8::is_ascii_alphanumeric);
    (breaks == 1
        && closed
        && near_word(text, at, &CARD_WORDS)
        && ids::card(&digits)
        && !(ids::published(&digits) && test_beside(text, &(at..p))))
    .then_some(at..p)
}

/// Cards and social security numbers in one run. Answers whether something was found.
fn number(run: &Run, text: &[u8], each: &mut impl FnMut(Swept)) -> bool {
    let n = run.digits.len();
    let mark = run.marks.first().copied();
    let grouped = match run.groups.as_slice() {
        [_] => true,
        [4, 4, 4, 4]
        | [4, 6, 5]
        | [4, 6, 4]
        | [4, 4, 4, 1]
        | [4, 4, 4, 4, 3]
        | [4, 4, 5]
        | [8, 8]
        | [4, 5, 6]
        | [6, 13]
        | [6, 10] => mark != Some(b'.') || n == 16,
        _ => false,
    };
    // Thirteen bare digits are more often an EAN or a time stamp: they need the word beside them.
    let plausible = n != 13 && n != 12 && n < 17 || n >= 12 && near_word(text, run.span.start, &CARD_WORDS);
    if grouped && plausible && ids::card(&run.digits) {
        // A published number that is said to be for tests is nobody's card.
        // The one everybody knows needs no such word where nothing else is said.
        let alone = text.trim_ascii().len() == run.span.len()
            && run.digits.chunks(4).all(|four| four == [4, 2, 4, 2]);
        if ids::published(&run.digits) && (alone || test_beside(text, &run.span)) {
            return true;
        }
        each(Swept {
            class: Class::Identity,
            level: Level::Definite,
            rule: "payment-card",
            span: run.span.clone(),
        });
        return true;
    }
    if n == 9
        && (run.groups == [3, 2, 4] || run.groups == [3, 6] && mark == Some(b'-'))
        && ids::ssn(&run.digits)
        && !part_of_more(text, &run.span)
        && !unit_after(text, run.span.end)
    {
        each(Swept {
            class: Class::Identity,
            level: Level::Probable,
            rule: "us-ssn",
            span: run.span.clone(),
        });
        return true;
    }
    if n == 9
        && run.groups == [3, 2, 4]
        && mark == Some(b'-')
        && ids::valid(Check::UsItin, &text[run.span.clone()])
    {
        each(Swept {
            class: Class::Identity,
            level: Level::Probable,
            rule: "us-itin",
            span: run.span.clone(),
        });
        return true;
    }
    false
}

/// Whether the number is a piece of a longer name (`219-09-9876-X`), or is said to name a thing (`part 219-09-9876`).
fn part_of_more(text: &[u8], span: &Range<usize>) -> bool {
    let goes_on = matches!(text.get(span.end), Some(b'-' | b'/'))
        && text.get(span.end + 1).is_some_and(u8::is_ascii_alphanumeric);
    let before = &text[span.start.saturating_sub(18)..span.start];
    goes_on
        || ["part n", "part:", "part ", "model", "sku", "serial", "ticket", "invoice", "tracking"]
            .iter()
            .any(|word| super::value::holds(before, word))
}

/// Whether the number is a quantity: `536 22 8726 ms`.
fn unit_after(text: &[u8], end: usize) -> bool {
    let from = end + usize::from(text.get(end) == Some(&b' '));
    let len = text[from..].iter().take(12).take_while(|b| b.is_ascii_alphabetic() || **b == b'%').count();
    const UNITS: [&str; 38] = [
        "ms", "us", "ns", "s", "sec", "secs", "seconds", "min", "mins", "minutes", "h", "hours", "b", "kb",
        "mb", "gb", "tb", "kib", "mib", "gib", "bytes", "rows", "lines", "files", "ops", "req", "requests",
        "px", "pt", "hz", "mhz", "ghz", "rpm", "%", "units", "items", "records", "pieces",
    ];
    UNITS.iter().any(|unit| text[from..from + len].eq_ignore_ascii_case(unit.as_bytes()))
}

/// Whether somebody says beside a number that it is for tests.
fn test_beside(text: &[u8], span: &Range<usize>) -> bool {
    let near = &text[span.start.saturating_sub(96)..text.len().min(span.end + 64)];
    [
        "test", "stripe", "sandbox", "demo", "example", "dummy", "fake", "sample", "mock", "fixture",
        "checkout", "staging",
    ]
    .iter()
    .any(|word| super::value::holds(near, word))
}

/// Splits a run at spaces and tries each piece.
fn pieces(text: &[u8], run: &Run, each: &mut impl FnMut(Swept)) {
    let mut from = run.span.start;
    for i in run.span.clone().chain([run.span.end]) {
        if i == run.span.end || text[i] == b' ' {
            if i > from {
                let piece = self::run(&text[..i], from);
                if piece.digits.len() >= 9
                    && piece.span.end == i
                    && piece.marks.windows(2).all(|p| p[0] == p[1])
                {
                    number(&piece, text, each);
                }
            }
            from = i + 1;
        }
    }
}

/// Whether one of `words` stands shortly before `at`.
fn near_word(text: &[u8], at: usize, words: &[&str]) -> bool {
    let before = &text[at.saturating_sub(40)..at];
    words.iter().any(|word| super::value::holds(before, word))
}

/// International numbers, North American ones with separators, and any number called one.
fn phone(text: &[u8], run: &Run, before: Option<u8>, closed: bool, each: &mut impl FnMut(Swept)) {
    let n = run.digits.len();
    let mut span = run.span.clone();
    if !closed || n > 15 {
        return;
    }
    let plus = before == Some(b'+');
    let dots = run.marks.first() == Some(&b'.');
    // `(415) 555-0184`: the run starts inside the parenthesis.
    let open = before == Some(b'(') && matches!(run.groups.as_slice(), [1..=4]);
    if open {
        return;
    }
    let paren = span.start >= 3 && text[..span.start].trim_ascii_end().ends_with(b")");
    let called = || {
        near_word(
            text,
            run.span.start,
            &[
                "phone",
                "tel",
                "call",
                "mobile",
                "cell",
                "whatsapp",
                "fax",
                "sms",
                "text me",
                "dial",
                "ring",
                "number is",
                "reach",
                "contact",
                "signal",
                "telefon",
                "tlf",
                "handy",
            ],
        )
    };
    let national =
        matches!(run.groups.as_slice(), [3, 3, 4] | [1, 3, 3, 4]) && !dots || run.groups == [3, 3, 4];
    let found = plus && n >= 8
        || national && n >= 10 && before != Some(b'.')
        || (n >= 8 || run.groups == [3, 4]) && n <= 13 && run.groups.len() >= 2 && !dots && called()
        || (9..=13).contains(&n) && called()
        || paren && n == 7 && run.groups == [3, 4];
    if !found || !plus && matches!(before, Some(b'/' | b'.' | b'-' | b'=')) {
        return;
    }
    if plus {
        span.start -= 1;
    } else if paren {
        span.start = text[..span.start]
            .iter()
            .rev()
            .take(12)
            .position(|&b| b == b'(')
            .map_or(span.start, |i| span.start - 1 - i);
    }
    each(Swept { class: Class::Contact, level: Level::Possible, rule: "phone-number", span });
}

/// IPv6 and MAC addresses around a colon.
fn colons(text: &[u8], at: usize, each: &mut impl FnMut(Swept)) -> usize {
    let part = |b: u8| b.is_ascii_hexdigit() || b == b':';
    let back = text[..at].iter().rev().take(5).take_while(|b| b.is_ascii_hexdigit()).count();
    let start = at - back;
    let mut end = at + text[at..].iter().take(64).take_while(|b| part(**b)).count();
    while end > at + 1 && text[end - 1] == b':' && text[end - 2] != b':' {
        end -= 1;
    }
    let token = &text[start..end];
    let marks = token.iter().filter(|&&b| b == b':').count();
    let before = start.checked_sub(1).map(|i| text[i]);
    if marks < 2
        || before.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.' | b'-'))
        || text.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    {
        return end.max(at + 1);
    }
    let span = start..end;
    if token.len() == 17 && marks == 5 && check::passes(Check::Mac, token, text, &span).is_some() {
        each(Swept { class: Class::Contact, level: Level::Possible, rule: "mac-address", span });
    } else if token.len() >= 6
        && token.iter().filter(|b| b.is_ascii_hexdigit()).count() >= 4
        && !(text.get(end) == Some(&b'.') && text.get(end + 1).is_some_and(u8::is_ascii_digit))
        && check::passes(Check::Ip6, token, text, &span).is_some()
    {
        each(Swept { class: Class::Contact, level: Level::Possible, rule: "ip-address", span });
    }
    end.max(at + 1)
}

/// The address around an `@`.
fn email(text: &[u8], at: usize, each: &mut impl FnMut(Swept)) -> usize {
    let name = text[..at]
        .iter()
        .rev()
        .take(64)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'%' | b'+' | b'-'))
        .count();
    let host = text[at + 1..]
        .iter()
        .take(253)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
        .count();
    let domain = super::value::trim_end(&text[at + 1..at + 1 + host], |b| b == b'.' || b == b'-');
    let next = at + 1 + host;
    let top = domain.iter().rposition(|&b| b == b'.').map(|dot| &domain[dot + 1..]);
    let good = name > 0
        && top.is_some_and(|t| {
            t.len() >= 2 && (t.iter().all(u8::is_ascii_alphabetic) || t.starts_with(b"xn--"))
        })
        && domain.first().is_some_and(u8::is_ascii_alphanumeric)
        && !domain.windows(2).any(|w| w == b"..");
    let user = &text[at - name..at];
    let remote = text.get(at + 1 + domain.len()) == Some(&b':')
        && text
            .get(at + 2 + domain.len())
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'~'))
        || user == b"git";
    let in_url = text[..at - name].ends_with(b"://") || text[..at - name].ends_with(b":");
    if good && !remote && !in_url {
        each(Swept {
            class: Class::Contact,
            level: Level::Possible,
            rule: "email-address",
            span: at - name..at + 1 + domain.len(),
        });
    }
    next.max(at + 1)
}
