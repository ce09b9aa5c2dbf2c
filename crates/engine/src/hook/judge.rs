//! Who judges a file in a memory folder: the shelf that owns its path.
//!
//! Comes in: a place in a memory folder and the bytes there. Goes out: that shelf's verdict. Never here: a shelf's rules.

use super::guard::Inside;
use super::validate::Verdict;
use crate::engine::Engine;
use heirloom_core::{Code, Fault};
use std::path::Path;

/// The verdict of the shelf that owns a path.
pub fn judge(engine: &Engine, inside: &Inside, path: &Path, bytes: &[u8]) -> Verdict {
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return Verdict::Nobodys;
    }
    match engine.records().judge(&inside.rest, bytes) {
        Ok(()) => Verdict::Valid,
        Err(fault) => Verdict::Invalid(in_words(&fault)),
    }
}

/// A fault as the record tools print it: the code, then a line per fact.
fn in_words(fault: &Fault) -> String {
    if fault.code == Code::Input || fault.facts.is_empty() {
        return fault.message.clone();
    }
    let facts: Vec<String> = fault.facts.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{}\n{}\n", fault.code.name(), facts.join("\n"))
}
