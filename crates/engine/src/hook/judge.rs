//! Who judges a file in a memory folder: the shelf that owns its path.
//!
//! Comes in: a place in a memory folder and the bytes there. Goes out: that shelf's verdict. Never here: a shelf's rules.

use super::guard::Inside;
use super::validate::Verdict;
use crate::call::Call;
use crate::gate::policy::Row;
use crate::shelf::notes;
use heirloom_core::{Code, Fault, fault::Result};
use std::path::Path;

/// The verdict of the shelf that owns a path.
pub fn judge(call: &Call, inside: &Inside, path: &Path, bytes: &[u8]) -> Verdict {
    let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    let shelf = inside.rest.iter().next().and_then(|part| part.to_str());
    let judged = match (shelf, extension.as_deref()) {
        (Some("vault.jsonl"), _) => return of_many(call.vault().judge_file(bytes)),
        // Any Markdown is a topic's page; what counts is that the gate would have let it through.
        (Some("topics"), Some("md")) => {
            return of_many(text(bytes).and_then(|text| allowed(call, text, Row::Topics)));
        }
        (_, Some("json")) => call.records().judge(&inside.rest, bytes),
        (Some("notes"), Some("md")) => text(bytes).and_then(|text| notes::read_file(text).map(drop)),
        _ => return Verdict::Nobodys,
    };
    match judged {
        Ok(()) => Verdict::Valid,
        Err(fault) => Verdict::Invalid(in_words(&fault)),
    }
}

/// The verdict on a file that holds many memories.
fn of_many(judged: Result<()>) -> Verdict {
    match judged {
        Ok(()) => Verdict::Valid,
        Err(fault) => Verdict::Wrong(fault.message),
    }
}

fn allowed(call: &Call, text: &str, row: Row) -> Result<()> {
    match call.screen().would_refuse(text, row) {
        Some(rule) => {
            Err(Fault::new(Code::GateRefused, format!("it holds what must not be stored ({rule})")))
        }
        None => Ok(()),
    }
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| Fault::new(Code::Damaged, "it is not UTF-8 text"))
}

/// A fault as the record tools print it: the code, then a line per fact.
fn in_words(fault: &Fault) -> String {
    if fault.code != Code::Validation || fault.facts.is_empty() {
        return fault.message.clone();
    }
    let facts: Vec<String> = fault.facts.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{}\n{}\n", fault.code.name(), facts.join("\n"))
}
