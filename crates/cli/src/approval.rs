//! What a project asks for that makes Heirloom act in the user's name, and the user's yes to it.
//!
//! Comes in: a project's settings. Goes out: those of its wishes that a person approved for this place, as settings of the user's. A yes
//! belongs to one key, one value and the place of one settings file, and is kept in the user's data folder. Never here: a yes from a
//! process, or one that a clone brings along.

use crate::{person, world};
use heirloom_core::fault::Result;
use heirloom_core::settings::{self, Origin, Warning};
use heirloom_engine::Project;
use heirloom_engine::files::{self, Mode};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The settings that a project may ask for and a person may approve.
const KEYS: [&str; 3] = ["auto_commit", MEMORY_ROOT, RULES];

/// Rules of the gate, where there are more of them than a project may add by itself.
const RULES: &str = "gate.rules";

/// Where the project keeps its memory: approved, other files may lie there too. It stays a place inside the project.
const MEMORY_ROOT: &str = "memory_root";

/// Whether a project may ask for this setting.
pub(crate) fn is_asked(key: &str) -> bool {
    KEYS.contains(&key)
}

/// Where the yes for a settings file is kept.
fn file_of(folder: &Path, settings_file: &Path) -> PathBuf {
    let root = settings_file.parent().unwrap_or(folder);
    Project::new(folder, root, world::world()).approvals()
}

/// What was approved of what a project asks for; `None` if it asks for nothing, which costs nothing to find out.
pub(crate) fn given(folder: &Path, settings_file: &Path, asked: &Value) -> Option<Value> {
    let mut all: Vec<(&str, &Value)> = KEYS.iter().filter_map(|key| Some((*key, asked.get(key)?))).collect();
    let nested = asked.get("gate").and_then(|gate| Some((RULES, gate.get("rules")?)));
    all.extend(nested.filter(|_| asked.get(RULES).is_none()));
    let many = |rules: &Value| rules.as_array().is_some_and(|rules| rules.len() > settings::PROJECT_RULES);
    let asked: Vec<(&str, &Value)> =
        all.into_iter().filter(|(key, value)| *key != RULES || many(value)).collect();
    if asked.is_empty() {
        return None;
    }
    let kept = world::read_document(&file_of(folder, settings_file)).ok().flatten()?;
    let same = asked.into_iter().filter(|(key, value)| *key != MEMORY_ROOT && kept.get(key) == Some(value));
    Some(Value::Object(same.map(|(key, value)| (key.to_owned(), value.clone())).collect()))
}

/// Whether a person approved what this project asks for under a key, as it asks for it now.
pub(crate) fn is_given(folder: &Path, key: &str) -> bool {
    let settings_file = folder.join(world::PROJECT_SETTINGS);
    let document = |path: &Path| world::read_document(path).ok().flatten();
    let asked = document(&settings_file);
    let kept = document(&file_of(folder, &settings_file));
    matches!((asked, kept), (Some(asked), Some(kept)) if asked.get(key).is_some() && asked.get(key) == kept.get(key))
}

/// A person who sets such a key for a project approves it by that; whatever else happens to the key takes the yes back.
pub(crate) fn follow(folder: &Path, settings_file: &Path, key: &str, value: Option<&Value>) -> Result<()> {
    if !KEYS.contains(&key) {
        return Ok(());
    }
    let path = file_of(folder, settings_file);
    let kept = world::read_document(&path).ok().flatten();
    let mut kept = kept.unwrap_or_else(|| Value::Object(Map::new()));
    let before = kept.clone();
    if let Some(all) = kept.as_object_mut() {
        match value.filter(|_| person::is_present()) {
            Some(value) => all.insert(key.to_owned(), value.clone()),
            None => all.shift_remove(key),
        };
    }
    if kept == before {
        return Ok(());
    }
    if let Some(above) = path.parent() {
        files::make_folder(above, Mode::Private)?;
    }
    files::write(&path, (kept.to_string() + "\n").as_bytes(), Mode::Private)
}

/// Says how a wish that does not count can be approved.
pub(crate) fn explain(warnings: &mut [Warning]) {
    for warning in warnings {
        if warning.origin == Origin::Project
            && !matches!(warning.name.as_str(), MEMORY_ROOT | RULES)
            && KEYS.contains(&warning.name.as_str())
        {
            warning.message = format!(
                "a project cannot switch this on by itself; type `heirloom config set {} true` to approve it here",
                warning.name
            );
        }
    }
}
