//! What a value looks like. In: the bytes of one value. Out: its shape, and whether it stands for
//! a value instead of being one (`changeme`, `${TOKEN}`, `xxxx`). No context is known here.

use super::{
    letters,
    rules::{PLACEHOLDERS, STAND_INS},
};

/// How a value was made, by its looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Letters and digits without pattern: made by a machine.
    Random,
    /// Hexadecimal digits only: a key, but just as well a digest.
    Hex,
    /// Groups 8-4-4-4-12.
    Uuid,
    /// Letters only, which no language would put in this order.
    Gibberish,
    /// Mixed kinds of characters, as people choose passwords.
    Chosen,
    /// Digits only.
    Number,
    /// Words, names, paths, anything else.
    Plain,
}

/// Shannon entropy in bits per byte.
pub(super) fn entropy(bytes: &[u8]) -> f32 {
    if bytes.is_empty() {
        return 0.0;
    }
    let mut counts = [0u32; 256];
    bytes.iter().for_each(|&b| counts[b as usize] += 1);
    let n = bytes.len() as f32;
    counts.iter().filter(|&&c| c > 0).map(|&c| c as f32 / n).map(|p| -p * p.log2()).sum()
}

/// The shape of a value; trailing `=` of base64 does not count.
pub(super) fn shape(value: &[u8]) -> Shape {
    let value = trim_end(value, |b| b == b'=');
    let n = value.len();
    let count = |f: fn(&u8) -> bool| value.iter().filter(|b| f(b)).count();
    let (digits, upper, lower) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    let letters = upper + lower;
    let symbols = n - digits - letters;
    if n == 0 || (digits == n && n < 40) {
        return if n == 0 { Shape::Plain } else { Shape::Number };
    }
    if n == 36 && is_uuid(value) {
        return Shape::Uuid;
    }
    let bits = entropy(value);
    if n >= 16 && value.iter().all(u8::is_ascii_hexdigit) && (upper == 0 || lower == 0) {
        return if bits >= 2.6 && digits > 0 { Shape::Hex } else { Shape::Plain };
    }
    let kinds = [digits, upper, lower, symbols].iter().filter(|&&c| c > 0).count();
    let wordy = letters::wordy(value) as f32 / n as f32;
    let token = value.iter().all(|&b| {
        b.is_ascii_alphanumeric()
            || matches!(b, b'-' | b'_' | b'+' | b'/' | b'.' | b'~' | b':' | b'=' | b'!' | b'%' | b'|')
    });
    let floor = if n >= 24 { 3.2 } else { 2.8 };
    if token && n >= 12 && bits >= floor && wordy < 0.42 && symbols * 5 <= n {
        let mixed = digits > 0 && letters > 0 && (digits >= 2 || n >= 20);
        if mixed || (upper >= 3 && lower >= 3 && n >= 16 && case_turns(value) >= 4) {
            return Shape::Random;
        }
        if digits == 0 && symbols == 0 && n >= 14 && letters::surprise(value) >= 7.4 {
            return Shape::Gibberish;
        }
    }
    let joined = value.iter().all(|&b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.' | b'/'));
    if n >= 6 && kinds >= 2 && !joined && value.iter().all(|b| b.is_ascii_graphic()) {
        return Shape::Chosen;
    }
    Shape::Plain
}

/// Letters whose case follows no word: `RmChXnjhaaMi`.
pub(super) fn mixed_case(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_alphabetic)
        && case_turns(value) >= 3
        && letters::wordy(value) * 2 < value.len()
}

fn case_turns(value: &[u8]) -> usize {
    value
        .windows(2)
        .filter(|p| {
            p[0].is_ascii_alphabetic()
                && p[1].is_ascii_alphabetic()
                && p[0].is_ascii_uppercase() != p[1].is_ascii_uppercase()
        })
        .count()
}

/// 8-4-4-4-12 letters and digits.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value
            .iter()
            .enumerate()
            .all(|(i, &b)| if matches!(i, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_alphanumeric() })
}

pub(super) fn trim_end(value: &[u8], drop: impl Fn(u8) -> bool) -> &[u8] {
    let keep = value.iter().rposition(|&b| !drop(b)).map_or(0, |i| i + 1);
    &value[..keep]
}

/// Whether a token of a known format is visibly not a real one: filler runs, the word `example`.
pub(super) fn is_filler(token: &[u8]) -> bool {
    let mut run = 1;
    for pair in token.windows(2) {
        run = if pair[0] == pair[1] { run + 1 } else { 1 };
        if run >= 5 && matches!(pair[1], b'x' | b'X' | b'*' | b'.' | b'#' | b'?')
            || run >= 8 && pair[1] != b'A'
        {
            return true;
        }
    }
    ["example", "placeholder", "redacted", "your_", "your-", "yourapi", "xxxx"]
        .iter()
        .any(|word| holds(token, word))
}

/// Whether a value stands for a value: a template, a reference, a type, a word everybody uses.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    if value.len() < 3 || value.starts_with(b"***") || is_filler(value) || is_reference(value) {
        return true;
    }
    let mut seen = [false; 256];
    value.iter().for_each(|&b| seen[b as usize] = true);
    if seen.iter().filter(|&&s| s).count() <= 2 {
        return true;
    }
    let folded: String = value.iter().map(|b| b.to_ascii_lowercase() as char).collect();
    // `test1` stands for something; `admin123` is what people really type.
    let stem = folded.trim_matches(|c: char| !c.is_ascii_alphabetic());
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let stem = if digits(&folded) >= digits(stem) + 2 { folded.as_str() } else { stem };
    folded.starts_with("my-")
        || folded.starts_with("my_")
        || PLACEHOLDERS.binary_search(&stem).is_ok()
        || PLACEHOLDERS.binary_search(&folded.as_str()).is_ok()
        || STAND_INS.iter().any(|word| holds(value, word))
}

/// Whether a value points to where the value is: variables, templates, calls, paths, vaults.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let quote = |b: &u8| matches!(b, b'\'' | b'"' | b'`');
    let from = value.iter().take_while(|b| quote(b)).count();
    let value = &value[from..];
    if is_date(value) || is_place(value) {
        return true;
    }
    let has = |needle: &[u8]| value.windows(needle.len()).any(|w| w == needle);
    if matches!(
        value.first(),
        Some(b'$' | b'<' | b'{' | b'[' | b'%' | b'@' | b'&' | b'~' | b'(' | b'!' | b'`')
    ) && value.len() > 1
        && (value[1].is_ascii_alphabetic()
            || matches!(value[1], b'{' | b'(' | b'_' | b'<' | b'[' | b'.' | b'%' | b'/' | b'\'' | b'"'))
    {
        return true;
    }
    if has(b"${")
        || has(b"{{")
        || has(b"$(")
        || has(b"<%")
        || has(b"%(")
        || has(b"%s")
        || has(b"://")
        || has(b"()")
        || has(b"...")
        || has("…".as_bytes())
    {
        return true;
    }
    if has(b"env.")
        || has(b"ENV[")
        || has(b"secrets.")
        || has(b"getenv")
        || has(b"environ")
        || has(b"Vault")
        || has(b"vault:")
        || has(b"op://")
        || has(b"arn:aws")
    {
        return true;
    }
    let slashes = value.iter().filter(|&&b| b == b'/').count();
    if slashes >= 2 && has_ending(value) {
        return true;
    }
    if matches!(value.first(), Some(b'/' | b'.')) && slashes >= 1
        || slashes >= 2 && letters::wordy(value) * 2 > value.len()
        || slashes >= 3 && is_layout(value)
    {
        return true;
    }
    // `settings.API_SECRET`, `options->token`, `self::KEY`: names joined by access operators.
    let dotted = value.iter().all(|&b| {
        b.is_ascii_alphanumeric()
            || matches!(b, b'_' | b'.' | b':' | b'-' | b'>' | b'(' | b')' | b'[' | b']' | b'?')
    });
    let access = has(b".") || has(b"::") || has(b"->") || has(b"[") || has(b"(");
    dotted && access && letters::wordy(value) * 2 >= value.len()
}

/// The layout of keys in a store of objects (`2024/11/18/123456789012/logs/eu-west-1`): every piece is a number or letters of one word.
fn is_layout(value: &[u8]) -> bool {
    let piece =
        |p: &[u8]| p.iter().all(u8::is_ascii_digit) || p.len() <= 14 && p.iter().all(u8::is_ascii_alphabetic);
    let numbers =
        value.split(|b| *b == b'/').filter(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit)).count();
    numbers >= 2 && value.split(|b| matches!(b, b'/' | b'-' | b'_' | b'.' | b'=')).all(piece)
}

/// The last part of a path ends like a file: `uploads/42/avatar.png`.
fn has_ending(value: &[u8]) -> bool {
    let last = value.iter().rposition(|b| *b == b'/').map_or(value, |i| &value[i + 1..]);
    let dot = last.iter().rposition(|b| *b == b'.');
    dot.is_some_and(|i| {
        (2..=8).contains(&(last.len() - i - 1)) && last[i + 1..].iter().all(u8::is_ascii_lowercase)
    })
}

/// Small words joined by hyphens, as an id made from a title is.
pub(super) fn is_slug(value: &[u8]) -> bool {
    let parts: Vec<&[u8]> = value.split(|b| *b == b'-').collect();
    let word = |part: &&&[u8]| part.len() >= 2 && part.iter().all(u8::is_ascii_lowercase);
    let small = value.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-');
    let words = parts.iter().filter(word).count();
    small
        && parts.len() >= 4
        && words >= 3
        && letters::wordy(value) * 2 >= value.len().saturating_sub(parts.len() + 8)
}

/// Begins like `2025-01-31`.
fn is_date(value: &[u8]) -> bool {
    value.len() >= 10
        && value[..10]
            .iter()
            .enumerate()
            .all(|(i, b)| if matches!(i, 4 | 7) { *b == b'-' } else { b.is_ascii_digit() })
}

/// A place in a file: `state.rs:3225-3290`.
fn is_place(value: &[u8]) -> bool {
    let Some(colon) = value.iter().rposition(|&b| b == b':') else {
        return false;
    };
    let (file, line) = value.split_at(colon);
    line.len() > 1
        && line[1..].iter().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b',' | b'L'))
        && file.contains(&b'.')
}

/// Case-insensitive `contains` for an ASCII needle.
pub(super) fn holds(hay: &[u8], needle: &str) -> bool {
    let needle = needle.as_bytes();
    let Some(&first) = needle.first() else {
        return true;
    };
    if hay.len() < needle.len() {
        return false;
    }
    let starts = &hay[..=hay.len() - needle.len()];
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), starts)
        .any(|at| hay[at + 1..at + needle.len()].eq_ignore_ascii_case(&needle[1..]))
}
