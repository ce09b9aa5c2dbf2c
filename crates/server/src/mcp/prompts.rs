//! Prompts that a person can choose in their agent: recall, remember, session summary.
//!
//! Comes in: a name and arguments. Goes out: a message that tells an agent what to do with the tools. Never here: a memory's text.

use heirloom_core::{Code, Fault, fault::Result};
use rmcp::model::{JsonObject, Prompt, PromptArgument};
use serde_json::Value;

struct Row {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    argument: Option<(&'static str, &'static str)>,
    says: &'static str,
}

const TABLE: &[Row] = &[
    Row {
        name: "recall",
        title: "Recall what matters for a task",
        about: "Looks up what is known before work begins",
        argument: Some(("task", "What you are about to do")),
        says: "Call the tool `recall` with this task as its prompt, read what matters with `get_memory`, and say in a few lines what is known and what you will do differently because of it.\n\nTask: ",
    },
    Row {
        name: "remember",
        title: "Remember something",
        about: "Saves one thing as the right kind of memory",
        argument: Some(("text", "What is to be remembered")),
        says: "Look with `search_memories` whether this is known already. If it is, correct that memory with `update_memory`; if not, save it with `add_memory` under the kind that fits, in one or two sentences with the reason. Say which id it has, or that it waits for review.\n\nText: ",
    },
    Row {
        name: "session_summary",
        title: "Summarise this session",
        about: "Keeps what the next session should know",
        argument: None,
        says: "Summarise this session for the next one to work here: what was done, what was decided and why, what is still open. Save it with `add_memory` as kind session_summary. Save each decision, constraint and lesson of lasting value as a memory of its own. Leave out secrets and personal data.",
    },
];

/// All prompts.
pub(crate) fn all() -> Vec<Prompt> {
    let prompt = |row: &Row| {
        let argument = row
            .argument
            .map(|(name, about)| vec![PromptArgument::new(name).with_description(about).with_required(true)]);
        Prompt::new(row.name, Some(row.about), argument).with_title(row.title)
    };
    TABLE.iter().map(prompt).collect()
}

/// The message of a prompt.
pub(crate) fn message(name: &str, given: Option<&JsonObject>) -> Result<(&'static str, String)> {
    let row = TABLE.iter().find(|row| row.name == name).ok_or_else(|| {
        Fault::new(Code::Usage, "unknown prompt").hint("use recall, remember or session_summary")
    })?;
    let Some((argument, _)) = row.argument else { return Ok((row.about, row.says.to_owned())) };
    let words = given
        .and_then(|given| given.get(argument))
        .and_then(Value::as_str)
        .map(str::trim)
        .filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| {
        Fault::new(Code::Usage, format!("`{argument}` is missing"))
            .hint(format!("the prompt `{name}` needs it"))
    })?;
    Ok((row.about, format!("{}{words}", row.says)))
}
