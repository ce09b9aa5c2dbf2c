//! Installing into an agent: a plan of edits, shown before anything is done.
//!
//! Comes in: the bytes of an agent's settings file, if it is there, and how to call this program. Goes out: the bytes it should
//! have, or why not. Everything else in the file keeps its bytes: order, spacing, comments. Installing twice changes nothing,
//! and removing gives back what was there. Never here: reading or writing files; a setting that is not ours.

mod hooks_object;
mod plugin_file;
mod state;
mod undo;

pub use state::{is_plugin, is_trusted, switched_off};
pub use undo::Undo;

use crate::table::{Agent, Install, Moment};
use heirloom_core::{Code, Fault, fault::Result};

/// For whom an agent's settings count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// For this user, in every project.
    User,
    /// For everybody who works on this project.
    Project,
}

/// One file and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file, from the home folder or the project folder.
    pub file: &'static str,
    /// For whom.
    pub reach: Reach,
    /// What is there now; `None` if nothing.
    pub before: Option<Vec<u8>>,
    /// What should be there; `None` if nothing.
    pub after: Option<Vec<u8>>,
}

impl Edit {
    /// Whether anything would change.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }
}

/// The file an agent's hooks go into.
pub fn file(agent: &Agent, reach: Reach) -> &'static str {
    match reach {
        Reach::User => agent.user_file,
        Reach::Project => agent.project_file,
    }
}

/// The edit that installs our hooks. `program` is how this program is called.
pub fn install(agent: &Agent, reach: Reach, before: Option<&[u8]>, program: &str) -> Result<Edit> {
    let after = match agent.install {
        Install::HooksObject { .. } => hooks_object::install(agent, text(agent, before)?, program)?,
        Install::PluginFile => plugin_file::install(text(agent, before)?, program)?,
    };
    Ok(edit(agent, reach, before, Some(after)))
}

/// The edit that removes our hooks. With an [`Undo`] of a file that nobody has changed since, what was there before is given back to
/// the byte; otherwise our entries are taken out and everything else stays.
pub fn uninstall(agent: &Agent, reach: Reach, before: Option<&[u8]>, undo: Option<&Undo>) -> Result<Edit> {
    if let Some(original) = before.and_then(|now| undo?.original(now)) {
        return Ok(Edit {
            file: file(agent, reach),
            reach,
            before: before.map(<[u8]>::to_vec),
            after: original,
        });
    }
    let after = match (agent.install, text(agent, before)?) {
        (_, None) => None,
        (Install::HooksObject { .. }, Some(text)) => hooks_object::remove(agent, text)?,
        (Install::PluginFile, Some(text)) => plugin_file::remove(text)?,
    };
    Ok(edit(agent, reach, before, after))
}

/// Whether our hooks are in a file, and whether all of them call `program`.
pub fn installed(agent: &Agent, bytes: &[u8], program: &str) -> (bool, bool) {
    let Ok(text) = std::str::from_utf8(bytes) else { return (false, false) };
    match agent.install {
        Install::HooksObject { .. } => hooks_object::installed(agent, text, program),
        Install::PluginFile => {
            (plugin_file::is_ours(text), plugin_file::install(None, program).is_ok_and(|ours| ours == text))
        }
    }
}

/// The command line of a hook. It must never change between versions: agents that ask their user to trust a hook ask again
/// for every change.
pub fn command_line(agent: &Agent, moment: Moment, program: &str) -> String {
    format!("{} hook {} --agent {}", quoted(program), moment.name(), agent.name)
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain =
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-+@%:,".contains(&b));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn edit(agent: &Agent, reach: Reach, before: Option<&[u8]>, after: Option<String>) -> Edit {
    Edit {
        file: file(agent, reach),
        reach,
        before: before.map(<[u8]>::to_vec),
        after: after.map(String::into_bytes),
    }
}

fn text<'a>(agent: &Agent, bytes: Option<&'a [u8]>) -> Result<Option<&'a str>> {
    bytes
        .map(|bytes| std::str::from_utf8(bytes).map_err(|_| refused(agent, "it is not UTF-8 text")))
        .transpose()
}

fn refused(agent: &Agent, why: &str) -> Fault {
    Fault::new(Code::Config, format!("{}'s settings file cannot be edited: {why}", agent.title))
        .fact("file", agent.user_file)
        .hint("correct the file by hand, then run `heirloom setup` again; nothing was changed")
}

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
