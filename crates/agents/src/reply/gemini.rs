//! Gemini CLI: JSON and nothing else on standard output; refusing is `deny`.

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
    additional_context: &'a str,
}

#[derive(Serialize)]
struct Deny<'a> {
    decision: &'static str,
    reason: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Notice<'a> {
    system_message: &'a str,
}

pub(super) fn render(answer: &Answer) -> Output {
    match answer {
        Answer::Nothing => Output::default(),
        Answer::Context(text) => {
            Output::json(&WithContext { hook_specific_output: Context { additional_context: text } })
        }
        Answer::Deny(reason) | Answer::Undo(reason) | Answer::Hold(reason) | Answer::Ask(reason) => {
            Output::json(&Deny { decision: "deny", reason })
        }
        Answer::Suggest(text) => Output::json(&Notice { system_message: text }),
    }
}
