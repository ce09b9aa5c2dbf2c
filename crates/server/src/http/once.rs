//! A request with a key is done once: the same key and request within a day gets the answer of the first time.
//!
//! Comes in: a key, what was asked, and the work. Goes out: the answer, new or remembered. What is remembered is a hash of key and request, the
//! status and the answer's id; it is kept by the engine in the user's own store, so that a server that was started again remembers it. Never here: a
//! text of a memory.

use super::problem::Problem;
use super::reply::{Content, Reply};
use super::routes::{Given, Route};
use axum::http::StatusCode;
use heirloom_core::{Code, Fault, hash};
use heirloom_engine::Call;
use heirloom_engine::verbs::once::{self, Done, Turn};
use serde_json::{Value, json};

/// Does the work, unless it was done.
pub(crate) fn once(
    call: &Call,
    route: &Route,
    given: &Given,
    key: &str,
    run: impl FnOnce() -> Result<Reply, Problem>,
) -> Result<Reply, Problem> {
    let name = hash::sha256(format!("heirloom key\0{key}").as_bytes());
    let request = json!([
        route.method,
        route.path,
        given.path,
        given.query,
        given.body,
        given.version,
        call.project().id()
    ]);
    let asked = hash::sha256(request.to_string().as_bytes());
    match once::begin(call, &name, &asked)? {
        Turn::Done(done) => Ok(remembered(&done)),
        Turn::Other => Err(Problem::with(
            Fault::new(Code::Validation, "this Idempotency-Key was used for another request")
                .hint("use a new key for a new request"),
            StatusCode::UNPROCESSABLE_ENTITY,
        )),
        Turn::Running => Err(Problem::with(
            Fault::new(Code::LockBusy, "the request with this key is still being worked on"),
            StatusCode::CONFLICT,
        )),
        Turn::Yours => {
            let reply = run();
            let done = reply
                .as_ref()
                .ok()
                .map(|reply| Done { status: reply.status.as_u16(), answer: kept(&reply.body) });
            // What failed is forgotten, so that it can be tried again.
            once::end(call, &name, &asked, done.as_ref())?;
            reply
        }
    }
}

/// What is kept of an answer: how it ended and which ids it names.
fn kept(body: &Content) -> Value {
    let Content::Json(Value::Object(answer)) = body else { return json!({}) };
    let keys = ["status", "id", "key", "path", "user"];
    let mut kept: serde_json::Map<String, Value> = answer
        .iter()
        .filter(|(name, value)| keys.contains(&name.as_str()) && value.is_string())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    // The first line of the memory tool's answers says what was done; what follows quotes the file.
    if let Some(line) = answer.get("text").and_then(Value::as_str).and_then(|text| text.lines().next()) {
        kept.insert("text".to_owned(), json!(line));
    }
    Value::Object(kept)
}

fn remembered(done: &Done) -> Reply {
    let status = StatusCode::from_u16(done.status).unwrap_or(StatusCode::OK);
    Reply::new(status, done.answer.clone())
        .header(axum::http::HeaderName::from_static("idempotent-replayed"), "true")
}
