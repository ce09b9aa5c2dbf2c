//! A text with the escapes of hosts undone, and where each part of it came from.
//!
//! Comes in: a text that may hold HTML entities, JSON escapes or look-alike brackets, once or twice over. Goes out: the text as it was before,
//! and for every place in it the place in the original. Never here: deciding anything by it; what is unescaped is only looked at, never kept.
//! A text without an escape is not copied. Linear in its length.

use std::borrow::Cow;

/// A text with its escapes undone.
pub(super) struct Unescaped<'a> {
    text: Cow<'a, str>,
    /// For each byte of the text, and for its end, where in the original it begins; empty if nothing was escaped.
    origins: Vec<usize>,
}

/// How often a text may have been escaped.
const LAYERS: usize = 2;

impl<'a> Unescaped<'a> {
    pub(super) fn of(text: &'a str) -> Unescaped<'a> {
        let mut plain = Unescaped { text: Cow::Borrowed(text), origins: Vec::new() };
        for _ in 0..LAYERS {
            let Some(next) = plain.once() else { break };
            plain = next;
        }
        plain
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where a place in the text is in the original.
    pub(super) fn origin(&self, at: usize) -> usize {
        if self.origins.is_empty() { at } else { self.origins[at] }
    }

    /// One layer less; nothing if there is none.
    fn once(&self) -> Option<Unescaped<'a>> {
        let text = self.text();
        if !text.bytes().any(|byte| matches!(byte, b'&' | b'\\' | 0xe2)) {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut origins = Vec::with_capacity(text.len() + 1);
        let mut changed = false;
        let mut at = 0;
        while at < text.len() {
            let (taken, char) = match escape(&text[at..]) {
                Some(found) => {
                    changed = true;
                    found
                }
                None => {
                    // `at` is always the start of a character.
                    let char = text[at..].chars().next().unwrap_or('\u{fffd}');
                    (char.len_utf8(), char)
                }
            };
            out.push(char);
            let origin = self.origin(at);
            origins.resize(out.len(), origin);
            at += taken;
        }
        origins.push(self.origin(text.len()));
        changed.then(|| Unescaped { text: Cow::Owned(out), origins })
    }
}

/// The escape a text begins with: how long it is, and what it stands for.
fn escape(text: &str) -> Option<(usize, char)> {
    const NAMED: [(&str, char); 14] = [
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("&apos;", '\''),
        ("&amp;", '&'),
        ("‹", '<'),
        ("›", '>'),
        ("\\n", '\n'),
        ("\\r", '\r'),
        ("\\t", '\t'),
        ("\\\"", '"'),
        ("\\/", '/'),
        ("\\\\", '\\'),
        ("\\'", '\''),
    ];
    match text.as_bytes().first()? {
        b'&' | b'\\' | 0xe2 => {}
        _ => return None,
    }
    if let Some((name, char)) = NAMED.iter().find(|(name, _)| text.starts_with(name)) {
        return Some((name.len(), *char));
    }
    if let Some(rest) = text.strip_prefix("\\u") {
        let char = u32::from_str_radix(rest.get(..4)?, 16).ok().and_then(char::from_u32)?;
        return Some((6, char));
    }
    let digits = text.strip_prefix("&#")?;
    let end = digits.bytes().take(8).position(|byte| byte == b';')?;
    let number = &digits[..end];
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    Some((end + 3, code.ok().and_then(char::from_u32)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_are_undone_and_known_by_their_place() {
        let plain = Unescaped::of("a &lt;b&gt; c");
        assert_eq!(plain.text(), "a <b> c");
        assert_eq!(plain.origin(2), 2);
        assert_eq!(plain.origin(3), 6);
        assert_eq!(plain.origin(plain.text().len()), "a &lt;b&gt; c".len());
        assert_eq!(Unescaped::of("&amp;lt;x").text(), "<x");
        assert_eq!(Unescaped::of("\\u003cx\\u003E").text(), "<x>");
        assert_eq!(Unescaped::of("&#60;x&#x3E;").text(), "<x>");
    }

    proptest! {
        #[test]
        fn every_place_leads_to_a_character_of_the_original(text in "(&lt;|&amp;|\\\\n|\\\\u00e9|‹|&#|ä|[a-z&;\\\\]){0,40}") {
            let plain = Unescaped::of(&text);
            let mut last = 0;
            for (at, _) in plain.text().char_indices().chain([(plain.text().len(), ' ')]) {
                let origin = plain.origin(at);
                prop_assert!(text.is_char_boundary(origin));
                prop_assert!(origin >= last);
                last = origin;
            }
            prop_assert_eq!(plain.origin(plain.text().len()), text.len());
        }
    }
}
