//! Settings: shown with their origins, changed in the project's file or the user's own, approved by a person.
//!
//! Comes in: keys and values, and whose file they go into. Goes out: what is set now. What would be different afterwards decides what a
//! change needs, not how it was spelled: a guarded setting is changed, removed or approved only by a person, who shows the PIN where
//! `person.check` wants it. Every change is in the audit before it is made. Never here: a question, or a setting that a project's file
//! holds only to be ignored.

mod category;
mod change;
mod pin;

pub use category::{AddCategory, FieldSpec, SwitchCategory, add_category, added, switch_category, switched};
pub use pin::{Answer, PinChanged, SetPin, check_pin, has_pin, remove_pin, set_pin, waits_for_pin};

use super::{asked, may_read};
use crate::call::Call;
use change::Plan;
pub use heirloom_core::settings::Valued;
use heirloom_core::settings::{Warning, check};
use heirloom_core::{Code, Fault, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which setting is asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// Its dotted name.
    pub key: String,
}

/// A setting and a value.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Its dotted name.
    pub key: String,
    /// Its value.
    pub value: Value,
}

/// What is to be set, all of it or nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// The settings.
    pub settings: Vec<Setting>,
    /// In the user's own file instead of the project's.
    #[serde(default)]
    pub user: bool,
}

/// What is to be taken out of a settings file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unset {
    /// The setting.
    pub key: String,
    /// Out of the user's own file instead of the project's.
    #[serde(default)]
    pub user: bool,
}

/// A wish of the project's that is to be approved, as the project's file has it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approve {
    /// The setting.
    pub key: String,
}

/// A change of settings.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// Values are set.
    Set(&'a Set),
    /// A value goes.
    Unset(&'a Unset),
    /// A person says yes to what the project asks for.
    Approve(&'a Approve),
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Changed {
    /// `set`, `unset` or `approved`.
    #[schemars(extend("enum" = ["set", "unset", "approved"]))]
    pub status: &'static str,
    /// `project` or `user`: whose file it stands in.
    #[schemars(extend("enum" = ["project", "user"]))]
    pub of: &'static str,
    /// What was named, as it was given; `null` if it went.
    pub settings: Vec<Setting>,
}

/// Every setting that has a value, by name, with where it comes from.
pub fn list(call: &Call) -> Result<Vec<Valued>> {
    may_read(call, Verb::ConfigShow)?;
    Ok(call.said().values.clone())
}

/// What could not be used of any settings file.
pub fn warnings(call: &Call) -> &[Warning] {
    &call.said().warnings
}

/// One setting.
pub fn get(call: &Call, ask: &Get) -> Result<Valued> {
    may_read(call, Verb::ConfigShow)?;
    if let Some(value) = call.said().values.iter().find(|value| value.name == ask.key) {
        return Ok(value.clone());
    }
    Err(match check(&ask.key, &Value::Null) {
        Err(why) if why.starts_with("there is no setting") => wrong(&ask.key, &why),
        _ => Fault::new(Code::NotFound, format!("`{}` has no value", ask.key))
            .hint("`heirloom config set` gives it one"),
    })
}

/// Whether a change needs a person, so that a door can ask for the PIN before it is made. The change itself asks again.
pub fn needs_person(call: &Call, change: Change<'_>) -> Result<bool> {
    Ok(!Plan::of(call, change)?.guarded.is_empty())
}

/// Sets values.
pub fn set(call: &Call, ask: &Set) -> Result<Changed> {
    let settings = change::run(call, Change::Set(ask))?;
    Ok(Changed { status: "set", of: whose(ask.user), settings })
}

/// Takes a setting out of a file.
pub fn unset(call: &Call, ask: &Unset) -> Result<Changed> {
    let settings = change::run(call, Change::Unset(ask))?;
    Ok(Changed { status: "unset", of: whose(ask.user), settings })
}

/// Approves what the project asks for, as its file has it now.
pub fn approve(call: &Call, ask: &Approve) -> Result<Changed> {
    let settings = change::run(call, Change::Approve(ask))?;
    Ok(Changed { status: "approved", of: whose(false), settings })
}

const fn whose(user: bool) -> &'static str {
    if user { "user" } else { "project" }
}

/// Whether the caller may make a change that is guarded by these settings; if none guards it, whether they may change settings at all.
fn permitted(call: &Call, guarded: &[String]) -> Result<()> {
    let Some(name) = guarded.first() else {
        return asked(call, Verb::ConfigSet, ShelfName::Records, Owner::Nobody).map(|_| ());
    };
    only_a_person(call, &format!("changing `{name}`")).map_err(|fault| fault.fact("key", name.as_str()))
}

/// Refuses whoever is no person, or was not checked where that is wanted. A refusal is audited.
fn only_a_person(call: &Call, what: &str) -> Result<()> {
    let verb = Verb::ConfigGuarded;
    let Err(fault) = call.asks(verb, ShelfName::Records, Owner::Person) else { return Ok(()) };
    let fault = match call.caller().is_person() {
        true => fault,
        false => Fault::new(Code::NeedsPerson, format!("{what} needs a person at a terminal"))
            .fact("verb", verb.name())
            .hint("run the command yourself, in a terminal of your own"),
    };
    Err(call.refuse(verb, "", fault))
}

fn wrong(key: &str, why: &str) -> Fault {
    let named = if why.contains(key) { why.to_owned() } else { format!("`{key}`: {why}") };
    Fault::new(Code::Config, named).fact("key", key)
}
