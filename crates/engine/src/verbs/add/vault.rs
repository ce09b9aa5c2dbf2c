//! Adding canon and registers: who the agents are, and what they are doing now.
//!
//! Comes in: [`NewVault`]. Goes out: a new line, or the next version of the register with its topic and scope. One that a person stands
//! behind waits, in whatever scope; the shelf sees to that under its lock. Never here: the vault's eight steps.

use super::super::Added;
use super::unnamed;
use crate::call::Call;
use crate::gate::Entry;
use crate::gate::fields::without_secrets;
use crate::shelf::vault::{Addition, Stored, Vault};
use heirloom_core::settings::SHARED;
use heirloom_core::{Code, Fault, Kind, fault::Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A canon or register to save.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewVault {
    /// What it says.
    pub text: String,
    /// The topic under which a register is kept up to date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// `shared`, a scope, or the agent whose scope it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// What it is about, in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// The way it came in, in the vault's own words; how far it is believed does not hang on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl NewVault {
    /// A canon or register from an object of fields. What it has no use for is refused by its name.
    pub(super) fn from_fields(fields: &Map<String, Value>, kind: &str) -> Result<NewVault> {
        let wrong = |field: &str, why: &str| {
            Fault::new(Code::Input, format!("`{field}` {why}")).fact("field", field).hint(
                "give an object with text, and perhaps topic_id, scope, category, tags, tier and source; \
                 `heirloom import` takes whole lines of a vault",
            )
        };
        let mut new = NewVault::default();
        for (field, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            let text = || value.as_str().map(str::to_owned).ok_or_else(|| wrong(field, "is not a text"));
            match field.as_str() {
                "text" => new.text = text()?,
                "topic_id" | "topic" => new.topic = Some(text()?),
                "scope" => new.scope = Some(text()?),
                "category" => new.category = Some(text()?),
                "source" => new.source = Some(text()?),
                "tier" if text()?.to_lowercase() == kind => {}
                "tier" => {
                    return Err(wrong(field, &format!("does not match `{kind}`, which is what this adds")));
                }
                "tags" => {
                    let tags = value
                        .as_array()
                        .map(|all| all.iter().map(|tag| tag.as_str().map(str::to_owned)).collect());
                    new.tags = Some(tags.flatten().ok_or_else(|| wrong(field, "is not a list of texts"))?);
                }
                _ => return Err(wrong(&without_secrets(field), &format!("is not a field of a {kind}"))),
            }
        }
        match new.text.trim().is_empty() {
            true => Err(wrong("text", "is missing")),
            false => Ok(new),
        }
    }
}

fn addition(call: &Call, new: &NewVault, kind: &Kind) -> Addition {
    Addition {
        scope: new.scope.as_deref().map_or_else(|| SHARED.to_owned(), |scope| scope_named(call, scope)),
        category: new.category.clone(),
        tier: kind.name().to_owned(),
        topic_id: new.topic.clone(),
        source: new.source.clone().unwrap_or_else(|| source(call).to_owned()),
        tags: new.tags.clone(),
        ..Addition::new(new.text.trim())
    }
}

/// How it came in, in the vault's own words.
pub fn source(call: &Call) -> &'static str {
    if call.caller().is_person() { "manual" } else { "tool" }
}

/// A scope by its own name, or by that of the agent whose it is.
pub fn scope_named(call: &Call, given: &str) -> String {
    let settings = &call.settings().vault;
    let known = given == SHARED || settings.all_scopes().contains(&given);
    match settings.agents.get(given) {
        Some(scope) if !known => scope.clone(),
        _ => given.to_owned(),
    }
}

/// What the vault stored, in the shape of every answer.
pub(in crate::verbs) fn added(call: &Call, vault: &Vault<'_>, stored: Stored) -> Added {
    Added {
        status: stored.status,
        id: stored.id,
        path: Some(call.project().shown(&vault.path())),
        notes: Vec::new(),
        assumed: Vec::new(),
        from: None,
        would: None,
    }
}

pub(super) fn add(call: &Call, new: &NewVault, kind: &Kind, entry: Entry) -> Result<Added> {
    let vault = call.vault();
    let stored = vault.add(addition(call, new, kind), entry)?;
    Ok(added(call, &vault, stored))
}

pub(super) fn rehearse(call: &Call, new: &NewVault, kind: &Kind) -> Result<Added> {
    let would = serde_json::to_string(&addition(call, new, kind)).ok();
    Ok(Added::rehearsed(unnamed(kind), Some(call.project().shown(&call.vault().path())), would))
}
