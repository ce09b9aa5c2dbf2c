//! The route of Anthropic's memory tool: a command with the tool's own field names, the text a model is given.
//!
//! Comes in: a call and a request. Goes out: what the verb answered. Never here: a path, a file, or a text of the tool.

use super::shapes::{self, object};
use super::{Given, Route};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use heirloom_core::{Code, Fault};
use heirloom_engine::Call;
use heirloom_engine::verbs::Outcome;
use heirloom_engine::verbs::memory_tool::{Command, run};
use serde_json::{Value, json};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "POST",
    path: "/v1/memory-tool",
    name: "memory_tool",
    tag: "memory tool",
    about: "A command of Anthropic's memory tool: view, create, str_replace, insert, delete or rename below /memories; an error's `detail` is the tool's own text",
    query: &[],
    body: Some(command),
    status: 200,
    answer: || {
        object(&[
            ("text", json!({ "type": "string" })),
            ("id?", json!({ "type": "string" })),
            ("notes?", json!({ "type": "array", "items": { "type": "string" } })),
        ])
    },
    waits: true,
    writes: true,
    versioned: false,
    run: asked,
}];

fn command() -> Value {
    let line = json!({ "type": "integer", "minimum": -1_000_000, "maximum": 1_000_000_000 });
    object(&[
        (
            "command",
            json!({ "type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"] }),
        ),
        ("path?", shapes::text("Of every command but rename")),
        (
            "view_range?",
            json!({ "type": "array", "items": line, "description": "Of view: first and last line; -1 is the end" }),
        ),
        ("file_text?", shapes::text("Of create")),
        ("old_str?", shapes::text("Of str_replace")),
        ("new_str?", shapes::text("Of str_replace")),
        (
            "insert_line?",
            json!({ "type": "integer", "minimum": -1_000_000, "maximum": 1_000_000_000, "description": "Of insert: behind which line; 0 is the start" }),
        ),
        ("insert_text?", shapes::text("Of insert")),
        ("old_path?", shapes::text("Of rename")),
        ("new_path?", shapes::text("Of rename")),
    ])
}

fn asked(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let command: Command = serde_json::from_value(whole(&given.body)).map_err(|error| {
        // The names of fields are all that such an error says.
        let missing = error.to_string().split('`').nth(1).unwrap_or("a field").to_owned();
        let name = given.text("command").unwrap_or_default();
        Fault::new(Code::Validation, format!("`{name}` needs `{missing}`"))
            .fact("field", missing)
            .hint("send the fields that the memory tool gives for this command")
    })?;
    match run(call, &command)? {
        Outcome::Done(mut told) => {
            told.notes.extend(call.uncommitted().all());
            Ok(Reply::ok(&told))
        }
        Outcome::Waits(waiting) => Ok(super::memories::waits(&waiting)),
    }
}

/// The body with whole numbers as such: some clients write 10.0.
fn whole(body: &serde_json::Map<String, Value>) -> Value {
    fn plain(value: &Value) -> Value {
        match value {
            Value::Number(number) => number
                .as_f64()
                .filter(|_| !number.is_i64())
                .map_or_else(|| value.clone(), |float| json!(float as i64)),
            Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
            other => other.clone(),
        }
    }
    Value::Object(body.iter().map(|(name, value)| (name.clone(), plain(value))).collect())
}
