//! What a session may be told at its start, chosen by trust.
//!
//! Comes in: an engine and an agent. Goes out: the facts for [`super::start::block`]. Only what a person wrote or accepted is told to every
//! session; from agents only what the last session on this machine left to do and the agent's own registers, labelled. Never here: rendering; text found in the repository that nobody
//! here wrote or accepted.

use super::start::{Facts, Standing};
use super::trace;
use crate::call::Call;
use crate::files;
use crate::inject::calm::calm;
use crate::shelf::anchors::{self, Anchored, Freshness};
use heirloom_core::{Kind, Memory, Source, Trust, fault::Result, hash};
use serde_json::Value;
use std::collections::BTreeSet;

/// Runs looked at to see whether hooks have been failing.
const RUNS: usize = 50;
/// What was already named as waiting in review, a hash a line.
const TOLD: &str = "told-in-review";
const TOLD_MAX: u64 = 1 << 20;

/// Most characters of the vault's snapshot: it shares the budget of a session's start with what else must be known.
const SNAPSHOT_MAX: usize = 1_200;

/// Gathers what an agent may be told. What is new in review is told once: it counts as told from now on. A guest is told nothing of it, since
/// nothing may be written for one.
pub fn gather(call: &Call, agent: &str, is_guest: bool) -> Result<Facts> {
    if !call.project().root().folder().is_dir() {
        return Ok(Facts::default());
    }
    // Nothing else is told to every session, and a store may hold very many of the others.
    let active: Vec<Memory> = call
        .records()
        .active_in(&[Kind::Constraint, Kind::Preference, Kind::SessionSummary])?
        .into_iter()
        .filter(|memory| {
            call.settings().category(memory.kind.name()).is_some_and(|category| category.enabled)
        })
        .collect();
    let steers = |memory: &&Memory| matches!(memory.kind, Kind::Constraint | Kind::Preference);
    let runs = trace::last(call.project(), RUNS)?;
    let mut facts = Facts {
        snapshot: snapshot(call, agent)?,
        new_in_review: if is_guest { 0 } else { new_in_review(call, active.iter().filter(steers))? },
        failing: trace::failing(&runs),
        leaves_out: !trace::left_out(&runs).is_empty(),
        ..Facts::default()
    };
    let standing: Vec<&Memory> =
        active.iter().filter(steers).filter(|memory| memory.trust == Trust::High).collect();
    let ids: Vec<&str> = standing.iter().map(|memory| memory.id.as_str()).collect();
    // Citations that cannot be read cost nobody a memory.
    let cited = anchors::check_ids(call, &ids).unwrap_or_default();
    for memory in standing {
        let cited = cited.get(memory.id.as_str());
        if cited.is_some_and(|cited| cited.state == Freshness::Gone) {
            continue;
        }
        let said = content(call, memory, if memory.kind == Kind::Constraint { "rule" } else { "value" })?;
        let text =
            said.first().map_or_else(|| memory.title.clone(), |said| format!("{}: {said}", memory.title));
        let stale = cited.and_then(Anchored::label);
        let id = memory.id.as_str().to_owned();
        facts.standing.push(Standing { id, label: memory.kind.label(), text, origin: None, stale });
    }
    let last = active
        .iter()
        .filter(|memory| memory.kind == Kind::SessionSummary && memory.source != Source::Repository)
        .max_by_key(|memory| memory.updated_at.as_deref().and_then(heirloom_core::time::parse));
    if let Some(last) = last {
        let origin = (last.trust < Trust::High).then(|| "an agent's summary".to_owned());
        for text in content(call, last, "next_actions")? {
            let origin = origin.clone();
            let (id, label) = (last.id.as_str().to_owned(), last.kind.label());
            facts.next_actions.push(Standing { id, label, text, origin, stale: None });
        }
    }
    // What is about to be shown is checked like a file.
    let row = crate::gate::policy::Row::Records;
    let allowed = |memory: &Standing| call.screen().would_refuse(&memory.text, row).is_none();
    facts.standing.retain(allowed);
    facts.next_actions.retain(allowed);
    for one in facts.standing.iter_mut().chain(&mut facts.next_actions) {
        one.text = calm(call, &one.text).into_owned();
        one.stale = one.stale.take().map(|stale| calm(call, &stale).into_owned());
    }
    Ok(facts)
}

/// The lines of the vault's snapshot for an agent: what is shared and what is its own, by the vault's rules of trust.
fn snapshot(call: &Call, agent: &str) -> Result<Vec<String>> {
    let vault = call.vault();
    let block = vault.snapshot(&vault.reader(Some(agent)), Some(SNAPSHOT_MAX))?;
    // The first line is its heading, and the section has one of its own.
    Ok(block.lines().skip(1).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// The texts of a record's content field.
fn content(call: &Call, memory: &Memory, field: &str) -> Result<Vec<String>> {
    let document = call.records().document(&memory.id)?;
    let value = document.as_ref().and_then(|document| document.content()?.get(field));
    Ok(match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    })
}

fn new_in_review<'a>(call: &Call, steering: impl Iterator<Item = &'a Memory>) -> Result<usize> {
    let mark = |id: &str, version: &str| hash::sha256(format!("{id}\n{version}").as_bytes())[..32].to_owned();
    let mut waiting: BTreeSet<String> = steering
        .filter(|memory| memory.trust < Trust::High)
        .map(|memory| mark(memory.id.as_str(), &memory.content_hash))
        .collect();
    let drafts = call.inbox()?.list(call.project().world().now)?;
    waiting.extend(drafts.iter().map(|draft| mark(&draft.key, "draft")));
    let path = call.project().data()?.join(TOLD);
    let told = files::read_text(&path, TOLD_MAX)?.unwrap_or_default();
    let known: BTreeSet<&str> = told.lines().collect();
    let new = waiting.iter().filter(|mark| !known.contains(mark.as_str())).count();
    if new > 0 {
        // Only what still waits is kept, so the list cannot grow without end.
        let lines: Vec<String> = waiting.into_iter().collect();
        files::write_passing(&path, lines.join("\n").as_bytes())?;
    }
    Ok(new)
}
