//! Setup, as far as it is the engine's: who may take the hooks out of coding agents or change the user's own settings, and that it is written down.
//!
//! Comes in: the agents, or a setting. Goes out: leave to go on, with a line in the user's audit before anything is changed and one after it. The hooks
//! guard the memory: whoever takes them out may write past the gate. Never here: an agent's settings, which are `crates/agents`' and the door's.

use crate::call::Call;
use crate::settings::audited::{Noted, Turn};
use heirloom_core::{Owner, ShelfName, Verb, fault::Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hooks that are to be taken out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uninstall {
    /// The agents.
    pub agents: Vec<String>,
}

/// What became of the settings of coding agents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Report {
    /// Whether anything was changed.
    pub applied: bool,
    /// File by file.
    pub changes: Vec<FileChange>,
    /// What `--purge` removes beside the hooks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub purged: Vec<String>,
    /// What there is left to do for a person.
    pub next: Vec<String>,
}

/// A file of an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileChange {
    /// The agent.
    pub agent: Option<String>,
    /// The file.
    pub file: String,
    /// Whether something is to change in it.
    pub changes: bool,
    /// Whether the change was made.
    pub applied: bool,
    /// What changes, as lines of a diff.
    pub diff: Vec<String>,
}

/// Something is being changed. Dropped without [`Underway::done`], it was not.
#[derive(Debug)]
#[must_use = "say what became of it"]
pub struct Underway<'c> {
    noted: Noted,
    _turn: Turn<'c>,
}

impl Underway<'_> {
    /// It is done.
    pub fn done(self) {
        self.noted.done();
    }
}

/// Whether this caller may put hooks into coding agents. A refusal is audited.
pub fn may_install(call: &Call) -> Result<()> {
    super::asked(call, Verb::Setup, ShelfName::Records, Owner::Nobody).map(|_| ())
}

/// Whether this caller may take hooks out. A refusal is audited.
pub fn may_uninstall(call: &Call) -> Result<()> {
    call.permit(Verb::Uninstall, ShelfName::Records, "")
}

/// Says that hooks are about to be taken out.
pub fn uninstall<'c>(call: &'c Call, ask: &Uninstall) -> Result<Underway<'c>> {
    may_uninstall(call)?;
    let turn = Turn::wait(call)?;
    let noted = turn.intend(Verb::Uninstall, &format!("hooks {}", ask.agents.join(" ")), false)?;
    Ok(Underway { noted, _turn: turn })
}

/// Says that a setting of the user's own file is about to be changed, together with the agents' settings and with a receipt for all of them.
pub fn own_setting<'c>(call: &'c Call, key: &str) -> Result<Underway<'c>> {
    super::asked(call, Verb::ConfigSet, ShelfName::Records, Owner::Nobody)?;
    let turn = Turn::wait(call)?;
    let noted = turn.intend(Verb::ConfigSet, key, false)?;
    Ok(Underway { noted, _turn: turn })
}
