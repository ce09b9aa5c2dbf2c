//! Text that a person would not see. In: the original text. Out: spans of tag characters, direction
//! overrides, invisible characters inside words, and concealed terminal or HTML text. Needs no rule
//! data; ordinary emoji and right-to-left writing are left alone.

use super::finding::{Class, Finding, Level};
use super::fold;
use std::ops::Range;

/// Hidden text in `text`.
pub(super) fn hidden(text: &str, out: &mut Vec<Finding>) {
    if text.is_ascii() {
        if text.as_bytes().contains(&0x1b) {
            concealed(text, out);
        }
        return;
    }
    concealed(text, out);
    if !suspicious(text.as_bytes()) {
        return;
    }
    let mut tags: Option<Range<usize>> = None;
    let mut overrides = None;
    let mut flag = false;
    let mut inside: (usize, Range<usize>) = (0, 0..0);
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if matches!(c, '\u{e0001}'..='\u{e007f}') {
            // A flag of a region is a black flag followed by tags; anything else is a message.
            if last == '\u{1f3f4}' {
                flag = true;
            }
            if !flag {
                tags = Some(tags.map_or(at..end, |r| r.start..end));
            }
        } else {
            flag = false;
            if let Some(span) = tags.take() {
                out.push(Finding::new(Class::Injection, Level::Definite, "hidden-tag-characters", span));
            }
            if matches!(c, '\u{202d}' | '\u{202e}') {
                overrides.get_or_insert(at);
            }
            if matches!(c, '\u{202c}' | '\n')
                && let Some(start) = overrides.take()
            {
                out.push(Finding::new(Class::Injection, Level::Probable, "direction-override", start..end));
            }
            let joins = matches!(
                c,
                '\u{200b}'
                    | '\u{200c}'
                    | '\u{200d}'
                    | '\u{2060}'
                    | '\u{feff}'
                    | '\u{ad}'
                    | '\u{34f}'
                    | '\u{180e}'
                    | '\u{2061}'..='\u{2064}'
            );
            if joins && last.is_ascii_alphanumeric() {
                inside = if inside.0 == 0 { (1, at..end) } else { (inside.0 + 1, inside.1.start..end) };
            }
        }
        if !fold::invisible(c) || c == '\u{1f3f4}' {
            last = c;
        }
    }
    if let Some(span) = tags {
        out.push(Finding::new(Class::Injection, Level::Definite, "hidden-tag-characters", span));
    }
    if let Some(start) = overrides {
        out.push(Finding::new(Class::Injection, Level::Probable, "direction-override", start..text.len()));
    }
    if inside.0 >= 6 {
        out.push(Finding::new(Class::Injection, Level::Possible, "invisible-inside-words", inside.1));
    }
}

/// Messages written in tag characters, each with the place it stands at.
pub(super) fn spelled(text: &str) -> Vec<(String, Range<usize>)> {
    let mut found: Vec<(String, Range<usize>)> = Vec::new();
    if !text.as_bytes().windows(2).any(|w| w == [0xf3, 0xa0]) {
        return found;
    }
    for (at, c) in text.char_indices() {
        let Some(plain) = fold::tag(c) else { continue };
        let end = at + c.len_utf8();
        match found.last_mut() {
            Some((message, span)) if span.end == at => {
                message.push(plain);
                span.end = end;
            }
            _ => found.push((plain.to_string(), at..end)),
        }
    }
    found
}

/// Whether one of the characters looked for can be there; ordinary prose in any script has none.
fn suspicious(bytes: &[u8]) -> bool {
    bytes.windows(3).any(|w| match w[0] {
        0xc2 => w[1] == 0xad,
        0xcd => w[1] == 0x8f,
        0xe1 => w[1] == 0xa0,
        0xe2 => w[1] == 0x80 && matches!(w[2], 0x8b..=0x8f | 0xaa..=0xae) || w[1] == 0x81 && w[2] >= 0xa0,
        0xef => w[1] == 0xbb,
        0xf3 => w[1] == 0xa0,
        _ => false,
    })
}

/// `ESC [ 8 m` hides what follows.
fn concealed(text: &str, out: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) = bytes[from..].windows(4).position(|w| w == b"\x1b[8m").map(|i| from + i) {
        let end = bytes[at + 4..].iter().position(|&b| b == 0x1b).map_or(bytes.len(), |i| at + 4 + i);
        out.push(Finding::new(Class::Injection, Level::Probable, "concealed-text", at..end));
        from = end;
    }
}
