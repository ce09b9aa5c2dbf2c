//! Private key blocks. In: the place of `-----BEGIN`. Out: the whole block, also when its end is
//! missing or its line breaks are written as `\n`. Public keys and certificates are not reported.

use std::ops::Range;

const LONGEST: usize = 32 * 1024;
/// Fewer body characters than this are a mention, not a key.
const BODY: usize = 24;

/// The private key block that begins at `at`.
pub(super) fn block(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let label_end =
        text[at.end..].iter().take(64).position(|&b| b == b'-' || b == b'\n').map(|i| at.end + i)?;
    let label = &text[at.end..label_end];
    if !label.windows(7).any(|w| w == b"PRIVATE") {
        return None;
    }
    let body = label_end + text[label_end..].iter().take_while(|&&b| b == b'-').count();
    let limit = text.len().min(body + LONGEST);
    let mut p = body;
    let mut solid = 0;
    // Body lines, PEM headers and escaped line breaks; anything else ends an unterminated block.
    while p < limit {
        match text[p] {
            b'-' if text[p..].starts_with(b"-----END") => {
                let line = text[p..limit]
                    .iter()
                    .skip(8)
                    .position(|&b| b == b'\n' || b == b'"' || b == b'\\')
                    .map_or(limit, |i| p + 8 + i);
                let dashes = text[p..line].iter().rposition(|&b| b == b'-').map_or(line, |i| p + i + 1);
                return (solid >= BODY).then_some(at.start..dashes);
            }
            b'-' if text[p..].starts_with(b"-----") => break,
            b if b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=') => {
                solid += 1;
                p += 1;
            }
            b'\n' | b'\r' | b' ' | b'\t' | b'\\' | b':' | b',' | b'-' | b'.' | b'(' | b')' | b'"' | b'\''
            | b'>' | b'#' | b'*' | b'|' => p += 1,
            _ => break,
        }
    }
    // Unterminated: keep lines as long as they look like base64.
    let mut end = body;
    let mut line = body;
    while line < limit {
        let stop = text[line..limit].iter().position(|&b| b == b'\n').map_or(limit, |i| line + i);
        let content = text[line..stop].trim_ascii();
        let dense = content.len() >= 16
            && content.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'\\'));
        let header = content.iter().position(|&b| b == b':').is_some_and(|i| i < 20) && content.len() < 80;
        if !(content.is_empty()
            || dense
            || header
            || end == body && content.len() < 4
            || end > body
                && content.len() < 70
                && content.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')))
        {
            break;
        }
        if dense || end > body && !content.is_empty() && !header {
            end = stop;
        }
        line = stop + 1;
    }
    (end > body + BODY).then_some(at.start..end)
}
