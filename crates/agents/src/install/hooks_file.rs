//! A file of hooks that is all ours, in an agent's folder of hook files.
//!
//! Comes in: how this program is called. Goes out: the file's text. Never here: a file that holds anything else; one is ours if each of its
//! command lines is.

use super::{Called, command_line, is_ours as is_our_line, refused};
use crate::table::Agent;
use heirloom_core::fault::Result;
use serde_json::{Map, Value, json};

pub(super) fn is_ours(agent: &Agent, text: &str) -> bool {
    let Ok(Value::Object(file)) = serde_json::from_str::<Value>(text) else { return false };
    let Some(hooks) = file.get("hooks").and_then(Value::as_object) else { return false };
    let line_is_ours = |event: &str, entry: &Value| {
        let moment = agent.moment_of(event);
        let line = entry.get("bash").and_then(Value::as_str);
        moment.zip(line).is_some_and(|(moment, line)| is_our_line(agent, moment, line))
    };
    !hooks.is_empty()
        && hooks.iter().all(|(event, entries)| {
            entries.as_array().is_some_and(|entries| entries.iter().all(|entry| line_is_ours(event, entry)))
        })
}

pub(super) fn install(agent: &Agent, text: Option<&str>, called: Called<'_>) -> Result<String> {
    if text.is_some_and(|text| !text.trim().is_empty() && !is_ours(agent, text)) {
        return Err(refused(agent, "there is another file of that name"));
    }
    let mut hooks = Map::new();
    for hook in agent.hooks {
        let entry = json!({
            "type": "command",
            "bash": command_line(agent, hook.moment, called),
            "timeoutSec": hook.moment.timeout_seconds(),
        });
        hooks.insert(hook.event.to_owned(), json!([entry]));
    }
    // Texts and numbers always serialise.
    Ok(serde_json::to_string_pretty(&json!({ "version": 1, "hooks": hooks })).unwrap_or_default() + "\n")
}

/// Without our hooks: nothing, unless somebody else wrote the file.
pub(super) fn remove(agent: &Agent, text: &str) -> Option<String> {
    (!is_ours(agent, text)).then(|| text.to_owned())
}
