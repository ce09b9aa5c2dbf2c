//! Output: data on stdout, talk on stderr, colours only where they are wanted.
//!
//! Comes in: what a command has to say. Goes out: text for people or JSON for programs, with everything that hides spelled out. Never anywhere else:
//! printing.

mod diff;
pub(crate) mod log;
mod meter;
mod pager;
mod pick_fields;
mod spell;
mod style;
mod table;
pub(crate) mod watch;

pub(crate) use diff::unified;
pub(crate) use meter::Meter;
pub(crate) use spell::{spelled, visible};
pub(crate) use style::Style;
pub(crate) use table::{Table, cut};
pub(crate) use watch::Watch;

use heirloom_core::{Code, Fault, settings::Warning};
use heirloom_engine::gate::fields::without_secrets;
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::io::{ErrorKind, IsTerminal as _, Write as _};

/// A number with its noun: `1 memory`, `2 memories`.
pub(crate) fn counted<N: std::fmt::Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

/// Which part of an answer is wanted.
#[derive(Debug, Default, Clone)]
pub(crate) struct Wanted {
    /// Names of `--fields`.
    pub(crate) fields: Vec<String>,
    /// The form of `--format`.
    pub(crate) format: Option<String>,
}

/// A line that waits until it is known whether the answer is long.
#[derive(Debug)]
enum Held {
    Data(String),
    Talk(String),
}

/// Where a command's words go.
#[derive(Debug)]
pub(crate) struct Out {
    json: bool,
    wanted: Wanted,
    /// Whether lines are talk too, because a program reads stdout.
    aside: bool,
    /// Lines of an answer that may be long; nothing where lines go out at once.
    held: RefCell<Option<Vec<Held>>>,
    /// Why an answer could not be printed.
    failed: RefCell<Option<Fault>>,
    /// Columns of the terminal, once looked at; 0 is no terminal.
    columns: Cell<Option<usize>>,
    /// Colours on stdout.
    pub(crate) style: Style,
    err_style: Style,
}

impl Out {
    pub(crate) fn new(json: bool) -> Out {
        Out {
            json,
            wanted: Wanted::default(),
            aside: false,
            held: RefCell::new(None),
            failed: RefCell::new(None),
            columns: Cell::new(None),
            style: Style::wanted(std::io::stdout().is_terminal() && !json),
            err_style: Style::wanted(std::io::stderr().is_terminal()),
        }
    }

    /// The same with only a part of each answer.
    pub(crate) fn with(mut self, wanted: Wanted) -> Out {
        self.wanted = wanted;
        self
    }

    /// Where a person is shown something before the answer: beside it, if a program reads that.
    pub(crate) fn aside(&self) -> Out {
        let style = if self.json { self.err_style } else { self.style };
        Out { json: false, aside: self.json, style, err_style: self.err_style, ..Out::new(false) }
    }

    /// Whether a program reads the answer.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Columns of the terminal, if the answer goes to one.
    pub(crate) fn width(&self) -> Option<usize> {
        let columns = self.columns.get().unwrap_or_else(|| {
            let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
            size.map_or(0, |size| usize::from(size.ws_col))
        });
        self.columns.set(Some(columns));
        (columns > 0).then_some(columns)
    }

    /// As much of a line as fits, cut at a word.
    pub(crate) fn fit(&self, text: &str, indent: usize) -> String {
        self.width().map_or_else(|| text.to_owned(), |width| cut(text, width.saturating_sub(indent).max(10)))
    }

    /// A styled text in lines that fit behind so many blanks, broken between words. Whole where no terminal reads it.
    pub(crate) fn wrapped(&self, text: &str, indent: usize) -> Vec<String> {
        let room = self.width().map_or(usize::MAX, |width| width.saturating_sub(indent).max(10));
        table::wrapped(text, room)
    }

    /// From now on lines are kept until [`Out::finish`], which shows a long answer page by page.
    pub(crate) fn pages(&self) {
        if !self.json && pager::wanted() {
            *self.held.borrow_mut() = Some(Vec::new());
        }
    }

    /// Whatever is kept goes out. Returns why the answer is not whole, if it is not.
    pub(crate) fn finish(&self) -> Option<Fault> {
        let held = self.held.borrow_mut().take().unwrap_or_default();
        let data: String = held
            .iter()
            .filter_map(|held| match held {
                Held::Data(text) => Some(format!("{text}\n")),
                Held::Talk(_) => None,
            })
            .collect();
        let paged = pager::is_long(&data) && pager::show(&data);
        for one in &held {
            match one {
                Held::Data(text) if !paged => self.data(text),
                Held::Data(_) => {}
                Held::Talk(text) => self.talk(text),
            }
        }
        if let Err(e) = std::io::stdout().lock().flush() {
            self.lost(&e);
        }
        self.failed.borrow_mut().take()
    }

    /// Standard output took less than all. Whoever closed a pipe has what they wanted.
    fn lost(&self, error: &std::io::Error) {
        if error.kind() != ErrorKind::BrokenPipe {
            let fault = Fault::new(Code::Io, format!("cannot write to standard output: {error}"))
                .hint("free some space or write to another place, then run the command again");
            self.failed.borrow_mut().get_or_insert(fault);
        }
    }

    /// Data: a line on stdout.
    pub(crate) fn line(&self, text: impl AsRef<str>) {
        if self.aside {
            return self.say(text);
        }
        self.data(&style::printed(text.as_ref()));
    }

    /// Lines of a page.
    pub(crate) fn page(&self, text: &str) {
        text.lines().for_each(|line| self.line(line));
    }

    fn data(&self, text: &str) {
        if let Some(held) = self.held.borrow_mut().as_mut() {
            return held.push(Held::Data(text.to_owned()));
        }
        let _still = watch::still();
        let mut out = std::io::stdout().lock();
        if let Err(e) = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")) {
            self.lost(&e);
        }
    }

    /// Data as it is, without a line break of ours. A terminal gets even this spelled out.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        if let Some(held) = self.held.borrow_mut().as_mut() {
            let text = style::printed(&String::from_utf8_lossy(bytes)).into_owned();
            return held.push(Held::Data(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text)));
        }
        let _still = watch::still();
        let mut out = std::io::stdout().lock();
        let written = if out.is_terminal() {
            out.write_all(style::printed(&String::from_utf8_lossy(bytes)).as_bytes())
        } else {
            out.write_all(bytes)
        }
        .and_then(|()| out.flush());
        if let Err(e) = written {
            self.lost(&e);
        }
    }

    /// Talk: a line on stderr.
    pub(crate) fn say(&self, text: impl AsRef<str>) {
        self.talk(&style::printed(text.as_ref()));
    }

    fn talk(&self, text: &str) {
        if let Some(held) = self.held.borrow_mut().as_mut() {
            return held.push(Held::Talk(text.to_owned()));
        }
        let _still = watch::still();
        let mut err = std::io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.write_all(b"\n"));
    }

    /// What an agent is told on stderr, where a terminal is not the reader: byte for byte.
    pub(crate) fn tell(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        let shown = if err.is_terminal() { style::printed(text) } else { text.into() };
        let _ = err.write_all(shown.as_bytes()).and_then(|()| err.write_all(b"\n"));
    }

    /// A remark that is no error.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        self.say(format!("{} {}", self.err_style.yellow("note:"), text.as_ref()));
    }

    /// An answer: JSON if asked for, else what `human` prints.
    pub(crate) fn answer<T: Serialize>(&self, value: &T, human: impl FnOnce()) {
        if !self.wanted.fields.is_empty() || self.wanted.format.is_some() {
            let value = serde_json::to_value(value).unwrap_or_default();
            if let Err(fault) = self.part(&value) {
                self.failed.borrow_mut().get_or_insert(fault);
            }
        } else if self.json {
            self.json(value);
        } else {
            human();
        }
    }

    /// The part of an answer that is wanted.
    fn part(&self, value: &Value) -> heirloom_core::fault::Result<()> {
        let Wanted { fields, format } = &self.wanted;
        if let Some(form) = format {
            pick_fields::lines(value, form)?.iter().for_each(|line| self.line(visible(line)));
        } else if self.json {
            self.json(&pick_fields::chosen(value, fields)?);
        } else {
            let titles: Vec<String> = fields.iter().map(|name| name.to_uppercase()).collect();
            let mut table = Table::new(&titles.iter().map(String::as_str).collect::<Vec<_>>());
            pick_fields::cells(value, fields)?.into_iter().for_each(|row| table.row(row));
            table.print(self);
        }
        Ok(())
    }

    /// JSON, indented.
    pub(crate) fn json<T: Serialize>(&self, value: &T) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.data(&spell::spelled_json(&text)),
            Err(e) => self.say(format!("cannot write JSON: {e}")),
        }
    }

    /// JSON on one line, as scripts of the record format expect it.
    pub(crate) fn json_line(&self, value: &Value) {
        self.data(&spell::spelled_json(&value.to_string()));
    }

    /// Settings that could not be used.
    pub(crate) fn warnings(&self, warnings: &[Warning]) {
        for warning in warnings {
            self.note(format!("setting `{}` ({}): {}", warning.name, warning.origin.name(), warning.message));
        }
    }

    /// An error about the answer itself: where standard output takes nothing, it is said beside it.
    pub(crate) fn fault_aloud(&self, fault: &Fault) -> u8 {
        match fault.code {
            Code::Io => Out { json: false, ..Out::new(false) }.fault(fault),
            _ => self.fault(fault),
        }
    }

    /// An error: message, facts and next step for people, one object for programs. Returns the exit code.
    pub(crate) fn fault(&self, fault: &Fault) -> u8 {
        let fault = &cleaned(fault);
        if self.json {
            let mut facts: Vec<Value> = Vec::new();
            for (key, value) in &fault.facts {
                facts.push(json!({ *key: value }));
            }
            let error = json!({
                "code": fault.code.name(),
                "message": fault.message,
                "facts": facts,
                "hint": fault.next_step(),
            });
            self.json(&json!({ "error": error }));
        } else {
            let style = &self.err_style;
            self.say(format!(
                "{} {} {}",
                style.red("error:"),
                fault.message,
                style.dim(&format!("[{}]", fault.code.name()))
            ));
            for (key, value) in fault.facts.iter().filter(|(key, _)| matches!(*key, "expected" | "rule")) {
                self.say(format!("  {key}: {value}"));
            }
            self.say(format!("  {} {}", style.cyan("next:"), fault.next_step()));
        }
        fault.code.exit()
    }
}

/// An error says what it is about, and that may be a secret somebody typed in the wrong place. Names of versions are digits that are needed as
/// they are.
pub(crate) fn cleaned(fault: &Fault) -> Fault {
    let clean = |text: &str| without_secrets(text).into_owned();
    let mut fault = fault.clone();
    let hint = clean(fault.next_step());
    fault.message = clean(&fault.message);
    for (key, value) in &mut fault.facts {
        if !key.ends_with("hash") && *key != "key" {
            *value = clean(value);
        }
    }
    fault.hint(hint)
}
