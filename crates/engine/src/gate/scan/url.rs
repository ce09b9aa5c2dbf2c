//! Credentials inside URLs: `scheme://user:password@host`. In: the place of `://`. Out: the bytes of
//! the password, or of a token that stands for the user. Reads one authority, nothing else.

use super::value::{self, Shape};
use std::ops::Range;

/// The longest authority that is looked at.
const LONGEST: usize = 1024;

/// The password in the URL whose `://` stands at `at`.
pub(super) fn credentials(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let scheme = text[..at.start]
        .iter()
        .rev()
        .take(24)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'))
        .count();
    if scheme == 0 {
        return None;
    }
    let limit = text.len().min(at.end + LONGEST);
    let stop = text[at.end..limit]
        .iter()
        .position(|&b| {
            b.is_ascii_whitespace()
                || b.is_ascii_control()
                || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b'\\')
                || b >= 0x80
        })
        .map_or(limit, |i| at.end + i);
    // A password may hold `/`, `?` or `#` if it was not encoded, but then a host must follow the last `@`.
    let slash =
        text[at.end..stop].iter().position(|b| matches!(b, b'/' | b'?' | b'#')).map_or(stop, |i| at.end + i);
    let sign = match text[at.end..slash].iter().rposition(|&b| b == b'@') {
        Some(i) => at.end + i,
        None => {
            let i = at.end + text[at.end..stop].iter().position(|&b| b == b'@')?;
            let odd = text[at.end..i].contains(&b':')
                && text[slash + 1..].first().is_some_and(|b| *b != b'/')
                && !text[at.end..slash].contains(&b'.');
            odd.then_some(i)?
        }
    };
    let host = text[sign + 1..stop]
        .iter()
        .take_while(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'[' | b'$' | b'{' | b'*')
        })
        .count();
    if host == 0 {
        return None;
    }
    let user = &text[at.end..sign];
    match user.iter().position(|&b| b == b':') {
        Some(colon) => {
            let span = at.end + colon + 1..sign;
            let (name, password) = (&user[..colon], &user[colon + 1..]);
            (password.len() >= 3 && !stands_for(password) && !password.eq_ignore_ascii_case(name))
                .then_some(span)
        }
        None => (user.len() >= 16
            && !value::is_placeholder(user)
            && matches!(value::shape(user), Shape::Random | Shape::Hex))
        .then_some(at.end..sign),
    }
}

/// Passwords that documentation uses, and templates.
fn stands_for(password: &[u8]) -> bool {
    let word = |w: &str| value::holds(password, w);
    let digits = password.iter().filter(|b| b.is_ascii_digit()).count();
    value::is_placeholder(password)
        || super::chosen::listed(super::rules::NAMED, password)
        || matches!(password.first(), Some(b'$' | b'<' | b'{' | b'%' | b'[' | b'*'))
        || digits <= 3 && (word("pass") || word("pwd") || word("secret") || word("token") || word("example"))
        || password.iter().all(u8::is_ascii_uppercase) && password.len() <= 8
        || password.len() <= 4 && password.iter().all(u8::is_ascii_digit)
}
