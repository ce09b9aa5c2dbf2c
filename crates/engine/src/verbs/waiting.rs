//! What waits: a draft, or a change to a text that a person stands behind.
//!
//! Comes in: a request that the caller may not carry out alone. Goes out: a place in the review inbox that holds the request and the version
//! of the memory it is about. Accepting runs the same verb again, by the person who accepts. Never here: a change to the memory itself; the
//! old text stays in force.

use super::life::{self, Move};
use super::{add, anchor, convert, edit, join};
use crate::call::Call;
use crate::gate::Entry;
use crate::gate::inbox::{self, Item};
use crate::gate::policy::Row;
use crate::shelf::door::row_of;
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, Verb, fault::Result, time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Waiting {
    /// Always `waits`.
    #[schemars(extend("enum" = ["waits"]))]
    pub status: String,
    /// The inbox's name for it.
    pub key: String,
    /// The memory it is about, or the id a draft would get.
    pub id: String,
    /// Why it waits, a line each.
    pub why: Vec<String>,
    /// What would be stored or done.
    pub what: Value,
    /// The same as a fault, with every fact the shelf gave.
    #[serde(skip)]
    fault: Option<Box<Fault>>,
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
            fault: Some(Box::new(fault.clone())),
        })
    }
}

impl From<Waiting> for Fault {
    fn from(waiting: Waiting) -> Fault {
        waiting.fault.map_or_else(|| asks(&waiting.id, &waiting.key), |fault| *fault)
    }
}

fn asks(id: &str, key: &str) -> Fault {
    let message = format!(
        "a person wrote or accepted `{id}`, so this change waits for a person's yes; nothing changed yet"
    );
    Fault::new(Code::NeedsConfirmation, message)
        .fact("id", id)
        .fact("key", key)
        .hint(format!("a person accepts it with `heirloom review accept {key}`"))
}

/// A change that waits, as the inbox keeps it.
#[derive(Debug, Serialize, Deserialize)]
struct Held {
    change: String,
    /// The memory must still be this when the change is accepted.
    version: String,
    request: Value,
}

/// Puts a change of a memory into the inbox. What the gate refuses does not get there; the request holds whole texts, so that accepting it
/// needs nothing else.
pub(super) fn wait(call: &Call, verb: Verb, memory: &Memory, request: &impl Serialize) -> Result<Waiting> {
    let mut request = serde_json::to_value(request)
        .map_err(|e| Fault::new(Code::Internal, format!("the request cannot be saved: {e}")))?;
    if let Err(fault) = texts_screened(call, row_of(memory.kind.shelf()), &mut request) {
        let shelf = memory.kind.shelf();
        if shelf != ShelfName::Tiers {
            call.refused(&call.lock()?, shelf, memory.id.as_str(), call.entry(), &fault)?;
        }
        return Err(fault);
    }
    let held = json!(Held { change: verb.name().to_owned(), version: memory.version.clone(), request });
    let why = vec![format!("a person wrote or accepted `{}`", memory.id)];
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
    Ok(Waiting { status: "waits".to_owned(), key, id: memory.id.to_string(), why, what: held, fault: None })
}

/// What a request says in no words of anybody's: ids, hashes and kinds.
const NO_TEXT: [&str; 6] = ["id", "ids", "version", "kind", "seen", "other"];

/// Looks at every text of a request as the gate would.
fn texts_screened(call: &Call, row: Row, request: &mut Value) -> Result<()> {
    let fields = request.as_object_mut().into_iter().flatten();
    for (name, value) in fields.filter(|(name, _)| !NO_TEXT.contains(&name.as_str())) {
        screened(call, row, name, value)?;
    }
    Ok(())
}

fn screened(call: &Call, row: Row, name: &str, value: &mut Value) -> Result<()> {
    match value {
        Value::String(text) => {
            *text = call.screen().as_it_waits(text, row, call.entry().trust()).map_err(|rule| {
                Fault::new(Code::GateRefused, format!("`{name}` contains something that must not be stored"))
                    .fact("field", name)
                    .fact("rule", rule)
                    .hint("say it without the secret")
            })?;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| screened(call, row, name, item)),
        Value::Object(fields) => {
            fields.iter_mut().try_for_each(|(name, value)| screened(call, row, name, value))
        }
        _ => Ok(()),
    }
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
            .hint(format!("`heirloom review reject {}` discards it", item.key)));
    }
    let verb = heirloom_core::authority::TABLE.iter().find(|row| row.name == held.change).map(|row| row.verb);
    // The words are whose they were; a person's yes makes them believed.
    let entry = Entry { channel: item.channel, confirmed: true };
    let id = match verb {
        Some(verb @ (Verb::Retire | Verb::Restore | Verb::Archive | Verb::Unarchive)) => {
            let ask: Move = read(item, held.request)?;
            life::run(call, verb, &id, ask.reason.as_deref())?.done()?.id.to_string()
        }
        Some(Verb::Edit) => edit::run(call, &read(item, held.request)?, entry)?.done()?.id.to_string(),
        Some(Verb::Supersede) => add::run(call, &read(item, held.request)?, entry)?.done()?.id.to_string(),
        Some(Verb::Convert) => convert::run(call, &read(item, held.request)?, entry)?.done()?.id.to_string(),
        Some(Verb::Join) => join::run(call, &read(item, held.request)?, entry)?.done()?.kept.id.to_string(),
        Some(Verb::Anchor) => {
            anchor::run(call, &read(item, held.request)?, entry)?.done()?;
            item.id.clone()
        }
        _ => return Err(damaged(item)),
    };
    Ok(Some(id))
}

fn read<T: DeserializeOwned>(item: &Item, request: Value) -> Result<T> {
    serde_json::from_value(request).map_err(|_| damaged(item))
}

fn damaged(item: &Item) -> Fault {
    Fault::new(Code::Damaged, format!("inbox item `{}` is not a change that this version knows", item.key))
        .fact("id", item.id.as_str())
        .hint(format!("`heirloom review reject {}` discards it", item.key))
}
