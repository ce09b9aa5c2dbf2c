//! Codex CLI: Claude Code's words, but an unknown key makes the answer invalid, and a stop has no context field.

use super::{Answer, Output};
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WithContext<'a> {
    hook_specific_output: Context<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WithPermission<'a> {
    hook_specific_output: Permission<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Permission<'a> {
    hook_event_name: &'a str,
    permission_decision: &'static str,
    permission_decision_reason: &'a str,
}

#[derive(Serialize)]
struct Block<'a> {
    decision: &'static str,
    reason: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Notice<'a> {
    system_message: &'a str,
}

pub(super) fn render(event: &str, answer: &Answer) -> Output {
    match answer {
        Answer::Nothing => Output::default(),
        Answer::Context(text) => Output::json(&WithContext {
            hook_specific_output: Context { hook_event_name: event, additional_context: text },
        }),
        Answer::Deny(reason) => Output::json(&WithPermission {
            hook_specific_output: Permission {
                hook_event_name: event,
                permission_decision: "deny",
                permission_decision_reason: reason,
            },
        }),
        Answer::Undo(reason) | Answer::Hold(reason) | Answer::Ask(reason) => {
            Output::json(&Block { decision: "block", reason })
        }
        Answer::Suggest(text) => Output::json(&Notice { system_message: text }),
    }
}
