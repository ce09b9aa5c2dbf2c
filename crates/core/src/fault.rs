//! The one error type: a code from the table, the facts of this case, and what to do next.
//!
//! Comes in: code, message, `key: value` facts in the order they are shown. Goes out: the same, to whichever
//! door reports it. Never here: a memory's content. A fact may name a field, a rule, a path or an id; the
//! value of a field only where the shelf's own format shows it and only after the gate's redactor saw it.

use crate::code::Code;
use std::fmt;

/// Something was refused or failed; nothing was half-done.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The row of the table.
    pub code: Code,
    /// One sentence for people, lower case, without a full stop.
    pub message: String,
    /// The facts of this case, in order; a key may repeat (several wrong fields).
    pub facts: Vec<(&'static str, String)>,
    /// What to do next; the table's hint if none was given.
    hint: Option<String>,
}

/// What every fallible call returns.
pub type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// A fault with a message and no facts yet.
    pub fn new(code: Code, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into(), facts: Vec::new(), hint: None }
    }

    /// Adds a fact.
    #[must_use]
    pub fn fact(mut self, key: &'static str, value: impl Into<String>) -> Fault {
        self.facts.push((key, value.into()));
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.hint = Some(hint.into());
        self
    }

    /// What to do next.
    pub fn next_step(&self) -> &str {
        self.hint.as_deref().unwrap_or(self.code.row().hint)
    }

    /// The first fact of that name.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|(k, _)| *k == key).map(|(_, v)| v.as_str())
    }

    /// A system error at a path.
    pub fn io(path: &std::path::Path, doing: &str, error: &std::io::Error) -> Fault {
        let hint = match error.kind() {
            std::io::ErrorKind::StorageFull => "free some space and try again; nothing was half-written",
            std::io::ErrorKind::PermissionDenied => "check who owns the folder and its permissions",
            std::io::ErrorKind::ReadOnlyFilesystem => "the disk is mounted read-only; nothing was written",
            _ => Code::Io.row().hint,
        };
        Fault::new(Code::Io, format!("cannot {doing} `{}`: {error}", path.display()))
            .fact("path", path.display().to_string())
            .hint(hint)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
