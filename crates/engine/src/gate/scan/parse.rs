//! Finds the value that belongs to a word such as `password` or `token`. In: a text and the place
//! after the word. Out: the value, how it is linked to the word, and whether it is quoted. Reads a
//! bounded stretch, so the work per word is constant. Does not judge the value.

use std::ops::Range;

/// How a value hangs on its word, strongest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Link {
    /// Only other words between.
    Far,
    /// A space or a dash.
    Space,
    /// The value stands in quotes or brackets right after the word.
    Quote,
    /// `is`, `ist`, `est`, `是` …
    Copula,
    /// `=`, `:`, `=>`, a table cell, an XML element.
    Assign,
}

/// A value candidate.
#[derive(Debug)]
pub(super) struct Value {
    pub span: Range<usize>,
    pub link: Link,
    pub quoted: bool,
    /// Words between the word and the link or value.
    pub fillers: u8,
}

const REACH: usize = 72;
const LONGEST: usize = 2048;
const COPULAS: &[&str] = &[
    "is", "are", "was", "be", "ist", "sind", "lautet", "war", "est", "sont", "es", "son", "era", "to", "to:",
    "as", "equals", "becomes", "jest", "eh", "is:", "ist:", "set",
];

/// The value after `at`.
pub(super) fn value_after(text: &[u8], at: usize) -> Option<Value> {
    let limit = text.len().min(at + REACH);
    let mut p = at;
    let mut link = Link::Far;
    let mut fillers = 0u8;
    // What closes the word itself: quotes, brackets, Markdown emphasis.
    while p < limit && matches!(text[p], b'"' | b'\'' | b'`' | b']' | b')' | b'*' | b'\\' | b'}') {
        // A quote right after `=`-less words opens the value instead: `PASSWORD 'x'` has a space.
        p += 1;
    }
    let mut first = true;
    while p < limit {
        match text[p] {
            b' ' | b'\t' => {
                if first && link == Link::Far {
                    link = Link::Space;
                }
                p += 1;
            }
            // A folded or literal block of YAML begins on the next line.
            b'>' | b'|' if link == Link::Assign && block(text, p).is_some() => p += block(text, p)?,
            b'\n' | b'\r' if link == Link::Assign => {
                // YAML and code break the line after the colon and indent the value.
                let indent = text[p..limit].iter().take_while(|b| b.is_ascii_whitespace()).count();
                if indent < 2 {
                    return None;
                }
                p += indent;
            }
            b'=' | b':' | b'|' | b'>' if link != Link::Assign => {
                link = Link::Assign;
                p += 1;
                while p < limit && matches!(text[p], b'=' | b':' | b'>' | b'|') {
                    p += 1;
                }
            }
            b'-' if first && link == Link::Far => {
                link = Link::Space;
                p += 1;
                if text.get(p) == Some(&b'>') {
                    link = Link::Assign;
                    p += 1;
                }
            }
            b'(' if text.get(p + 1).is_some_and(u8::is_ascii_alphabetic) && link < Link::Copula => {
                // `(remove spaces)`, `(staging)`: a remark, if it closes soon.
                let close = text[p..limit].iter().position(|&b| b == b')')?;
                p += close + 1;
                fillers = fillers.saturating_add(1);
            }
            b'(' | b'[' | b'{' | b','
                if matches!(text.get(p + 1), Some(b'"' | b'\'' | b'`' | b' ')) && link < Link::Assign =>
            {
                link = link.max(Link::Quote);
                p += 1;
            }
            b'[' | b'{' | b'(' if link == Link::Assign => p += 1,
            b'"' | b'\'' | b'`' => {
                return quoted(
                    text,
                    p,
                    if link == Link::Far || link == Link::Space { Link::Quote } else { link },
                    fillers,
                );
            }
            b'\\' if matches!(text.get(p + 1), Some(b'"' | b'\'')) => {
                return quoted(text, p + 1, link.max(Link::Quote), fillers);
            }
            b'*' | b'_'
                if link == Link::Assign
                    && text.get(p + 1).is_some_and(|b| *b == text[p] || b.is_ascii_alphanumeric())
                    && text[p] == b'*' =>
            {
                p += 1
            }
            b if b >= 0x80 => {
                // Words of other scripts are skipped; they often hold the copula.
                let run = text[p..limit].iter().take_while(|b| **b >= 0x80).count();
                p += run;
                link = link.max(Link::Copula);
                fillers = fillers.saturating_add(1);
            }
            b if b.is_ascii_graphic() => {
                let end = word_end(text, p);
                let word = &text[p..end];
                if link < Link::Copula && COPULAS.iter().any(|c| word.eq_ignore_ascii_case(c.as_bytes())) {
                    link = Link::Copula;
                    p = end;
                } else if link < Link::Copula && filler(word) && fillers < 7 {
                    fillers += 1;
                    link = link.min(Link::Space);
                    p += word.iter().position(|b| matches!(b, b':' | b'=')).unwrap_or(word.len());
                } else {
                    return Some(Value { span: p..end, link, quoted: false, fillers });
                }
            }
            _ => return None,
        }
        first = false;
    }
    None
}

/// The length of `>-`, `|` and the like at the end of a line.
fn block(text: &[u8], at: usize) -> Option<usize> {
    let marks = 1 + text[at + 1..].iter().take(2).take_while(|b| matches!(b, b'-' | b'+')).count();
    text.get(at + marks).filter(|b| matches!(b, b'\n' | b'\r')).map(|_| marks)
}

/// An ordinary lower-case word, which can stand between a word and its value.
fn filler(word: &[u8]) -> bool {
    let letters = word.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'\'').count();
    letters > 0
        && letters <= 14
        && (letters == word.len() || matches!(word[letters], b':' | b'='))
        && (word[..letters].iter().skip(1).all(u8::is_ascii_lowercase) || letters <= 4)
}

/// Where an unquoted value ends.
fn word_end(text: &[u8], at: usize) -> usize {
    let limit = text.len().min(at + LONGEST);
    let stop = text[at..limit].iter().position(|&b| {
        b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b';')
    });
    let mut end = stop.map_or(limit, |i| at + i);
    // A comma ends a value in lists and sentences, but not inside it.
    if let Some(comma) = text[at..end].iter().position(|&b| b == b',') {
        end = at + comma;
    }
    while end > at + 1 && matches!(text[end - 1], b'.' | b',' | b':' | b')' | b']' | b'}' | b'?' | b'\\') {
        end -= 1;
    }
    end
}

fn quoted(text: &[u8], open: usize, link: Link, fillers: u8) -> Option<Value> {
    let quote = text[open];
    let limit = text.len().min(open + LONGEST);
    let mut p = open + 1;
    while p < limit && text[p] != quote && text[p] != b'\n' {
        p += 1;
    }
    if p >= limit || text[p] != quote {
        // No closing quote: take the word.
        let end = word_end(text, open + 1);
        return (end > open + 1).then_some(Value { span: open + 1..end, link, quoted: false, fillers });
    }
    let end = if p > open + 1 && text[p - 1] == b'\\' { p - 1 } else { p };
    (end > open + 1).then_some(Value { span: open + 1..end, link, quoted: true, fillers })
}
