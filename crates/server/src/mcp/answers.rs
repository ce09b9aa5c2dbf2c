//! What each tool answers: arguments to a request, a verb, its answer in as few words as an agent needs.
//!
//! Comes in: a call, the name of a tool, arguments that [`super::tools::check`] has seen. Goes out: an object for programs and a text for models.
//! Every answer is cut to [`MOST`] characters, with a cursor for the rest. Never here: a rule about memories.

use crate::told;
use heirloom_core::{Code, Fault, MemoryId, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::verbs::add::{Add, New, Words, add};
use heirloom_engine::verbs::cursor::{self, Spot};
use heirloom_engine::verbs::edit::{Edit, edit};
use heirloom_engine::verbs::life::{self, Move};
use heirloom_engine::verbs::list::{List, list};
use heirloom_engine::verbs::recall::{Recall, recall};
use heirloom_engine::verbs::search::{self, Search};
use heirloom_engine::verbs::show::{Show, show};
use heirloom_engine::verbs::working::{self, Append, InMind, Said, Session, Speaker};
use heirloom_engine::verbs::{Added, Outcome, Waiting};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// Most bytes of texts in one answer: about six thousand tokens.
pub(crate) const MOST: usize = 24_000;
/// Hits of a page, unless somebody says.
const HITS: usize = 10;
/// Memories of a page, unless somebody says.
const LISTED: usize = 20;
/// Ids in one request.
const IDS_MAX: usize = 20;
/// Characters of a recalled block, unless somebody says.
const BLOCK: usize = 10_000;

/// An answer: for programs, and for models where that is not the same.
pub(crate) struct Answer {
    pub(crate) value: Value,
    pub(crate) text: Option<String>,
}

impl From<Value> for Answer {
    fn from(value: Value) -> Answer {
        Answer { value, text: None }
    }
}

/// What a tool answers.
pub(crate) fn answer(call: &Call, tool: &str, given: &JsonObject) -> Result<Answer> {
    match tool {
        "search_memories" => found(call, given),
        "get_memory" => read(call, given),
        "add_memory" => added(call, given),
        "update_memory" => updated(call, given),
        "retire_memory" => retired(call, given),
        "list_memories" => listed(call, given),
        "recall" => recalled(call, given),
        _ => session(call, given),
    }
}

fn text(given: &JsonObject, name: &str) -> Option<String> {
    given.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn texts(given: &JsonObject, name: &str) -> Vec<String> {
    let items = given.get(name).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn count(given: &JsonObject, name: &str) -> Option<usize> {
    given.get(name).and_then(Value::as_f64).map(|number| number as usize)
}

/// Fields as `name=value`.
fn fields(given: &JsonObject) -> Result<Vec<(String, String)>> {
    let read = |pair: String| match pair.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err(Fault::new(Code::Usage, "an item of `fields` is not name=value")
            .hint("for example fields: [\"rationale=it is fast\"]")),
    };
    texts(given, "fields").into_iter().map(read).collect()
}

fn found(call: &Call, given: &JsonObject) -> Result<Answer> {
    let ask = Search {
        words: vec![text(given, "query").unwrap_or_default()],
        kind: text(given, "kind"),
        include_retired: given.get("include_retired").and_then(Value::as_bool).unwrap_or_default(),
        limit: count(given, "limit").unwrap_or(HITS),
        ..Search::default()
    };
    let mut room = MOST;
    let found = search::page(call, &ask, text(given, "cursor").as_deref(), |hit| {
        let cost = told::hit(hit).to_string().len();
        let fits = cost <= room;
        room = room.saturating_sub(cost);
        fits
    })?;
    let hits: Vec<Value> = found.hits.iter().map(told::hit).collect();
    let mut answer = json!({ "hits": hits });
    if let Some(next) = found.next {
        answer["next"] = json!(next);
    }
    Ok(answer.into())
}

fn read(call: &Call, given: &JsonObject) -> Result<Answer> {
    let ids = texts(given, "ids");
    if ids.is_empty() || ids.len() > IDS_MAX {
        return Err(Fault::new(Code::Usage, format!("`ids` holds 1 to {IDS_MAX} ids"))
            .hint("take them from search_memories or list_memories"));
    }
    let asked = json!(ids).to_string();
    let start = cursor::read(text(given, "cursor").as_deref(), &asked)?;
    let (mut memories, mut missing, mut room, mut next) = (Vec::new(), Vec::new(), MOST, None);
    let mut first_fault = None;
    for (item, id) in ids.iter().enumerate().skip(start.item) {
        let shown = match show(call, &Show { id: id.clone() }) {
            Ok(shown) => shown,
            Err(fault) => {
                missing.push(json!({ "id": id, "error": told::fault(&fault) }));
                first_fault.get_or_insert(fault);
                continue;
            }
        };
        let at = if item == start.item { start.at } else { 0 };
        let body = &shown.memory.body;
        let rest = body.get(at..).ok_or_else(|| {
            Fault::new(Code::OccConflict, format!("`{}` changed since the part before", shown.memory.id))
                .hint("leave the cursor out to read it from the beginning")
        })?;
        if room == 0 || (rest.len() > room && !memories.is_empty()) {
            next = Some(Spot { item, at });
            break;
        }
        let part = head(rest, room);
        room -= part.len();
        let mut line = told::brief(&shown.memory);
        line["body"] = json!(part);
        line["version"] = json!(shown.memory.version);
        line["source"] = json!(shown.memory.source);
        line["scope"] = json!(shown.memory.scope);
        if !shown.memory.tags.is_empty() {
            line["tags"] = json!(shown.memory.tags);
        }
        if !shown.links.is_empty() {
            line["links"] = json!(shown.links);
        }
        if !shown.anchors.is_empty() {
            line["anchors"] = json!(shown.anchors);
        }
        memories.push(line);
        if part.len() < rest.len() {
            next = Some(Spot { item, at: at + part.len() });
            break;
        }
    }
    if let (true, Some(fault)) = (memories.is_empty(), first_fault) {
        return Err(fault);
    }
    let mut answer = json!({ "memories": memories });
    if !missing.is_empty() {
        answer["missing"] = json!(missing);
    }
    if let Some(next) = next {
        answer["next"] = json!(cursor::write(next, &asked));
    }
    Ok(answer.into())
}

/// The cursor by which `get_memory` goes on with one memory from this byte of its body.
pub(crate) fn rest_of(id: &MemoryId, at: usize) -> String {
    cursor::write(Spot { item: 0, at }, &json!([id]).to_string())
}

/// The beginning of a text, at most so many bytes, whole characters.
pub(crate) fn head(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn added(call: &Call, given: &JsonObject) -> Result<Answer> {
    let words = Words {
        kind: text(given, "kind").unwrap_or_default(),
        text: text(given, "text").unwrap_or_default(),
        title: text(given, "title"),
        fields: fields(given)?,
        tags: texts(given, "tags"),
        topic: text(given, "topic"),
        files: texts(given, "files"),
        ..Words::default()
    };
    let outcome = add(call, &Add::of(New::said(call, words)?))?;
    written(call, outcome)
}

fn updated(call: &Call, given: &JsonObject) -> Result<Answer> {
    let ask = Edit {
        id: text(given, "id").unwrap_or_default(),
        version: text(given, "version"),
        title: text(given, "title"),
        fields: fields(given)?,
        tags: texts(given, "tags"),
        text: text(given, "text"),
        message: text(given, "message"),
        ..Edit::default()
    };
    let outcome = edit(call, &ask)?;
    written(call, outcome)
}

fn written(call: &Call, outcome: Outcome<Added>) -> Result<Answer> {
    let added = match outcome {
        Outcome::Done(added) => added,
        Outcome::Waits(waiting) => return Ok(waits(call, waiting).into()),
    };
    let mut answer = json!({ "status": added.status, "id": added.id });
    // What was written is read again: the answer holds the version of what is stored now.
    if let Ok(shown) = show(call, &Show { id: added.id.to_string() }) {
        answer["version"] = json!(shown.memory.version);
        answer["title"] = json!(shown.memory.title);
    }
    let mut notes = added.notes;
    notes.extend(call.uncommitted().all());
    if !notes.is_empty() {
        answer["notes"] = json!(notes);
    }
    if !added.assumed.is_empty() {
        answer["assumed"] = json!(added.assumed);
    }
    Ok(answer.into())
}

/// What waits for a person. The id is told if there is such a memory; that of a mere draft would lead nowhere.
fn waits(call: &Call, waiting: Waiting) -> Value {
    let there = show(call, &Show { id: waiting.id.clone() }).is_ok();
    let (key, why, id) = (waiting.key.clone(), waiting.why.clone(), waiting.id.clone());
    let fault = Fault::from(waiting);
    let mut answer = json!({
        "status": "waits",
        "code": fault.code.name(),
        "message": "nothing changed; a person decides",
        "next": format!("tell the person: `heirloom review accept {key}` or `heirloom review reject {key}`"),
        "key": key,
        "why": why,
    });
    if there {
        answer["id"] = json!(id);
    }
    answer
}

fn retired(call: &Call, given: &JsonObject) -> Result<Answer> {
    let ask = Move { ids: vec![text(given, "id").unwrap_or_default()], reason: text(given, "reason") };
    let outcome = life::retire(call, &ask)?.pop();
    match outcome {
        Some(Outcome::Done(done)) => {
            let mut notes = done.notes;
            notes.extend(call.uncommitted().all());
            Ok(json!({ "status": done.status, "id": done.id, "notes": notes }).into())
        }
        Some(Outcome::Waits(waiting)) => Ok(waits(call, waiting).into()),
        None => Err(Fault::new(Code::Internal, "nothing happened")),
    }
}

fn listed(call: &Call, given: &JsonObject) -> Result<Answer> {
    let mut ask = List {
        kind: text(given, "kind"),
        status: text(given, "status"),
        tag: text(given, "tag"),
        limit: Some(count(given, "limit").unwrap_or(LISTED)),
        cursor: text(given, "cursor"),
        ..List::default()
    };
    loop {
        let page = list(call, &ask)?;
        let lines: Vec<Value> = page.memories.iter().map(told::brief).collect();
        let size: usize = lines.iter().map(|line| line.to_string().len()).sum();
        // Long titles make a shorter page: the cursor must stand where the page ends.
        if size > MOST && lines.len() > 1 {
            ask.limit = Some((lines.len() / 2).max(1));
            continue;
        }
        let mut answer = json!({ "memories": lines });
        if let Some(next) = page.next {
            answer["next"] = json!(next);
        }
        if !page.unreachable.is_empty() {
            answer["unreachable"] = json!(page.unreachable);
        }
        return Ok(answer.into());
    }
}

fn recalled(call: &Call, given: &JsonObject) -> Result<Answer> {
    let most = count(given, "max_chars").unwrap_or(BLOCK);
    let ask = Recall { prompt: text(given, "prompt").unwrap_or_default(), session: None, most: Some(most) };
    let answer = recall(call, &ask)?;
    let ids: Vec<&MemoryId> = answer.hits.iter().map(|hit| &hit.memory.id).collect();
    let value = json!({ "ids": ids, "block": answer.block });
    let text = if answer.block.is_empty() { "no memory fits".to_owned() } else { answer.block };
    Ok(Answer { value, text: Some(text) })
}

fn session(call: &Call, given: &JsonObject) -> Result<Answer> {
    let session = text(given, "session").unwrap_or_default();
    let of = Session { session: session.clone() };
    match text(given, "action").unwrap_or_default().as_str() {
        "append" => {
            let items = given.get("messages").and_then(Value::as_array);
            let messages: Vec<Said> = items.into_iter().flatten().filter_map(said).collect();
            if messages.is_empty() {
                return Err(Fault::new(Code::Usage, "nothing to append")
                    .hint("give messages: [{\"role\": \"user\", \"content\": \"…\"}]"));
            }
            Ok(json!(working::append(call, &Append { session, messages })?).into())
        }
        "read" => in_mind(call, given, &of),
        "pop" => {
            let gone = working::pop(call, &of)?;
            let message = gone.message.map(|m| json!({ "role": m.speaker, "content": content(&m) }));
            Ok(json!({ "session": gone.session, "message": message }).into())
        }
        _ => Ok(json!(working::clear(call, &of)?).into()),
    }
}

fn said(item: &Value) -> Option<Said> {
    let speaker: Speaker = serde_json::from_value(item["role"].clone()).ok()?;
    Some(Said { speaker, content: item["content"].as_str()?.to_owned(), item: None, external: false })
}

/// What a message says; of an opaque item, its JSON.
fn content(message: &InMind) -> String {
    message.item.as_ref().map_or_else(|| message.content.clone(), Value::to_string)
}

fn in_mind(call: &Call, given: &JsonObject, of: &Session) -> Result<Answer> {
    let start = cursor::read(text(given, "cursor").as_deref(), &of.session)?;
    let all = working::read(call, of)?;
    let (mut messages, mut room, mut next) = (Vec::new(), MOST, None);
    for (item, message) in all.messages.iter().enumerate().skip(start.item) {
        let at = if item == start.item { start.at } else { 0 };
        let content = content(message);
        let Some(rest) = content.get(at..) else { continue };
        if room == 0 || (rest.len() > room && !messages.is_empty()) {
            next = Some(Spot { item, at });
            break;
        }
        let part = head(rest, room);
        room -= part.len();
        messages.push(json!({ "role": message.speaker, "content": part, "trust": message.trust }));
        if part.len() < rest.len() {
            next = Some(Spot { item, at: at + part.len() });
            break;
        }
    }
    let mut answer =
        json!({ "session": all.session, "messages": messages, "tokens": all.tokens, "trust": all.trust });
    if all.new {
        answer["new"] = json!(true);
        answer["message"] =
            json!("this session is empty: it is new, was cleared or expired, or the server was restarted");
    }
    if let Some(next) = next {
        answer["next"] = json!(cursor::write(next, &of.session));
    }
    Ok(answer.into())
}
