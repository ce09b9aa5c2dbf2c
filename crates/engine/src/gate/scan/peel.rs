//! Undoes one layer of wrapping (of base64 two): base64, base32, hex, binary, spacing, marks between characters, string
//! concatenation, line wraps, reversal. In: the normalised text. Out: short snippets with the stretch they came from; a finding
//! in a snippet stands for the whole stretch. Linear: every byte is in a bounded number of snippets.

use super::check;
use std::ops::Range;

/// What a snippet is made of, which decides what it is scanned for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peel {
    /// Decoded text: scanned for everything.
    Decoded,
    /// Pieces of one token: scanned for token formats only.
    Joined,
}

/// Text that was wrapped.
pub(super) struct Snippet {
    pub text: Vec<u8>,
    pub span: Range<usize>,
    pub peel: Peel,
}

/// The longest token that is decoded.
const LONGEST: usize = 64 * 1024;

/// What a token is made of, as a table: every byte of every text is looked up here several times.
const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        let byte = b as u8;
        table[b] = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-');
        b += 1;
    }
    table
};

/// Where a token may be cut.
const CUT: [bool; 256] = {
    let mut table = [false; 256];
    (table[b'"' as usize], table[b'\'' as usize], table[b'`' as usize], table[b'\n' as usize]) =
        (true, true, true, true);
    table
};

fn token(b: u8) -> bool {
    TOKEN[b as usize]
}

/// All snippets of `text`.
pub(super) fn peel(text: &[u8], mut each: impl FnMut(Snippet)) {
    tokens(text, &mut each);
    spaced(text, &mut each);
    dotted(text, &mut each);
    joined(text, &mut each);
}

/// Long tokens that may be an encoding of text, or text backwards.
fn tokens(text: &[u8], each: &mut impl FnMut(Snippet)) {
    let mut at = 0;
    while at < text.len() {
        if !token(text[at]) {
            at += 1;
            continue;
        }
        let start = at;
        at += text[at..].iter().take(LONGEST).take_while(|b| token(**b)).count();
        if at - start < 20 {
            continue;
        }
        let run = &text[start..at];
        let pad = text[at..].iter().take(2).take_while(|b| **b == b'=').count();
        let span = start..at + pad;
        if let Some(plain) = decode(run).or_else(|| base32(run)) {
            // Encoded twice is still cheap; three times is somebody else's puzzle.
            let inner = Some(plain.trim_ascii())
                .filter(|p| p.len() >= 20 && p.iter().all(|b| token(*b) || *b == b'='));
            let again = inner.and_then(|p| decode(super::value::trim_end(p, |b| b == b'=')));
            if let Some(again) = again {
                each(Snippet { text: again, span: span.clone(), peel: Peel::Decoded });
            }
            each(Snippet { text: plain, span, peel: Peel::Decoded });
        } else if run.len() <= 256 && run.iter().filter(|b| b.is_ascii_digit()).count() >= 2 {
            each(Snippet { text: run.iter().rev().copied().collect(), span, peel: Peel::Joined });
        }
    }
}

/// Readable text behind hex or base64, if there is any.
fn decode(run: &[u8]) -> Option<Vec<u8>> {
    let run = run.strip_prefix(b"0x").unwrap_or(run);
    let readable = |plain: &[u8]| {
        plain.len() >= 12
            && plain.iter().all(|b| b.is_ascii_graphic() || matches!(b, b' ' | b'\n' | b'\t' | b'\r'))
    };
    if run.len().is_multiple_of(2) && run.iter().all(u8::is_ascii_hexdigit) {
        let nibble = |b: u8| (b as char).to_digit(16).unwrap_or(0) as u8;
        let plain: Vec<u8> = run.chunks_exact(2).map(|p| nibble(p[0]) << 4 | nibble(p[1])).collect();
        return readable(&plain).then_some(plain);
    }
    // Text in base64 shows capitals or digits within its first bytes; identifiers mostly do not.
    let head = check::base64(&run[..8])?;
    if head.iter().any(|&b| !(9..=126).contains(&b)) {
        // One stray letter before the encoding is a common slip and a cheap trick.
        return check::base64(&run[1..9])
            .filter(|h| h.iter().all(|b| (32..127).contains(b)))
            .and_then(|_| check::base64(&run[1..]))
            .filter(|p| readable(p));
    }
    check::base64(run).or_else(|| check::base64(&run[..run.len() - 1])).filter(|plain| readable(plain))
}

/// Readable text behind base32.
fn base32(run: &[u8]) -> Option<Vec<u8>> {
    if run.len() < 24 || !run.iter().all(|b| b.is_ascii_uppercase() || matches!(b, b'2'..=b'7')) {
        return None;
    }
    let mut out = Vec::with_capacity(run.len() * 5 / 8);
    let (mut bits, mut held) = (0u32, 0);
    for &b in run {
        let five = if b.is_ascii_uppercase() { b - b'A' } else { b - b'2' + 26 };
        bits = bits << 5 | u32::from(five);
        held += 5;
        if held >= 8 {
            held -= 8;
            let byte = (bits >> held) as u8;
            if !(byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n')) {
                return None;
            }
            out.push(byte);
        }
    }
    (out.len() >= 12).then_some(out)
}

/// `g.h.p._.A.b`, `i*g*n*o*r*e`, and the same with an emoji between: single characters with one and the same mark after each.
fn dotted(text: &[u8], each: &mut impl FnMut(Snippet)) {
    let mut at = 0;
    while at + 3 < text.len() {
        // The same mark stands two places on, or it is longer than a byte: nearly every place is left at this.
        let may = |w: &[u8]| w[1] >= 0x80 || w[1] == w[3] && w[1].is_ascii_punctuation();
        let Some(skip) = text[at..].windows(4).position(may) else { return };
        at += skip;
        if !text[at].is_ascii_graphic() {
            at += 1;
            continue;
        }
        let mark = match text[at + 1] {
            b if b.is_ascii_punctuation() => 1,
            b if b >= 0x80 => text[at + 1..].iter().take(9).take_while(|b| **b >= 0x80).count(),
            _ => 0,
        };
        if mark == 0 || mark > 8 || text[at] == text[at + 1] {
            at += 1;
            continue;
        }
        let sign = &text[at + 1..at + 1 + mark];
        // Most marks are not followed by another one two places on: nothing is made for them.
        if !text.get(at + 2 + mark..).is_some_and(|rest| rest.starts_with(sign)) {
            at += 1;
            continue;
        }
        let mut out = vec![text[at]];
        let mut p = at + 1 + mark;
        while p < text.len() && (text[p].is_ascii_graphic() || text[p] == b' ') && text[p] != sign[0] {
            out.push(text[p]);
            p += 1;
            if !text[p..].starts_with(sign) {
                break;
            }
            p += mark;
        }
        if out.len() >= 8 {
            each(Snippet { text: out, span: at..p, peel: Peel::Decoded });
            at = p;
        } else {
            at += 1;
        }
    }
}

/// `i g n o r e`, `sk_l ive_ …`, `01101001 …`: groups of one length.
fn spaced(text: &[u8], each: &mut impl FnMut(Snippet)) {
    let mut group: Option<(usize, usize, usize, usize)> = None; // start, end, length, count
    let mut at = 0;
    while at < text.len() {
        if text[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        at += text[at..].iter().take_while(|b| !b.is_ascii_whitespace()).count();
        let len = at - start;
        match group {
            Some((from, end, size, count))
                if start - end <= 3
                    && !text[end..start].contains(&b'\n')
                    && (size == 1 || start - end == 1)
                    && (len == size || len < size && count >= 3) =>
            {
                if len == size {
                    group = Some((from, at, size, count + 1));
                } else {
                    spread(text, from..at, size, count, each);
                    group = None;
                }
            }
            _ => {
                if let Some((from, end, size, count)) = group {
                    spread(text, from..end, size, count, each);
                }
                group = (len <= 8).then_some((start, at, len, 1));
            }
        }
    }
    if let Some((from, end, size, count)) = group {
        spread(text, from..end, size, count, each);
    }
}

fn spread(text: &[u8], span: Range<usize>, size: usize, count: usize, each: &mut impl FnMut(Snippet)) {
    if size == 1 && count >= 8 {
        let mut out = Vec::with_capacity(span.len() / 2);
        for (i, &b) in text[span.clone()].iter().enumerate() {
            let wide = b == b' ' && text[span.start + i - 1] == b' ' && out.last() != Some(&b' ');
            if b != b' ' || wide {
                out.push(b);
            }
        }
        each(Snippet { text: out, span, peel: Peel::Decoded });
    } else if size == 8 && count >= 6 && text[span.clone()].iter().all(|b| matches!(b, b'0' | b'1' | b' ')) {
        let out = text[span.clone()]
            .split(|b| *b == b' ')
            .filter(|w| w.len() == 8)
            .map(|w| w.iter().fold(0u8, |n, b| n << 1 | (b - b'0')))
            .collect();
        each(Snippet { text: out, span, peel: Peel::Decoded });
    } else if size == 2
        && count >= 12
        && text[span.clone()].iter().all(|b| b.is_ascii_hexdigit() || *b == b' ')
    {
        let digits: Vec<u8> = text[span.clone()].iter().copied().filter(|b| *b != b' ').collect();
        if let Some(out) = decode(&digits) {
            each(Snippet { text: out, span, peel: Peel::Decoded });
        }
    } else if size >= 2 && count >= 4 {
        let out = text[span.clone()].iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
        each(Snippet { text: out, span, peel: Peel::Joined });
    }
}

/// Tokens cut by `" + "` or by a line break.
fn joined(text: &[u8], each: &mut impl FnMut(Snippet)) {
    let mut at = 0;
    while at < text.len() {
        // Most bytes are neither a quote nor a line break.
        at += text[at..].iter().position(|b| CUT[*b as usize]).unwrap_or(text.len() - at);
        let cut = match text.get(at) {
            None => return,
            Some(b'\n') => line_join(text, at),
            Some(_) => quote_join(text, at),
        };
        let Some(mut next) = cut else {
            at += 1;
            continue;
        };
        // A backslash before the line break belongs to the break.
        let at_cut = if text[at] == b'\n' && at > 0 && text[at - 1] == b'\\' { at - 1 } else { at };
        let left = text[..at_cut]
            .iter()
            .rev()
            .take(512)
            .take_while(|b| token(**b) || matches!(b, b'.' | b'='))
            .count();
        if left < 3 {
            at += 1;
            continue;
        }
        let start = at_cut - left;
        let mut out = text[start..at_cut].to_vec();
        let mut steps = 0;
        // Follow the chain; a token of a known format is never longer than this.
        let end = loop {
            let right =
                text[next..].iter().take(512).take_while(|b| token(**b) || matches!(b, b'.' | b'=')).count();
            out.extend_from_slice(&text[next..next + right]);
            let stop = next + right;
            let more = match text.get(stop) {
                Some(b'"' | b'\'' | b'`') => quote_join(text, stop),
                Some(b'\n') if right >= 16 => line_join(text, stop),
                _ => None,
            };
            match more {
                Some(n) if out.len() < 4096 && right > 0 => {
                    // The token may end here; what follows may be the next line of prose.
                    if steps < 3 {
                        each(Snippet { text: out.clone(), span: start..stop, peel: Peel::Joined });
                    }
                    steps += 1;
                    next = n;
                }
                _ => break stop,
            }
        };
        if out.len() >= 16 && out.iter().any(|b| !b.is_ascii_lowercase()) {
            let body = super::value::trim_end(&out, |b| b == b'=');
            if body.len() >= 20
                && body.iter().all(|b| token(*b))
                && let Some(plain) = decode(body)
            {
                each(Snippet { text: plain, span: start..end, peel: Peel::Decoded });
            }
            each(Snippet { text: out, span: start..end, peel: Peel::Joined });
        }
        at = end.max(at + 1);
    }
}

/// From a closing quote to the content after the next opening one: `" + "`, `' . '`, `" "`.
fn quote_join(text: &[u8], at: usize) -> Option<usize> {
    let quote = text[at];
    let gap = text[at + 1..].iter().take(40).position(|b| *b == quote)?;
    let between = &text[at + 1..at + 1 + gap];
    let signs = between.iter().filter(|b| matches!(b, b'+' | b'.' | b'&' | b'\\' | b'~')).count();
    (between.iter().all(|b| b.is_ascii_whitespace() || matches!(b, b'+' | b'.' | b'&' | b'\\' | b'~'))
        && (signs > 0 || between.contains(&b'\n')))
    .then_some(at + gap + 2)
}

/// From a line break to the first token byte of the next line, if the break cuts a token.
fn line_join(text: &[u8], at: usize) -> Option<usize> {
    let end = at;
    let at = if end > 0 && text[end - 1] == b'\\' { end - 1 } else { end };
    let left = text[..at].iter().rev().take(64).take_while(|b| token(**b)).count();
    let cut = &text[at - left..at];
    if left < 8
        || !cut.iter().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase() || matches!(b, b'_' | b'-'))
    {
        return None;
    }
    let skip = text[end + 1..]
        .iter()
        .take(16)
        .take_while(|b| matches!(b, b' ' | b'\t' | b'>' | b'#' | b'|'))
        .count();
    text.get(end + 1 + skip).filter(|b| token(**b)).map(|_| end + 1 + skip)
}
