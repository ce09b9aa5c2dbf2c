//! Cursor: one JSON document with words of its own; a stop takes a message that follows it and nothing else. From its published package, not
//! run here.

use super::{Answer, Output};
use serde::Serialize;

#[derive(Serialize)]
struct Context<'a> {
    additional_context: &'a str,
}

#[derive(Serialize)]
struct Permission<'a> {
    permission: &'static str,
    user_message: &'a str,
    agent_message: &'a str,
}

#[derive(Serialize)]
struct FollowUp<'a> {
    followup_message: &'a str,
}

pub(super) fn render(answer: &Answer) -> Output {
    match answer {
        // A message that follows a stop makes it go on, so a mere suggestion has no words.
        Answer::Nothing | Answer::Suggest(_) => Output::default(),
        // After a tool only context is taken.
        Answer::Context(text) | Answer::Undo(text) => Output::json(&Context { additional_context: text }),
        Answer::Deny(reason) => {
            Output::json(&Permission { permission: "deny", user_message: reason, agent_message: reason })
        }
        Answer::Hold(text) | Answer::Ask(text) => Output::json(&FollowUp { followup_message: text }),
    }
}
