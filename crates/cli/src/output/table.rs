//! Tables for people: columns as wide as they need to be, the last one cut to the terminal.

use super::{Out, Style};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Width when there is no terminal to ask.
const PLAIN_WIDTH: usize = 120;

/// Rows of text cells.
#[derive(Debug, Default)]
pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&'static str]) -> Table {
        Table { head: head.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        // Stored text may hold anything; a table cell shows one line of visible characters.
        self.rows.push(cells.iter().map(|cell| shown(cell)).collect());
    }

    pub(crate) fn print(&self, out: &Out) {
        let width = terminal_width().unwrap_or(PLAIN_WIDTH);
        let columns = self.head.len();
        let widest = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width());
            cells.chain([self.head[at].width()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        let before_last: usize = widths.iter().take(columns - 1).map(|w| w + 2).sum();
        let last = width.saturating_sub(before_last).max(20);
        let line = |cells: &[String]| {
            let mut text = String::new();
            for (at, cell) in cells.iter().enumerate() {
                if at + 1 == columns {
                    text.push_str(&cut(cell, last));
                } else {
                    text.push_str(cell);
                    text.push_str(&" ".repeat(widths[at].saturating_sub(cell.width()) + 2));
                }
            }
            text.trim_end().to_owned()
        };
        let head: Vec<String> = self.head.iter().map(|h| (*h).to_owned()).collect();
        let style: Style = out.style;
        out.line(style.bold(&line(&head)));
        for row in &self.rows {
            out.line(line(row));
        }
    }
}

fn shown(text: &str) -> String {
    super::spelled(&heirloom_core::text::one_line(text)).into_owned()
}

fn cut(text: &str, max: usize) -> String {
    if text.width() <= max {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if used + w > max.saturating_sub(1) {
            break;
        }
        used += w;
        out.push(c);
    }
    out.push('…');
    out
}

fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}
