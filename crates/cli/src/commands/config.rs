//! `config`: settings with their origins, and changes to them.

use super::begin::{self, Begun};
use super::pin;
use crate::args::{Args, CategoryAction, Config, ConfigAction};
use crate::output::{Out, Table};
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::settings::Key;
use heirloom_core::{Verb, fault::Result};
use heirloom_engine::verbs::config::{
    self, AddCategory, Approve, Change, Changed, FieldSpec, Get, Set, Setting, SwitchCategory, Unset,
};
use serde_json::Value;

pub(crate) fn run(args: &Args, call: &Config, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire_for_settings(args)?;
    match &call.action {
        ConfigAction::List => {
            let values = config::list(&wired.call)?;
            out.warnings(wired.warnings());
            out.answer(&values, || {
                let mut table = Table::new(&["SETTING", "VALUE", "FROM", "WHAT IT DOES"]);
                for value in &values {
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
            let value = config::get(&wired.call, &Get { key: key.clone() })?;
            out.answer(&value, || {
                let text = value.value.as_str().map_or_else(|| value.value.to_string(), str::to_owned);
                out.line(text);
                out.say(out.style.dim(&format!("from {}", value.origin.name())));
            });
        }
        ConfigAction::Set { key, value, user } => {
            if !*user && !begins(&mut wired, args)? {
                out.say("nothing was changed");
                return Ok(exit::REFUSED);
            }
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.clone()));
            set(&mut wired, &Set { settings: vec![Setting { key: key.clone(), value }], user: *user }, out)?;
        }
        ConfigAction::Unset { key, user } => {
            let ask = Unset { key: key.clone(), user: *user };
            checked(&mut wired, Change::Unset(&ask))?;
            print(&config::unset(&wired.call, &ask)?, out);
        }
        ConfigAction::Approve { key } => {
            let ask = Approve { key: key.clone() };
            checked(&mut wired, Change::Approve(&ask))?;
            print(&config::approve(&wired.call, &ask)?, out);
        }
        ConfigAction::Pin { remove } => pin::run(&mut wired, *remove, out)?,
        ConfigAction::Category { action } => {
            if !begins(&mut wired, args)? {
                out.say("nothing was changed");
                return Ok(exit::REFUSED);
            }
            let ask = category(&wired, action)?;
            set(&mut wired, &ask, out)?;
        }
    }
    Ok(exit::OK)
}

/// Whether there is a project whose settings can be changed, or there is one now.
fn begins(wired: &mut Wired, args: &Args) -> Result<bool> {
    let begun = begin::begun(wired)?;
    if begun == Begun::Now {
        *wired = wiring::wire_for_settings(args)?;
    }
    Ok(begun != Begun::No)
}

/// Asks for the PIN if the change needs a person who was checked. Whoever may not make it at all is not asked; the verb refuses them.
fn checked(wired: &mut Wired, change: Change<'_>) -> Result<()> {
    if config::needs_person(&wired.call, change)? {
        person::checked(wired, Verb::ConfigGuarded)?;
    }
    Ok(())
}

fn set(wired: &mut Wired, ask: &Set, out: &Out) -> Result<()> {
    checked(wired, Change::Set(ask))?;
    print(&config::set(&wired.call, ask)?, out);
    Ok(())
}

fn print(changed: &Changed, out: &Out) {
    out.answer(changed, || {
        for Setting { key, value } in &changed.settings {
            let word = out.style.green(changed.status);
            match value {
                Value::Null if changed.status == "unset" => out.line(format!("{word} {key}")),
                value => out.line(format!("{word} {key} = {value}")),
            }
        }
    });
}

fn category(wired: &Wired, action: &CategoryAction) -> Result<Set> {
    let switched =
        |name: &String, on| config::switched(&wired.call, &SwitchCategory { name: name.clone(), on });
    match action {
        CategoryAction::Enable { name } => switched(name, true),
        CategoryAction::Disable { name } => switched(name, false),
        CategoryAction::Add { name, field, description, folder } => {
            let ask = AddCategory {
                name: name.clone(),
                description: description.clone(),
                folder: folder.clone(),
                fields: field.iter().map(|text| FieldSpec::parse(text)).collect(),
            };
            config::added(&wired.call, &ask)
        }
    }
}
