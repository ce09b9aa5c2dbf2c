//! Transcript lines of Codex ("rollouts").
//!
//! Comes in: a JSON object with `type` and `payload`, or a bare item as older versions wrote it. Goes out: what it adds to the
//! conversation. Never here: `reasoning` items, function output, `event_msg` lines (they repeat the items), and the context that
//! the host puts into the user's mouth.

use super::{Part, Role, touch};
use crate::capture::machine;
use serde_json::Value;

/// Marks of a file's name in a patch.
const PATCH: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

/// Whether a line is of this sort.
pub(super) fn is_line(line: &Value) -> bool {
    line.get("payload").is_some_and(Value::is_object) || is_bare(line)
}

fn is_bare(line: &Value) -> bool {
    let item = line.get("type").and_then(Value::as_str);
    matches!(item, Some("message")) && line.get("role").is_some()
        || matches!(item, Some("function_call" | "custom_tool_call" | "local_shell_call"))
}

/// The session a line names.
pub(super) fn session(line: &Value) -> Option<String> {
    let meta = line.get("type").and_then(Value::as_str) == Some("session_meta");
    let payload = line.get("payload").filter(|_| meta)?;
    Some(payload.get("id")?.as_str()?.to_owned())
}

/// What a line adds.
pub(super) fn part(line: &Value) -> Option<Part> {
    let item = match line.get("payload") {
        Some(payload) if line.get("type").and_then(Value::as_str) == Some("response_item") => payload,
        Some(_) => return None,
        None => line,
    };
    match item.get("type")?.as_str()? {
        "message" => message(item),
        "function_call" | "custom_tool_call" | "local_shell_call" => call(item),
        _ => None,
    }
}

fn message(item: &Value) -> Option<Part> {
    let role = match item.get("role")?.as_str()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    let blocks = item.get("content")?.as_array()?;
    let is_text = |block: &&Value| {
        matches!(block.get("type").and_then(Value::as_str), Some("input_text" | "output_text" | "text"))
    };
    let texts: Vec<&str> =
        blocks.iter().filter(is_text).filter_map(|block| block.get("text")?.as_str()).collect();
    let text = texts.join("\n");
    if text.is_empty() || role == Role::User && machine::speaks(&text) {
        return None;
    }
    Some(Part { role, message: None, text, files: Vec::new() })
}

/// Files of a tool call: those a patch names, or a `path` among the arguments.
fn call(item: &Value) -> Option<Part> {
    let given = item.get("input").or_else(|| item.get("arguments")).and_then(Value::as_str)?;
    let arguments: Option<Value> = heirloom_core::json::parse(given.as_bytes()).ok();
    let inner = |key: &str| arguments.as_ref()?.get(key)?.as_str();
    let patch = inner("input").or_else(|| inner("patch")).unwrap_or(given);
    let mut files: Vec<String> = Vec::new();
    let named = patch
        .lines()
        .filter_map(|line| PATCH.iter().find_map(|mark| line.strip_prefix(mark)))
        .chain(inner("path"))
        .chain(inner("file_path"));
    named.for_each(|file| touch(&mut files, file.trim()));
    (!files.is_empty()).then(|| Part { role: Role::Assistant, message: None, text: String::new(), files })
}
