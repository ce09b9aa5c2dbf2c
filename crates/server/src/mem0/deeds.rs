//! What mem0's clients ask for, done by the verbs of labelled items.
//!
//! Comes in: a call and a request. Goes out: an answer in mem0's shapes. Messages are stored word for word: nothing is inferred, and the answer says
//! so. Never here: removing without a label, or a rule that the verbs do not have.

use super::filters::{LABELS, labels, wanted};
use super::shapes::{self, message};
use super::{Asked, wrong};
use heirloom_core::{fault::Result, time};
use heirloom_engine::Call;
use heirloom_engine::shelf::tiers::Role;
use heirloom_engine::verbs::items::{self, Change, Keep, Labelled, Matching, Message};
use serde_json::{Map, Value, json};

/// What is said of a message that was kept.
const WORD_FOR_WORD: &str = "stored word for word; nothing was inferred";

/// The same where a model is set up that looks for facts: it reads its owner's own messages, not what programs send.
const NOT_YET: &str =
    "stored word for word; your model for facts looks at its owner's own messages: heirloom review propose";

/// Below this a memory does not answer a question, unless somebody says otherwise.
const THRESHOLD: f64 = 0.1;

/// Most memories of an answer.
const MOST: usize = 1_000;

/// Most memories that are changed or removed by one request.
const SEVERAL: usize = 1_000;

pub(super) fn add(call: &Call, asked: &Asked) -> Result<Value> {
    let infers = asked.field("infer").and_then(Value::as_bool).unwrap_or_default();
    if infers && call.settings().extraction.is_none() {
        let hint = "leave `infer` out or send false: messages are stored word for word";
        return Err(wrong("infer", "no model is set up to infer facts; nothing was stored", hint));
    }
    let keep = Keep {
        labels: labels(asked)?,
        messages: messages(asked)?,
        metadata: metadata(asked)?,
        minutes: minutes(call, asked)?,
    };
    let kept = items::keep(call, &keep)?.done()?;
    let results: Vec<Value> = kept.iter().map(shapes::added).collect();
    Ok(json!({
        "status": "SUCCEEDED",
        "event_id": kept.first().map(|item| item.version.clone()),
        "message": if infers { NOT_YET } else { WORD_FOR_WORD },
        "results": results,
    }))
}

/// What was said: a text, a message, or a list of them.
fn messages(asked: &Asked) -> Result<Vec<Message>> {
    let hint = "send [{\"role\": \"user\", \"content\": \"…\"}]";
    let one = |value: &Value| match value {
        Value::String(text) => Ok(Message { role: None, text: text.clone() }),
        Value::Object(fields) => {
            let role = fields.get("role").and_then(Value::as_str).and_then(Role::named);
            let text = content(fields.get("content").unwrap_or(&Value::Null));
            text.map(|text| Message { role, text })
                .ok_or_else(|| wrong("messages", "a message has no text that can be kept", hint))
        }
        _ => Err(wrong("messages", "a message is neither a text nor an object", hint)),
    };
    match asked.field("messages") {
        Some(Value::Array(all)) => all.iter().map(one).collect(),
        Some(value) => Ok(vec![one(value)?]),
        None => Err(wrong("messages", "`messages` is missing", hint)),
    }
}

/// The text of a message: as it is, or the parts of it that are text. A part that is something else would be lost.
fn content(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let text =
                |part: &Value| part["text"].as_str().filter(|_| part["type"] == "text").map(str::to_owned);
            let texts: Option<Vec<String>> = parts.iter().map(text).collect();
            texts.map(|texts| texts.join("\n"))
        }
        _ => None,
    }
}

fn metadata(asked: &Asked) -> Result<Option<Map<String, Value>>> {
    match asked.field("metadata") {
        None => Ok(None),
        Some(Value::Object(fields)) => Ok(Some(fields.clone())),
        Some(_) => Err(wrong("metadata", "`metadata` must be an object", "send names and values")),
    }
}

/// Minutes until the end of the day that is named as the last.
fn minutes(call: &Call, asked: &Asked) -> Result<Option<f64>> {
    let Some(day) = asked.field("expiration_date") else { return Ok(None) };
    let end = day.as_str().and_then(|day| time::parse(&format!("{day}T23:59:59Z")));
    let left = end.map(|end| end.as_second() - call.project().world().now.as_second());
    match left {
        Some(left) if left > 0 => Ok(Some(left as f64 / 60.0)),
        _ => Err(wrong(
            "expiration_date",
            "`expiration_date` must be a day in the future",
            "write it like 2027-01-31",
        )),
    }
}

pub(super) fn search(call: &Call, asked: &Asked) -> Result<Value> {
    let query = asked.field("query").and_then(Value::as_str).map(str::trim).filter(|query| !query.is_empty());
    let query = query.ok_or_else(|| wrong("query", "`query` must be a text", "send a text"))?;
    let threshold = match asked.field("threshold") {
        None => THRESHOLD,
        Some(value) => value
            .as_f64()
            .ok_or_else(|| wrong("threshold", "`threshold` must be a number", "send one from 0 to 1"))?,
    };
    let ask = Matching {
        condition: wanted(asked)?,
        query: Some(query.to_owned()),
        threshold: Some(threshold),
        limit: asked.count(&["top_k", "limit"], 10, MOST)?,
    };
    Ok(json!({ "results": shown(&items::matching(call, &ask)?) }))
}

fn shown(items: &[Labelled]) -> Vec<Value> {
    items.iter().map(shapes::memory).collect()
}

fn matching(call: &Call, asked: &Asked) -> Result<Vec<Value>> {
    let ask = Matching { condition: wanted(asked)?, query: None, threshold: None, limit: usize::MAX };
    Ok(shown(&items::matching(call, &ask)?))
}

/// Memories, page by page.
pub(super) fn page(call: &Call, asked: &Asked) -> Result<Value> {
    let number = asked.count(&["page"], 1, usize::MAX)?;
    let size = asked.count(&["page_size"], 100, MOST)?;
    Ok(shapes::page("/mem0/v3/memories/", &matching(call, asked)?, number, size))
}

/// Memories, as the open-source server lists them.
pub(super) fn all(call: &Call, asked: &Asked) -> Result<Value> {
    let most = asked.count(&["top_k", "limit"], 100, MOST)?;
    let mut all = matching(call, asked)?;
    all.truncate(most);
    Ok(json!({ "results": all }))
}

pub(super) fn get(call: &Call, asked: &Asked) -> Result<Value> {
    Ok(shapes::memory(&items::one(call, asked.part("id"))?))
}

pub(super) fn update(call: &Call, asked: &Asked) -> Result<Value> {
    changed(call, asked.part("id"), asked)
}

fn changed(call: &Call, id: &str, asked: &Asked) -> Result<Value> {
    let text = ["text", "memory", "data"].into_iter().find_map(|name| asked.field(name));
    let text = match text {
        None => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => return Err(wrong("text", "`text` must be a text", "send the memory's new words")),
    };
    let change =
        Change { id: id.to_owned(), text, metadata: metadata(asked)?, minutes: minutes(call, asked)? };
    Ok(shapes::memory(&items::change(call, &change)?.done()?))
}

pub(super) fn delete(call: &Call, asked: &Asked) -> Result<Value> {
    items::remove(call, asked.part("id"))?.done()?;
    Ok(message("Memory deleted successfully!"))
}

pub(super) fn history(call: &Call, asked: &Asked) -> Result<Value> {
    Ok(items::history(call, asked.part("id"))?.iter().map(shapes::step).collect())
}

/// Removes what carries all of the labels in the query. Whatever else stands there would name more than it seems to.
pub(super) fn delete_all(call: &Call, asked: &Asked) -> Result<Value> {
    const BESIDE: [&str; 2] = ["org_id", "project_id"];
    if asked
        .query
        .iter()
        .any(|(name, _)| !LABELS.contains(&name.as_str()) && !BESIDE.contains(&name.as_str()))
    {
        let hint = "name labels only: ?user_id=ann";
        return Err(wrong("query", "memories are removed by their labels; nothing was removed", hint));
    }
    items::remove_all(call, &labels(asked)?)?.done()?;
    Ok(message("Memories deleted successfully!"))
}

pub(super) fn entities(call: &Call, asked: &Asked) -> Result<Value> {
    let all: Vec<Value> = items::entities(call)?.iter().map(shapes::entity).collect();
    let number = asked.count(&["page"], 1, usize::MAX)?;
    let size = asked.count(&["page_size"], MOST, MOST)?;
    Ok(shapes::page("/mem0/v1/entities/", &all, number, size))
}

/// Removes what carries one label.
pub(super) fn delete_entity(call: &Call, asked: &Asked) -> Result<usize> {
    let label = format!("{}_id", asked.part("type"));
    if !LABELS.contains(&label.as_str()) {
        return Err(wrong("type", "unknown type of entity", "use user, agent, app or run"));
    }
    items::remove_all(call, &[(label, asked.part("name").to_owned())].into())?.done()
}

/// The memories that a request about several of them names, each with its fields.
fn several(asked: &Asked) -> Result<Vec<(String, Asked)>> {
    let hint = "send {\"memories\": [{\"memory_id\": \"…\"}]}";
    let all = asked.field("memories").and_then(Value::as_array);
    let all = all.filter(|all| (1..=SEVERAL).contains(&all.len()));
    let all = all.ok_or_else(|| wrong("memories", format!("`memories` must list 1 to {SEVERAL}"), hint))?;
    let one = |value: &Value| {
        let id = value["memory_id"].as_str().map(str::to_owned);
        let body = value.as_object().cloned().unwrap_or_default();
        id.map(|id| (id, Asked { body, ..Asked::default() }))
            .ok_or_else(|| wrong("memories", "one of `memories` has no `memory_id`", hint))
    };
    let all: Vec<(String, Asked)> = all.iter().map(one).collect::<Result<_>>()?;
    Ok(all)
}

/// Changes several memories. Each is looked up before the first is touched.
pub(super) fn update_several(call: &Call, asked: &Asked) -> Result<Value> {
    let all = several(asked)?;
    all.iter().try_for_each(|(id, _)| items::one(call, id).map(drop))?;
    all.iter().try_for_each(|(id, one)| changed(call, id, one).map(drop))?;
    Ok(message(&format!("Successfully updated {} memories", all.len())))
}

/// Removes several memories. Each is looked up before the first is touched.
pub(super) fn delete_several(call: &Call, asked: &Asked) -> Result<Value> {
    let all = several(asked)?;
    all.iter().try_for_each(|(id, _)| items::one(call, id).map(drop))?;
    all.iter().try_for_each(|(id, _)| items::remove(call, id)?.done())?;
    Ok(message(&format!("Successfully deleted {} memories", all.len())))
}
