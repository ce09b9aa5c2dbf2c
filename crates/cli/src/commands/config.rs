//! `config`: settings with their origins, and changes to them.

use crate::args::{Args, CategoryAction, Config, ConfigAction};
use crate::output::{Out, Table};
use crate::wiring::Wired;
use crate::{approval, person, wiring};
use heirloom_core::code::exit;
use heirloom_core::settings::{Guard, Key, Layer, Origin, check, flat, flatten, load, needs_person};
use heirloom_core::{Code, Fault, ShelfName, Verb, fault::Result};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::pin::Pin;
use serde_json::{Map, Value, json};
use std::path::Path;

pub(crate) fn run(args: &Args, call: &Config, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire_for_settings(args)?;
    let loaded = &wired.loaded;
    let project_file = wired.call.project().folder().join(wiring::PROJECT_SETTINGS);
    let file = |user: bool| if user { wiring::user_settings_file() } else { project_file.clone() };
    match &call.action {
        ConfigAction::List => {
            out.warnings(&loaded.warnings);
            out.answer(&loaded.values, || {
                let mut table = Table::new(&["SETTING", "VALUE", "FROM", "WHAT IT DOES"]);
                for value in &loaded.values {
                    let help = Key::find(&value.name).map(|key| key.help).unwrap_or_default();
                    table.row(vec![
                        value.name.clone(),
                        value.value.to_string(),
                        value.origin.name().to_owned(),
                        help.to_owned(),
                    ]);
                }
                table.print(out);
            });
        }
        ConfigAction::Get { key } => {
            let Some(value) = loaded.values.iter().find(|value| value.name == *key) else {
                return Err(match check(key, &Value::Null) {
                    Err(why) if why.starts_with("there is no setting") => config_fault(key, &why),
                    _ => Fault::new(Code::NotFound, format!("`{key}` has no value"))
                        .hint("`heirloom config set` gives it one"),
                });
            };
            out.answer(value, || {
                let text = value.value.as_str().map_or_else(|| value.value.to_string(), str::to_owned);
                out.line(text);
                out.say(out.style.dim(&format!("from {}", value.origin.name())));
            });
        }
        ConfigAction::Set { key, value, user } => {
            let raw = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.clone()));
            set(&mut wired, &file(*user), *user, &[(key.clone(), raw)], out)?;
        }
        ConfigAction::Unset { key, user } => {
            let path = file(*user);
            let before = read(&path)?;
            let mut after = before.clone();
            if !flat::remove(&mut after, key) {
                return Err(Fault::new(
                    Code::NotFound,
                    format!("`{key}` is not set in `{}`", path.display()),
                )
                .hint("`heirloom config list` shows where values come from"));
            }
            only_a_person_changes(&mut wired, *user, &before, &after)?;
            write(&path, &after, *user)?;
            if !user {
                approval::follow(wired.call.project().folder(), &path, key, None)?;
            }
            out.line(format!("{} {key}", out.style.green("unset")));
        }
        ConfigAction::Pin { remove } => super::pin::run(&mut wired, *remove, out)?,
        ConfigAction::Category { action } => category(&project_file, &mut wired, action, out)?,
    }
    Ok(exit::OK)
}

fn config_fault(key: &str, why: &str) -> Fault {
    let named = if why.contains(key) { why.to_owned() } else { format!("`{key}`: {why}") };
    Fault::new(Code::Config, named).fact("key", key)
}

/// Sets values in the settings of the project in a folder, or in the user's own.
fn set(wired: &mut Wired, path: &Path, user: bool, given: &[(String, Value)], out: &Out) -> Result<()> {
    let folder = wired.call.project().folder().to_owned();
    let project = (!user).then_some(folder.as_path());
    let before = read(path)?;
    let mut after = before.clone();
    let mut done = Vec::new();
    for (key, raw) in given {
        // Before anything of it is told, approved or folded.
        wired.call.screen().plain("key", key)?;
        wired.call.screen().plain_value("value", raw)?;
        let asked = Value::Object(Map::from_iter([(key.clone(), raw.clone())]));
        let flat = flatten(&asked);
        if let Some(unmapped) = flat.unmapped.first() {
            return Err(config_fault(&unmapped.name, &unmapped.message));
        }
        if flat.leaves.is_empty() {
            return Err(config_fault(key, "there is no setting in this value"));
        }
        for (name, leaf) in flat.leaves {
            let value = check(&name, leaf.value).map_err(|why| config_fault(&name, &why))?;
            if name == "person.check"
                && value == "pin"
                && !Pin::of(&wired.call.project().world().data).is_set()
            {
                return Err(config_fault(&name, "there is no PIN to ask for")
                    .hint("`heirloom config pin` sets one and switches the check on"));
            }
            if let Some(folder) = project {
                if approval::is_asked(&name) && person::is_present() {
                    person::checked(wired, Verb::ConfigGuarded)?;
                }
                approval::follow(folder, path, &name, Some(&value))?;
            }
            flat::set(&mut after, &name, value);
            if let Some(folder) = project {
                may_a_project(&name, &after, folder, path)?;
            }
            done.push((name, leaf.value.clone()));
        }
    }
    only_a_person_changes(wired, user, &before, &after)?;
    write(path, &after, user)?;
    for (key, value) in done {
        out.line(format!("{} {key} = {value}", out.style.green("set")));
    }
    Ok(())
}

/// What only the user may decide must not be decided by an agent in the user's name, and an agent must not take back what a project tightened.
/// What counts is what would be different afterwards, not how the call was spelled.
fn only_a_person_changes(wired: &mut Wired, user: bool, before: &Value, after: &Value) -> Result<()> {
    let (before, after) = (flatten(before), flatten(after));
    let differs = |name: &String| {
        before.leaves.get(name).map(|leaf| leaf.value) != after.leaves.get(name).map(|leaf| leaf.value)
    };
    for (name, leaf) in before.leaves.iter().chain(&after.leaves).filter(|(name, _)| differs(name)) {
        let asks = match leaf.key.guard {
            Guard::Open => false,
            _ if user => true,
            Guard::Adds => before.leaves.contains_key(name),
            Guard::Tighten(_) => {
                before.leaves.contains_key(name)
                    && after.leaves.get(name).is_none_or(|leaf| needs_person(leaf.key, leaf.value))
            }
            Guard::UserFirst | Guard::UserOnly | Guard::NotProject | Guard::InsideProject => false,
        };
        if asks {
            person::required(&format!("changing `{name}`"))?;
            person::checked(wired, Verb::ConfigGuarded)?;
            wired.call.permit(Verb::ConfigGuarded, ShelfName::Records, "")?;
        }
    }
    Ok(())
}

/// Refuses what would be written into the project's file only to be ignored there.
fn may_a_project(key: &str, document: &Value, folder: &Path, path: &Path) -> Result<()> {
    let user = wiring::read_document(&wiring::user_settings_file()).ok().flatten().unwrap_or_default();
    let layer = |origin, document| Layer { origin, document };
    let mut layers = vec![layer(Origin::Project, document.clone())];
    layers.extend(approval::given(folder, path, document).map(|approved| layer(Origin::User, approved)));
    layers.push(layer(Origin::User, user));
    let mut loaded = load(&layers);
    approval::explain(&mut loaded.warnings);
    let ignored = loaded.warnings.iter().find(|w| w.name == key && w.origin == Origin::Project);
    ignored.map_or(Ok(()), |warning| {
        Err(config_fault(key, &warning.message).hint("`--user` changes it in your own settings"))
    })
}

pub(super) fn read(path: &Path) -> Result<Value> {
    match wiring::read_document(path) {
        Ok(document) => Ok(document.unwrap_or_else(|| Value::Object(Map::new()))),
        Err(why) => Err(Fault::new(Code::Config, format!("`{}`: {why}", path.display()))
            .hint("correct the file by hand first; nothing was changed")),
    }
}

/// The user's own settings may name what opens things, and are nobody else's to read.
pub(super) fn write(path: &Path, document: &Value, user: bool) -> Result<()> {
    if let Some(folder) = path.parent() {
        files::make_folder(folder, Mode::Shared)?;
    }
    let text = serde_json::to_string_pretty(document).unwrap_or_default() + "\n";
    files::write(path, text.as_bytes(), if user { Mode::Private } else { Mode::Shared })
}

fn category(path: &Path, wired: &mut Wired, action: &CategoryAction, out: &Out) -> Result<()> {
    let settings = wired.call.settings().clone();
    let known = |name: &str| settings.category(name).is_some();
    let switch = |wired: &mut Wired, name: &str, on: bool| {
        if !known(name) {
            return Err(Fault::new(Code::NotFound, format!("there is no category `{name}`"))
                .hint(format!("`heirloom config category add {name}` adds it")));
        }
        set(wired, path, false, &[(format!("categories.{name}.enabled"), json!(on))], out)
    };
    match action {
        CategoryAction::Enable { name } => switch(wired, name, true),
        CategoryAction::Disable { name } => switch(wired, name, false),
        CategoryAction::Add { name, field, description, folder } => {
            if known(name) {
                return Err(Fault::new(Code::Config, format!("there is already a category `{name}`"))
                    .hint(format!("`heirloom config category enable {name}` switches it on")));
            }
            let mut values = vec![(format!("categories.{name}.enabled"), json!(true))];
            let given = folder.clone().unwrap_or_else(|| name.replace('_', "-"));
            if settings.category_of_folder(&given).is_some() {
                return Err(Fault::new(
                    Code::Config,
                    format!("the folder `{given}` belongs to another category"),
                )
                .hint("choose another one with --folder"));
            }
            values.push((format!("categories.{name}.folder"), json!(given)));
            if let Some(text) = description {
                values.push((format!("categories.{name}.description"), json!(text)));
            }
            if !field.is_empty() {
                let fields: Vec<Value> = field.iter().map(|text| parse_field(text)).collect();
                values.push((format!("categories.{name}.fields"), Value::Array(fields)));
            }
            set(wired, path, false, &values, out)
        }
    }
}

/// `attendees:list:required` as a field.
fn parse_field(text: &str) -> Value {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let mut field = json!({ "name": name, "type": "text", "required": false });
    for part in parts {
        match part {
            "required" => field["required"] = json!(true),
            other => field["type"] = json!(other),
        }
    }
    field
}
