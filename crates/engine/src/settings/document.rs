//! A settings file: read forgivingly, written whole.
//!
//! Comes in: a path, or a document to write. Goes out: the file's object, or why it is ignored. Never here: what a setting means.

use crate::files::{self, Mode};
use heirloom_core::{fault::Result, json};
use serde_json::Value;
use std::path::Path;

/// The largest settings file.
const MAX: u64 = 1 << 20;

/// A settings file's object; `None` if there is none. Only a text that is no JSON object is unusable as a whole.
pub fn read(path: &Path) -> std::result::Result<Option<Value>, String> {
    let bytes = match files::read_if_there(path, MAX) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(fault) => return Err(format!("{}; the file is ignored", fault.message)),
    };
    match json::parse(&bytes) {
        Ok(value) if value.is_object() => Ok(Some(value)),
        Ok(_) => Err("expected an object; the file is ignored".to_owned()),
        Err(e) => Err(format!("not JSON ({e}); the file is ignored")),
    }
}

/// Writes a document. The user's own may name what opens things and are nobody else's to read: those are [`Mode::Private`].
pub(crate) fn write(path: &Path, document: &Value, mode: Mode) -> Result<()> {
    if let Some(folder) = path.parent() {
        files::make_folder(folder, Mode::Shared)?;
    }
    let text = serde_json::to_string_pretty(document).unwrap_or_default() + "\n";
    files::write(path, text.as_bytes(), mode)
}
