//! Choosing from a list at a terminal: type to narrow, arrows, Enter, Esc.
//!
//! Comes in: keys, and a function from what was typed to rows. Goes out: the row that was chosen, or nothing. The terminal is put back as it was however
//! this ends. Never here: what the rows mean; a control character of a row on the screen.

use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault, fault::Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{IsTerminal as _, Read as _, Write as _};
use unicode_width::UnicodeWidthChar as _;

/// How long a lone Esc waits for the rest of an arrow key, in milliseconds.
const ESCAPE_MS: i64 = 40;
/// The longest line that is typed.
const TYPED_MAX: usize = 400;
const FOOT: &str = "type to filter, arrows to choose, Enter to show, Esc to leave";

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// What is handed back if it is chosen.
    pub(crate) id: String,
    /// What sort of thing it is.
    pub(crate) label: String,
    /// What it is called.
    pub(crate) title: String,
    /// A little more of it.
    pub(crate) more: String,
}

/// A key that means something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Char(char),
    Back,
    Word,
    Clear,
    Up,
    Down,
    PageUp,
    PageDown,
    Enter,
    Leave,
    Interrupt,
}

/// How choosing ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Picked {
    /// With this row.
    Row(String),
    /// Without one.
    Nothing,
    /// With Ctrl-C.
    Interrupted,
}

/// Whether somebody sits here who can choose.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && crate::person::is_present()
}

/// Lets somebody choose. `rows` says what fits a line; it is asked once typing pauses for `pause_ms`.
pub(crate) fn pick(
    typed: &str,
    pause_ms: i64,
    mut rows: impl FnMut(&str, usize) -> Result<Vec<Row>>,
) -> Result<Picked> {
    let _hushed = crate::output::watch::hush();
    let terminal = Raw::enter()?;
    let mut list = List { typed: typed.to_owned(), rows: Vec::new(), at: 0 };
    let mut keys = Keys::default();
    let mut stale = true;
    loop {
        let (width, height) = terminal.size();
        if stale && !keys.more_within(pause_ms) {
            list.rows = rows(&list.typed, list.room(height))?;
            list.at = 0;
            stale = false;
        }
        terminal.draw(&list.screen(width, height));
        let Some(key) = keys.next() else { return Ok(Picked::Nothing) };
        match list.press(key, list.room(height)) {
            Pressed::Moved => {}
            Pressed::Typed => stale = true,
            Pressed::Left => return Ok(Picked::Nothing),
            Pressed::Interrupted => return Ok(Picked::Interrupted),
            // What was typed a moment ago counts before the list is asked.
            Pressed::Chose if stale => {
                list.rows = rows(&list.typed, list.room(height))?;
                return Ok(list.rows.first().map_or(Picked::Nothing, |row| Picked::Row(row.id.clone())));
            }
            Pressed::Chose => {
                let row = list.rows.get(list.at);
                return Ok(row.map_or(Picked::Nothing, |row| Picked::Row(row.id.clone())));
            }
        }
    }
}

/// A key that was pressed, of those that mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OneKey {
    Key(char),
    /// Esc, or the end of the input.
    Left,
    /// Ctrl-C.
    Interrupted,
}

/// Waits for one of these keys, below a line that names them.
pub(crate) fn one_key(line: &str, wanted: &str) -> Result<OneKey> {
    let _hushed = crate::output::watch::hush();
    let terminal = Raw::keys_alone()?;
    terminal.write(&format!("{line} "));
    let mut keys = Keys { single: true, ..Keys::default() };
    let pressed = loop {
        break match keys.next() {
            None | Some(Key::Leave) => OneKey::Left,
            Some(Key::Interrupt) => OneKey::Interrupted,
            Some(Key::Char(c)) if wanted.contains(c) => OneKey::Key(c),
            Some(_) => continue,
        };
    };
    terminal.write("\r\n");
    Ok(pressed)
}

/// What a key did.
#[derive(Debug, PartialEq, Eq)]
enum Pressed {
    Moved,
    Typed,
    Chose,
    Left,
    Interrupted,
}

/// The list as it stands.
#[derive(Debug, Default)]
struct List {
    typed: String,
    rows: Vec<Row>,
    at: usize,
}

impl List {
    /// Rows that fit on a screen of this height.
    fn room(&self, height: usize) -> usize {
        (height.saturating_sub(2) / 2).max(1)
    }

    fn press(&mut self, key: Key, page: usize) -> Pressed {
        let last = self.rows.len().saturating_sub(1);
        match key {
            Key::Char(c) if self.typed.len() < TYPED_MAX => self.typed.push(c),
            Key::Char(_) => return Pressed::Moved,
            Key::Back => _ = self.typed.pop(),
            Key::Clear => self.typed.clear(),
            Key::Word => {
                let kept = self.typed.trim_end();
                let end = kept.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.typed.truncate(end);
            }
            Key::Up => self.at = self.at.saturating_sub(1),
            Key::Down => self.at = (self.at + 1).min(last),
            Key::PageUp => self.at = self.at.saturating_sub(page),
            Key::PageDown => self.at = (self.at + page).min(last),
            Key::Enter => return Pressed::Chose,
            Key::Leave => return Pressed::Left,
            Key::Interrupt => return Pressed::Interrupted,
        }
        match key {
            Key::Up | Key::Down | Key::PageUp | Key::PageDown => Pressed::Moved,
            _ => Pressed::Typed,
        }
    }

    /// The whole screen, a line each.
    fn screen(&self, width: usize, height: usize) -> Vec<String> {
        let mut lines = vec![cut(&format!("search: {}_", self.typed), width)];
        for (at, row) in self.rows.iter().take(self.room(height)).enumerate() {
            let mark = if at == self.at { ">" } else { " " };
            let head = cut(&format!("{mark} {}  {}", plain(&row.label), plain(&row.title)), width);
            lines.push(if at == self.at { format!("\x1b[7m{head}\x1b[0m") } else { head });
            lines.push(format!("\x1b[2m{}\x1b[0m", cut(&format!("    {}", plain(&row.more)), width)));
        }
        if self.rows.is_empty() {
            lines.push("  no matches".to_owned());
        }
        lines.push(format!("\x1b[2m{}\x1b[0m", cut(FOOT, width)));
        lines
    }
}

/// A text on one line without anything a terminal would act on.
fn plain(text: &str) -> String {
    crate::output::visible(&one_line(text))
}

/// As much of a text as fits into so many columns.
fn cut(text: &str, width: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    text.chars().take_while(fits).collect()
}

/// Keys as they come in.
#[derive(Debug, Default)]
struct Keys {
    bytes: Vec<u8>,
    /// Whether only one key is wanted: what was typed after it belongs to whoever asks next.
    single: bool,
}

impl Keys {
    fn more_within(&self, milliseconds: i64) -> bool {
        !self.bytes.is_empty() || waits(milliseconds)
    }

    /// The next key; `None` if the terminal is gone.
    fn next(&mut self) -> Option<Key> {
        loop {
            // An Esc may be the beginning of an arrow key that has not arrived whole.
            while let [0x1b] | [0x1b, b'['] | [0x1b, b'O'] = self.bytes.as_slice() {
                if !waits(ESCAPE_MS) {
                    break;
                }
                self.read()?;
            }
            match read_key(&self.bytes) {
                Some((key, used)) => {
                    self.bytes.drain(..used);
                    if let Some(key) = key {
                        return Some(key);
                    }
                }
                None => self.read()?,
            }
        }
    }

    fn read(&mut self) -> Option<()> {
        let mut buffer = [0; 256];
        let most = if self.single { 1 } else { buffer.len() };
        let count = std::io::stdin().lock().read(&mut buffer[..most]).ok().filter(|count| *count > 0)?;
        self.bytes.extend_from_slice(&buffer[..count]);
        Some(())
    }
}

/// Whether something arrives in time.
fn waits(milliseconds: i64) -> bool {
    let stdin = std::io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    let limit = Timespec { tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000 };
    poll(&mut watched, Some(&limit)).is_ok_and(|ready| ready > 0)
}

/// The first key of some bytes and how many of them it takes; the key is `None` for what means nothing here. `None` if there are too few bytes.
fn read_key(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let key = match *bytes.first()? {
        b'\r' | b'\n' => Key::Enter,
        0x03 => Key::Interrupt,
        0x04 => Key::Leave,
        0x7f | 0x08 => Key::Back,
        0x15 => Key::Clear,
        0x17 => Key::Word,
        0x10 => Key::Up,
        0x0e => Key::Down,
        0x1b => return Some(escape(bytes)),
        first if first < 0x20 => return Some((None, 1)),
        first => {
            let length = match first {
                0xC2..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF4 => 4,
                _ => 1,
            };
            let text = bytes.get(..length)?;
            let c = std::str::from_utf8(text).ok().and_then(|text| text.chars().next());
            let shown = c.filter(|c| !c.is_control() && !heirloom_core::text::is_invisible(*c));
            return Some((shown.map(Key::Char), if c.is_some() { length } else { 1 }));
        }
    };
    Some((Some(key), 1))
}

/// An escape sequence, or Esc itself.
fn escape(bytes: &[u8]) -> (Option<Key>, usize) {
    if !matches!(bytes.get(1), Some(b'[' | b'O')) {
        return (Some(Key::Leave), 1);
    }
    let end = bytes.iter().skip(2).position(|b| (0x40..=0x7e).contains(b));
    let Some(end) = end.map(|at| at + 3) else { return (Some(Key::Leave), bytes.len()) };
    let key = match &bytes[2..end] {
        b"A" => Some(Key::Up),
        b"B" => Some(Key::Down),
        b"5~" => Some(Key::PageUp),
        b"6~" => Some(Key::PageDown),
        _ => None,
    };
    (key, end)
}

/// A terminal that gives every key at once, on a screen of its own, until this is dropped.
struct Raw {
    before: Termios,
    /// Whether it has a screen of its own.
    screen: bool,
}

impl Raw {
    fn enter() -> Result<Raw> {
        let mut terminal = Raw::keys_alone()?;
        terminal.screen = true;
        terminal.write("\x1b[?1049h\x1b[?25l");
        Ok(terminal)
    }

    /// Every key at once, on the screen as it is.
    fn keys_alone() -> Result<Raw> {
        let no = |e: rustix::io::Errno| {
            Fault::new(Code::NeedsPerson, format!("this needs a terminal: {e}"))
                .hint("give words: `heirloom search \"queue worker\"`")
        };
        let before = tcgetattr(std::io::stdin()).map_err(no)?;
        if !can_ask() {
            return Err(no(rustix::io::Errno::NOTTY));
        }
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(std::io::stdin(), OptionalActions::Now, &raw).map_err(no)?;
        Ok(Raw { before, screen: false })
    }

    fn write(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        // A terminal that does not take it is gone; the next key will say so.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    fn draw(&self, lines: &[String]) {
        let mut text = String::from("\x1b[H");
        for line in lines {
            text.push_str(line);
            text.push_str("\x1b[K\r\n");
        }
        text.push_str("\x1b[J");
        self.write(&text);
    }

    /// Columns and lines.
    fn size(&self) -> (usize, usize) {
        let size = tcgetwinsize(std::io::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or((80, 24), |size| (usize::from(size.ws_col), usize::from(size.ws_row)))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if self.screen {
            self.write("\x1b[?25h\x1b[?1049l");
        }
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let (mut rest, mut keys) = (bytes, Vec::new());
        while let Some((key, used)) = read_key(rest) {
            keys.extend(key);
            rest = &rest[used..];
        }
        keys
    }

    #[test]
    fn keys_are_read_whatever_else_a_terminal_sends() {
        assert_eq!(keys("aä😀".as_bytes()), [Key::Char('a'), Key::Char('ä'), Key::Char('😀')]);
        assert_eq!(
            keys(b"\x1b[A\x1b[B\x1bOB\x1b[6~\r"),
            [Key::Up, Key::Down, Key::Down, Key::PageDown, Key::Enter]
        );
        assert_eq!(keys(b"\x1b[200~x\x1b[201~\x1b"), [Key::Char('x'), Key::Leave]);
        assert_eq!(keys(b"\xff\x01a\x7f"), [Key::Char('a'), Key::Back]);
    }

    #[test]
    fn the_choice_stays_on_the_list_and_what_is_typed_can_be_taken_back() {
        let row = |n: usize| Row {
            id: n.to_string(),
            label: "note".into(),
            title: "t\x1b[2J".into(),
            more: "m".into(),
        };
        let mut list = List { typed: "one two".into(), rows: (0..3).map(row).collect(), at: 0 };
        for (key, at) in [(Key::Up, 0), (Key::Down, 1), (Key::PageDown, 2), (Key::Down, 2), (Key::PageUp, 0)]
        {
            assert_eq!((list.press(key, 10), list.at), (Pressed::Moved, at));
        }
        assert_eq!(list.press(Key::Word, 10), Pressed::Typed);
        assert_eq!(list.typed, "one ");
        let screen = list.screen(12, 24).join("\n");
        assert!(!screen.contains("\x1b[2J") && screen.contains("search: one"), "{screen}");
        assert!(List::default().screen(80, 24)[1].contains("no matches"));
    }
}
