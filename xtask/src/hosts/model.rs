//! A model on this machine that says what a script tells it, in the words of four providers.
//!
//! Comes in: requests of an agent. Goes out: the script's next step, as Anthropic Messages, OpenAI Responses, OpenAI Chat or Gemini; every
//! request is kept. A prompt names its script by the words `script=NAME`. A request that offers no tools (a title, a summary) gets a short text
//! and takes no step. Never here: a request passed on to anybody.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What is said to a script's requests: one step each, then the last for ever.
#[derive(Clone, Default)]
pub(super) struct Script {
    pub(super) steps: Vec<Value>,
    pub(super) then: Value,
}

#[derive(Default)]
struct State {
    scripts: BTreeMap<String, (usize, Script)>,
    requests: Vec<(String, Value)>,
}

/// The running model. It lives as long as the process.
pub(super) struct Model {
    pub(super) port: u16,
    state: Arc<Mutex<State>>,
}

impl Model {
    /// Begins to listen. Requests are also written to a file, a line each.
    pub(super) fn start(log: PathBuf) -> Result<Model, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
        let port = listener.local_addr().map_err(|e| e.to_string())?.port();
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, log) = (Arc::clone(&shared), log.clone());
                std::thread::spawn(move || serve(&stream, &state, &log));
            }
        });
        Ok(Model { port, state })
    }

    pub(super) fn script(&self, name: &str, script: Script) {
        lock(&self.state).scripts.insert(name.to_owned(), (0, script));
    }

    /// What the model was sent for a script, a text for each request.
    pub(super) fn sent(&self, name: &str) -> Vec<String> {
        let state = lock(&self.state);
        state.requests.iter().filter(|(of, _)| of == name).map(|(_, body)| body.to_string()).collect()
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers the requests of a connection until it ends.
fn serve(stream: &TcpStream, state: &Mutex<State>, log: &std::path::Path) {
    let mut reader = BufReader::new(stream);
    while let Some((method, path, body)) = request(&mut reader) {
        let path = path.split('?').next().unwrap_or_default().to_owned();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let counts = path.to_lowercase().contains("count");
        let step = match method.as_str() {
            "POST" if !counts && offers_tools(&body) => next(state, &body, log),
            _ => json!({ "text": "A short title" }),
        };
        let (kind, text) = answer(&path, &body, &step, counts);
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", text.len());
        let mut stream = stream;
        let sent = stream
            .write_all(head.as_bytes())
            .and_then(|()| if method == "HEAD" { Ok(()) } else { stream.write_all(text.as_bytes()) });
        if sent.is_err() {
            return;
        }
    }
}

/// A request: method, path and body.
fn request(reader: &mut BufReader<&TcpStream>) -> Option<(String, String, Vec<u8>)> {
    let first = line(reader)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line(reader)?.to_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    let mut body = Vec::new();
    if !chunked {
        reader.take(length).read_to_end(&mut body).ok()?;
        return Some((method, path, body));
    }
    loop {
        let size = u64::from_str_radix(line(reader)?.split(';').next()?, 16).ok()?;
        reader.by_ref().take(size).read_to_end(&mut body).ok()?;
        line(reader)?;
        if size == 0 {
            return Some((method, path, body));
        }
    }
}

fn line(reader: &mut BufReader<&TcpStream>) -> Option<String> {
    let mut text = String::new();
    let read = reader.read_line(&mut text).ok()?;
    (read > 0).then(|| text.trim_end_matches(['\r', '\n']).to_owned())
}

/// How Codex asks for a title.
const TITLE: &str = "Generate a concise, single-line task title";

/// Whether a request belongs to the conversation. Codex puts the tools of its newer models into the input.
fn offers_tools(body: &Value) -> bool {
    let listed = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let input = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    // Codex's interface asks for a title of the session with all its tools at hand.
    let is_title = |item: &Value| item["role"] == "user" && item["content"].to_string().contains(TITLE);
    (listed || input.iter().any(|item| item["type"] == "additional_tools")) && !input.iter().any(is_title)
}

fn next(state: &Mutex<State>, body: &Value, log: &std::path::Path) -> Value {
    let name = script_of(body);
    let mut state = lock(state);
    state.requests.push((name.clone(), body.clone()));
    if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(log) {
        // Evidence; a check does not depend on it.
        let _ = writeln!(file, "{}", json!({ "script": name, "body": body }));
    }
    let Some((taken, script)) = state.scripts.get_mut(&name) else { return json!({ "text": "Done." }) };
    *taken += 1;
    script.steps.get(*taken - 1).unwrap_or(&script.then).clone()
}

/// The script that the latest words of the person name.
fn script_of(body: &Value) -> String {
    let mut name = String::new();
    for key in ["messages", "input", "contents"] {
        for message in body[key].as_array().into_iter().flatten().filter(|message| message["role"] == "user")
        {
            let text = message.to_string();
            for (at, mark) in text.match_indices("script=") {
                let rest = &text[at + mark.len()..];
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                name = rest[..end].to_owned();
            }
        }
    }
    name
}

fn answer(path: &str, body: &Value, step: &Value, counts: bool) -> (&'static str, String) {
    const JSON: &str = "application/json";
    if counts {
        return (JSON, json!({ "input_tokens": 100, "totalTokens": 100 }).to_string());
    }
    let stream = body["stream"] == true;
    let (events, whole) = match path {
        _ if path.ends_with("/messages") => anthropic(body, step),
        _ if path.ends_with("/responses") => responses(body, step),
        _ if path.ends_with("/chat/completions") => chat(body, step),
        _ if path.to_lowercase().ends_with("generatecontent") => return gemini(path, body, step),
        _ => return (JSON, json!({ "object": "list", "data": [], "models": [] }).to_string()),
    };
    if !stream {
        return (JSON, whole.to_string());
    }
    let named = !path.ends_with("/chat/completions");
    let mut text = String::new();
    for event in events {
        if named {
            text.push_str(&format!("event: {}\n", event["type"].as_str().unwrap_or_default()));
        }
        text.push_str(&format!("data: {event}\n\n"));
    }
    if !named {
        text.push_str("data: [DONE]\n\n");
    }
    ("text/event-stream", text)
}

fn tools(step: &Value) -> &[Value] {
    step["tools"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn said(step: &Value) -> Option<&str> {
    step["text"].as_str().filter(|text| !text.is_empty())
}

/// A name that no other answer has.
fn unique(prefix: &str) -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{prefix}_{:024x}", COUNT.fetch_add(1, Ordering::Relaxed))
}

fn anthropic(body: &Value, step: &Value) -> (Vec<Value>, Value) {
    let mut blocks: Vec<Value> =
        said(step).map(|text| json!({ "type": "text", "text": text })).into_iter().collect();
    blocks.extend(tools(step).iter().map(|tool| json!({ "type": "tool_use", "id": unique("toolu"), "name": tool["name"], "input": tool["input"] })));
    let reason = if tools(step).is_empty() { "end_turn" } else { "tool_use" };
    let usage = json!({ "input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0 });
    let mut message = json!({ "id": unique("msg"), "type": "message", "role": "assistant", "model": body["model"], "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage });
    let mut events = vec![json!({ "type": "message_start", "message": message })];
    for (index, block) in blocks.iter().enumerate() {
        let mut begin = block.clone();
        let delta = if block["type"] == "text" {
            begin["text"] = json!("");
            json!({ "type": "text_delta", "text": block["text"] })
        } else {
            begin["input"] = json!({});
            json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })
        };
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": begin }));
        events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": usage }));
    events.push(json!({ "type": "message_stop" }));
    message["content"] = json!(blocks);
    message["stop_reason"] = json!(reason);
    (events, message)
}

fn responses(body: &Value, step: &Value) -> (Vec<Value>, Value) {
    let mut items: Vec<Value> = said(step)
        .map(|text| json!({ "type": "message", "role": "assistant", "id": unique("msg"), "status": "completed", "content": [{ "type": "output_text", "text": text, "annotations": [] }] }))
        .into_iter()
        .collect();
    for tool in tools(step) {
        let mut item = match tool.get("custom") {
            Some(input) => json!({ "type": "custom_tool_call", "id": unique("ctc"), "input": input }),
            None => {
                json!({ "type": "function_call", "id": unique("fc"), "arguments": tool["input"].to_string() })
            }
        };
        item["call_id"] = json!(unique("call"));
        item["name"] = tool["name"].clone();
        item["status"] = json!("completed");
        if let Some(space) = tool.get("namespace") {
            item["namespace"] = space.clone();
        }
        items.push(item);
    }
    let usage = json!({ "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 10, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 110 });
    let whole = json!({ "id": unique("resp"), "object": "response", "created_at": 0, "status": "completed", "model": body["model"], "output": items, "usage": usage });
    let mut begun = whole.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    let mut events = vec![json!({ "type": "response.created", "response": begun })];
    for (index, item) in items.iter().enumerate() {
        events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": item }));
        if item["type"] == "message" {
            events.push(json!({ "type": "response.output_text.delta", "item_id": item["id"], "output_index": index, "content_index": 0, "delta": item["content"][0]["text"] }));
        }
        events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    events.push(json!({ "type": "response.completed", "response": whole }));
    (events, whole)
}

fn chat(body: &Value, step: &Value) -> (Vec<Value>, Value) {
    let call = |(index, tool): (usize, &Value)| json!({ "index": index, "id": unique("call"), "type": "function", "function": { "name": tool["name"], "arguments": tool["input"].to_string() } });
    let calls: Vec<Value> = tools(step).iter().enumerate().map(call).collect();
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 });
    let base = |object: &str, choice: Value| json!({ "id": "chatcmpl", "created": 0, "model": body["model"], "object": object, "usage": usage, "choices": [choice] });
    let chunk = |delta: Value, reason: Value| {
        base("chat.completion.chunk", json!({ "index": 0, "delta": delta, "finish_reason": reason }))
    };
    let mut events =
        vec![chunk(json!({ "role": "assistant", "content": said(step).unwrap_or_default() }), Value::Null)];
    events.extend(calls.iter().map(|call| chunk(json!({ "tool_calls": [call] }), Value::Null)));
    events.push(chunk(json!({}), json!(reason)));
    let mut message = json!({ "role": "assistant", "content": said(step) });
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    (events, base("chat.completion", json!({ "index": 0, "message": message, "finish_reason": reason })))
}

fn gemini(path: &str, body: &Value, step: &Value) -> (&'static str, String) {
    let config = &body["generationConfig"];
    let mut parts: Vec<Value> = said(step).map(|text| json!({ "text": text })).into_iter().collect();
    parts.extend(
        tools(step)
            .iter()
            .map(|tool| json!({ "functionCall": { "name": tool["name"], "args": tool["input"] } })),
    );
    if !offers_tools(body)
        && (config.get("responseJsonSchema").is_some() || config.get("responseSchema").is_some())
    {
        // It asks which model to take, and who speaks next.
        let choice = json!({ "reasoning": "x", "model_choice": "flash", "next_speaker": "user", "complexity_reasoning": "x", "complexity_score": 1 });
        parts = vec![json!({ "text": choice.to_string() })];
    }
    let whole = json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110 }, "modelVersion": "scripted" });
    if path.ends_with("streamGenerateContent") {
        return ("text/event-stream", format!("data: {whole}\n\n"));
    }
    ("application/json", whole.to_string())
}
