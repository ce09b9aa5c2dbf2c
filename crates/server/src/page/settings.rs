//! Settings: every value, where it comes from and what it does; a form to change each.
//!
//! Comes in: what `config list` knows. Goes out: a screen. Whose file a value goes into, a person says. Never here: which of them are guarded; the verb
//! refuses.

use super::Asked;
use super::layout::Screen;
use super::parts;
use heirloom_core::settings::keys::{Guard, Key, Type};
use heirloom_core::settings::{Origin, Valued};
use heirloom_core::{Verb, fault::Result};
use heirloom_engine::verbs::config;
use maud::{Markup, html};

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    let values = config::list(asked.call)?;
    let warnings = config::warnings(asked.call);
    let open = asked.form.text("key");
    let body = html! {
        @if !warnings.is_empty() {
            section { (parts::counted("Not used", warnings.len())) ul.lines { @for one in warnings { li { code { (one.name) } " (" (one.origin.name()) "): " (one.message) } } } }
        }
        p.dim { "Nearest wins: a flag, the environment, the project's file, your own file, the default." }
        @for (group, some) in grouped(&values) {
            section.settings { h2 { (group) } @for value in some { (one(asked, value, open == Some(value.name.as_str()))) } }
        }
    };
    Ok(Screen::new("Settings", "/settings", body))
}

/// The settings by the first part of their names.
fn grouped(values: &[Valued]) -> Vec<(&str, &[Valued])> {
    fn group(value: &Valued) -> &str {
        value.name.split_once('.').map_or("general", |(group, _)| group)
    }
    values.chunk_by(|a, b| group(a) == group(b)).map(|some| (group(&some[0]), some)).collect()
}

fn one(asked: &Asked<'_>, value: &Valued, open: bool) -> Markup {
    let key = Key::find(&value.name);
    html! {
        details.setting data-item open[open] {
            summary { code { (value.name) } " " span.value { (shown(value)) } " " span.state[value.origin != Origin::Default] { (value.origin.name()) } }
            @if let Some(key) = key {
                p { (key.help) @if key.guard != Guard::Open { " Only a person changes it." } }
                form.bar method="post" action="/do/set" {
                    (parts::carried(asked, Verb::ConfigGuarded))
                    input type="hidden" name="key" value=(value.name);
                    label { "Value " (field(key, value)) }
                    label { "In " select name="of" { option value="project" { "the project's file" } option value="user" selected[value.origin == Origin::User || key.guard == Guard::UserOnly] { "your own file" } } }
                    button { "Set" }
                }
                @if matches!(value.origin, Origin::Project | Origin::User) {
                    form.bar method="post" action="/do/unset" {
                        (parts::carried(asked, Verb::ConfigGuarded))
                        input type="hidden" name="key" value=(value.name);
                        input type="hidden" name="of" value=(value.origin.name());
                        button.quiet { "Remove it from " (if value.origin == Origin::User { "your own file" } else { "the project's file" }) }
                    }
                }
            }
        }
    }
}

fn shown(value: &Valued) -> String {
    let text = value.value.as_str().map_or_else(|| value.value.to_string(), str::to_owned);
    match text.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn field(key: &Key, value: &Valued) -> Markup {
    let text = value.value.as_str().map_or_else(|| value.value.to_string(), str::to_owned);
    match key.ty {
        Type::Switch => {
            html! { select name="value" { @for word in ["true", "false"] { option selected[text == word] { (word) } } } }
        }
        Type::Choice(words) => {
            html! { select name="value" { @for word in words { option selected[text == *word] { (word) } } } }
        }
        Type::Whole { min, max } => {
            html! { input type="number" name="value" min=(min) max=(max) value=(text) required; }
        }
        Type::Share => {
            html! { input type="number" name="value" min="0" max="1" step="any" value=(text) required; }
        }
        _ => html! { input name="value" value=(text); },
    }
}
