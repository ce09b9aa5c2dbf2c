//! Layers: whose word counts for each setting.
//!
//! Comes in: documents with their origin, nearest first. Goes out: every setting's value with its origin, warnings, and
//! the typed struct. Never here: what a value means; [`super::read`] turns JSON into values, [`super::typed`] uses them.

use super::flat::{Flat, flatten};
use super::keys::{Guard, KEYS, Key};
use super::read::{self, Bad, MOST_NAMES, rank, word_of};
use super::tiers;
use super::typed::Settings;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Most names of agents in a project's file that get a warning.
const MOST_TOLD: usize = 50;

/// Rules that a project may add without being asked about: each is compiled at every call and run over every text.
pub const PROJECT_RULES: usize = 16;

/// The longest of them, as JSON.
const PROJECT_RULE: usize = 2_048;

/// Whether one list has everything that another one has.
fn includes(list: &Value, other: &Value) -> bool {
    let (Some(list), Some(other)) = (list.as_array(), other.as_array()) else { return false };
    list.len() >= other.len() && list.starts_with(other)
}

/// Where a value comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Given with this command.
    Flag,
    /// An environment variable.
    Environment,
    /// The project's file.
    Project,
    /// The user's file.
    User,
    /// Nobody set it.
    Default,
}

impl Origin {
    /// The name on paper.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Flag => "flag",
            Origin::Environment => "environment",
            Origin::Project => "project",
            Origin::User => "user",
            Origin::Default => "default",
        }
    }
}

/// One layer.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Whose it is.
    pub origin: Origin,
    /// What it says.
    pub document: Value,
}

/// A setting with its value and origin.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Valued {
    /// The dotted name.
    pub name: String,
    /// The value in use.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
}

/// Something in a layer that could not be used.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Warning {
    /// The dotted name.
    pub name: String,
    /// Whose word it was.
    pub origin: Origin,
    /// What is wrong and what counts instead.
    pub message: String,
}

/// The settings as they count.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The typed struct.
    pub settings: Settings,
    /// Every setting that has a value, by name.
    pub values: Vec<Valued>,
    /// What could not be used.
    pub warnings: Vec<Warning>,
}

/// What there is to say about settings that are in use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// Every setting that has a value, by name.
    pub values: Vec<Valued>,
    /// What could not be used.
    pub warnings: Vec<Warning>,
}

/// Puts the layers together. They must come nearest first.
pub fn load(layers: &[Layer]) -> Loaded {
    let mut warnings = Vec::new();
    // A layer that says nothing need not be asked for every setting.
    let layers: Vec<OneLayer<'_>> = layers
        .iter()
        .filter(|layer| layer.document.as_object().is_some_and(|all| !all.is_empty()))
        .map(|layer| OneLayer { origin: layer.origin, flat: flatten(&layer.document) })
        .collect();
    let layers = layers.as_slice();
    for OneLayer { origin, flat } in layers {
        let told = flat.unmapped.iter();
        warnings.extend(told.map(|unmapped| Warning {
            name: unmapped.name.clone(),
            origin: *origin,
            message: unmapped.message.clone(),
        }));
    }
    let names = category_names(layers, &mut warnings);
    let agents = agent_names(layers);
    let mut values = BTreeMap::new();
    for key in KEYS {
        let mut resolve = |name: String| {
            if let Some((value, origin)) = resolve(key, &name, layers, &mut warnings) {
                values.insert(name, (value, origin));
            }
        };
        match key.name.split_once('*') {
            None => resolve(key.name.to_owned()),
            Some((before, after)) => {
                let names = if key.is_per_agent() { &agents } else { &names };
                names.iter().for_each(|n| resolve([before, n.as_str(), after].concat()));
            }
        }
    }
    let settings = Settings::from_values(&names, &values, &mut warnings);
    let values = values.into_iter().map(|(name, (value, origin))| Valued { name, value, origin }).collect();
    Loaded { settings, values, warnings }
}

/// A layer's leaves.
struct OneLayer<'a> {
    origin: Origin,
    flat: Flat<'a>,
}

/// Built-in categories first, then custom ones by name. The user's own come first where there are too many.
fn category_names(layers: &[OneLayer<'_>], warnings: &mut Vec<Warning>) -> Vec<String> {
    let mut names: Vec<String> = crate::kind::RECORD_KINDS.iter().map(|row| row.name.to_owned()).collect();
    let mut custom = BTreeSet::new();
    for OneLayer { origin, flat } in layers.iter().rev() {
        let mut over = 0;
        for name in flat.categories.iter().filter(|name| read::is_custom_name(name)) {
            if custom.len() < MOST_NAMES {
                custom.insert(name.clone());
            } else if !custom.contains(name) {
                over += 1;
            }
        }
        if over > 0 {
            let message = format!("there can be {MOST_NAMES} of your own; {over} more are ignored");
            warnings.push(Warning { name: "categories".to_owned(), origin: *origin, message });
        }
    }
    names.extend(custom);
    names
}

/// The agents somebody named, by name. What a project says about them is left out where each value is decided.
fn agent_names(layers: &[OneLayer<'_>]) -> Vec<String> {
    let mut names = BTreeSet::new();
    for OneLayer { origin, flat } in layers.iter().rev() {
        let agents = flat.leaves.iter().filter(|(_, leaf)| leaf.key.is_per_agent());
        let agents = agents.filter_map(|(name, leaf)| leaf.key.matches(name)?);
        // What a project's file says about agents only becomes a warning, so it need not all be looked at.
        let room = if *origin == Origin::Project { MOST_TOLD } else { usize::MAX };
        names.extend(agents.take(room).map(str::to_owned));
    }
    names.into_iter().collect()
}

fn resolve(
    key: &Key,
    name: &str,
    layers: &[OneLayer<'_>],
    warnings: &mut Vec<Warning>,
) -> Option<(Value, Origin)> {
    let mut found: Vec<(Value, Origin)> = Vec::new();
    for layer in layers {
        let Some(leaf) = layer.flat.leaves.get(name) else { continue };
        match read::coerce(key, leaf.value) {
            Ok(read::Taken { value, note }) => {
                if let Some(message) = note {
                    warnings.push(Warning { name: name.to_owned(), origin: layer.origin, message });
                }
                if let Some(message) = not_for_a_project(key, &value, layer.origin) {
                    warnings.push(Warning {
                        name: name.to_owned(),
                        origin: layer.origin,
                        message: message.to_owned(),
                    });
                    continue;
                }
                found.push((value, layer.origin));
            }
            Err(Bad { message, strictest }) => {
                warnings.push(Warning { name: name.to_owned(), origin: layer.origin, message });
                // A security setting that cannot be read counts as its strictest value.
                if let Some(value) = strictest {
                    found.push((value, layer.origin));
                }
            }
        }
    }
    decide(key, name, found, warnings)
        .or_else(|| read::default(key, name).map(|value| (value, Origin::Default)))
}

/// Why a project may not name this folder, if it may not.
fn not_for_a_project(key: &Key, value: &Value, origin: Origin) -> Option<&'static str> {
    let (Guard::InsideProject, Origin::Project) = (key.guard, origin) else { return None };
    let path = value.as_str().unwrap_or_default();
    if read::leads_out(path) {
        return Some("a project cannot move its memory outside itself; set this in your own settings");
    }
    if path.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
        return Some("git's own folder holds no memory; name another one");
    }
    (!read::is_plain_path(path)).then_some(
        "a project's folder is named with letters, digits, `.`, `_`, `-` and `/`, at most 120 of them",
    )
}

/// Applies the key's guard to the values found, nearest first.
fn decide(
    key: &Key,
    name: &str,
    mut found: Vec<(Value, Origin)>,
    warnings: &mut Vec<Warning>,
) -> Option<(Value, Origin)> {
    match key.guard {
        Guard::Open | Guard::InsideProject => {}
        Guard::UserOnly | Guard::NotProject | Guard::OwnTighten(_) => {
            if found.iter().any(|(_, origin)| *origin == Origin::Project) {
                let message =
                    "only you can set this, in your own settings; the project's value is ignored".to_owned();
                warnings.push(Warning { name: name.to_owned(), origin: Origin::Project, message });
                found.retain(|(_, origin)| *origin != Origin::Project);
            }
        }
        Guard::Adds => {
            let mut all: Vec<Value> = Vec::new();
            for (value, origin) in &found {
                let mut given: Vec<&Value> =
                    value.as_array().map(Vec::as_slice).unwrap_or_default().iter().collect();
                let before = given.len();
                if *origin == Origin::Project {
                    given.truncate(PROJECT_RULES);
                    given.retain(|rule| rule.to_string().len() <= PROJECT_RULE);
                }
                let over = before - given.len();
                // What a person approved of a project's list comes as the person's own.
                let twice: Vec<&Value> = given.into_iter().filter(|rule| !all.contains(rule)).collect();
                let approved = *origin == Origin::Project
                    && found.iter().any(|(other, of)| *of == Origin::User && includes(other, value));
                all.extend(twice.into_iter().cloned());
                if over > 0 && !approved {
                    let message = format!(
                        "a project can add {PROJECT_RULES} rules of at most {PROJECT_RULE} bytes; {over} are ignored until you set them yourself"
                    );
                    warnings.push(Warning { name: name.to_owned(), origin: *origin, message });
                }
            }
            return found.first().map(|(_, origin)| (Value::Array(all), *origin));
        }
        Guard::UserFirst => {
            if found.iter().any(|(_, origin)| *origin == Origin::User) {
                found.retain(|(_, origin)| *origin != Origin::Project);
            }
        }
        Guard::Tighten(order) => {
            let rank = |value: &Value| rank(order, value);
            let project = found.iter().position(|(_, origin)| *origin == Origin::Project);
            if let Some(at) = project {
                let below = found.get(at + 1).map(|(value, _)| rank(value));
                // Where nobody set anything and there is no default, only the strictest word is safe to take from a project.
                let usual = || read::default(key, name).or_else(|| tiers::usual_trust(name));
                let default = || usual().map_or(order.len() - 1, |value| rank(&value));
                let floor = below.unwrap_or_else(default);
                if rank(&found[at].0) < floor {
                    let message = format!(
                        "a project can only tighten this; `{}` is looser than what counts here and is ignored",
                        word_of(&found[at].0)
                    );
                    warnings.push(Warning { name: name.to_owned(), origin: Origin::Project, message });
                    found.remove(at);
                }
            }
        }
    }
    (!found.is_empty()).then(|| found.swap_remove(0))
}
