//! Categories of one's own: added, switched on and off.
//!
//! Comes in: a name and what its records hold. Goes out: the same as settings of the project. Never here: a category that is there already,
//! or a folder that belongs to another one.

use super::{Changed, Set, Setting, set};
use crate::call::Call;
use heirloom_core::{Code, Fault, fault::Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A field of a category's records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSpec {
    /// Its name.
    pub name: String,
    /// Its type; the settings' table says which there are.
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether a record must have it.
    #[serde(default)]
    pub required: bool,
}

impl FieldSpec {
    /// Reads `attendees:list:required`.
    pub fn parse(text: &str) -> FieldSpec {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default().to_owned();
        let mut field = FieldSpec { name, ty: "text".to_owned(), required: false };
        for part in parts {
            match part {
                "required" => field.required = true,
                other => field.ty = other.to_owned(),
            }
        }
        field
    }
}

/// A category to be added.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddCategory {
    /// Its name.
    pub name: String,
    /// What is kept in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its folder; made from the name if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The fields of its records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldSpec>,
}

/// A category to be switched on or off.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchCategory {
    /// Its name.
    pub name: String,
    /// Whether it takes records.
    pub on: bool,
}

/// Adds a category.
pub fn add_category(call: &Call, ask: &AddCategory) -> Result<Changed> {
    set(call, &added(call, ask)?)
}

/// Switches a category on or off.
pub fn switch_category(call: &Call, ask: &SwitchCategory) -> Result<Changed> {
    set(call, &switched(call, ask)?)
}

/// The settings that add a category.
pub fn added(call: &Call, ask: &AddCategory) -> Result<Set> {
    let AddCategory { name, description, folder, fields } = ask;
    let settings = call.settings();
    if settings.category(name).is_some() {
        return Err(Fault::new(Code::Config, format!("the category `{name}` exists already"))
            .hint(format!("`heirloom config category enable {name}` switches it on")));
    }
    let folder = folder.clone().unwrap_or_else(|| name.replace('_', "-"));
    if settings.category_of_folder(&folder).is_some() {
        return Err(Fault::new(Code::Config, format!("the folder `{folder}` belongs to another category"))
            .hint("choose another one with --folder"));
    }
    let one = |part: &str, value: Value| Setting { key: format!("categories.{name}.{part}"), value };
    let mut settings = vec![one("enabled", json!(true)), one("folder", json!(folder))];
    settings.extend(description.as_ref().map(|text| one("description", json!(text))));
    if !fields.is_empty() {
        settings.push(one("fields", json!(fields)));
    }
    Ok(Set { settings, user: false })
}

/// The setting that switches a category.
pub fn switched(call: &Call, ask: &SwitchCategory) -> Result<Set> {
    let name = &ask.name;
    if call.settings().category(name).is_none() {
        return Err(Fault::new(Code::NotFound, format!("there is no category `{name}`"))
            .hint(format!("`heirloom config category add {name}` adds it")));
    }
    let key = format!("categories.{name}.enabled");
    Ok(Set { settings: vec![Setting { key, value: json!(ask.on) }], user: false })
}
