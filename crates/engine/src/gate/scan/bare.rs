//! Long random values that are assigned to something no rule knows. In: the normalised text. Out:
//! spans at `possible`. A digest, a commit, an encoded image or a lock file's hash is not reported.

use super::{
    finding::Level,
    rules::PUBLIC,
    value::{self, Shape},
};
use std::ops::Range;

/// Calls `each` for every such value.
pub(super) fn bare(text: &[u8], mut each: impl FnMut(Level, &'static str, Range<usize>)) {
    let mut at = 0;
    while let Some(sign) = text[at..].iter().position(|b| matches!(b, b'=' | b':')).map(|i| at + i) {
        at = sign + 1;
        let mut start = at;
        while start < text.len() && start < at + 3 && matches!(text[start], b' ' | b'"' | b'\'' | b'`' | b'=')
        {
            start += 1;
        }
        let len = text[start..]
            .iter()
            .take(513)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'_' | b'-' | b'.' | b'~'))
            .count();
        if !(28..=512).contains(&len) {
            continue;
        }
        let span = start..start + len;
        at = span.end;
        let token = &text[span.clone()];
        let name = text[..sign]
            .iter()
            .rev()
            .take(32)
            .take_while(|b| {
                b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'"' | b'\'' | b' ')
            })
            .count();
        let name = &text[sign - name..sign];
        let lower = token.len() >= 30
            && token.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && text[span.start - 1] != b' ';
        let mixed = lower
            || token.iter().any(u8::is_ascii_digit)
                && token.iter().any(u8::is_ascii_lowercase)
                && token.iter().any(u8::is_ascii_uppercase);
        if mixed
            && value::shape(token) == Shape::Random
            && !name.is_empty()
            && !PUBLIC.iter().any(|p| value::holds(name, p))
            && !encoded_object(token)
            && !form_field(text, sign)
            && !value::is_placeholder(token)
            && value::entropy(token) >= if lower { 3.6 } else { 4.0 }
        {
            each(Level::Possible, "assigned-random", span);
        }
    }
}

/// Base64 of a JSON object: data, not a key.
fn encoded_object(token: &[u8]) -> bool {
    token.starts_with(b"eyJ") && !token.contains(&b'.')
}

/// A hidden field of a web form holds a token that is good for one page.
fn form_field(text: &[u8], sign: usize) -> bool {
    let before = &text[sign.saturating_sub(64)..sign];
    ["authenticity", "csrf", "xsrf", "__viewstate", "requestverification"]
        .iter()
        .any(|w| value::holds(before, w))
}
