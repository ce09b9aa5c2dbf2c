//! A turn: one object of a transcript, reduced to what triage looks at.
//!
//! Comes in: a JSON object in any of the shapes hosts write. Goes out: who spoke, which texts, which tools. Never here:
//! an error; what cannot be understood is a turn that says nothing, because it still counts for the window.

use crate::capture::{machine, own};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Who speaks in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The person.
    Human,
    /// The model.
    Assistant,
}

/// One object of a transcript.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// Where its line starts in the transcript, in bytes.
    pub start: u64,
    /// Who speaks, if it is part of the exchange.
    pub speaker: Option<Speaker>,
    /// What is said, one text per block.
    pub texts: Vec<String>,
    /// The tools that are used; empty for a tool without a name.
    pub tools: Vec<String>,
}

impl Turn {
    /// A turn the host told us about directly.
    pub fn said(start: u64, speaker: Speaker, text: &str) -> Turn {
        Turn {
            start,
            speaker: Some(speaker),
            texts: vec![own::without(text).into_owned()],
            tools: Vec::new(),
        }
    }

    /// The turn that an object of a transcript describes.
    pub fn from_object(start: u64, object: &Map<String, Value>) -> Turn {
        let silent = Turn { start, ..Turn::default() };
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        // Lines the host adds for itself, and side conversations of subagents.
        if machine::wrote(object) {
            return silent;
        }
        match text("type") {
            "tool_use" => Turn { tools: vec![text("name").to_owned()], ..silent },
            "response_item" => match object.get("payload").and_then(Value::as_object) {
                Some(payload) => from_response_item(silent, payload),
                None => silent,
            },
            "human" | "user" => from_message(silent, Speaker::Human, object),
            "assistant" => from_message(silent, Speaker::Assistant, object),
            // Copilot CLI has its lines in `data`; what stands there is as in the flat shape.
            "user.message" | "assistant.message" => match object.get("data").and_then(Value::as_object) {
                Some(data) => from_copilot(silent, text("type"), data),
                None => silent,
            },
            "gemini" => Turn { tools: called(object), ..from_message(silent, Speaker::Assistant, object) },
            _ => silent,
        }
    }
}

/// `content` on the line itself is the flat shape, where every line is an exchange; below `message` it is made of blocks,
/// where tool calls and their results come as lines of the same types.
fn from_message(turn: Turn, speaker: Speaker, object: &Map<String, Value>) -> Turn {
    let nested = object.get("message").and_then(|message| message.get("content"));
    match (object.get("content"), nested) {
        (None, Some(content)) => {
            let texts = texts(content, &["text"]);
            let speaker = (!texts.is_empty()).then_some(speaker);
            Turn { speaker, texts, tools: tool_names(content), ..turn }
        }
        (content, _) => {
            let texts = content.map(|content| texts(content, &["text"])).unwrap_or_default();
            Turn { speaker: Some(speaker), texts, ..turn }
        }
    }
}

/// A line of a Codex rollout.
fn from_response_item(turn: Turn, payload: &Map<String, Value>) -> Turn {
    let text = |key: &str| payload.get(key).and_then(Value::as_str).unwrap_or_default();
    let speaker = match (text("type"), text("role")) {
        ("message", "user") => Speaker::Human,
        ("message", "assistant") => Speaker::Assistant,
        ("function_call" | "custom_tool_call" | "local_shell_call", _) => {
            return Turn { tools: vec![text("name").to_owned()], ..turn };
        }
        _ => return turn,
    };
    let content = payload.get("content").unwrap_or(&Value::Null);
    let mut texts = texts(content, &["input_text", "output_text", "text"]);
    // The host speaks through the user's role too: surroundings, instruction files, what hooks said.
    texts.retain(|text| speaker != Speaker::Human || !machine::speaks(text));
    let speaker = (!texts.is_empty()).then_some(speaker);
    Turn { speaker, texts, ..turn }
}

/// The texts of a turn. Our own blocks are no part of what was said; a text that held nothing else is none.
fn texts(content: &Value, kinds: &[&str]) -> Vec<String> {
    let mut texts = all_texts(content, kinds);
    texts.retain_mut(|text| match own::without(text) {
        Cow::Borrowed(_) => true,
        Cow::Owned(rest) => {
            *text = rest;
            !text.is_empty()
        }
    });
    texts
}

fn all_texts(content: &Value, kinds: &[&str]) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks
            .iter()
            .filter(|block| match block.get("type") {
                Some(ty) => ty.as_str().is_some_and(|ty| kinds.contains(&ty)),
                // A block of Gemini's has no type.
                None => true,
            })
            .filter_map(|block| block.get("text").unwrap_or(block).as_str())
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

/// A line of Copilot CLI.
fn from_copilot(turn: Turn, kind: &str, data: &Map<String, Value>) -> Turn {
    let mut texts = data.get("content").map(|content| texts(content, &["text"])).unwrap_or_default();
    if kind == "user.message" {
        texts.retain(|text| !machine::speaks(text));
        let speaker = (!texts.is_empty()).then_some(Speaker::Human);
        return Turn { speaker, texts, ..turn };
    }
    texts.retain(|text| !text.is_empty());
    let calls = data.get("toolRequests").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let tools = calls.iter().filter_map(|call| call.get("name")?.as_str()).map(str::to_owned).collect();
    let speaker = (!texts.is_empty()).then_some(Speaker::Assistant);
    Turn { speaker, texts, tools, ..turn }
}

/// The tools of a line of Gemini's.
fn called(object: &Map<String, Value>) -> Vec<String> {
    let calls = object.get("toolCalls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    calls.iter().filter_map(|call| call.get("name")?.as_str()).map(str::to_owned).collect()
}

fn tool_names(content: &Value) -> Vec<String> {
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    blocks
        .iter()
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_use"))
        .map(|block| block.get("name").and_then(Value::as_str).unwrap_or_default().to_owned())
        .collect()
}
