//! What waits: a draft, or a change to a text that a person stands behind.
//!
//! Comes in: a request that the caller may not carry out alone. Goes out: a place in the review inbox that holds the request and the version
//! of the memory it is about. Accepting runs the same verb again, by the person who accepts. Never here: a change to the memory itself; the
//! old text stays in force.

use super::life::{self, Move};
use crate::call::{Call, row_of};
use crate::gate::inbox::{self, Item};
use heirloom_core::{Code, Fault, Memory, MemoryId, Verb, fault::Result, time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// Always `waits`.
    pub status: String,
    /// The inbox's name for it.
    pub key: String,
    /// The memory it is about, or the id a draft would get.
    pub id: String,
    /// Why it waits, a line each.
    pub why: Vec<String>,
    /// What would be stored or done.
    pub what: Value,
    #[serde(skip)]
    message: String,
}

impl Waiting {
    /// What a shelf put into the inbox.
    pub(super) fn of(call: &Call, fault: &Fault) -> Result<Waiting> {
        let key = fault.get("key").unwrap_or_default().to_owned();
        let now = call.project().world().now;
        let item = call.inboxes()?.into_iter().find_map(|inbox| inbox.get(&key, now).ok());
        Ok(Waiting {
            status: "waits".to_owned(),
            id: fault.get("id").unwrap_or_default().to_owned(),
            why: item.as_ref().map(|item| item.reasons.clone()).unwrap_or_default(),
            what: item.map(|item| item.waiting.draft).unwrap_or_default(),
            key,
            message: fault.message.clone(),
        })
    }
}

impl From<Waiting> for Fault {
    fn from(waiting: Waiting) -> Fault {
        Fault::new(Code::NeedsConfirmation, waiting.message)
            .fact("id", waiting.id)
            .fact("key", waiting.key.as_str())
            .hint(format!("a person accepts it with `heirloom review accept {}`", waiting.key))
    }
}

/// A change that waits, as the inbox keeps it.
#[derive(Debug, Serialize, Deserialize)]
struct Held {
    change: String,
    /// The memory must still be this when the change is accepted.
    version: String,
    request: Value,
}

/// Puts a change of a memory into the inbox.
pub(super) fn wait(call: &Call, verb: Verb, memory: &Memory, request: &impl Serialize) -> Result<Waiting> {
    let request = serde_json::to_value(request)
        .map_err(|e| Fault::new(Code::Internal, format!("a request cannot be written down: {e}")))?;
    let held = json!(Held { change: verb.name().to_owned(), version: memory.version.clone(), request });
    let why = vec![format!("a person stands behind `{}`", memory.id)];
    let entry = call.entry();
    let mut draft = held.clone();
    call.screen().cut_draft(&mut draft, row_of(memory.kind.shelf()));
    let item = inbox::Waiting {
        id: memory.id.to_string(),
        shelf: memory.kind.shelf().name().to_owned(),
        channel: entry.channel,
        trust: entry.trust(),
        reasons: why.clone(),
        at: time::format(call.project().world().now),
        draft,
    };
    let key = call.hold(memory.kind.shelf(), item)?;
    Ok(Waiting {
        status: "waits".to_owned(),
        key,
        id: memory.id.to_string(),
        why,
        what: held,
        message: format!("`{}` is a person's; this waits for a person's yes and nothing changed", memory.id),
    })
}

/// Whether what waits is a change of a memory that is there, and which.
pub fn change_of(item: &Item) -> Option<String> {
    serde_json::from_value::<Held>(item.draft.clone()).ok().map(|held| held.change)
}

/// Carries out a change that waited, by the person who accepts it. `None` if the item is a draft and no change. Returns the id.
pub fn resume(call: &Call, item: &Item) -> Result<Option<String>> {
    let Ok(held) = serde_json::from_value::<Held>(item.draft.clone()) else { return Ok(None) };
    let id = MemoryId::parse(&item.id).ok_or_else(|| damaged(item))?;
    let memory = super::seen(call, &id)?;
    if memory.version != held.version {
        return Err(Fault::new(Code::OccConflict, format!("`{id}` changed since this was asked for"))
            .fact("id", id.as_str())
            .hint(format!("`heirloom review reject {}` throws it away", item.key)));
    }
    let verb = heirloom_core::authority::TABLE.iter().find(|row| row.name == held.change).map(|row| row.verb);
    match verb {
        Some(verb @ (Verb::Retire | Verb::Restore | Verb::Archive | Verb::Unarchive)) => {
            let ask: Move = read(item, held.request)?;
            life::run(call, verb, &id, ask.reason.as_deref())?.done()?;
        }
        _ => return Err(damaged(item)),
    }
    Ok(Some(item.waiting.id.clone()))
}

fn read<T: DeserializeOwned>(item: &Item, request: Value) -> Result<T> {
    serde_json::from_value(request).map_err(|_| damaged(item))
}

fn damaged(item: &Item) -> Fault {
    Fault::new(Code::Damaged, format!("inbox item `{}` holds no change that is known", item.key))
        .fact("id", item.id.as_str())
        .hint(format!("`heirloom review reject {}` throws it away", item.key))
}
