//! Memory tool: the six commands of Anthropic's memory tool on the shelves, with the texts of its own local-files example.
//!
//! Comes in: a command with the tool's field names. Goes out: the text a model is given, or a fault whose message is that of the example. A path below
//! `/memories` is a note that keeps this path and every byte; `/memories/records`, `lessons`, `notes`, `vault` and `facts` show what the shelves hold and
//! take no writes. Folders are there as long as something is in them. Never here: a file by that path on the disk, or a rule of its own about who may do
//! what: a change is an edit, deleting is retiring.

mod files;
mod shelves;
mod text;

use super::edit::{Edit, edit_file, path_of};
use super::{Outcome, Waiting, asked, asked_of, commit, life, may_read, waiting};
use crate::call::Call;
use crate::shelf::notes::{Moment, NoteDraft, place};
use files::{Files, Found};
use heirloom_core::{Code, Fault, May, Memory, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// A command of the tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of the tool, whose documentation says what they are")]
pub enum Command {
    /// Shows a file with line numbers, or what is in a folder.
    View {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        view_range: Option<Vec<i64>>,
    },
    /// Makes a file.
    Create { path: String, file_text: String },
    /// Replaces a text that is in a file exactly once.
    StrReplace { path: String, old_str: String, new_str: String },
    /// Inserts a text behind a line.
    Insert { path: String, insert_line: i64, insert_text: String },
    /// Takes a file or a folder out of use.
    Delete { path: String },
    /// Gives a file or a folder another path.
    Rename { old_path: String, new_path: String },
}

/// What a model is given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Told {
    /// The text.
    pub text: String,
    /// The note that was made or changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What else there is to say, a line each: what the gate cut out of the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Does it.
pub fn run(call: &Call, command: &Command) -> Result<Outcome<Told>> {
    match command {
        Command::View { path, view_range } => view(call, path, view_range.as_deref()).map(Outcome::Done),
        Command::Create { path, file_text } => create(call, path, file_text),
        Command::StrReplace { path, old_str, new_str } => changed(
            call,
            path,
            |content| text::replaced(content, old_str, new_str, path),
            |_, stored, at| text::snippet(stored, at),
        ),
        Command::Insert { path, insert_line, insert_text } => {
            let insert = |content: &str| Ok((text::inserted(content, *insert_line, insert_text)?, 0));
            changed(call, path, insert, |path, _, _| format!("The file {path} has been edited."))
        }
        Command::Delete { path } => delete(call, path),
        Command::Rename { old_path, new_path } => rename(call, old_path, new_path),
    }
}

fn view(call: &Call, path: &str, range: Option<&[i64]>) -> Result<Told> {
    may_read(call, Verb::Show)?;
    let names = place::names(path)?;
    let text = match names.split_first() {
        Some((shelf, rest)) if place::SHELVES.contains(shelf) => {
            shelves::view(call, path, shelf, rest, range)?
        }
        _ => {
            let files = Files::of(call)?;
            match files.find(&names) {
                Found::File(memory) => text::numbered(path, &files::shown(call, memory)?, range)?,
                Found::Folder => {
                    let folders = if names.is_empty() { shelves::there(call) } else { Vec::new() };
                    text::listing(path, &files.below(&names), &folders)
                }
                Found::Nothing => return Err(nothing(path)),
            }
        }
    };
    Ok(Told { text, ..Told::default() })
}

fn create(call: &Call, path: &str, content: &str) -> Result<Outcome<Told>> {
    asked(call, Verb::Add, ShelfName::Records, Owner::Nobody)?;
    let names = place::names(path)?;
    let exists = || {
        Fault::new(Code::Create, format!("File {path} already exists"))
            .hint("view it and change it with str_replace or insert, or choose another path")
    };
    if names.len() < 2 && names.first().is_none_or(|name| place::SHELVES.contains(name)) {
        return Err(exists());
    }
    let plain = place::file(path)?;
    somewhere(call)?;
    if !matches!(Files::of(call)?.find(&names), Found::Nothing) {
        return Err(exists());
    }
    let now = Moment::of(call.project().world().now);
    let draft = NoteDraft::of_file(&plain, content, now, call.settings().notes.max_keywords);
    let outcome = Outcome::of(call, call.notes().create(draft, call.entry()))?;
    Ok(match outcome {
        Outcome::Done(kept) => {
            commit::commit(call, &format!("memory: add {}", kept.done.id));
            told(format!("File created successfully at: {path}"), kept.done.id.to_string(), kept.done.notes)
        }
        Outcome::Waits(waiting) => Outcome::Waits(waits(waiting, path)),
    })
}

/// A change of one file's text: what it becomes, and what is said about what was stored.
fn changed(
    call: &Call,
    path: &str,
    change: impl FnOnce(&str) -> Result<(String, usize)>,
    say: impl FnOnce(&str, &str, usize) -> String,
) -> Result<Outcome<Told>> {
    let names = writable(call, Verb::Edit, path)?;
    let files = Files::of(call)?;
    let memory = match files.find(&names) {
        Found::File(memory) => memory,
        Found::Folder => {
            return Err(Fault::new(Code::Validation, format!("The path {path} is not a file."))
                .hint("view the folder and name a file in it"));
        }
        Found::Nothing => return Err(nothing(path)),
    };
    let (content, at) = change(&memory.body)?;
    let ask = Edit { id: memory.id.to_string(), text: Some(content), ..Edit::default() };
    Ok(match edit_file(call, &ask)? {
        Outcome::Waits(waiting) => Outcome::Waits(waits(waiting, path)),
        Outcome::Done(added) => {
            commit::commit(call, &format!("memory: edit {}", added.id));
            // What is shown is what was stored, which the gate may have cut.
            let stored = super::seen(call, &added.id)?;
            let text = say(path, &files::shown(call, &stored)?, at);
            told(text, added.id.to_string(), added.notes)
        }
    })
}

fn delete(call: &Call, path: &str) -> Result<Outcome<Told>> {
    let names = place::names(path)?;
    if names.is_empty() {
        return Err(Fault::new(Code::Validation, "Cannot delete the /memories directory itself")
            .hint("delete the files in it one by one"));
    }
    writable(call, Verb::Retire, path)?;
    let memories = Files::of(call)?.all_below(&names);
    if memories.is_empty() {
        return Err(Fault::new(Code::NotFound, format!("The path {path} does not exist"))
            .hint("view /memories lists all files"));
    }
    if let Some(waiting) = held(call, Verb::Retire, &memories, path, |memory| {
        serde_json::json!(life::Move { ids: vec![memory.id.to_string()], reason: None })
    })? {
        return Ok(Outcome::Waits(waiting));
    }
    for memory in &memories {
        life::run(call, Verb::Retire, &memory.id, None)?.done()?;
    }
    commit::commit(call, "memory: retire files of the memory tool");
    let id = if memories.len() == 1 { Some(memories[0].id.to_string()) } else { None };
    Ok(Outcome::Done(Told { text: format!("Successfully deleted {path}"), id, notes: Vec::new() }))
}

fn rename(call: &Call, old_path: &str, new_path: &str) -> Result<Outcome<Told>> {
    let old = place::names(old_path)?;
    let new = place::names(new_path)?;
    if old.is_empty() {
        return Err(Fault::new(Code::Validation, "Cannot rename the /memories directory itself")
            .hint("rename the files in it"));
    }
    writable(call, Verb::Edit, old_path)?;
    let files = Files::of(call)?;
    let taken = || {
        Fault::new(Code::Create, format!("The destination {new_path} already exists"))
            .hint("choose another path, or delete what is there first")
    };
    if new.is_empty() || (new.len() == 1 && place::SHELVES.contains(&new[0])) {
        return Err(taken());
    }
    place::file(new_path)?;
    if !matches!(files.find(&new), Found::Nothing) {
        return Err(taken());
    }
    let memories = files.all_below(&old);
    if memories.is_empty() {
        return Err(Fault::new(Code::NotFound, format!("The path {old_path} does not exist"))
            .hint("view /memories lists all files"));
    }
    if new.starts_with(&old) {
        return Err(Fault::new(Code::Validation, format!("{old_path} cannot be moved into itself"))
            .hint("choose a path outside of it"));
    }
    files.expect_folder_free(&new)?;
    let (from, to) = (place::plain(&old), place::plain(&new));
    let target = |memory: &Memory| {
        let path = path_of(memory).unwrap_or_default();
        place::file(&format!("{to}{}", path.strip_prefix(from.as_str()).unwrap_or_default()))
    };
    // Every path is looked at before the first one changes.
    let moves: Vec<String> = memories.iter().map(target).collect::<Result<_>>()?;
    let ask = |memory: &Memory, path: &str| Edit {
        id: memory.id.to_string(),
        fields: vec![("path".to_owned(), path.to_owned())],
        ..Edit::default()
    };
    let requests: Vec<Edit> = memories.iter().zip(&moves).map(|(memory, path)| ask(memory, path)).collect();
    let request =
        |memory: &Memory| serde_json::json!(requests.iter().find(|one| one.id == memory.id.as_str()));
    if let Some(waiting) = held(call, Verb::Edit, &memories, old_path, request)? {
        return Ok(Outcome::Waits(waiting));
    }
    let mut notes = Vec::new();
    for one in &requests {
        notes.extend(edit_file(call, one)?.done()?.notes);
    }
    commit::commit(call, "memory: rename files of the memory tool");
    let id = if memories.len() == 1 { Some(memories[0].id.to_string()) } else { None };
    Ok(Outcome::Done(Told { text: format!("Successfully renamed {old_path} to {new_path}"), id, notes }))
}

/// The names of a path that may be written, asked of whoever may do this at all.
fn writable<'p>(call: &Call, verb: Verb, path: &'p str) -> Result<Vec<&'p str>> {
    asked(call, verb, ShelfName::Notes, Owner::Nobody)?;
    let names = place::names(path)?;
    match names.first() {
        Some(shelf) if place::SHELVES.contains(shelf) => return Err(place::read_only(path, shelf)),
        _ => somewhere(call)?,
    }
    Ok(names)
}

/// Files are notes of a project.
fn somewhere(call: &Call) -> Result<()> {
    call.project().expect_somewhere().map_err(|fault| {
        Fault::new(fault.code, "this server serves no project, so there is nowhere to keep files")
            .hint("start it with a project's folder: heirloom serve FOLDER")
    })
}

/// If any of these is a person's, those wait and nothing else changes, so that what waits is never half done.
fn held(
    call: &Call,
    verb: Verb,
    memories: &[Memory],
    path: &str,
    request: impl Fn(&Memory) -> serde_json::Value,
) -> Result<Option<Waiting>> {
    let mut waiting: Vec<Waiting> = Vec::new();
    for memory in memories {
        let owner = match verb {
            Verb::Edit => call.stands_behind(memory)?,
            _ => life::stands_behind(call, verb, memory)?,
        };
        if asked_of(call, verb, memory, owner)? == May::Waits {
            waiting.push(waiting::wait(call, verb, memory, &request(memory))?);
        }
    }
    let count = waiting.len();
    Ok(waiting.into_iter().next().map(|first| {
        let mut first = waits(first, path);
        if memories.len() > 1 {
            first.why.push(format!("{count} of the {} files below {path} are a person's", memories.len()));
        }
        first
    }))
}

/// The same with what a model can make sense of.
fn waits(mut waiting: Waiting, path: &str) -> Waiting {
    let key = &waiting.key;
    waiting.why = vec![format!(
        "The change of {path} waits: a person wrote or accepted it, and decides with `heirloom review` (`{key}`). Nothing changed so far."
    )];
    waiting
}

fn told(text: String, id: String, notes: Vec<String>) -> Outcome<Told> {
    Outcome::Done(Told { text, id: Some(id), notes })
}

fn nothing(path: &str) -> Fault {
    Fault::new(Code::NotFound, format!("The path {path} does not exist. Please provide a valid path."))
        .hint("view /memories lists all files")
}

#[cfg(test)]
mod memory_tool_tests;
