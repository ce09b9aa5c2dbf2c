//! What speaks of a topic, or of somebody: memories of the file shelves and drafts that wait.
//!
//! Comes in: words. Goes out: everything in which all of them stand. Turns and facts are looked up by their own shelf. Never here: removing any of it.

use crate::call::Call;
use crate::shelf::Listing;
use crate::shelf::tiers::counted_terms;
use heirloom_core::{Memory, ShelfName, fault::Result, text};
use serde::Serialize;
use std::collections::BTreeSet;

/// How much of a draft is shown before it goes, in characters.
const GIST: usize = 80;

/// A draft that waits for a yes and would go.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draft {
    /// What a person names it by.
    pub key: String,
    /// The id it would have.
    pub id: String,
    /// How what it says begins.
    pub text: String,
}

/// The drafts that speak of this. What waits is nobody's memory yet, and a trace all the same.
pub(super) fn drafts(call: &Call, topic: &str) -> Result<Vec<Draft>> {
    let wanted: BTreeSet<String> = counted_terms(topic).into_keys().collect();
    let now = call.project().world().now;
    let mut found = Vec::new();
    for inbox in call.inboxes()? {
        for item in inbox.list(now)? {
            let name = item.waiting.id.replace(['-', '_', '/', '#', '.', ':'], " ");
            let has = counted_terms(&format!("{name}\n{}", texts(&item.waiting.draft)));
            if !wanted.is_empty() && wanted.iter().all(|term| has.contains_key(term)) {
                let said = gist(&item.waiting.draft).unwrap_or_default();
                let text = text::cut(&text::one_line(&said), GIST).to_owned();
                found.push(Draft { key: item.key.clone(), id: item.waiting.id.clone(), text });
            }
        }
    }
    Ok(found)
}

/// What a draft says, in a few words: its title or its text, wherever its shelf keeps them.
fn gist(value: &serde_json::Value) -> Option<String> {
    let map = value.as_object()?;
    let own = ["title", "subject", "content", "text"].iter().find_map(|key| map.get(*key)?.as_str());
    own.map(str::to_owned).or_else(|| map.values().find_map(gist))
}

/// Every text in a value, a line each.
fn texts(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(map) => map.values().map(texts).collect(),
        _ => String::new(),
    }
}

/// The memories of the file shelves that speak of this, in their text, their labels or their names. One word of letters alone says too little to
/// be taken for part of another.
pub(super) fn memories(call: &Call, topic: &str) -> Result<Vec<Memory>> {
    let wanted: BTreeSet<String> = counted_terms(topic).into_keys().collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let speaks = |memory: &Memory| {
        let name = memory.id.name().replace(['-', '_', '/', '#', '.'], " ");
        let fields = serde_json::Value::Object(memory.fields.clone()).to_string();
        let text = format!("{}\n{}\n{}\n{name}\n{fields}", memory.title, memory.body, memory.tags.join(" "));
        let has = counted_terms(&text);
        wanted.iter().all(|term| has.contains_key(term))
    };
    let mut found = Vec::new();
    for shelf in call.shelves().into_iter().filter(|shelf| shelf.name() != ShelfName::Tiers) {
        let all = shelf.list(&Listing::everything())?;
        found.extend(all.into_iter().filter(|memory| call.caller().sees().sees(memory) && speaks(memory)));
    }
    Ok(found)
}
