//! An account and its password, side by side: `login: admin / hunter2`, `credentials ops:cornbread`, "log in as backup with raincoat". In: the
//! place of a word such as `login`. Out: the span of the password. Reads the rest of one line, at most ninety bytes.

use super::{
    assign::Announced,
    chosen::{ends, listed, password},
    finding::Level,
    parse::Link,
    rules::{COPULAS, NOUNS, PLACES, STATES, USERS},
    said::value_at,
    value,
};
use std::ops::Range;

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
    let with = [&b"with "[..], b"using "].iter().find(|w| text[p..limit].starts_with(w)).map(|w| w.len());
    match text.get(p..limit)?.first()? {
        b'/' if blanks > 0 || linked => p += 1,
        b':' if blanks == 0 => p += 1,
        _ => p += with?,
    }
    let with = with.is_some();
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
    let stem = value::trim_end(token, |b| b.is_ascii_digit());
    let way = |w: &[u8]| listed(STATES, w) || listed(PLACES, w) || listed(NOUNS, w);
    let sound = token.len() >= if known && linked && !with { 4 } else { 5 }
        && !way(token)
        && password(token)
        && !listed(USERS, token)
        && !token.eq_ignore_ascii_case(account)
        && !token.contains(&b'/')
        && !token.starts_with(b"-")
        && !token.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    let told = known && (linked || with || blanks > 0 || digits)
        || odd && linked && !listed(STATES, account)
        || digits && linked && token.len() >= 6 && account.len() >= 3 && !way(account) && !way(stem);
    (followed && sound && told).then_some(Announced {
        level: if linked || digits { Level::Probable } else { Level::Possible },
        rule: "login-pair",
        span: said.span,
    })
}
