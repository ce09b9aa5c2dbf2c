//! The plugin bundle for Claude Code: manifest, hooks, commands and the skill, all written from the tables.
//!
//! Comes in: nothing but the tables. Goes out: files by path. `cargo xtask generate` writes them to `plugins/claude-code/` and
//! the checks compare. Never here: a rule of its own; commands and skill call one program and do what it answers.

mod commands;
mod skill;

use crate::install::{self, Called, Reach};
use crate::table::{Agent, CLAUDE_CODE};
use serde_json::{Value, json};

/// A file of the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path in the bundle.
    pub path: String,
    /// Its text.
    pub text: String,
}

fn file(path: &str, text: String) -> File {
    File { path: path.to_owned(), text }
}

/// How the bundle calls this program: by name, because a plugin is the same on every machine.
const PROGRAM: &str = "heirloom";

/// All files of the bundle.
pub fn files() -> Vec<File> {
    let mut files = vec![
        file(".claude-plugin/plugin.json", pretty(&manifest())),
        file("hooks/hooks.json", pretty(&hooks())),
        file("skills/memory-management/SKILL.md", skill::text()),
    ];
    files.extend(commands::all().into_iter().map(|(name, text)| file(&format!("commands/{name}.md"), text)));
    files
}

/// Files of ours that belong beside the hooks, by their path in the agent's folder. Commands come with the plugin only, which gives
/// them a name of their own; among an agent's own ones `/memory` may already mean something else.
/// `program` is how this program is called, ready for a shell: the commands they tell an agent must work whatever its search path is.
pub fn beside(agent: &Agent, program: &str) -> Vec<File> {
    let wanted = |file: &File| agent.has_skill && file.path.starts_with("skills/");
    let named = |file: File| File { text: calling(&file.text, program), ..file };
    files().into_iter().filter(wanted).map(named).collect()
}

/// A text whose commands call the program this way.
fn calling(text: &str, program: &str) -> String {
    let by_name = format!("{PROGRAM} ");
    let mut out = text.replace(&format!("`{by_name}"), &format!("`{program} "));
    // Lines of a block of commands begin with it.
    out = out.replace(&format!("\n{by_name}record "), &format!("\n{program} record "));
    out
}

/// The plugin's name. The host puts it before the names of commands, so this one gives them the names they have in the record format:
/// `/memory:save`.
pub(crate) const PLUGIN: &str = "memory";

/// The catalogue's name.
pub(crate) const CATALOGUE: &str = "heirloom";

/// Who looks after the plugin, as its manifest must say.
const MAINTAINERS: &str = "Heirloom maintainers";

/// The catalogue of plugins in the repository: with it `claude plugin marketplace add` and `claude plugin install` find the bundle.
pub fn marketplace() -> String {
    pretty(&json!({
        "name": CATALOGUE,
        "owner": { "name": MAINTAINERS },
        "metadata": { "description": "Heirloom: memory for AI agents that people can read, trust and version." },
        "plugins": [{
            "name": PLUGIN,
            "source": "./plugins/claude-code",
            "description": "Recall at every prompt, triage at every stop, a guard and a validator around the store.",
        }],
    }))
}

fn pretty(value: &Value) -> String {
    // Values made of texts and numbers always serialise.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

fn manifest() -> Value {
    let commands: Vec<String> =
        commands::all().iter().map(|(name, _)| format!("./commands/{name}.md")).collect();
    json!({
        "name": PLUGIN,
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Memory for AI agents that people can read, trust and version: decisions, runbooks, constraints, \
            tech debt, preferences and session summaries, recalled at every prompt, captured at every stop, guarded against \
            direct writes.",
        "author": { "name": MAINTAINERS },
        "license": "Apache-2.0 OR MIT",
        "keywords": ["memory", "context", "knowledge-management", "session-state", "decisions", "runbooks"],
        "commands": commands,
        "skills": ["./skills/memory-management"],
    })
}

fn hooks() -> Value {
    // Installing into an empty file gives exactly the hooks.
    let edit = install::install(&CLAUDE_CODE, Reach::User, None, Called::by(PROGRAM));
    let installed: Value =
        edit.ok().and_then(|edit| serde_json::from_slice(&edit.after?).ok()).unwrap_or_default();
    json!({
        "description": "Recall at every prompt, triage at every stop, a guard and a validator around the store.",
        "hooks": installed["hooks"],
    })
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;
