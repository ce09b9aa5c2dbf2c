//! OpenCode: our plugin reads one JSON object and does what its only key says.

use super::{Answer, Output};
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Reply<'a> {
    Context(&'a str),
    Deny(&'a str),
    Undo(&'a str),
    Hold(&'a str),
    Suggest(&'a str),
}

pub(super) fn render(answer: &Answer) -> Output {
    Output::json(&match answer {
        Answer::Nothing => return Output::default(),
        Answer::Context(text) => Reply::Context(text),
        Answer::Deny(reason) => Reply::Deny(reason),
        Answer::Undo(reason) => Reply::Undo(reason),
        Answer::Hold(text) | Answer::Ask(text) => Reply::Hold(text),
        Answer::Suggest(text) => Reply::Suggest(text),
    })
}
