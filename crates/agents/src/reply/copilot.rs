//! Copilot CLI: Claude Code's words for refusing, context at the top of the answer, one JSON document and nothing else.

use super::{Answer, Output};
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context<'a> {
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

pub(super) fn render(event: &str, answer: &Answer) -> Output {
    match answer {
        // Nothing that a stop says goes to a person there, so a mere suggestion has no words.
        Answer::Nothing | Answer::Suggest(_) => Output::default(),
        Answer::Context(text) => Output::json(&Context { additional_context: text }),
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
    }
}
