//! Items: what programs keep under a namespace and a key, or with labels, inside their user's memory.
//!
//! Comes in: names, JSON values, texts, filters. Goes out: items as they are stored, or what waits. They pass the same gate and the same table of
//! authority as everything else: a token with the scope `facts` stores facts, any other one turns, which have an end. A namespace or a label such
//! as `user_id` sorts one user's memory; only authentication names a user. Never here: the shapes of other programs' APIs, which are a door's.

mod condition;
mod filter;
mod labelled;
mod search;

pub use condition::{Compare, Condition};
pub use labelled::{
    Change, Entity, Keep, Labelled, Matching, Message, Step, change, entities, history, keep, matching, one,
    remove, remove_all,
};
pub use search::{Match, Namespaces, Search, Wanted, namespaces, search};

use super::{Outcome, asked, asked_of, remove as removing, told};
use crate::call::Call;
use crate::shelf::tiers::{Indexed, Item as Inside, ItemWords, Stored, Tiers};
use heirloom_core::{Code, Fault, Grant, May, Owner, ShelfName, Verb, fault::Result, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An item to keep.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Put {
    /// Where.
    pub namespace: Vec<String>,
    /// Its key; an item that is there under it is replaced.
    pub key: String,
    /// What to keep.
    pub value: Map<String, Value>,
    /// What is searched: everything if nothing is said, `false` for nothing, or paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Index>,
    /// Minutes it is kept. Facts do not end, so an item with an end is kept as a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_minutes: Option<f64>,
}

/// What is searched of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Index {
    /// Everything, or nothing.
    All(bool),
    /// What stands at these paths.
    Paths(Vec<String>),
}

impl From<Option<&Index>> for Indexed {
    fn from(index: Option<&Index>) -> Indexed {
        match index {
            None | Some(Index::All(true)) => Indexed::All,
            Some(Index::All(false)) => Indexed::Nothing,
            Some(Index::Paths(paths)) => Indexed::Paths(paths.clone()),
        }
    }
}

/// An item's name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Name {
    /// Where.
    pub namespace: Vec<String>,
    /// Its key.
    pub key: String,
}

/// An item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// The id of the memory it is, for every other verb.
    pub id: String,
    /// Where it is kept.
    pub namespace: Vec<String>,
    /// Its key.
    pub key: String,
    /// What is kept.
    pub value: Value,
    /// When it was first stored under this key.
    pub created_at: String,
    /// When it was stored last.
    pub updated_at: String,
    /// When it goes by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// How well it answers a question, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

impl Item {
    fn of(call: &Call, stored: Stored, score: Option<f64>) -> Option<Item> {
        let inside = *stored.item?;
        let mut value = inside.value.unwrap_or_default();
        if !call.caller().is_person() {
            told::redact_in(call.screen(), &mut value);
        }
        Some(Item {
            id: stored.id,
            namespace: inside.namespace,
            key: inside.key.unwrap_or_default(),
            value,
            created_at: moment(inside.began_at),
            updated_at: moment(inside.written_at),
            expires_at: stored.expires_at.map(time::format),
            score,
        })
    }
}

/// A moment as answers give it: two items of one second are still told apart.
fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// What became of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Deleted {
    /// Whether there was something to remove.
    pub deleted: bool,
}

/// Operations that are done one after the other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// The operations, in order.
    pub operations: Vec<Operation>,
}

/// One operation of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operation {
    /// See [`get`].
    Get(Name),
    /// See [`put`].
    Put(Put),
    /// See [`delete`].
    Delete(Name),
    /// See [`search`].
    Search(Search),
    /// See [`namespaces`].
    Namespaces(Namespaces),
}

/// What came of a batch.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Results {
    /// An answer for each operation, in order; nothing for an item that is not there.
    pub results: Vec<Value>,
}

/// Most operations of a batch.
pub const MOST_OPERATIONS: usize = 1_000;

/// Keeps an item.
pub fn put(call: &Call, ask: &Put) -> Result<Outcome<Item>> {
    let tiers = call.tiers()?;
    let (_, verb) = tiers.item_tier(call.entry(), ask.ttl_minutes);
    asked(call, verb, ShelfName::Tiers, Owner::Nobody)?;
    let words = ItemWords {
        indexed: Indexed::from(ask.index.as_ref()),
        minutes: ask.ttl_minutes,
        ..ItemWords::of(Inside::named(ask.namespace.clone(), &ask.key, ask.value.clone()))
    };
    let kept = tiers
        .put_item(words, call.entry())
        .and_then(|kept| Item::of(call, kept.stored, None).ok_or_else(lost));
    Outcome::of(call, kept)
}

/// The item under a key, if there is one.
pub fn find(call: &Call, ask: &Name) -> Result<Option<Item>> {
    asked(call, Verb::Show, ShelfName::Tiers, Owner::Nobody)?;
    let tiers = call.tiers()?;
    let found = tiers.item_at(&ask.namespace, &ask.key)?;
    tiers.was_read("show", found.as_ref().map(|stored| stored.tier), usize::from(found.is_some()))?;
    Ok(found.and_then(|stored| Item::of(call, stored, None)))
}

/// The item under a key.
pub fn get(call: &Call, ask: &Name) -> Result<Item> {
    find(call, ask)?.ok_or_else(|| {
        Fault::new(Code::NotFound, "there is no item under this key")
            .hint("search its namespace, or list all namespaces")
    })
}

/// Removes the item under a key: for good with the scope `delete`; otherwise it is taken out of use, which can be taken back.
pub fn delete(call: &Call, ask: &Name) -> Result<Outcome<Deleted>> {
    let tiers = call.tiers()?;
    may_remove(call)?;
    let found = tiers.item_at(&ask.namespace, &ask.key)?;
    let deleted = Deleted { deleted: found.is_some() };
    if forgets(call) {
        forget(call, tiers, &[Inside::slot_of(&ask.namespace, &ask.key)])?;
        return Ok(Outcome::Done(deleted));
    }
    match found {
        Some(stored) => Outcome::of(call, retire(call, tiers, &stored).map(|()| deleted)),
        None => Ok(Outcome::Done(deleted)),
    }
}

/// Does operations in order. The first that fails ends the batch; what was done before it stays done.
pub fn batch(call: &Call, ask: &Batch) -> Result<Results> {
    if ask.operations.len() > MOST_OPERATIONS {
        return Err(Fault::new(Code::Validation, "a batch has too many operations")
            .fact("field", "operations")
            .hint(format!("send at most {MOST_OPERATIONS} at once")));
    }
    let mut results = Vec::with_capacity(ask.operations.len());
    for (at, operation) in ask.operations.iter().enumerate() {
        let result = match operation {
            Operation::Get(name) => find(call, name).map(|found| json_of(&found)),
            // Waiting for a person is an answer of this operation; the others go on.
            Operation::Put(item) => put(call, item).map(|outcome| json_of(&outcome)),
            Operation::Delete(name) => delete(call, name).map(|outcome| json_of(&outcome)),
            Operation::Search(asked) => search(call, asked).map(|found| json_of(&found)),
            Operation::Namespaces(asked) => namespaces(call, asked).map(|found| json_of(&found)),
        };
        results.push(result.map_err(|fault| fault.fact("operation", at.to_string()))?);
    }
    Ok(Results { results })
}

fn json_of(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}

fn lost() -> Fault {
    Fault::new(Code::Internal, "an item that was just stored is not there")
}

/// Whether this caller removes for good.
fn forgets(call: &Call) -> bool {
    call.caller().scopes().has(Grant::Delete)
}

/// Refuses whoever may remove nothing, whether or not there is something to remove.
fn may_remove(call: &Call) -> Result<()> {
    match forgets(call) {
        true => removing::permitted(call, Verb::Forget, "fact:*"),
        false => asked(call, Verb::Retire, ShelfName::Tiers, Owner::Nobody).map(drop),
    }
}

/// Takes an item out of use. What a person stands behind waits for that person.
fn retire(call: &Call, tiers: Tiers<'_>, stored: &Stored) -> Result<()> {
    let memory = stored.memory();
    if asked_of(call, Verb::Retire, &memory, call.owner_of(&memory)?)? == May::Waits {
        let ask = super::life::Move { ids: vec![memory.id.to_string()], reason: None };
        return Err(super::waiting::wait(call, Verb::Retire, &memory, &ask)?.into());
    }
    tiers.retire_item(stored, call.entry())
}

/// Removes every version of items, and every trace of them.
fn forget(call: &Call, tiers: Tiers<'_>, slots: &[String]) -> Result<usize> {
    let gone = tiers.forget_items(slots)?;
    if gone.is_empty() {
        return Ok(0);
    }
    removing::cleared(call, gone, false).map(|cleared| cleared.count)
}

#[cfg(test)]
#[path = "items_tests.rs"]
mod tests;
