//! Turns that no person said, though they stand in a person's role: notices of a host, results of subagents and tools, words of hooks.
//!
//! Comes in: a line of a transcript, or the text of a turn. Goes out: whether a machine said it. What a machine said is never the owner's word,
//! and never a reason to save something. Never here: reading or changing the line.

use serde_json::{Map, Value};

/// How texts begin that hosts put into the user's role.
const BEGINNINGS: &[&str] = &[
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "# AGENTS.md instructions",
    "<session_context>",
    "<task-notification>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<hook_prompt",
    "<system-reminder>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<command-name>",
    "<command-message>",
    "<bash-stdout>",
    "<bash-stderr>",
    "Stop hook feedback:",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
];

/// Whether a text in the user's role is a host's.
pub(crate) fn speaks(text: &str) -> bool {
    let text = text.trim_start();
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

/// A line, as a value or as the object in it.
pub(crate) trait Fields {
    /// The field of that name.
    fn field(&self, name: &str) -> Option<&Value>;
}

impl Fields for Value {
    fn field(&self, name: &str) -> Option<&Value> {
        self.get(name)
    }
}

impl Fields for Map<String, Value> {
    fn field(&self, name: &str) -> Option<&Value> {
        self.get(name)
    }
}

/// Whether a line says of itself that no person wrote it.
pub(crate) fn wrote(line: &impl Fields) -> bool {
    let is = |name: &str| line.field(name).and_then(Value::as_bool) == Some(true);
    let says = |name: &str, what: &str| line.field(name).and_then(Value::as_str) == Some(what);
    let origin = line.field("origin").and_then(|origin| origin.get("kind")).and_then(Value::as_str);
    is("isMeta")
        || is("isSidechain")
        || is("isCompactSummary")
        || is("isVisibleInTranscriptOnly")
        || says("promptSource", "system")
        || says("turnOrigin", "system")
        || line.field("toolUseResult").is_some()
        || origin.is_some_and(|kind| !matches!(kind, "human" | "user"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_that_names_its_maker_is_believed() {
        assert!(wrote(&json!({"type": "user", "origin": {"kind": "task-notification"}})));
        assert!(wrote(&json!({"type": "user", "promptSource": "system"})));
        assert!(wrote(&json!({"type": "user", "toolUseResult": {"stdout": "x"}})));
        assert!(!wrote(&json!({"type": "user", "origin": {"kind": "human"}, "promptSource": "typed"})));
        assert!(!wrote(&json!({"type": "user", "promptSource": "sdk"})));
    }

    #[test]
    fn a_notice_in_the_users_role_is_the_hosts() {
        for text in [
            "<task-notification>\n<result>done</result>",
            "  Stop hook feedback:\n[x]: save",
            "<hook_prompt hook_run_id=\"stop\">x</hook_prompt>",
        ] {
            assert!(speaks(text), "{text}");
        }
        assert!(!speaks("Why does <task-notification> show up in my log?"));
    }
}
