//! Sync: lessons between this machine and the external memory.
//!
//! Comes in: whether to move anything. Goes out: the plan, and what was done. Never here: a step that is not in the plan that the answer has.

use super::asked;
use crate::call::Call;
use crate::shelf::topics::Plan;
use heirloom_core::{Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sync {
    /// Do what the plan says; without it the plan is all.
    #[serde(default)]
    pub apply: bool,
}

/// What a sync would do, and did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Synced {
    /// What would move, as it was before anything did.
    pub plan: Plan,
    /// What was done, a line each.
    pub done: Vec<String>,
}

/// Looks at the external memory, and with `apply` exchanges lessons with it.
pub fn sync(call: &Call, ask: &Sync) -> Result<Synced> {
    asked(call, Verb::Sync, ShelfName::Topics, Owner::Nobody)?;
    let topics = call.topics();
    let plan = topics.sync_plan()?;
    let done = match ask.apply && !plan.is_empty() {
        true => topics.sync(&plan)?.done,
        false => Vec::new(),
    };
    Ok(Synced { plan, done })
}
