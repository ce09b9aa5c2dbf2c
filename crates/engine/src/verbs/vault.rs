//! The vault's own verbs: promote, and many at once.
//!
//! Comes in: ids or additions. Goes out: one outcome each. Whatever a person stands behind waits, one by one, and costs the others nothing.
//! Never here: the vault's eight steps.

use super::add::source;
use super::convert::{self, Convert};
use super::names::{self, Enough};
use super::{Added, Outcome, asked, asked_of, commit, life, seen};
use crate::call::Call;
use crate::convert::Conversion;
use crate::gate::fields::without_secrets;
pub use crate::shelf::vault::Retired;
use crate::shelf::vault::{Addition, Stored, Write};
use crate::shelf::{Shelf as _, unknown};
use heirloom_core::{Code, Fault, Kind, May, Memory, MemoryId, Owner, ShelfName, Verb, fault::Result, json};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A register that is to become canon.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promote {
    /// Which one, by id or name.
    pub id: String,
    /// Its text as canon, if other than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Further labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The version that a person was shown and makes canon as it is. From anybody else it counts for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

impl Promote {
    fn as_conversion(&self, call: &Call) -> Result<Convert> {
        Ok(Convert {
            id: named(call, &self.id)?.to_string(),
            kind: Kind::Canon.name().to_owned(),
            wanted: Conversion { words: self.text.clone(), tags: self.tags.clone(), ..Conversion::default() },
            seen: self.seen.clone(),
        })
    }
}

/// What a person is to be shown before it becomes canon as it is; nothing if nobody is to be asked.
pub fn to_show(call: &Call, ask: &Promote) -> Result<Option<Memory>> {
    convert::to_show(call, &ask.as_conversion(call)?)
}

/// Makes canon of a register.
pub fn promote(call: &Call, ask: &Promote) -> Result<Outcome<Added>> {
    let outcome = convert::run(call, &ask.as_conversion(call)?, call.entry())?;
    if let Outcome::Done(made) = &outcome {
        commit::commit(call, &format!("memory: promote {}", made.id));
    }
    Ok(outcome)
}

/// A vault id as people type it: with its kind, or the bare name a line has.
fn named(call: &Call, given: &str) -> Result<MemoryId> {
    if MemoryId::parse(given).is_none() && !given.trim().is_empty() {
        let id = MemoryId::new(&Kind::Register, given);
        if let Some(memory) = call.vault().get(&id)? {
            return Ok(memory.id);
        }
    }
    let id = names::find(call, given, Enough::to_change(call))?;
    if id.kind().shelf() == ShelfName::Vault { Ok(id) } else { Err(unknown(given)) }
}

/// What an addition may say.
const FIELDS: [&str; 7] = ["text", "tier", "topic_id", "scope", "category", "tags", "source"];

fn not_taken(why: impl Into<String>) -> Fault {
    Fault::new(Code::Input, why).hint(
        "give objects with text, and perhaps tier, topic_id, scope, category, tags and source; \
         `heirloom import` takes whole lines of a vault",
    )
}

/// The additions that a text holds: a JSON array, one object, or one object per line. One that cannot be read costs only itself.
pub fn additions(call: &Call, bytes: &[u8]) -> Result<Vec<Result<Addition>>> {
    let one = |value| addition(call, value);
    match json::parse(bytes) {
        Ok(Value::Array(items)) => Ok(items.into_iter().map(one).collect()),
        Ok(object @ Value::Object(_)) => Ok(vec![one(object)]),
        // An array that breaks off is not a list of its lines.
        Err(why) if bytes.trim_ascii_start().starts_with(b"[") => {
            Err(not_taken(format!("the JSON array cannot be read: {why}")))
        }
        _ => {
            let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty());
            let read = |line| json::parse(line).map_err(|why| not_taken(format!("it is not JSON: {why}")));
            let read: Vec<Result<Value>> = lines.map(read).collect();
            // A text without any JSON is not a list of bad items.
            match read.iter().all(Result::is_err) {
                true => Err(not_taken("this is not JSON")),
                false => Ok(read.into_iter().map(|value| value.and_then(one)).collect()),
            }
        }
    }
}

/// One addition. What it has no use for is refused by its name.
fn addition(call: &Call, value: Value) -> Result<Addition> {
    let Value::Object(mut fields) = value else { return Err(not_taken("it is not a JSON object")) };
    fields.retain(|_, value| !value.is_null());
    for (name, value) in &fields {
        let texts = |all: &Vec<Value>| all.iter().all(Value::is_string);
        match name.as_str() {
            "tags" if value.as_array().is_some_and(texts) => {}
            "tags" => return Err(not_taken("`tags` is not a list of texts")),
            name if !FIELDS.contains(&name) => {
                let name = without_secrets(name);
                return Err(not_taken(format!("`{name}` is no field of a canon or register")));
            }
            _ if value.is_string() => {}
            name => return Err(not_taken(format!("`{name}` is not a text"))),
        }
    }
    if !fields.contains_key("text") {
        return Err(not_taken("`text` is missing"));
    }
    fields.entry("source").or_insert_with(|| json!(source(call)));
    serde_json::from_value(Value::Object(fields)).map_err(|_| not_taken("it is not a vault memory"))
}

/// What became of one of many additions.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AddedOne {
    /// `created`, `updated`, …; `waits` or `refused`, with why.
    pub status: &'static str,
    /// The memory's id, or the one that a draft would get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why it waits or was refused.
    #[serde(flatten)]
    pub why: Option<Refusal>,
}

/// Why an addition is not stored.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Refusal {
    /// The code of the table.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// The same code, for a door's exit code.
    #[serde(skip)]
    pub of: Code,
}

impl AddedOne {
    fn of(answer: Result<Stored>) -> AddedOne {
        match answer {
            Ok(stored) => AddedOne { status: stored.status, id: Some(stored.id.to_string()), why: None },
            Err(fault) => {
                let waits = fault.code == Code::NeedsConfirmation;
                AddedOne {
                    status: if waits { "waits" } else { "refused" },
                    id: fault.get("id").filter(|_| waits).map(str::to_owned),
                    why: Some(Refusal {
                        code: fault.code.name(),
                        hint: fault.next_step().to_owned(),
                        of: fault.code,
                        message: fault.message,
                    }),
                }
            }
        }
    }
}

/// Adds many in one pass. One that cannot be read, is refused or waits costs only itself.
pub fn bulk_add(call: &Call, all: Vec<Result<Addition>>) -> Result<Vec<AddedOne>> {
    asked(call, Verb::Add, ShelfName::Vault, Owner::Nobody)?;
    let writes = all.iter().filter_map(|one| one.as_ref().ok()).cloned().map(Write::Add).collect();
    let mut answers = call.vault().write_all(writes, call.entry())?.into_iter();
    commit::commit(call, "memory: add to the vault");
    let one = |read: Result<Addition>| match read {
        Ok(_) => answers.next().map(AddedOne::of),
        Err(fault) => Some(AddedOne::of(Err(fault))),
    };
    Ok(all.into_iter().filter_map(one).collect())
}

/// Takes many out of use in one pass; what is a person's waits for one.
pub fn bulk_delete(call: &Call, ids: &[String]) -> Result<Retired> {
    asked(call, Verb::Retire, ShelfName::Vault, Owner::Nobody)?;
    let mut free = Vec::new();
    let mut waiting = Vec::new();
    let mut unknown = Vec::new();
    // Answers name whole ids: a bare name is none that another command takes.
    let mut whole: HashMap<String, String> = HashMap::new();
    for given in ids {
        let name = given.split_once(':').map_or(given.as_str(), |(_, name)| name);
        match seen(call, &MemoryId::new(&Kind::Register, name)) {
            Ok(memory) if asked_of(call, Verb::Retire, &memory, call.owner_of(&memory)?)? == May::Waits => {
                life::run(call, Verb::Retire, &memory.id, None)?;
                waiting.push(memory.id.to_string());
            }
            Ok(memory) => {
                whole.insert(name.to_owned(), memory.id.to_string());
                free.push(name);
            }
            // Not there, or not this caller's to see.
            Err(fault) if fault.code == Code::NotFound => unknown.push(given.clone()),
            Err(fault) => return Err(fault),
        }
    }
    let retired = call.vault().retire_all(&free, call.entry())?;
    commit::commit(call, "memory: retire from the vault");
    let named = |names: Vec<String>| names.into_iter().map(|name| whole.get(&name).cloned().unwrap_or(name));
    waiting.extend(named(retired.waiting));
    unknown.extend(named(retired.not_found));
    Ok(Retired { deleted: named(retired.deleted).collect(), waiting, not_found: unknown })
}
