//! Items with labels: texts that programs keep for a `user_id`, `agent_id`, `app_id` or `run_id` of their own.
//!
//! Comes in: messages, labels, metadata, conditions. Goes out: items, each under the id of its first version, which stays when it is said anew.
//! Messages are kept word for word. Removing by labels needs at least one. Never here: a label that reaches beyond the caller's own user.

use super::search::ranked;
use super::{Condition, forget, forgets, may_remove, moment, retire};
use crate::call::Call;
use crate::shelf::tiers::{
    Item as Inside, ItemWords, LABELS, LifeStatus, Role, Stored, fits_whole, labelled,
};
use crate::shelf::unknown;
use crate::verbs::{Outcome, asked, asked_of, told};
use heirloom_core::{Code, Fault, May, Owner, ShelfName, Verb, fault::Result, time};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Messages to keep, each as an item of its own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Keep {
    /// The labels they carry, at least one.
    pub labels: BTreeMap<String, String>,
    /// What was said.
    pub messages: Vec<Message>,
    /// What their program wants to know about them.
    pub metadata: Option<Map<String, Value>>,
    /// Minutes they are kept.
    pub minutes: Option<f64>,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Message {
    /// Who said it, where that is known.
    pub role: Option<Role>,
    /// What.
    pub text: String,
}

/// A labelled item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Labelled {
    /// The id of its first version: the item's own.
    pub id: String,
    /// The id of the memory that holds this version.
    pub version: String,
    /// What it says.
    pub text: String,
    /// Who said it.
    pub role: Option<Role>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// What its program wants to know about it.
    pub metadata: Option<Value>,
    /// SHA-256 of what it says.
    pub hash: String,
    /// When it was first stored.
    pub created_at: String,
    /// When this version was stored.
    pub updated_at: String,
    /// When it goes by itself.
    pub expires_at: Option<String>,
    /// How well it answers a question, 0 to 1.
    pub score: Option<f64>,
}

impl Labelled {
    fn of(stored: &Stored, inside: &Inside) -> Labelled {
        Labelled {
            id: inside.first.clone().unwrap_or_else(|| stored.id.clone()),
            version: stored.id.clone(),
            text: stored.content.clone(),
            role: stored.role,
            labels: inside.labels.clone(),
            metadata: inside.metadata.clone(),
            hash: stored.hash(),
            created_at: moment(inside.began_at),
            updated_at: moment(inside.written_at),
            expires_at: stored.expires_at.map(time::format),
            score: None,
        }
    }

    /// The same as its caller may have it.
    fn told(call: &Call, stored: &Stored, score: Option<f64>) -> Option<Labelled> {
        let mut told = Labelled::of(stored, stored.item.as_deref()?);
        told.text = told::fit_text(call, &told.text);
        if let Some(metadata) = told.metadata.as_mut().filter(|_| !call.caller().is_person()) {
            told::redact_in(call.screen(), metadata);
        }
        Some(Labelled { score, ..told })
    }
}

/// Which labelled items are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Matching {
    /// What they meet.
    pub condition: Condition,
    /// A question they answer.
    pub query: Option<String>,
    /// Only what answers it at least this well.
    pub threshold: Option<f64>,
    /// At most so many; without a question all of them.
    pub limit: usize,
}

/// What becomes of an item.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    /// The item.
    pub id: String,
    /// What it says from now on.
    pub text: Option<String>,
    /// What its program wants to know about it from now on, all of it.
    pub metadata: Option<Map<String, Value>>,
    /// Minutes it is kept from now on.
    pub minutes: Option<f64>,
}

/// One step in the life of an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// `ADD`, `UPDATE` or `DELETE`.
    pub event: &'static str,
    /// The id of the memory that holds the version.
    pub version: String,
    /// What it said before.
    pub before: Option<String>,
    /// What it said after; nothing once it was removed.
    pub after: Option<String>,
    /// When.
    pub at: String,
    /// The item as it was then.
    pub item: Labelled,
}

/// A label that items carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entity {
    /// The label: `user_id`, `agent_id`, `app_id` or `run_id`.
    pub label: &'static str,
    /// What it says.
    pub name: String,
    /// How many items carry it.
    pub count: usize,
    /// When the first of them was stored.
    pub created_at: String,
    /// When the last of them was.
    pub updated_at: String,
}

/// Keeps messages, all of them or none.
pub fn keep(call: &Call, ask: &Keep) -> Result<Outcome<Vec<Labelled>>> {
    let tiers = call.tiers()?;
    let (_, verb) = tiers.item_tier(call.entry(), ask.minutes);
    asked(call, verb, ShelfName::Tiers, Owner::Nobody)?;
    need_a_label(&ask.labels)?;
    if ask.messages.is_empty() {
        return Err(Fault::new(Code::Validation, "no message has a text")
            .fact("field", "messages")
            .hint("send at least one with a text"));
    }
    let mut words = Vec::with_capacity(ask.messages.len());
    for message in &ask.messages {
        fits_whole("messages", &message.text)?;
        let item = Inside::labelled(ask.labels.clone(), ask.metadata.clone().map(Value::Object));
        item.check()?;
        words.push(ItemWords {
            text: Some(message.text.clone()),
            role: message.role,
            minutes: ask.minutes,
            ..ItemWords::of(item)
        });
    }
    let kept = tiers.add_items(words, call.entry()).map(|all| {
        all.iter().filter_map(|kept| Labelled::told(call, &kept.stored, None)).collect::<Vec<Labelled>>()
    });
    Outcome::of(call, kept)
}

/// A labelled item that is in use, by the id of any of its versions.
fn in_use(call: &Call, id: &str) -> Result<Stored> {
    let found = call.tiers()?.item_of(id)?;
    found.filter(is_labelled).ok_or_else(|| unknown(id))
}

fn is_labelled(stored: &Stored) -> bool {
    stored.item.as_ref().is_some_and(|item| !item.labels.is_empty())
}

/// A labelled item.
pub fn one(call: &Call, id: &str) -> Result<Labelled> {
    asked(call, Verb::Show, ShelfName::Tiers, Owner::Nobody)?;
    let stored = in_use(call, id)?;
    call.tiers()?.was_read("show", Some(stored.tier), 1)?;
    Labelled::told(call, &stored, None).ok_or_else(|| unknown(id))
}

/// Labelled items that are wanted: newest first, or with a question the best first.
pub fn matching(call: &Call, ask: &Matching) -> Result<Vec<Labelled>> {
    let verb = if ask.query.is_some() { Verb::Search } else { Verb::List };
    asked(call, verb, ShelfName::Tiers, Owner::Nobody)?;
    if !ask.condition.names_a_label() {
        return Err(Fault::new(Code::Validation, "the filter names no label")
            .fact("field", "filters")
            .hint(format!("name one of {}, such as {{\"user_id\": \"ann\"}}", LABELS.join(", "))));
    }
    let tiers = call.tiers()?;
    let fits = |stored: &Stored, inside: &Inside| ask.condition.is_met_by(&Labelled::of(stored, inside));
    let mut found = tiers.items(&ask.condition.listed(), fits)?;
    let question = ask.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
    let scored: Vec<(Stored, Option<f64>)> = match question {
        Some(question) => {
            let mut all = ranked(tiers, question, found, ask.limit)?;
            all.retain(|(_, score)| score.unwrap_or_default() >= ask.threshold.unwrap_or_default());
            all
        }
        None => {
            found.reverse();
            found.into_iter().map(|stored| (stored, None)).collect()
        }
    };
    let told: Vec<Labelled> = scored
        .iter()
        .take(ask.limit)
        .filter_map(|(stored, score)| Labelled::told(call, stored, *score))
        .collect();
    tiers.was_read(if question.is_some() { "search" } else { "list" }, None, told.len())?;
    Ok(told)
}

/// Says an item anew. What a person stands behind waits for that person.
pub fn change(call: &Call, ask: &Change) -> Result<Outcome<Labelled>> {
    asked(call, Verb::Edit, ShelfName::Tiers, Owner::Nobody)?;
    let stored = in_use(call, &ask.id)?;
    let memory = stored.memory();
    asked_of(call, Verb::Edit, &memory, call.owner_of(&memory)?)?;
    if ask.text.is_none() && ask.metadata.is_none() && ask.minutes.is_none() {
        return Err(Fault::new(Code::Usage, "no change was given").hint("send a new text or metadata"));
    }
    if let Some(text) = &ask.text {
        fits_whole("text", text)?;
    }
    let inside = stored.item.as_deref().cloned().ok_or_else(|| unknown(&ask.id))?;
    let metadata = ask.metadata.clone().map(Value::Object).or_else(|| inside.metadata.clone());
    let minutes = ask.minutes.or_else(|| minutes_left(call, &stored, &inside));
    let words = ItemWords {
        text: Some(ask.text.clone().unwrap_or_else(|| stored.content.clone())),
        role: stored.role,
        minutes,
        ..ItemWords::of(Inside { metadata, ..inside })
    };
    let kept = call.tiers()?.change_item(stored, words, call.entry());
    let kept = kept.and_then(|kept| Labelled::told(call, &kept.stored, None).ok_or_else(|| unknown(&ask.id)));
    Outcome::of(call, kept)
}

/// What is left of the time of an item that its program gave an end: its next version ends then too.
fn minutes_left(call: &Call, stored: &Stored, inside: &Inside) -> Option<f64> {
    let left = stored.expires_at?.as_second() - call.project().world().now.as_second();
    (inside.ends && left > 0).then_some(left as f64 / 60.0)
}

/// The life of an item, oldest first. One that was taken out of use still has it.
pub fn history(call: &Call, id: &str) -> Result<Vec<Step>> {
    asked(call, Verb::History, ShelfName::Tiers, Owner::Nobody)?;
    let tiers = call.tiers()?;
    let stored = tiers.own(id)?;
    let slot = stored.slot().filter(|_| is_labelled(&stored)).ok_or_else(|| unknown(id))?;
    let versions = tiers.item_versions(&slot)?;
    tiers.was_read("history", Some(stored.tier), versions.len())?;
    let mut steps: Vec<Step> = Vec::new();
    for version in &versions {
        let Some(item) = Labelled::told(call, version, None) else { continue };
        let before = steps.last().and_then(|step| step.after.clone());
        let event = if steps.is_empty() { "ADD" } else { "UPDATE" };
        let (after, at) = (Some(item.text.clone()), item.updated_at.clone());
        steps.push(Step { event, version: version.id.clone(), before, after, at, item });
    }
    if let (Some(last), Some(step)) = (versions.last(), steps.last())
        && last.status == LifeStatus::Retired
    {
        let (before, at) = (step.after.clone(), moment(last.updated_at));
        let (version, item) = (last.id.clone(), step.item.clone());
        steps.push(Step { event: "DELETE", version, before, after: None, at, item });
    }
    Ok(steps)
}

/// Removes an item: for good with the scope `delete`; otherwise it is taken out of use.
pub fn remove(call: &Call, id: &str) -> Result<Outcome<()>> {
    may_remove(call)?;
    let stored = in_use(call, id)?;
    Outcome::of(call, removed(call, std::slice::from_ref(&stored)).map(drop))
}

/// Removes every item that carries all of these labels, and no other. Says how many.
pub fn remove_all(call: &Call, labels: &BTreeMap<String, String>) -> Result<Outcome<usize>> {
    may_remove(call)?;
    need_a_label(labels)?;
    Inside::labelled(labels.clone(), None).check()?;
    let condition = Condition::labels(labels);
    let fits = |stored: &Stored, inside: &Inside| condition.is_met_by(&Labelled::of(stored, inside));
    let found = call.tiers()?.items(&condition.listed(), fits)?;
    Outcome::of(call, removed(call, &found))
}

fn removed(call: &Call, items: &[Stored]) -> Result<usize> {
    let tiers = call.tiers()?;
    if forgets(call) {
        let slots: Vec<String> = items.iter().filter_map(Stored::slot).collect();
        forget(call, tiers, &slots)?;
        return Ok(items.len());
    }
    // Whoever may not take all of them out of use takes out none.
    for stored in items {
        let memory = stored.memory();
        if asked_of(call, Verb::Retire, &memory, call.owner_of(&memory)?)? == May::Waits {
            return retire(call, tiers, stored).map(|()| 0);
        }
    }
    items.iter().try_for_each(|stored| tiers.retire_item(stored, call.entry()))?;
    Ok(items.len())
}

fn need_a_label(labels: &BTreeMap<String, String>) -> Result<()> {
    if labels.is_empty() {
        return Err(Fault::new(Code::Validation, "no label says which items are meant")
            .fact("field", "label")
            .hint(format!("name at least one of {}", LABELS.join(", "))));
    }
    // What stands for every name is the name of nobody's items.
    if labels.values().any(|name| name == "*") {
        return Err(Fault::new(Code::Validation, "`*` names no label")
            .fact("field", "label")
            .hint("name each one"));
    }
    Ok(())
}

/// The labels that items in use carry.
pub fn entities(call: &Call) -> Result<Vec<Entity>> {
    asked(call, Verb::List, ShelfName::Tiers, Owner::Nobody)?;
    let tiers = call.tiers()?;
    let found = tiers.items(&labelled(), |_, _| true)?;
    tiers.was_read("list", None, found.len())?;
    let mut all: BTreeMap<(usize, String), Entity> = BTreeMap::new();
    for inside in found.iter().filter_map(|stored| stored.item.as_deref()) {
        for (at, label) in LABELS.into_iter().enumerate() {
            let Some(name) = inside.labels.get(label) else { continue };
            let (created_at, updated_at) = (moment(inside.began_at), moment(inside.written_at));
            let entity = all.entry((at, name.clone())).or_insert_with(|| Entity {
                label,
                name: name.clone(),
                count: 0,
                created_at: created_at.clone(),
                updated_at: updated_at.clone(),
            });
            entity.count += 1;
            entity.created_at = created_at.min(std::mem::take(&mut entity.created_at));
            entity.updated_at = updated_at.max(std::mem::take(&mut entity.updated_at));
        }
    }
    Ok(all.into_values().collect())
}
