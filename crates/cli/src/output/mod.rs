//! Output: data on stdout, talk on stderr, colours only where they are wanted.
//!
//! Comes in: what a command has to say. Goes out: text for people or JSON for programs, with everything that hides spelled out. Never anywhere else:
//! printing.

mod diff;
pub(crate) mod log;
mod meter;
mod spell;
mod style;
mod table;

pub(crate) use diff::unified;
pub(crate) use meter::Meter;
pub(crate) use spell::{spelled, visible};
pub(crate) use style::Style;
pub(crate) use table::Table;

use heirloom_core::{Fault, settings::Warning};
use heirloom_engine::gate::fields::without_secrets;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{IsTerminal as _, Write as _};

/// Where a command's words go.
#[derive(Debug)]
pub(crate) struct Out {
    json: bool,
    /// Whether lines are talk too, because a program reads stdout.
    aside: bool,
    /// Colours on stdout.
    pub(crate) style: Style,
    err_style: Style,
}

impl Out {
    pub(crate) fn new(json: bool) -> Out {
        Out {
            json,
            aside: false,
            style: Style::wanted(std::io::stdout().is_terminal() && !json),
            err_style: Style::wanted(std::io::stderr().is_terminal()),
        }
    }

    /// Where a person is shown something before the answer: beside it, if a program reads that.
    pub(crate) fn aside(&self) -> Out {
        let style = if self.json { self.err_style } else { self.style };
        Out { json: false, aside: self.json, style, err_style: self.err_style }
    }

    /// Whether a program reads the answer.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Data: a line on stdout.
    pub(crate) fn line(&self, text: impl AsRef<str>) {
        if self.aside {
            return self.say(text);
        }
        self.data(&style::printed(text.as_ref()));
    }

    fn data(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n"));
    }

    /// Data as it is, without a line break of ours. A terminal gets even this spelled out.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        let _ = if out.is_terminal() {
            out.write_all(style::printed(&String::from_utf8_lossy(bytes)).as_bytes())
        } else {
            out.write_all(bytes)
        }
        .and_then(|()| out.flush());
    }

    /// Talk: a line on stderr.
    pub(crate) fn say(&self, text: impl AsRef<str>) {
        let mut err = std::io::stderr().lock();
        let text = style::printed(text.as_ref());
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
        if self.json {
            self.json(value);
        } else {
            human();
        }
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
