//! From what we have to say to what an agent accepts.
//!
//! Comes in: an [`Answer`]. Goes out: standard output, standard error and exit code, byte for byte. Never here: a key that
//! the agent does not know; some of them reject the whole answer for one.

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod opencode;

use crate::table::{Agent, Dialect, Moment};

/// What we have to say.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Nothing: the agent goes on as if we were not there.
    Nothing,
    /// Text for the model's context.
    Context(String),
    /// The tool may not run, and why.
    Deny(String),
    /// The tool has run and did harm, and what the model should do.
    Undo(String),
    /// The stop is held up until this is done.
    Hold(String),
    /// The same in the quietest way the agent has: the model goes on, and people see no error.
    Ask(String),
    /// The stop goes through; the model or the person is told.
    Suggest(String),
}

/// How a hook ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code.
    pub exit: u8,
}

impl Output {
    fn text(stdout: impl Into<String>) -> Output {
        Output { stdout: stdout.into(), ..Output::default() }
    }

    fn json(value: &impl serde::Serialize) -> Output {
        // Structs of texts and flags always serialise.
        Output::text(serde_json::to_string(value).unwrap_or_default())
    }
}

/// The answer in an agent's words. An answer that makes no sense at this moment, or that the agent has no words for, is
/// nothing.
pub fn render(agent: &Agent, moment: Moment, answer: &Answer) -> Output {
    let Some(event) = agent.event_name(moment) else { return Output::default() };
    let fits = match answer {
        Answer::Nothing => return Output::default(),
        Answer::Context(_) => matches!(moment, Moment::SessionStart | Moment::Prompt),
        Answer::Deny(_) => moment == Moment::PreWrite,
        Answer::Undo(_) => moment == Moment::PostWrite,
        Answer::Hold(_) | Answer::Ask(_) | Answer::Suggest(_) => moment == Moment::Stop,
    };
    if !fits {
        return Output::default();
    }
    match agent.dialect {
        Dialect::ClaudeCode => claude_code::render(event, answer),
        Dialect::Codex => codex::render(event, answer),
        Dialect::Gemini => gemini::render(answer),
        Dialect::OpenCode => opencode::render(answer),
        Dialect::Copilot => copilot::render(event, answer),
        Dialect::Cursor => cursor::render(answer),
    }
}

/// Whether an answer to a stop makes the agent go on, as opposed to merely showing a text.
pub fn goes_on(agent: &Agent, suggest: bool) -> bool {
    !suggest || agent.dialect == Dialect::ClaudeCode
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
