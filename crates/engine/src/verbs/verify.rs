//! Verify: is everything as it should be, and the repair of what can be made anew.
//!
//! Comes in: whether to repair, and what the door had to say about the settings. Goes out: problems, each with its file and what to do. Never
//! here: a memory's text changed; only what is derived from the files is written.

use super::{asked, may_read};
use crate::call::Call;
use crate::project::no_memory;
use crate::shelf::Problem;
use heirloom_core::settings::Warning;
use heirloom_core::{Code, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// Where a problem of the settings is said to be.
const SETTINGS: &str = ".claude/memory/memory-config.json";

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// First make anew what can be made anew: `index.md`, the list of topics, interrupted moves.
    #[serde(default)]
    pub fix: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Verified {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What was made anew, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<String>,
}

/// Checks every shelf. A folder without a memory is an error of its own, not a memory without problems.
pub fn verify(call: &Call, ask: &Verify, said: &[Warning]) -> Result<Verified> {
    may_read(call, Verb::Verify)?;
    let root = call.project().root().folder();
    if !root.is_dir() {
        return Err(no_memory(root));
    }
    let repaired = if ask.fix { repair(call)? } else { Vec::new() };
    let mut problems: Vec<Problem> = said.iter().map(of_settings).collect();
    for shelf in call.shelves() {
        match shelf.verify() {
            // A database that cannot be reached is no fault of the files; the door says what was left out.
            Err(fault) if fault.code == Code::Unavailable && shelf.name() == ShelfName::Tiers => {}
            Err(fault) if shelf.name() == ShelfName::Tiers => problems.push(Problem {
                file: ShelfName::Tiers.name().to_owned(),
                line: None,
                code: fault.code.name(),
                fix: fault.next_step().to_owned(),
                message: fault.message,
            }),
            found => problems.extend(found?),
        }
    }
    Ok(Verified { ok: problems.is_empty(), problems, repaired })
}

fn repair(call: &Call) -> Result<Vec<String>> {
    asked(call, Verb::Repair, ShelfName::Records, Owner::Nobody)?;
    let (count, _) = call.records().rebuild(&call.lock()?)?;
    let mut done = vec![format!("index.md rebuilt with {count} entries")];
    done.extend(call.topics().repair()?);
    Ok(done)
}

fn of_settings(warning: &Warning) -> Problem {
    Problem {
        file: SETTINGS.to_owned(),
        line: None,
        code: Code::Config.name(),
        message: format!("{} ({}): {}", warning.name, warning.origin.name(), warning.message),
        fix: "`heirloom config list` shows names and values".to_owned(),
    }
}
