//! Claude Code: plain text is context; exit code 2 with standard error holds up a stop.

use super::{Answer, Output};
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reply<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    hook_specific_output: Specific<'a>,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
}

pub(super) fn render(event: &str, answer: &Answer) -> Output {
    let named = Specific { hook_event_name: event, ..Specific::default() };
    match answer {
        Answer::Nothing => Output::default(),
        Answer::Context(text) => Output::text(text.as_str()),
        Answer::Deny(reason) => Output::json(&Reply {
            decision: None,
            reason: None,
            hook_specific_output: Specific {
                permission_decision: Some("deny"),
                permission_decision_reason: Some(reason),
                ..named
            },
        }),
        // After a write the host reads `decision`; the permission fields are what the record format's own hook said, and
        // the host passes over them.
        Answer::Undo(reason) => Output::json(&Reply {
            decision: Some("block"),
            reason: Some(reason),
            hook_specific_output: Specific {
                permission_decision: Some("deny"),
                permission_decision_reason: Some(reason),
                ..named
            },
        }),
        Answer::Hold(text) => Output { stderr: text.clone(), exit: 2, ..Output::default() },
        Answer::Ask(text) | Answer::Suggest(text) => Output::json(&Reply {
            decision: None,
            reason: None,
            hook_specific_output: Specific { additional_context: Some(text), ..named },
        }),
    }
}
