//! Text that gives no orders to whoever reads it.
//!
//! Comes in: a stored text, a name, a path, a project's own words. Goes out: the same with every injection marker the gate knows made
//! harmless, and for a block also on one line that closes no fence; the file keeps its bytes. Never here: choosing what is shown.

use crate::call::Call;
use heirloom_core::text::{cut, escape, one_line, shown_title, strip_control, strip_invisible};
use std::borrow::Cow;

/// Most characters of a path.
const PLACE_MAX: usize = 240;

/// The text without its markers.
pub(crate) fn calm<'t>(call: &Call, raw: &'t str) -> Cow<'t, str> {
    call.screen().calmed(raw)
}

/// A text on one line that closes no fence and gives no orders. Every text in a block but a title comes through here.
pub(crate) fn tame(call: &Call, raw: &str) -> String {
    if is_plain(raw) {
        let calmed = calm(call, raw);
        return if is_plain(&calmed) { calmed.into_owned() } else { cleaned(&calmed) };
    }
    // What shows nothing goes first: it is no order, but may hide one.
    cleaned(&calm(call, &strip_invisible(raw)))
}

/// The same for a title or a description: at most 120 characters.
pub(crate) fn tame_title(call: &Call, raw: &str) -> String {
    shown_title(&calm(call, &strip_invisible(raw)))
}

/// The same for where a memory lies.
pub(super) fn tame_place(call: &Call, raw: &str) -> String {
    cut(&tame(call, raw), PLACE_MAX).to_owned()
}

/// Where the memories of a block lie, as its first line names it.
pub fn source(call: &Call) -> String {
    tame_place(call, &format!("{}/", call.settings().memory_root.trim_end_matches('/')))
}

fn cleaned(text: &str) -> String {
    escape(&strip_invisible(&strip_control(&one_line(text))), true)
}

/// Whether nothing needs cleaning, which one look at the bytes tells of most texts.
fn is_plain(text: &str) -> bool {
    let fine = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<' | b'>' | b'"');
    text.bytes().all(fine) && !text.starts_with(' ') && !text.ends_with(' ') && !text.contains("  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_looks_plain_needs_no_cleaning(text in "[ a-c&<\\n\"é\u{200b}]{0,6}|[ -~]{0,9}|\\PC{0,5}") {
            prop_assert!(!is_plain(&text) || cleaned(&text) == text);
        }
    }
}
