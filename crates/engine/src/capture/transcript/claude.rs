//! Transcript lines of Claude Code and of everything that writes like it, Gemini CLI among them.
//!
//! Comes in: a JSON object. Goes out: what it adds to the conversation, if anything. The real files have `type` `user` or
//! `assistant` and blocks in `message.content`; older descriptions say `human` and put `content` or `tool_use` at the top; Gemini
//! calls its own turns `gemini` and its blocks nothing at all. All are read. Never here: `thinking` blocks, tool results, meta lines,
//! sidechains, what a host says in the user's role.

use super::{Part, Role, touch};
use crate::capture::machine;
use serde_json::Value;

/// Keys of a tool's input that name a file.
const FILE_KEYS: [&str; 3] = ["file_path", "notebook_path", "path"];

/// The session a line belongs to.
pub(super) fn session(line: &Value) -> Option<String> {
    let name = line.get("sessionId").or_else(|| line.get("session_id"))?.as_str()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// What a line adds.
pub(super) fn part(line: &Value) -> Option<Part> {
    if machine::wrote(line) {
        return None;
    }
    let role = match line.get("type")?.as_str()? {
        "user" | "human" => Role::User,
        "assistant" | "tool_use" | "gemini" => Role::Assistant,
        // Copilot CLI: the same in `data`.
        "user.message" => Role::User,
        "assistant.message" => Role::Assistant,
        _ => return None,
    };
    let message = line.get("message").or_else(|| line.get("data"));
    let content = message.and_then(|m| m.get("content")).or_else(|| line.get("content"));
    let mut part = Part {
        role,
        message: message.unwrap_or(line).get("id").and_then(Value::as_str).map(str::to_owned),
        text: String::new(),
        files: Vec::new(),
    };
    match content {
        Some(Value::String(text)) => part.text.clone_from(text),
        Some(Value::Array(blocks)) => blocks.iter().for_each(|block| add(&mut part, block)),
        _ => {}
    }
    add_files(&mut part, line);
    for call in line.get("toolCalls").and_then(Value::as_array).into_iter().flatten() {
        add_files(&mut part, call);
    }
    if role == Role::User && machine::speaks(&part.text) {
        return None;
    }
    (!part.text.is_empty() || !part.files.is_empty()).then_some(part)
}

/// Adds a block: text is joined with line breaks, a tool call names files, everything else says nothing.
fn add(part: &mut Part, block: &Value) {
    let kind = if block.is_string() { Some("text") } else { block.get("type").and_then(Value::as_str) };
    match kind {
        // A block of Gemini's has no type; one that holds text is text.
        Some("text") | None => {
            let text =
                block.as_str().or_else(|| block.get("text").and_then(Value::as_str)).unwrap_or_default();
            if !part.text.is_empty() && !text.is_empty() {
                part.text.push('\n');
            }
            part.text.push_str(text);
        }
        Some("tool_use") => add_files(part, block),
        _ => {}
    }
}

fn add_files(part: &mut Part, call: &Value) {
    let Some(input) = call.get("input").or_else(|| call.get("tool_input")).or_else(|| call.get("args"))
    else {
        return;
    };
    for key in FILE_KEYS {
        if let Some(file) = input.get(key).and_then(Value::as_str) {
            touch(&mut part.files, file);
        }
    }
}
