//! Whether an agent would run hooks at all: switched off, not trusted, or already there as a plugin.
//!
//! Comes in: the text of an agent's settings. Goes out: what stands in the way. Never here: a settings file that cannot be read is
//! nobody's fault but its owner's, and stands in nobody's way.

use crate::bundle::{CATALOGUE, PLUGIN};
use crate::table::{Agent, Dialect};
use serde_json::Value;

/// What in a settings file switches all hooks off.
pub fn switched_off(agent: &Agent, settings: &str) -> Option<&'static str> {
    let on = |value: &Value, path: &str, wanted: bool| value.pointer(path) == Some(&Value::Bool(wanted));
    match agent.dialect {
        Dialect::ClaudeCode => {
            let value = parsed(settings)?;
            let switches = [
                ("/disableAllHooks", "disableAllHooks"),
                ("/allowManagedHooksOnly", "allowManagedHooksOnly"),
            ];
            switches.into_iter().find(|(path, _)| on(&value, path, true)).map(|(_, name)| name)
        }
        Dialect::Gemini => {
            on(&parsed(settings)?, "/hooksConfig/enabled", false).then_some("hooksConfig.enabled: false")
        }
        Dialect::Codex => {
            let off = tables(settings)
                .any(|(table, line)| table == "features" && assigns(line, "hooks") == Some("false"));
            off.then_some("features.hooks = false")
        }
        Dialect::OpenCode | Dialect::Copilot | Dialect::Cursor => None,
    }
}

/// Whether the agent has an approval on file for every hook of `hooks_file`. `settings` is the file it keeps them in. An approval is
/// bound to a hash that only the agent can make, so one that is out of date is still taken for one.
pub fn is_trusted(agent: &Agent, hooks_file: &str, settings: &str) -> bool {
    agent.hooks.iter().all(|hook| {
        let key = format!("{hooks_file}:{}:", snake(hook.event));
        tables(settings).any(|(table, line)| {
            let names_it = table
                .strip_prefix("hooks.state.")
                .is_some_and(|rest| rest.trim_matches(['"', '\'']).starts_with(&key));
            names_it && assigns(line, "trusted_hash").is_some()
        })
    })
}

/// Whether the agent has our plugin switched on, beside or instead of hooks in its settings.
pub fn is_plugin(agent: &Agent, settings: &str) -> bool {
    let plugins = parsed(settings).and_then(|value| value.get("enabledPlugins")?.as_object().cloned());
    agent.dialect == Dialect::ClaudeCode
        && plugins.is_some_and(|plugins| {
            // In version 0.1 the plugin had the program's name.
            let is_ours =
                |name: &str| name == format!("{PLUGIN}@{CATALOGUE}") || name.starts_with("heirloom@");
            plugins.iter().any(|(name, on)| is_ours(name) && on.as_bool() == Some(true))
        })
}

fn parsed(settings: &str) -> Option<Value> {
    super::hooks_object::json(settings)
}

/// The lines of a TOML file, each with the table it stands in. Enough to find a key in a table; never to change one.
fn tables(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut table = "";
    text.lines().map(str::trim).filter_map(move |line| {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            table = name.trim();
            return None;
        }
        Some((table, line))
    })
}

/// The value a line gives to a key.
fn assigns<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let value = line.strip_prefix(key)?.trim_start().strip_prefix('=')?;
    Some(value.split('#').next().unwrap_or_default().trim())
}

fn snake(event: &str) -> String {
    let mut out = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{CLAUDE_CODE, CODEX, GEMINI};

    #[test]
    fn a_switch_that_turns_all_hooks_off_is_named() {
        assert_eq!(switched_off(&CLAUDE_CODE, "{\"disableAllHooks\": true}"), Some("disableAllHooks"));
        assert_eq!(switched_off(&CLAUDE_CODE, "{\"disableAllHooks\": false}"), None);
        assert_eq!(switched_off(&CLAUDE_CODE, "{oops"), None);
        assert!(switched_off(&GEMINI, "{\"hooksConfig\": {\"enabled\": false}} // mine").is_some());
        assert!(switched_off(&CODEX, "[features]\nhooks = false # for now\n").is_some());
        assert_eq!(switched_off(&CODEX, "[other]\nhooks = false\n"), None);
    }

    #[test]
    fn hooks_are_trusted_only_if_each_of_them_is() {
        let file = "/home/me/.codex/hooks.json";
        let all: String = CODEX
            .hooks
            .iter()
            .map(|hook| {
                format!("[hooks.state.\"{file}:{}:0:0\"]\ntrusted_hash = \"sha256:x\"\n", snake(hook.event))
            })
            .collect();
        assert!(all.contains("user_prompt_submit"));
        assert!(is_trusted(&CODEX, file, &all));
        assert!(!is_trusted(&CODEX, file, &all.replacen("trusted_hash", "enabled", 1)));
        assert!(!is_trusted(&CODEX, "/elsewhere/hooks.json", &all));
        assert!(!is_trusted(&CODEX, file, ""));
    }

    #[test]
    fn our_plugin_is_known_by_its_name() {
        assert!(is_plugin(&CLAUDE_CODE, "{\"enabledPlugins\": {\"memory@heirloom\": true}}"));
        assert!(is_plugin(&CLAUDE_CODE, "{\"enabledPlugins\": {\"heirloom@here\": true}}"));
        assert!(!is_plugin(&CLAUDE_CODE, "{\"enabledPlugins\": {\"memory@elsewhere\": true}}"));
        assert!(!is_plugin(
            &CLAUDE_CODE,
            "{\"enabledPlugins\": {\"heirloom@here\": false, \"x@heirloom\": true}}"
        ));
    }
}
