//! Tables for people that fit the terminal they are shown on.
//!
//! Comes in: rows of texts. Goes out: columns as wide as they need to be; where that is too wide, ids are shortened in the middle and texts cut at a
//! word, and where even that does not fit, each row takes lines of its own. Never here: a text cut for a reader that is no terminal.

use super::{Out, Style};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Blanks between columns.
const GAP: usize = 2;
/// The least that an id is shortened to.
const ID_MIN: usize = 18;
/// The least that a text is cut to.
const TEXT_MIN: usize = 18;
/// Columns no wider than this are never cut.
const SMALL: usize = 12;
/// Columns that hold names, which are told apart by their ends.
const NAMES: [&str; 9] = ["ID", "IDS", "FILE", "EARLIER", "LATER", "SETTING", "PLACE", "TOPIC", "USER"];

/// Rows of text cells.
#[derive(Debug, Default)]
pub(crate) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Table {
        Table { head: head.iter().map(|title| (*title).to_owned()).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        // Stored text may hold anything; a table cell shows one line of visible characters.
        self.rows.push(cells.iter().map(|cell| shown(cell)).collect());
    }

    pub(crate) fn print(&self, out: &Out) {
        let style: Style = out.style;
        match self.widths(out.width()) {
            Some(widths) => {
                out.line(style.bold(&self.line(&self.head, &widths)));
                self.rows.iter().for_each(|row| out.line(self.line(row, &widths)));
            }
            None => {
                self.stacked(out.width().unwrap_or(usize::MAX)).into_iter().for_each(|line| out.line(line))
            }
        }
    }

    /// How wide each column is; nothing if they do not fit.
    fn widths(&self, room: Option<usize>) -> Option<Vec<usize>> {
        let columns = self.head.len();
        let widest = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width());
            cells.chain([self.head[at].width()]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..columns).map(widest).collect();
        let Some(room) = room else { return Some(widths) };
        let least = |at: usize, width: usize| match width {
            small if small <= SMALL => small,
            _ if self.is_name(at) => ID_MIN,
            _ => TEXT_MIN,
        };
        let mins: Vec<usize> = widths.iter().enumerate().map(|(at, width)| least(at, *width)).collect();
        loop {
            let total = widths.iter().sum::<usize>() + GAP * columns.saturating_sub(1);
            if total <= room {
                return Some(widths);
            }
            // The widest gives way first, so that names and texts end up with about the same.
            let wide = (0..columns).filter(|at| widths[*at] > mins[*at]).max_by_key(|at| widths[*at])?;
            widths[wide] -= 1;
        }
    }

    fn is_name(&self, at: usize) -> bool {
        NAMES.contains(&self.head[at].as_str())
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut text = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let cell = if self.is_name(at) { shortened(cell, widths[at]) } else { cut(cell, widths[at]) };
            text.push_str(&cell);
            text.push_str(&" ".repeat(widths[at].saturating_sub(cell.width()) + GAP));
        }
        text.trim_end().to_owned()
    }

    /// Each row on lines of its own: its name, then the rest below it.
    fn stacked(&self, room: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for row in &self.rows {
            let mut cells = row.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
            let Some((first, cell)) = cells.next() else { continue };
            lines.push(if self.is_name(first) { shortened(cell, room) } else { cut(cell, room) });
            let mut line = String::new();
            for (at, cell) in cells {
                let most = room.saturating_sub(GAP).max(1);
                let cell = if self.is_name(at) { shortened(cell, most) } else { cut(cell, most) };
                if !line.is_empty() && line.width() + GAP + cell.width() > room {
                    lines.push(std::mem::take(&mut line));
                }
                line.push_str("  ");
                line.push_str(&cell);
            }
            if !line.is_empty() {
                lines.push(line);
            }
        }
        lines
    }
}

fn shown(text: &str) -> String {
    super::spelled(&heirloom_core::text::one_line(text)).into_owned()
}

/// As many characters from the front as fit.
fn front(text: &str, max: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > max {
            return &text[..at];
        }
    }
    text
}

/// As many characters from the back as fit.
fn back(text: &str, max: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > max {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

/// A text cut at a word, if a word ends in the second half of what fits.
pub(crate) fn cut(text: &str, max: usize) -> String {
    if text.width() <= max {
        return text.to_owned();
    }
    let fits = front(text, max.saturating_sub(1));
    let whole = match text[fits.len()..].starts_with(' ') {
        true => fits,
        false => fits.rfind(' ').map(|at| &fits[..at]).filter(|kept| kept.width() * 2 >= max).unwrap_or(fits),
    };
    format!("{}…", whole.trim_end())
}

/// A name without its middle.
pub(crate) fn shortened(name: &str, max: usize) -> String {
    if name.width() <= max {
        return name.to_owned();
    }
    let room = max.saturating_sub(1);
    let head = front(name, room - room / 2);
    format!("{head}…{}", back(name, room - head.width()))
}

/// Lines of a text with words of at most `max` columns between them. Colours take no room.
pub(super) fn wrapped(text: &str, max: usize) -> Vec<String> {
    let columns = |word: &str| {
        let (mut wide, mut rest) = (0, word);
        while let Some(at) = rest.find('\x1b') {
            wide += rest[..at].width();
            rest = rest[at..].split_once('m').map_or("", |(_, rest)| rest);
        }
        wide + rest.width()
    };
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for word in text.split(' ') {
        let wide = columns(word);
        match lines.last_mut() {
            Some(line) if used + 1 + wide <= max => {
                line.push(' ');
                line.push_str(word);
                used += 1 + wide;
            }
            _ => {
                lines.push(word.to_owned());
                used = wide;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["ID", "UPDATED", "TRUST", "STATUS", "TITLE"]);
        for (id, title) in [
            ("decision:use-postgresql-for-orders", "Use PostgreSQL for orders"),
            (
                "constraint:call-the-payment-api-at-most-100-times-a-minute",
                "Call the payment API at most 100 times a minute",
            ),
        ] {
            table.row([id, "2026-11-18", "high", "active", title].map(str::to_owned).to_vec());
        }
        table
    }

    #[test]
    fn every_line_fits_from_forty_to_two_hundred_columns() {
        let table = table();
        for room in 40..=200 {
            let lines = match table.widths(Some(room)) {
                Some(widths) => table.rows.iter().map(|row| table.line(row, &widths)).collect(),
                None => table.stacked(room),
            };
            for line in lines {
                assert!(line.width() <= room, "{room}: {line}");
            }
        }
    }

    #[test]
    fn nothing_is_cut_for_a_reader_that_is_no_terminal() {
        let table = table();
        let widths = table.widths(None).unwrap();
        assert!(table.line(&table.rows[1], &widths).ends_with("at most 100 times a minute"));
    }

    #[test]
    fn a_text_breaks_between_words_and_colours_take_no_room() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("\x1b[1mone\x1b[0m two three", 7), ["\x1b[1mone\x1b[0m two", "three"]);
        assert_eq!(wrapped("one two", usize::MAX), ["one two"]);
        assert_eq!(wrapped("incomprehensible", 7), ["incomprehensible"]);
    }

    #[test]
    fn names_keep_both_ends_and_texts_end_with_a_word() {
        assert_eq!(shortened("decision:use-postgresql-for-orders", 20), "decision:u…or-orders");
        assert_eq!(cut("Call the payment API at most 100 times", 20), "Call the payment…");
        assert_eq!(cut("Call the payment API at most 100 times", 21), "Call the payment API…");
        assert_eq!(cut("Donaudampfschifffahrtsgesellschaft", 10), "Donaudamp…");
        assert_eq!(shortened("short", 20), "short");
    }

    #[test]
    fn a_narrow_terminal_gets_a_row_on_lines_of_its_own() {
        let lines = table().stacked(40);
        assert_eq!(lines[0], "decision:use-postgresql-for-orders");
        assert_eq!(lines[1], "  2026-11-18  high  active");
        assert_eq!(lines[2], "  Use PostgreSQL for orders");
    }
}
