//! What tools returned in a conversation, as far as it takes to know its words again in what somebody says.
//!
//! Comes in: the lines of a transcript, then a text. Goes out: whether the text repeats a stretch of what a tool returned: six words in a row, or a whole
//! line or sentence of four or five. Only hashes are kept, and of a long conversation only the latest. Never here: whether a turn is kept.

use serde_json::Value;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Words in a row that are no chance.
const RUN: usize = 6;
/// Words of a whole line or sentence that are none.
const LEAST: usize = 4;
/// The most of one output that is looked at, in bytes.
const MOST_TEXT: usize = 256 << 10;
/// The most stretches that are kept.
const MOST: usize = 200_000;
/// The most calls whose tools are remembered.
const MOST_NAMES: usize = 10_000;

/// What was returned so far.
#[derive(Debug, Default)]
pub(super) struct Returned {
    known: HashSet<u64>,
    order: VecDeque<u64>,
    /// The tools of calls, by the calls' names.
    names: HashMap<String, String>,
}

/// What a tool returned.
#[derive(Debug, PartialEq)]
pub(super) struct Output {
    /// The tool, if that is known.
    pub(super) tool: Option<String>,
    /// Its words.
    pub(super) text: String,
}

impl Returned {
    /// Takes in what a line says tools returned; hands it over with the names of the tools.
    pub(super) fn hear(&mut self, line: &Value) -> Vec<Output> {
        let mut outputs = Vec::new();
        let mut put = |tool: Option<String>, value: Option<&Value>| {
            let mut text = String::new();
            value.into_iter().for_each(|value| texts(value, &mut text));
            if !text.trim().is_empty() {
                outputs.push(Output { tool, text });
            }
        };
        let item = line.get("payload").unwrap_or(line);
        let blocks = [line.get("message").and_then(|m| m.get("content")), line.get("content")];
        let blocks = blocks.into_iter().flatten().filter_map(Value::as_array).flatten();
        for block in blocks.chain(std::iter::once(item)) {
            match kind(block) {
                Some("tool_use") => self.name(block, "id"),
                Some("function_call" | "custom_tool_call" | "local_shell_call") => {
                    self.name(block, "call_id")
                }
                Some("tool_result") => put(self.named(block, "tool_use_id"), block.get("content")),
                Some("function_call_output" | "custom_tool_call_output" | "local_shell_call_output") => {
                    put(self.named(block, "call_id"), block.get("output"));
                }
                _ => {}
            }
        }
        for call in line.get("toolCalls").and_then(Value::as_array).into_iter().flatten() {
            let tool = call.get("name").and_then(Value::as_str).map(str::to_owned);
            put(tool, call.get("result").or_else(|| call.get("resultDisplay")));
        }
        outputs.iter().for_each(|output| self.take_text(&output.text));
        outputs
    }

    /// Notes what a call's tool is called.
    fn name(&mut self, call: &Value, key: &str) {
        let text = |key: &str| call.get(key).and_then(Value::as_str).map(str::to_owned);
        if let (Some(id), Some(name)) = (text(key), text("name")) {
            if self.names.len() >= MOST_NAMES {
                self.names.clear();
            }
            self.names.insert(id, name);
        }
    }

    fn named(&self, output: &Value, key: &str) -> Option<String> {
        self.names.get(output.get(key)?.as_str()?).cloned()
    }

    fn take_text(&mut self, text: &str) {
        let end = (0..=MOST_TEXT.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        for segment in segments(&text[..end]) {
            let words = words(segment);
            match words.len() {
                LEAST..RUN => self.keep(hashed(&words)),
                _ => words.windows(RUN).for_each(|run| self.keep(hashed(run))),
            }
        }
    }

    fn keep(&mut self, stretch: u64) {
        if !self.known.insert(stretch) {
            return;
        }
        self.order.push_back(stretch);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// Whether a text repeats a stretch of what was returned.
    pub(super) fn is_quoted_in(&self, text: &str) -> bool {
        if self.known.is_empty() {
            return false;
        }
        segments(text).any(|segment| {
            let words = words(segment);
            (LEAST..=RUN).any(|many| words.windows(many).any(|run| self.known.contains(&hashed(run))))
        })
    }
}

/// The texts in a value, a line each.
fn texts(value: &Value, out: &mut String) {
    match value {
        Value::String(text) if out.len() < MOST_TEXT => {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(text);
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "type" | "id" | "name" | "data" | "source"))
            .for_each(|(_, value)| texts(value, out)),
        _ => {}
    }
}

fn kind(value: &Value) -> Option<&str> {
    value.get("type").and_then(Value::as_str)
}

/// Lines and sentences.
fn segments(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r']).flat_map(|line| line.split(". ")).flat_map(|part| part.split(['!', '?']))
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn hashed(words: &[String]) -> u64 {
    // Fixed keys: these hashes leave neither the process nor this value.
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn after(line: &Value) -> Returned {
        let mut returned = Returned::default();
        assert_eq!(returned.hear(line).len(), 1, "{line}");
        returned
    }

    #[test]
    fn a_text_that_repeats_a_tool_is_known_in_every_dialect() {
        let said = "Remember: the deploy key of staging is kept in the old vault. More follows.";
        let lines = [
            json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "content": said }] } }),
            json!({ "type": "user", "message": { "content": [
                { "type": "tool_result", "content": [{ "type": "text", "text": said }] }] } }),
            json!({ "type": "response_item", "payload": { "type": "function_call_output", "output": said } }),
            json!({ "type": "response_item", "payload": { "type": "custom_tool_call_output",
                "output": { "content": said } } }),
            json!({ "type": "gemini", "toolCalls": [{ "name": "web_fetch", "result": [{ "output": said }] }] }),
        ];
        for line in lines {
            let returned = after(&line);
            assert!(
                returned.is_quoted_in("The page says that the deploy key of staging is kept there."),
                "{line}"
            );
            assert!(returned.is_quoted_in("The Deploy KEY of staging -- is kept"), "{line}");
            assert!(!returned.is_quoted_in("I looked at the deploy script and changed nothing."), "{line}");
        }
    }

    #[test]
    fn a_short_output_is_known_as_a_whole_and_a_shared_word_is_none() {
        let line = json!({ "type": "user", "message": { "content": [
            { "type": "tool_result", "content": "the moon is cheese\nok" }] } });
        let returned = after(&line);
        assert!(returned.is_quoted_in("It answered: the moon is cheese"));
        assert!(!returned.is_quoted_in("ok, the moon is out"));
        assert!(!Returned::default().is_quoted_in("the moon is cheese"));
    }

    #[test]
    fn what_is_kept_stays_small() {
        let long: String = (0..MOST + 5_000).map(|n| format!("w{n} ")).collect();
        let mut returned = Returned::default();
        for _ in 0..3 {
            returned.take_text(&long);
        }
        assert!(returned.known.len() <= MOST && returned.known.len() == returned.order.len());
    }
}
