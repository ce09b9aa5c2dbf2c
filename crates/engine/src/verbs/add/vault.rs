//! Adding canon and registers: who the agents are, and what they are doing now.
//!
//! Comes in: [`NewVault`]. Goes out: a new line, or the next version of the register with its topic and scope. One that a person stands
//! behind waits, in whatever scope; the shelf sees to that under its lock. Never here: the vault's eight steps.

use super::super::Added;
use super::unnamed;
use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::vault::{Addition, Stored, Vault};
use heirloom_core::settings::SHARED;
use heirloom_core::{Kind, fault::Result};
use serde::{Deserialize, Serialize};

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
}

fn addition(call: &Call, new: &NewVault, kind: &Kind) -> Addition {
    Addition {
        scope: new.scope.as_deref().map_or_else(|| SHARED.to_owned(), |scope| scope_named(call, scope)),
        category: new.category.clone(),
        tier: kind.name().to_owned(),
        topic_id: new.topic.clone(),
        source: source(call).to_owned(),
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
