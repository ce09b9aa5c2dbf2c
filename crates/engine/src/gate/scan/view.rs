//! The text as a reader would see it: invisible characters gone, look-alikes and escapes resolved.
//! In: the original text. Out: a normalised text and the way back from its spans to the original
//! bytes. Nothing is judged here, and the original is never changed.

use super::fold::{self, Folded};
use std::{borrow::Cow, ops::Range};

/// A normalised text with the way back.
pub(super) struct View<'a> {
    pub text: Cow<'a, str>,
    pieces: Vec<Piece>,
}

/// A stretch of the view and where it came from, up to the next one. As small as can be: hostile text has one for every few bytes.
struct Piece {
    view: u32,
    origin: u32,
    /// Bytes of the original that each character of the stretch stands for; 0 where the bytes are the same.
    step: u16,
    /// Bytes of each such character in the view.
    width: u8,
}

impl Piece {
    /// The bytes of the original behind the character at an offset of the view that lies in this piece.
    fn origin(&self, offset: usize) -> Range<usize> {
        let (inside, from) = (offset - self.view as usize, self.origin as usize);
        if self.step == 0 {
            return from + inside..from + inside + 1;
        }
        let start = from + inside / usize::from(self.width) * usize::from(self.step);
        start..start + usize::from(self.step)
    }
}

impl<'a> View<'a> {
    /// Normalises `text`; borrows it where there is nothing to do, which is the usual case.
    pub fn of(text: &'a str) -> View<'a> {
        // Nobody stores a text of four gigabytes.
        if !fold::wanted(text.as_bytes()) || u32::try_from(text.len()).is_err() {
            return View { text: Cow::Borrowed(text), pieces: Vec::new() };
        }
        let mut build = Build { text, out: String::with_capacity(text.len()), pieces: Vec::new(), copied: 0 };
        build.run();
        if build.pieces.is_empty() {
            return View { text: Cow::Borrowed(text), pieces: Vec::new() };
        }
        let from = build.copied;
        build.keep(from, text.len());
        View { text: Cow::Owned(build.out), pieces: build.pieces }
    }

    /// The bytes of the original that a span of the view stands for.
    pub fn origin(&self, span: Range<usize>) -> Range<usize> {
        if self.pieces.is_empty() || span.is_empty() {
            return span;
        }
        let at = |offset: usize| {
            let piece = self.pieces.partition_point(|p| p.view as usize <= offset).saturating_sub(1);
            self.pieces[piece].origin(offset)
        };
        let (first, last) = (at(span.start), at(span.end - 1));
        first.start..last.end.max(first.start)
    }
}

/// The view while it is made.
struct Build<'a> {
    text: &'a str,
    out: String,
    pieces: Vec<Piece>,
    /// Everything before this byte of the original has been dealt with.
    copied: usize,
}

impl Build<'_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut token = fold::Token::default();
        let mut at = 0;
        while at < bytes.len() {
            match fold::at(self.text, at, &mut token) {
                Folded::Same(len) => at += len,
                Folded::Drop(len) => {
                    self.replace(at..at + len, None);
                    at += len;
                }
                Folded::Char(len, c) => {
                    self.replace(at..at + len, Some(c));
                    at += len;
                }
            }
        }
    }

    fn keep(&mut self, from: usize, to: usize) {
        if from < to {
            self.pieces.push(Piece { view: self.out.len() as u32, origin: from as u32, step: 0, width: 1 });
            self.out.push_str(&self.text[from..to]);
        }
    }

    fn replace(&mut self, origin: Range<usize>, with: Option<char>) {
        self.keep(self.copied, origin.start);
        self.copied = origin.end;
        match with {
            Some(c) => {
                let (step, width) = (origin.len() as u16, c.len_utf8() as u8);
                if !self.goes_on(origin.start, step, width) {
                    let (view, origin) = (self.out.len() as u32, origin.start as u32);
                    self.pieces.push(Piece { view, origin, step, width });
                }
                self.out.push(c);
            }
            // A dropped character has no place in the view; an empty piece would shadow its
            // neighbour, so only the fact that something changed is kept.
            None if self.pieces.is_empty() => {
                self.pieces.push(Piece { view: 0, origin: origin.end as u32, step: 0, width: 1 })
            }
            None => {}
        }
    }

    /// Whether a character spelled in the same way follows the last piece directly.
    fn goes_on(&self, from: usize, step: u16, width: u8) -> bool {
        self.pieces.last().is_some_and(|last| {
            let count = (self.out.len() - last.view as usize) / usize::from(last.width);
            last.step == step
                && last.width == width
                && last.origin as usize + count * usize::from(step) == from
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_lead_back_to_the_original() {
        for (text, seen) in [
            ("a\u{200b}b\u{200b}c", "abc"),
            ("\u{200b}abc", "abc"),
            ("%61%62c", "abc"),
            ("\\u0061bc", "abc"),
            ("&#97;b&#x63;", "abc"),
            ("\u{ff41}\u{ff42}\u{ff43}", "abc"),
            ("a\u{1b}[0mbc", "abc"),
            ("\u{430}bc", "abc"),
        ] {
            let view = View::of(text);
            assert_eq!(view.text, seen, "{text:?}");
            let back = view.origin(0..3);
            assert_eq!(back.end, text.len(), "{text:?}");
            assert!(back.start == 0 || text.starts_with('\u{200b}'), "{text:?}");
        }
    }

    #[test]
    fn a_span_within_a_run_of_one_spelling_leads_to_its_own_characters() {
        let view = View::of("x%61%62%63y\u{ff44}\u{ff45}%66");
        assert_eq!(view.text, "xabcydef");
        assert_eq!(view.origin(2..3), 4..7);
        assert_eq!(view.origin(1..4), 1..10);
        assert_eq!(view.origin(5..7), 11..17);
        assert_eq!(view.origin(6..8), 14..20);
        assert_eq!(view.pieces.len(), 4);
    }

    #[test]
    fn plain_text_is_borrowed() {
        for text in ["plain", "100 % sure & done", "C:\\temp", "naïve — yes"] {
            assert!(matches!(View::of(text).text, Cow::Borrowed(_)), "{text}");
        }
    }
}
