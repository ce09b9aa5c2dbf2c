//! Installing into an agent: a plan of edits, shown before anything is done.
//!
//! Comes in: the bytes of an agent's settings file, if it is there, and how to call this program. Goes out: the bytes it should
//! have, or why not. Everything else in the file keeps its bytes: order, spacing, comments. Installing twice changes nothing,
//! and removing gives back what was there. Never here: reading or writing files; a setting that is not ours.

mod hooks_file;
mod hooks_object;
mod plugin_file;
pub mod rules;
pub mod server;
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

/// How an agent's hooks call this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Called<'a> {
    /// Its path, or its name where everybody has it somewhere else.
    pub program: &'a str,
    /// Whether the hooks act in every folder, or only where there is a memory.
    pub everywhere: bool,
}

impl<'a> Called<'a> {
    /// By this path or name, only where there is a memory.
    pub const fn by(program: &'a str) -> Called<'a> {
        Called { program, everywhere: false }
    }
}

/// The edit that installs our hooks.
pub fn install(agent: &Agent, reach: Reach, before: Option<&[u8]>, called: Called<'_>) -> Result<Edit> {
    let after = match agent.install {
        Install::HooksObject { .. } => {
            let (mark, text) = without_mark(text(agent, before)?);
            format!("{mark}{}", hooks_object::install(agent, text, called)?)
        }
        Install::PluginFile => plugin_file::install(text(agent, before)?, called)?,
        Install::HooksFile => hooks_file::install(agent, text(agent, before)?, called)?,
    };
    Ok(edit(agent, reach, before, Some(after)))
}

/// The edit that removes our hooks. With an [`Undo`] of a file that nobody has changed since, what was there before is given back to
/// the byte; otherwise our entries are taken out and everything else stays.
pub fn uninstall(agent: &Agent, reach: Reach, before: Option<&[u8]>, undo: Option<&Undo>) -> Result<Edit> {
    let original = before.and_then(|now| undo?.original(now));
    // What was there before may hold lines of an earlier version, and those go too.
    let from = original.as_ref().map_or(before, |original| original.as_deref());
    let after = without_ours(agent, text(agent, from)?)?;
    // A file that its owner had before `setup` and changed since stays, also if nothing is left in it.
    let is_theirs = original.is_none() && undo.is_some_and(Undo::was_there);
    let stays = is_theirs && before.is_some() && matches!(agent.install, Install::HooksObject { .. });
    Ok(edit(agent, reach, before, after.or_else(|| stays.then(|| EMPTY.to_owned()))))
}

/// A settings file that says nothing.
const EMPTY: &str = "{}\n";

/// A settings file without our entries, to the byte where there are none; `None` if nothing else was in it.
fn without_ours(agent: &Agent, text: Option<&str>) -> Result<Option<String>> {
    Ok(match (agent.install, text) {
        (_, None) => None,
        (Install::HooksObject { .. }, Some(_)) => {
            let (mark, text) = without_mark(text);
            hooks_object::remove(agent, text.unwrap_or_default())?.map(|text| format!("{mark}{text}"))
        }
        (Install::PluginFile, Some(text)) => plugin_file::remove(text)?,
        (Install::HooksFile, Some(text)) => hooks_file::remove(agent, text),
    })
}

/// The byte order mark some editors put first, and the text behind it.
fn without_mark(text: Option<&str>) -> (&'static str, Option<&str>) {
    const MARK: &str = "\u{feff}";
    match text.and_then(|text| text.strip_prefix(MARK)) {
        Some(rest) => (MARK, Some(rest)),
        None => ("", text),
    }
}

/// Whether our hooks are in a file, and whether all of them are called this way, here or everywhere.
pub fn installed(agent: &Agent, bytes: &[u8], program: &str) -> (bool, bool) {
    let Ok(text) = std::str::from_utf8(bytes) else { return (false, false) };
    let text = without_mark(Some(text)).1.unwrap_or_default();
    let ways = [Called::by(program), Called { program, everywhere: true }];
    match agent.install {
        Install::HooksObject { .. } => hooks_object::installed(agent, text, program),
        Install::PluginFile => (plugin_file::is_ours(text), plugin_file::calls(text, program)),
        Install::HooksFile => {
            let same = |called| hooks_file::install(agent, None, called).is_ok_and(|ours| ours == text);
            (hooks_file::is_ours(agent, text), ways.into_iter().any(same))
        }
    }
}

/// The command line of a hook. It must never change between versions: agents that ask their user to trust a hook ask again
/// for every change.
///
/// A program that is not there must not stop anybody: agents take some exit codes of a hook for a refusal, among them the shell's for a
/// program it cannot find. So the line ends with 0 and in silence where there is no program, and otherwise becomes the program itself, which
/// costs no process.
pub fn command_line(agent: &Agent, moment: Moment, called: Called<'_>) -> String {
    let program = quoted(called.program);
    let is_there = match called.program.contains('/') {
        true => format!("[ -x {program} ]"),
        false => format!("command -v {program} >/dev/null"),
    };
    format!("{is_there} || exit 0; exec {program} {}", words(agent, moment, called.everywhere))
}

/// Every line that calls a program for a moment, of this version and of an earlier one.
fn lines(agent: &Agent, moment: Moment, program: &str) -> [String; 3] {
    let called = |everywhere| command_line(agent, moment, Called { program, everywhere });
    [called(false), called(true), format!("{} {}", quoted(program), earlier_words(agent, moment))]
}

/// What follows the program in a hook's command line.
fn words(agent: &Agent, moment: Moment, everywhere: bool) -> String {
    let everywhere = if everywhere { " --everywhere" } else { "" };
    format!("{}{INSTALLED}{everywhere}", earlier_words(agent, moment))
}

/// The same in version 0.1.
fn earlier_words(agent: &Agent, moment: Moment) -> String {
    format!("hook {} --agent {}", moment.name(), agent.name)
}

/// Says that a line was written by `setup`, and keeps a hook from acting where nobody asked for a memory.
const INSTALLED: &str = " --installed";

/// Whether a command line is one of ours for this moment, of this version or an earlier one.
fn is_ours(agent: &Agent, moment: Moment, line: &str) -> bool {
    let ends = [words(agent, moment, false), words(agent, moment, true), earlier_words(agent, moment)];
    ends.iter().any(|words| line.strip_suffix(words.as_str()).is_some_and(|before| before.ends_with(' ')))
}

/// A word for a POSIX shell.
pub fn quoted(word: &str) -> String {
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
