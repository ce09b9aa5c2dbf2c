//! Code out of the text: words in code say nothing about what people decided.
//!
//! Comes in: the joined text. Goes out: the text without fenced blocks and without inline code, and where a place of the
//! old text is in the new one. Never here: Markdown; a fence is three backticks wherever they stand.

/// Text without code.
#[derive(Debug)]
pub(super) struct Stripped {
    pub(super) text: String,
    fenced: Vec<Cut>,
    inline: Vec<Cut>,
}

/// A removed stretch: where it began and ended in the text it was removed from.
type Cut = (usize, usize);

/// Removes fenced blocks first, then inline code from what is left. Code that is never closed is no code.
pub(super) fn strip_code(text: &str) -> Stripped {
    let (without_fences, fenced) = remove(text, next_fence);
    let (text, inline) = remove(&without_fences, next_inline);
    Stripped { text, fenced, inline }
}

/// Removes fenced blocks only: names of things stand between single backticks, and a title without them says nothing.
pub(super) fn strip_blocks(text: &str) -> Stripped {
    let (text, fenced) = remove(text, next_fence);
    Stripped { text, fenced, inline: Vec::new() }
}

impl Stripped {
    /// Where the byte `at` of the original text is now.
    pub(super) fn place(&self, at: usize) -> usize {
        shift(&self.inline, shift(&self.fenced, at))
    }
}

fn shift(cuts: &[Cut], at: usize) -> usize {
    at - cuts.iter().take_while(|cut| cut.0 < at).map(|cut| cut.1.min(at) - cut.0).sum::<usize>()
}

fn remove(text: &str, next: impl Fn(&str, usize) -> Option<Cut>) -> (String, Vec<Cut>) {
    let mut out = String::with_capacity(text.len());
    let mut cuts = Vec::new();
    let mut at = 0;
    while let Some(cut) = next(text, at) {
        out.push_str(&text[at..cut.0]);
        cuts.push(cut);
        at = cut.1;
    }
    out.push_str(&text[at..]);
    (out, cuts)
}

fn next_fence(text: &str, from: usize) -> Option<Cut> {
    let open = from + text[from..].find("```")?;
    let close = open + 3 + text[open + 3..].find("```")?;
    Some((open, close + 3))
}

/// A backtick, at least one other character, a backtick. Of a run of backticks only the last one opens.
fn next_inline(text: &str, from: usize) -> Option<Cut> {
    let bytes = text.as_bytes();
    let mut open = from + text[from..].find('`')?;
    while bytes.get(open + 1) == Some(&b'`') {
        open += 1;
    }
    let close = open + 1 + text[open + 1..].find('`')?;
    Some((open, close + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stripped(text: &str) -> String {
        strip_code(text).text
    }

    #[test]
    fn closed_code_goes_and_unclosed_code_stays() {
        assert_eq!(stripped("a ```x\ny``` b"), "a  b");
        assert_eq!(stripped("a `x` b `y\nz` c"), "a  b  c");
        assert_eq!(stripped("a ` b"), "a ` b");
        assert_eq!(stripped("``x``"), "``");
        assert_eq!(stripped("````x````"), "`");
        assert_eq!(stripped("``` never closed"), "``` never closed");
        assert_eq!(stripped("```\nopen ` and `"), "`` and `");
    }

    #[test]
    fn places_move_with_the_text() {
        let stripped = strip_code("ab ```x``` cd `y` ef");
        assert_eq!(stripped.text, "ab  cd  ef");
        assert_eq!(stripped.place(0), 0);
        assert_eq!(&stripped.text[stripped.place(18)..], "ef");
        assert_eq!(stripped.place(6), 3);
    }

    proptest! {
        #[test]
        fn what_is_left_is_what_stood_outside(text in "[`ab\n]{0,60}") {
            let stripped = strip_code(&text);
            prop_assert!(stripped.text.len() <= text.len());
            prop_assert_eq!(stripped.place(text.len()), stripped.text.len());
        }
    }
}
