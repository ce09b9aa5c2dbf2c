//! What a project asks for that makes Heirloom act in the user's name, and the user's yes to it.
//!
//! Comes in: a project's settings. Goes out: those of its wishes that a person approved for this place, as settings of the user's. A yes
//! belongs to one key, one value and the place of one settings file, and is kept in the user's data folder. Never here: deciding that
//! somebody is a person; a yes that a clone brings along.

use super::document;
use crate::files::{self, Mode};
use crate::project::{Project, World};
use heirloom_core::fault::Result;
use heirloom_core::settings::{Origin, PROJECT_RULES, Warning};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The settings that a project may ask for and a person may approve.
const KEYS: [&str; 4] = ["auto_commit", MEMORY_ROOT, RULES, "notes.capture"];

/// Rules of the gate, where there are more of them than a project may add by itself.
const RULES: &str = "gate.rules";

/// Where the project keeps its memory: approved, other files may lie there too. It stays a place inside the project.
const MEMORY_ROOT: &str = "memory_root";

/// Whether a project may ask for this setting.
pub(crate) fn is_asked(key: &str) -> bool {
    KEYS.contains(&key)
}

/// What a project's settings say under a key that it may ask for, however they spell it.
pub(crate) fn wish<'a>(asked: &'a Value, key: &str) -> Option<&'a Value> {
    if !is_asked(key) {
        return None;
    }
    let nested = || key.split_once('.').and_then(|(group, last)| asked.get(group)?.get(last));
    asked.get(key).or_else(nested)
}

/// All that a project asks for. Rules of the gate count only where there are more than it may add by itself.
fn wishes(asked: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    let many = |rules: &Value| rules.as_array().is_some_and(|rules| rules.len() > PROJECT_RULES);
    KEYS.iter()
        .filter_map(move |key| Some((*key, wish(asked, key)?)))
        .filter(move |(key, value)| *key != RULES || many(value))
}

/// The yeses for one settings file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Approved {
    file: PathBuf,
    before: Map<String, Value>,
    kept: Map<String, Value>,
}

impl Approved {
    /// The yeses for the settings file of a project folder.
    pub(crate) fn read(folder: &Path, settings_file: &Path, world: &World) -> Approved {
        let root = settings_file.parent().unwrap_or(folder);
        let file = Project::new(folder, root, world.clone()).approvals();
        let kept = match document::read(&file) {
            Ok(Some(Value::Object(kept))) => kept,
            _ => Map::new(),
        };
        Approved { file, before: kept.clone(), kept }
    }

    /// Whether this value of a key was approved.
    pub(crate) fn has(&self, key: &str, value: &Value) -> bool {
        self.kept.get(key) == Some(value)
    }

    /// What was approved of what a project asks for, as settings. Where the memory lies stays the project's own word.
    pub(crate) fn of(&self, asked: &Value) -> Value {
        let same = wishes(asked).filter(|(key, value)| *key != MEMORY_ROOT && self.has(key, value));
        Value::Object(same.map(|(key, value)| (key.to_owned(), value.clone())).collect())
    }

    /// A yes to this value, or none to the key any more. Nothing is written yet.
    pub(crate) fn follow(&mut self, key: &str, value: Option<&Value>) {
        if !is_asked(key) {
            return;
        }
        match value {
            Some(value) => self.kept.insert(key.to_owned(), value.clone()),
            None => self.kept.shift_remove(key),
        };
    }

    /// Writes what is approved now, if that is something else than before.
    pub(crate) fn write_if_changed(&self) -> Result<()> {
        if self.kept == self.before {
            return Ok(());
        }
        if let Some(above) = self.file.parent() {
            files::make_folder(above, Mode::Private)?;
        }
        let text = Value::Object(self.kept.clone()).to_string() + "\n";
        files::write(&self.file, text.as_bytes(), Mode::Private)
    }
}

/// What was approved of what a project asks for; `None` if it asks for nothing, which costs nothing to find out.
pub(super) fn given(folder: &Path, settings_file: &Path, asked: &Value, world: &World) -> Option<Value> {
    wishes(asked).next().map(|_| Approved::read(folder, settings_file, world).of(asked))
}

/// Whether a person approved what this project asks for under a key, as it asks for it now.
pub(super) fn is_given(folder: &Path, settings_file: &Path, key: &str, world: &World) -> bool {
    let asked = document::read(settings_file).ok().flatten();
    let asked = asked.as_ref().and_then(|asked| asked.get(key));
    asked.is_some_and(|value| Approved::read(folder, settings_file, world).has(key, value))
}

/// Says how a wish that does not count can be approved.
pub(crate) fn explain(warnings: &mut [Warning]) {
    for warning in warnings {
        if warning.origin == Origin::Project
            && !matches!(warning.name.as_str(), MEMORY_ROOT | RULES)
            && is_asked(&warning.name)
        {
            warning.message = format!(
                "a project cannot switch this on by itself; type `heirloom config set {} true` to approve it here",
                warning.name
            );
        }
    }
}
