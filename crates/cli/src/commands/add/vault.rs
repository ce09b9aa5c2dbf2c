//! `add canon|register`: who the agents are, and what they are doing now.

use super::{object, only, words};
use crate::args::Add;
use crate::output::Out;
use crate::person;
use crate::wiring::Wired;
use heirloom_core::settings::SHARED;
use heirloom_core::{Code, Fault, Kind, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::shelf::Done;
use heirloom_engine::shelf::vault::Addition;

pub(super) fn add(wired: &Wired, call: &Add, kind: &Kind, out: &Out) -> Result<Option<Done>> {
    let topic = if *kind == Kind::Register { "--topic" } else { "--tag" };
    only(call, &["--tag", "--scope", "--category", topic])?;
    let words = words(call)?;
    let mut new = match object(&words).filter(|_| call.from.is_some()) {
        Some(fields) => serde_json::from_value(fields).map_err(|e| {
            Fault::new(Code::Input, format!("that is no {kind}: {e}"))
                .hint("give an object with text, and perhaps topic_id, scope, category, tags")
        })?,
        None => Addition::new(words.trim()),
    };
    kind.name().clone_into(&mut new.tier);
    new.source = source();
    if let Some(scope) = &call.scope {
        new.scope = scope_named(&wired.call, scope);
    }
    if call.topic.is_some() {
        new.topic_id.clone_from(&call.topic);
    }
    if call.category.is_some() {
        new.category.clone_from(&call.category);
    }
    if !call.tag.is_empty() {
        new.tags = Some(call.tag.clone());
    }
    if call.dry_run {
        out.json(&new);
        return Ok(None);
    }
    let vault = wired.call.vault();
    let stored = vault.add(new, person::entry())?;
    let path = Some(wired.call.project().shown(&vault.path()));
    Ok(Some(Done { status: stored.status, id: stored.id, path, notes: Vec::new() }))
}

/// How it came in, in the vault's own words.
pub(crate) fn source() -> String {
    if person::is_present() { "manual" } else { "tool" }.to_owned()
}

/// A scope by its own name, or by that of the agent whose it is.
fn scope_named(engine: &Call, given: &str) -> String {
    let settings = &engine.settings().vault;
    let known = given == SHARED || settings.all_scopes().contains(&given);
    match settings.agents.get(given) {
        Some(scope) if !known => scope.clone(),
        _ => given.to_owned(),
    }
}
