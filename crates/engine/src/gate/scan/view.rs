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

/// A stretch of the view and where it came from. Equal lengths mean the bytes are the same.
struct Piece {
    view: usize,
    origin: Range<usize>,
    same: bool,
}

impl<'a> View<'a> {
    /// Normalises `text`; borrows it where there is nothing to do, which is the usual case.
    pub fn of(text: &'a str) -> View<'a> {
        if !fold::wanted(text.as_bytes()) {
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
        let at =
            |offset: usize| &self.pieces[self.pieces.partition_point(|p| p.view <= offset).saturating_sub(1)];
        let (first, last) = (at(span.start), at(span.end - 1));
        let start =
            if first.same { first.origin.start + (span.start - first.view) } else { first.origin.start };
        let end = if last.same { last.origin.start + (span.end - last.view) } else { last.origin.end };
        start..end.max(start)
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
            self.pieces.push(Piece { view: self.out.len(), origin: from..to, same: true });
            self.out.push_str(&self.text[from..to]);
        }
    }

    fn replace(&mut self, origin: Range<usize>, with: Option<char>) {
        self.keep(self.copied, origin.start);
        self.copied = origin.end;
        match with {
            Some(c) => {
                self.pieces.push(Piece { view: self.out.len(), origin, same: false });
                self.out.push(c);
            }
            // A dropped character has no place in the view; an empty piece would shadow its
            // neighbour, so only the fact that something changed is kept.
            None if self.pieces.is_empty() => {
                self.pieces.push(Piece { view: 0, origin: origin.end..origin.end, same: true })
            }
            None => {}
        }
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
    fn plain_text_is_borrowed() {
        for text in ["plain", "100 % sure & done", "C:\\temp", "naïve — yes"] {
            assert!(matches!(View::of(text).text, Cow::Borrowed(_)), "{text}");
        }
    }
}
