//! Layers: from files, flags and variables to the settings that count.
//!
//! Comes in: [`Sources`] and a project's settings file. Goes out: the settings, the origin of every value, and a warning for each that
//! does not count. A process loosens nothing by a flag or a variable; the user's own file counts as the user's word only where nobody else
//! could have written it. Never here: reading the environment.

use super::{approved, document};
use crate::project::World;
use heirloom_core::settings::{self, Layer, Loaded, Origin, Warning, flat};
use serde_json::{Map, Value};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The setting that asks for more than a terminal.
pub(crate) const PERSON_CHECK: &str = "person.check";

/// What a door found out about where settings come from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Names and values given with this call; a text that is JSON counts as that value.
    pub flags: Vec<(String, String)>,
    /// The same from the environment.
    pub environment: Vec<(String, String)>,
    /// The user's own settings file.
    pub user_file: PathBuf,
    /// Whether a person is there.
    pub person: bool,
}

/// The settings, nearest layer first.
pub fn load(sources: &Sources, folder: &Path, project_file: &Path, world: &World) -> Loaded {
    let mut broken = Vec::new();
    let own = user_document(&sources.user_file, &mut broken);
    let pinned = own.as_ref().is_some_and(asks_for_pin);
    let mut given = |pairs: &[(String, String)], origin| Layer {
        origin,
        document: only_a_person_loosens(pairs, origin, pinned, sources.person, &mut broken),
    };
    let mut layers =
        vec![given(&sources.flags, Origin::Flag), given(&sources.environment, Origin::Environment)];
    match document::read(project_file) {
        Ok(Some(document)) => {
            let yes = approved::given(folder, project_file, &document, world);
            layers.push(Layer { origin: Origin::Project, document });
            layers.extend(yes.map(|document| Layer { origin: Origin::User, document }));
        }
        Ok(None) => {}
        Err(message) => broken.push(Warning {
            name: project_file.display().to_string(),
            origin: Origin::Project,
            message,
        }),
    }
    layers.extend(own.map(|document| Layer { origin: Origin::User, document }));
    layers.sort_by_key(|layer| layer.origin);
    let mut loaded = settings::load(&layers);
    approved::explain(&mut loaded.warnings);
    loaded.warnings.extend(broken);
    loaded
}

/// The user's own settings. Guarded ones count as the user's word only where nobody else could have written them.
fn user_document(path: &Path, warnings: &mut Vec<Warning>) -> Option<Value> {
    let mut warn = |message: String| {
        let name = path.display().to_string();
        warnings.push(Warning { name, origin: Origin::User, message });
    };
    let mut document = match document::read(path) {
        Ok(document) => document?,
        Err(message) => {
            warn(message);
            return None;
        }
    };
    let Some(why) = others_may_write(path) else { return Some(document) };
    let guarded: Vec<String> = settings::flatten(&document)
        .leaves
        .iter()
        // What only asks for more is no danger, whoever wrote it.
        .filter(|(_, leaf)| settings::needs_person(leaf.key, leaf.value) && !asks(leaf))
        .map(|(name, _)| name.clone())
        .collect();
    for name in &guarded {
        flat::remove(&mut document, name);
    }
    if !guarded.is_empty() {
        let names = guarded.join(", ");
        warn(format!(
            "{why}, so these of its settings do not count: {names}; `chmod 600` the file if they are yours"
        ));
    }
    Some(document)
}

/// Why what is in a file may be somebody else's word, if it may: it belongs to another account, or others may write to it.
fn others_may_write(path: &Path) -> Option<&'static str> {
    let found = std::fs::metadata(path).ok()?;
    // The administrator's account can write anything anyway, and containers are given files of its.
    let own = [rustix::process::geteuid().as_raw(), 0].contains(&found.uid());
    match (own, found.mode() & 0o022) {
        (false, _) => Some("it belongs to another account"),
        (true, 0) => None,
        (true, _) => Some("others may write to it"),
    }
}

/// Whether a document switches the PIN on.
fn asks_for_pin(document: &Value) -> bool {
    settings::flatten(document).leaves.values().any(asks)
}

fn asks(leaf: &flat::Leaf<'_>) -> bool {
    leaf.key.name == PERSON_CHECK && leaf.value == "pin"
}

/// A process can set flags and variables for itself; it must not be able to loosen the gate that way. What is given is taken apart into
/// single settings first, and those that only a person may give are left out.
fn only_a_person_loosens(
    pairs: &[(String, String)],
    origin: Origin,
    pinned: bool,
    person: bool,
    warnings: &mut Vec<Warning>,
) -> Value {
    let mut document = Map::new();
    for (name, text) in pairs {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()));
        let given = Value::Object(Map::from_iter([(name.clone(), value)]));
        let flat = settings::flatten(&given);
        let told = flat.unmapped.iter();
        warnings.extend(told.map(|unmapped| Warning {
            name: unmapped.name.clone(),
            origin,
            message: unmapped.message.clone(),
        }));
        for name in &flat.categories {
            document.entry(format!("categories.{name}")).or_insert_with(|| Value::Object(Map::new()));
        }
        for (name, leaf) in flat.leaves {
            let guarded = settings::needs_person(leaf.key, leaf.value)
                || settings::BY_THEMSELVES.contains(&leaf.key.name);
            // Whether the person is checked is not for a call to say, and with the check on a terminal alone is not enough to loosen anything.
            let for_a_call = !pinned && leaf.key.name != PERSON_CHECK;
            if !guarded || for_a_call && person {
                document.insert(name, leaf.value.clone());
                continue;
            }
            let message = match for_a_call {
                true => "only a person at a terminal can set this for a call; the value is ignored",
                false => "this cannot be set for a call; set it in your own settings; the value is ignored",
            }
            .to_owned();
            warnings.push(Warning { name, origin, message });
        }
    }
    Value::Object(document)
}
