//! What a person took out of use, so that nobody else puts it back.
//!
//! Comes in: id and content hash of what a person retired or archived. Goes out: whether exactly these bytes were. The file lies beside the
//! trust book, in the user's data folder. Never here: text; anything read from the repository.

use crate::files::{self, Mode};
use heirloom_core::{fault::Result, json};
use serde_json::{Value, json};
use std::path::Path;

const FILE: &str = "withdrawn.jsonl";
const LIMIT: u64 = 64 << 20;

/// Notes that a person took this out of use.
pub fn note(project_data: &Path, id: &str, hash: &str) -> Result<()> {
    let line = json!({ "id": id, "hash": hash }).to_string();
    files::append_line(&project_data.join(FILE), &line, Mode::Private)
}

/// Whether a person took exactly these bytes out of use.
pub fn has(project_data: &Path, id: &str, hash: &str) -> Result<bool> {
    let Some(bytes) = files::read_if_there(&project_data.join(FILE), LIMIT)? else { return Ok(false) };
    let text = |line: &Value, key: &str| line.get(key).and_then(Value::as_str).map(str::to_owned);
    Ok(bytes
        .split(|b| *b == b'\n')
        .filter_map(|line| json::parse(line).ok())
        .any(|line| text(&line, "id").as_deref() == Some(id) && text(&line, "hash").as_deref() == Some(hash)))
}

/// Drops every line about an id, for `forget`.
pub fn forget(project_data: &Path, id: &str) -> Result<()> {
    super::trust::drop_lines_about(&project_data.join(FILE), LIMIT, id)
}
