//! Doctor: every link of the chain from agent to memory.
//!
//! Comes in: what only a door can see (where the program is, what agents have in their settings, whether a memory made the round trip). Goes out:
//! checks in the order of the chain, each with a fix. The rest is looked at here: settings, the store, its index, hooks that failed,
//! endpoints. Never here: repairing anything, or a trace left in the project.

use super::may_read;
use crate::call::Call;
use crate::endpoints;
use crate::hook::doctor::{Facts, TierFacts, diagnose};
use crate::hook::trace;
use crate::index::embed::Embedder as _;
use crate::index::embed::chosen::Chosen;
use crate::shelf::Shelf as _;
use heirloom_core::settings::Endpoint;
use heirloom_core::{Code, Verb, fault::Result};
use serde::{Deserialize, Serialize};

pub use crate::hook::doctor::{AgentFacts, Check, ClientFacts, State};

/// Runs looked at to see whether hooks have been failing.
const RUNS: usize = 50;

/// What a door found out. A door that cannot see any of it asks with nothing, and is told about the rest.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Doctor {
    /// What was found of this program and the agents on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
}

/// What a machine has.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Where this program is, if it can be found by its name.
    #[serde(default)]
    pub program: Option<String>,
    /// Whether a token was given.
    #[serde(default)]
    pub token: bool,
    /// The agents found here.
    #[serde(default)]
    pub agents: Vec<AgentFacts>,
    /// The programs found here that start MCP servers.
    #[serde(default)]
    pub clients: Vec<ClientFacts>,
    /// Why a memory written in a temporary project did not come back at a prompt there, if it did not.
    #[serde(default)]
    pub round_trip_fault: Option<String>,
}

/// How everything stands.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Checked {
    /// Whether nothing is broken.
    pub ok: bool,
    /// The checks, in the order of the chain.
    pub checks: Vec<Check>,
}

/// Checks every link.
pub fn doctor(call: &Call, ask: &Doctor) -> Result<Checked> {
    may_read(call, Verb::Doctor)?;
    let project = call.project();
    let Machine { program, agents, clients, round_trip_fault, token: _ } =
        ask.machine.clone().unwrap_or_default();
    let runs = trace::last(project, RUNS).unwrap_or_default();
    let facts = Facts {
        program,
        agents,
        clients,
        settings: call
            .said()
            .warnings
            .iter()
            .map(|warning| format!("`{}` ({}): {}", warning.name, warning.origin.name(), warning.message))
            .collect(),
        store_fault: store_fault(call),
        index_mismatches: index_mismatches(call)?,
        unreadable_lines: call.vault().stats()?.unreadable_lines,
        passed_over: passed_over(call)?,
        external: external(call),
        failing: trace::failing(&runs),
        left_out: trace::left_out(&runs),
        endpoints: endpoints_of(call),
        tiers: tiers_of(call, ask.machine.as_ref().is_some_and(|machine| machine.token)),
        model: call.model().map(|model| model.space().model.clone()),
        model_fault: model_fault(call),
        round_trip_fault,
    };
    let mut checks = diagnose(&facts);
    if ask.machine.is_none() {
        checks.retain(|check| !MACHINES.contains(&check.id));
    }
    Ok(Checked { ok: checks.iter().all(|check| check.state != State::Broken), checks })
}

/// The checks that rest on what only a door on this machine can see.
const MACHINES: [&str; 5] = ["program", "agents", "agent", "server", "round trip"];

/// Whether the database can be reached and the token is somebody's.
fn tiers_of(call: &Call, token: bool) -> Option<TierFacts> {
    let mut facts = TierFacts { token, ..TierFacts::default() };
    match call.tiers() {
        Ok(tiers) => {
            tiers.who().user().clone_into(&mut facts.user);
            facts.backend = tiers.store().backend();
            // Looking at a place where nothing was ever stored must not make one.
            let looked = if tiers.are_there() { tiers.count().map(drop) } else { tiers.store().reach() };
            facts.fault = looked.err().map(|fault| fault.message);
        }
        Err(fault) if fault.code == Code::Unauthenticated && token => facts.token_fault = Some(fault.message),
        // A door that signs nobody in has no database to speak of.
        Err(fault) if fault.code == Code::Unauthenticated => return None,
        Err(fault) => facts.fault = Some(fault.message),
    }
    Some(facts)
}

/// Why recall does not compare meanings with the model that was chosen, if so.
fn model_fault(call: &Call) -> Option<String> {
    let Some(model) = call.model() else {
        return Some("no model can be used, so recall compares words only".to_owned());
    };
    let ignored = Chosen::file(&call.project().world().data).exists() && model.is_quick();
    ignored.then(|| "the installed model cannot be read; recall uses the built-in one instead".to_owned())
}

/// The endpoints of the user's settings, and what is wrong with them.
fn endpoints_of(call: &Call) -> Vec<(String, Option<String>)> {
    let settings = call.settings();
    let embedding = settings.embedding.as_ref().map(|named| ("embedding", &named.endpoint));
    let extraction = settings.extraction.as_ref().map(|named| ("extraction", named));
    let seen = |(what, named): (&str, &Endpoint)| {
        let trouble = endpoints::trouble(&call.project().world().data, &named.url);
        let why = trouble.map(|trouble| {
            format!(
                "has failed {} times since {}: {}; recall works without it meanwhile",
                trouble.failures, trouble.since, trouble.reason
            )
        });
        (format!("the {what} endpoint"), why)
    };
    embedding.into_iter().chain(extraction).map(seen).collect()
}

/// The most notes of a check that are named.
const NAMED: usize = 10;

fn passed_over(call: &Call) -> Result<Vec<String>> {
    let found = call.notes().passed_over()?;
    let mut told: Vec<String> =
        found.iter().take(NAMED).map(|one| format!("`{}`: {}", one.file, one.message)).collect();
    if found.len() > NAMED {
        told.push(format!("and {} more", found.len() - NAMED));
    }
    Ok(told)
}

/// External memory, as `status` and `verify` see it.
fn external(call: &Call) -> Option<(String, Option<(String, String)>)> {
    let state = call.topics().external_state();
    let trouble = || state.error.as_ref().map(|error| (error.message.clone(), error.next.clone()));
    state.enabled.then(|| (state.line(), trouble()))
}

/// Why nothing can be written, if so.
fn store_fault(call: &Call) -> Option<String> {
    let root = call.project().root().folder();
    if !root.is_dir() {
        return None;
    }
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    if let Err(e) = rustix::fs::access(root, access) {
        return Some(format!("`{}` cannot be written: {e}", root.display()));
    }
    // A store nobody has used on this machine has no lock to wait for, and looking must not make it one.
    let lock = || call.project().lock().err().map(|fault| fault.message);
    call.project().has_local().then(lock).flatten()
}

fn index_mismatches(call: &Call) -> Result<Option<usize>> {
    if !call.project().root().folder().is_dir() {
        return Ok(None);
    }
    let mismatch = call.records().compare_index()?;
    // Without an index the next prompt makes one.
    Ok(Some(mismatch.map_or(0, |mismatch| mismatch.missing.len() + mismatch.stale.len())))
}
