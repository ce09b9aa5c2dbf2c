//! From what an agent sends to what happened.
//!
//! Comes in: the bytes of a hook's standard input. Goes out: a [`Call`], or why there is none. Every field is optional and
//! may be of the wrong type; what is not understood is left out. Never here: a panic, or anything slower than linear.

use crate::event::{Call, Event, Said, Target};
use crate::table::{Agent, Attended, Moment, ToolTarget};
use heirloom_core::json;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::path::PathBuf;

/// The largest input that is looked at. Hosts send file contents along with a write.
pub const INPUT_MAX: usize = 32 << 20;

/// Why there is nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// Nothing was sent.
    Empty,
    /// Nothing here concerns us: another event, a side conversation, a tool that writes nothing, a missing field.
    NotOurs(&'static str),
    /// What was sent is no JSON object; worth a line in the trace.
    Broken(String),
}

/// Understands what an agent sent for a moment.
pub fn read(agent: &Agent, moment: Moment, input: &[u8]) -> Result<Call, Silence> {
    if input.iter().all(u8::is_ascii_whitespace) {
        return Err(Silence::Empty);
    }
    if input.len() > INPUT_MAX {
        return Err(Silence::Broken(format!("the input is larger than {INPUT_MAX} bytes")));
    }
    let value = json::parse(input).map_err(|e| Silence::Broken(format!("the input is not JSON: {e}")))?;
    let Value::Object(object) = value else {
        return Err(Silence::Broken("the input is not a JSON object".to_owned()));
    };
    let fields = Fields(&object);
    if let Some(event) = fields.text(&["hook_event_name", "hookEventName"]) {
        match agent.moment_of(event) {
            Some(known) if known != moment => return Err(Silence::NotOurs("another event")),
            // A newer name for the same event still came through our own command line, which names the moment. What is
            // certainly something else is the end of a subagent's turn.
            None if event.starts_with("Subagent") => return Err(Silence::NotOurs("a subagent's event")),
            _ => {}
        }
    }
    if fields.text(&["agent_id", "agentId"]).is_some()
        && matches!(moment, Moment::Stop | Moment::SessionStart)
    {
        return Err(Silence::NotOurs("a subagent's turn"));
    }
    let root = || object.get("workspace_roots").and_then(|roots| roots.get(0)).and_then(Value::as_str);
    let cwd = match object.get("cwd") {
        None => root().map(PathBuf::from),
        Some(Value::String(folder)) if folder.is_empty() => None,
        Some(Value::String(folder)) => Some(PathBuf::from(folder)),
        // Guessing a folder here could put files into the wrong project.
        Some(_) => return Err(Silence::NotOurs("a working folder that does not exist")),
    };
    Ok(Call {
        session: fields.text(&["session_id", "sessionId", "conversation_id"]).map(str::to_owned),
        transcript: fields.text(&["transcript_path", "transcriptPath"]).map(PathBuf::from),
        cwd,
        attended: match agent.attended {
            Attended::Field(name) => object.get(name).and_then(Value::as_bool),
            _ => None,
        },
        event: event(agent, moment, &fields)?,
    })
}

fn event(agent: &Agent, moment: Moment, fields: &Fields<'_>) -> Result<Event, Silence> {
    Ok(match moment {
        Moment::SessionStart => {
            let source = fields.text(&["source"]);
            let lost = agent.forgets_at_resume && source == Some("resume");
            Event::SessionStart { afresh: lost || matches!(source, Some("clear" | "compact")) }
        }
        Moment::Prompt => Event::Prompt {
            text: fields
                .text(&["user_prompt", "prompt", "userPrompt"])
                .ok_or(Silence::NotOurs("no prompt"))?
                .to_owned(),
        },
        Moment::PreWrite => {
            Event::PreWrite { targets: targets(agent, fields)?, folder: tool_folder(agent, fields) }
        }
        Moment::PostWrite => {
            let mut all = match targets(agent, fields) {
                Ok(all) => all,
                // What a tool writes that we know nothing of shows in the memory folder.
                Err(_) if could_write(fields) => Vec::new(),
                Err(silence) => return Err(silence),
            };
            let more = changed_files(fields).map(|path| Target::Seen(path.to_owned()));
            all.extend(more.filter(|target| !all.contains(target)).collect::<Vec<_>>());
            Event::PostWrite { targets: all, folder: tool_folder(agent, fields) }
        }
        Moment::Stop => Event::Stop {
            active: fields.is_set(&["stop_hook_active", "stopHookActive"]),
            prompt: fields.text(&["prompt"]).map(str::to_owned),
            last_message: fields
                .text(&["last_assistant_message", "prompt_response", "lastAssistantMessage"])
                .map(str::to_owned),
            conversation: conversation(fields),
        },
        Moment::PreCompact => Event::PreCompact {
            certain: agent.compaction_is_certain || fields.text(&["trigger"]) == Some("manual"),
        },
        Moment::SessionEnd => Event::SessionEnd,
    })
}

/// The conversation that an agent sent along.
fn conversation(fields: &Fields<'_>) -> Vec<Said> {
    let messages = fields.0.get("conversation").and_then(Value::as_array);
    let said = |message: &Value| {
        let message = Fields(message.as_object()?);
        let by_person = match message.text(&["role"])? {
            "user" => true,
            "assistant" => false,
            _ => return None,
        };
        let text = message.text(&["text"]).filter(|text| !text.is_empty())?;
        Some(Said { by_person, text: text.to_owned(), at: message.text(&["at"]).map(str::to_owned) })
    };
    messages.into_iter().flatten().filter_map(said).collect()
}

/// What a tool writes. Input without a tool's name is taken for a file tool's.
fn targets(agent: &Agent, fields: &Fields<'_>) -> Result<Vec<Target>, Silence> {
    let input = fields.0.get("tool_input").or_else(|| fields.0.get("toolInput"));
    // One agent sends the patch itself in place of an object that holds it.
    if let Some(patch) = input.and_then(Value::as_str) {
        let mut seen = HashSet::new();
        let files = patched(patch).filter(|path| !path.is_empty() && seen.insert(*path));
        let targets: Vec<Target> = files.map(|path| Target::File(path.to_owned())).collect();
        return if targets.is_empty() { Err(Silence::NotOurs("no path")) } else { Ok(targets) };
    }
    let Some(input) = input.and_then(Value::as_object).map(Fields) else {
        return Err(Silence::NotOurs("no tool input"));
    };
    let name = fields.text(&["tool_name", "toolName"]);
    let known = || agent.tools.iter().filter(|tool| name.is_none_or(|name| tool.name == name));
    if known().next().is_none() {
        return Err(Silence::NotOurs("a tool that writes nothing we know of"));
    }
    let mut targets = Vec::new();
    let mut seen = HashSet::new();
    let mut add = |target: Target| {
        if seen.insert(target.clone()) {
            targets.push(target);
        }
    };
    for tool in known() {
        match tool.target {
            ToolTarget::Path(field) => {
                let several = input.0.get("edits").and_then(Value::as_array).into_iter().flatten();
                let inner = several.filter_map(|edit| edit.get(field)?.as_str());
                input
                    .text(&[field])
                    .into_iter()
                    .chain(inner)
                    .for_each(|path| add(Target::File(path.to_owned())));
            }
            ToolTarget::Command(field) => {
                if let Some(command) = input.text(&[field]).filter(|_| name.is_some()) {
                    add(Target::Command(command.to_owned()));
                }
            }
            ToolTarget::Patch(field) => {
                input
                    .text(&[field])
                    .into_iter()
                    .flat_map(patched)
                    .for_each(|path| add(Target::File(path.to_owned())));
            }
        }
    }
    targets.retain(|target| *target != Target::File(String::new()));
    if targets.is_empty() { Err(Silence::NotOurs("no path")) } else { Ok(targets) }
}

/// Tools of all agents that only look, in lower case. Whatever else has a name could write.
const ONLY_LOOK: [&str; 24] = [
    "glob",
    "google_web_search",
    "grep",
    "grep_search",
    "list",
    "list_directory",
    "ls",
    "lsp",
    "notebookread",
    "question",
    "read",
    "read_file",
    "read_many_files",
    "report_intent",
    "search_file_content",
    "skill",
    "todoread",
    "todowrite",
    "toolsearch",
    "view",
    "web_fetch",
    "web_search",
    "webfetch",
    "websearch",
];

fn could_write(fields: &Fields<'_>) -> bool {
    let name = fields.text(&["tool_name", "toolName"]).map(str::to_ascii_lowercase);
    name.is_some_and(|name| !name.is_empty() && !ONLY_LOOK.contains(&name.as_str()))
}

/// The files that an agent itself saw change while a command ran.
fn changed_files<'a>(fields: &Fields<'a>) -> impl Iterator<Item = &'a str> {
    let answer = fields.0.get("tool_response").or_else(|| fields.0.get("toolResponse"));
    let files =
        answer.and_then(|answer| answer.pointer("/bashEditDiff/changedFiles")).and_then(Value::as_array);
    let path = |file: &'a Value| match file {
        Value::String(path) => Some(path.as_str()),
        Value::Object(file) => Fields(file).text(&["filePath", "file_path", "path"]),
        _ => None,
    };
    files.into_iter().flatten().filter_map(path).filter(|path| !path.is_empty())
}

/// The folder a tool was told to work in.
fn tool_folder(agent: &Agent, fields: &Fields<'_>) -> Option<PathBuf> {
    let input = fields.0.get("tool_input").or_else(|| fields.0.get("toolInput"))?;
    let input = Fields(input.as_object()?);
    let named =
        agent.tool_folders.iter().find_map(|field| input.text(&[field]).filter(|folder| !folder.is_empty()));
    named.map(PathBuf::from)
}

/// The files a patch names.
fn patched(patch: &str) -> impl Iterator<Item = &str> {
    const HEADS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    patch
        .lines()
        .filter_map(|line| HEADS.iter().find_map(|head| line.trim_start().strip_prefix(head)).map(str::trim))
}

/// An object whose fields may be missing, misspelt or of any type.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// The first of these fields that holds text.
    fn text(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.0.get(*name)?.as_str())
    }

    fn is_set(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.0.get(*name).and_then(Value::as_bool) == Some(true))
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
