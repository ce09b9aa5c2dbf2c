//! A page: a topic file as entries and everything else.
//!
//! Comes in: a file's text. Goes out: where each entry is, and the text with one entry put in, taken out or replaced. Never here:
//! a change to a byte outside the entry that is changed; foreign headings, odd spacing and text between entries stay as they are.

use super::lesson::Lesson;
use super::marks::{self, Dated, Fence};
use jiff::civil::Date;
use std::ops::Range;

/// An entry of a page: its heading, where it is, and the blank lines behind it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spot {
    pub(super) heading: Dated,
    pub(super) range: Range<usize>,
}

/// A topic file, read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Page {
    text: String,
    spots: Vec<Spot>,
}

impl Page {
    /// Reads a page. Every text is one.
    pub(super) fn read(text: String) -> Page {
        let spots = spots(&text);
        Page { text, spots }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The entries, from the top of the file.
    pub(super) fn spots(&self) -> &[Spot] {
        &self.spots
    }

    /// An entry's bytes.
    pub(super) fn raw(&self, at: usize) -> &str {
        &self.text[self.spots[at].range.clone()]
    }

    /// An entry with line feeds only, without the blank lines behind it: what is hashed, and what moves.
    pub(super) fn plain(&self, at: usize) -> String {
        let raw = self.raw(at);
        let crlf = raw.find('\n').is_some_and(|end| raw[..end].ends_with('\r'));
        let kept = raw.trim_end_matches(['\n', '\r', ' ', '\t']);
        let mut plain = if crlf { kept.replace("\r\n", "\n") } else { kept.to_owned() };
        plain.push('\n');
        plain
    }

    /// An entry, read.
    pub(super) fn lesson(&self, at: usize) -> Lesson {
        Lesson::read(&self.spots[at].heading, self.raw(at))
    }

    /// Everything that is no entry, in order.
    pub(super) fn foreign(&self) -> String {
        let mut out = String::new();
        let mut at = 0;
        for spot in &self.spots {
            out.push_str(&self.text[at..spot.range.start]);
            at = spot.range.end;
        }
        out.push_str(&self.text[at..]);
        out
    }

    /// Entries from oldest to newest: by date, and of one day from the bottom of the file up.
    pub(super) fn oldest_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.spots.len()).rev().collect();
        order.sort_by_key(|at| self.spots[*at].heading.date);
        order
    }

    fn is_crlf(&self) -> bool {
        self.text.find('\n').is_some_and(|at| self.text[..at].ends_with('\r'))
    }

    /// Puts an entry in, above all that are not newer. `entry` has line feeds only and ends in one.
    pub(super) fn insert(&mut self, date: Date, entry: &str) {
        self.insert_all(vec![(date, entry.to_owned())]);
    }

    /// Puts entries in one after the other, each above all that are not newer, in one pass over the text.
    pub(super) fn insert_all(&mut self, entries: Vec<(Date, String)>) {
        if entries.is_empty() {
            return;
        }
        // The oldest date down to each entry: where it first is no newer than a date, that date's place is.
        let mut oldest: Vec<Date> = Vec::with_capacity(self.spots.len());
        for spot in &self.spots {
            let before = oldest.last().copied().unwrap_or(spot.heading.date);
            oldest.push(before.min(spot.heading.date));
        }
        let end = self.spots.last().map_or(self.text.len(), |spot| spot.range.end);
        let place = |date: Date| {
            let at = oldest.partition_point(|old| *old > date);
            self.spots.get(at).map_or(end, |spot| spot.range.start)
        };
        let mut placed: Vec<(usize, Date, String)> =
            entries.into_iter().map(|(date, entry)| (place(date), date, entry)).collect();
        // Of one place the newest stands on top, of one day the one that came last.
        placed.reverse();
        placed.sort_by_key(|(at, date, _)| (*at, std::cmp::Reverse(*date)));
        let crlf = self.is_crlf();
        let mut text = String::with_capacity(self.text.len());
        let (mut from, count) = (0, placed.len());
        for (n, (at, _, entry)) in placed.into_iter().enumerate() {
            text.push_str(&self.text[from..at]);
            from = at;
            let is_last = n + 1 == count && at == self.text.len();
            let piece = format!("{}{entry}{}", gap(&text), if is_last { "" } else { "\n" });
            text.push_str(&if crlf { piece.replace('\n', "\r\n") } else { piece });
        }
        text.push_str(&self.text[from..]);
        *self = Page::read(text);
    }

    /// Takes entries out, whatever their order.
    #[must_use]
    pub(super) fn without(&self, out: &[usize]) -> Page {
        let mut goes = vec![false; self.spots.len()];
        out.iter().for_each(|place| goes[*place] = true);
        let mut text = String::with_capacity(self.text.len());
        let mut at = 0;
        for (spot, goes) in self.spots.iter().zip(goes) {
            if goes {
                text.push_str(&self.text[at..spot.range.start]);
                at = spot.range.end;
            }
        }
        text.push_str(&self.text[at..]);
        let mut page = Page::read(text);
        // The blank line that parted the last entry from one that is gone parts nothing now.
        let was_last =
            self.spots.last().is_some_and(|spot| spot.range.end == self.text.len() && at == self.text.len());
        if let Some(last) = page.spots.last().filter(|spot| was_last && spot.range.end == page.text.len()) {
            let kept = page.text[last.range.clone()].trim_end().len();
            let end = if page.is_crlf() { "\r\n" } else { "\n" };
            page = Page::read(format!("{}{end}", &page.text[..last.range.start + kept]));
        }
        page
    }

    /// Writes another text in an entry's place; the blank lines behind it stay.
    #[must_use]
    pub(super) fn replaced(&self, at: usize, entry: &str) -> Page {
        self.replaced_all(vec![(at, entry.to_owned())])
    }

    /// The same for several entries, in the order of the file.
    #[must_use]
    pub(super) fn replaced_all(&self, entries: Vec<(usize, String)>) -> Page {
        let crlf = self.is_crlf();
        let mut text = String::with_capacity(self.text.len());
        let mut from = 0;
        for (at, entry) in entries {
            let range = self.spots[at].range.clone();
            let raw = &self.text[range.clone()];
            let tail = &raw[raw.trim_end_matches(['\n', '\r', ' ', '\t']).len()..];
            let entry = entry.trim_end_matches('\n');
            text.push_str(&self.text[from..range.start]);
            text.push_str(&if crlf { entry.replace('\n', "\r\n") } else { entry.to_owned() });
            text.push_str(if tail.is_empty() { "\n" } else { tail });
            from = range.end;
        }
        text.push_str(&self.text[from..]);
        Page::read(text)
    }
}

/// What parts an entry from the text before it: a blank line, as far as there is none.
fn gap(before: &str) -> &'static str {
    let blank = [' ', '\t', '\r'];
    let ends = |text: &str| text.trim_end_matches(blank).ends_with('\n');
    if before.is_empty() || before == "\u{feff}" {
        ""
    } else if !ends(before) {
        "\n\n"
    } else if ends(before.trim_end_matches(blank).strip_suffix('\n').unwrap_or_default()) {
        ""
    } else {
        "\n"
    }
}

/// Finds the entries of a text in one pass.
fn spots(text: &str) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    let mut state = State::Foreign;
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for line in text[at..].split_inclusive('\n') {
        let start = at;
        at += line.len();
        if let Some(heading) = marks::dated(line) {
            spots.push(Spot { heading, range: start..at });
            state = State::Inside(None);
            continue;
        }
        state = match state {
            State::Foreign => State::Foreign,
            State::Inside(Some(fence)) => State::Inside((!fence.closed_by(line)).then_some(fence)),
            State::Inside(None) if marks::is_rule(line) => State::Behind,
            State::Inside(None) if marks::is_section(line) => State::Foreign,
            State::Inside(None) => State::Inside(marks::fence(line)),
            State::Behind if line.trim().is_empty() => State::Behind,
            State::Behind => State::Foreign,
        };
        if let (State::Inside(_) | State::Behind, Some(spot)) = (&state, spots.last_mut()) {
            spot.range.end = at;
        }
    }
    spots
}

enum State {
    /// No entry here.
    Foreign,
    /// In an entry, perhaps in a code fence.
    Inside(Option<Fence>),
    /// After the rule that ends an entry, while lines are blank.
    Behind,
}
