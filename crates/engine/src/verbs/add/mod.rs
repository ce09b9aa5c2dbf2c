//! Add: a memory of any kind, new.
//!
//! Comes in: what is to be remembered, by kind, and the code it cites. Goes out: where it is now, or what waits. Each kind has a file beside
//! this one; [`Words`] makes the request of a door that has a kind and loose words. Never here: a memory that takes the place of what a
//! person stands behind without that person's yes.

mod lesson;
mod note;
mod record;
mod vault;
mod words;

pub use lesson::NewLesson;
pub use note::NewNote;
pub use record::NewRecord;
pub(super) use record::held_at;
pub(super) use vault::added as stored_in_vault;
pub use vault::{NewVault, scope_named, source};
pub use words::{Taken, Words};

use super::remember::{self, NewFact, NewTurn};
use super::{Added, Outcome, Yes, anchor, asked, commit, told};
use crate::call::Call;
use crate::gate::Entry;
pub use crate::shelf::records::Missing;
use heirloom_core::{Code, Fault, Kind, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is to be remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum New {
    /// A record of a built-in category or of one the settings define.
    Record(NewRecord),
    /// What went wrong and what helped.
    Lesson(NewLesson),
    /// A message, word for word.
    Note(NewNote),
    /// What stays true about the agents.
    Canon(NewVault),
    /// What holds now, kept up to date under its topic.
    Register(NewVault),
    /// What is known about a person.
    Fact(NewFact),
    /// Something that was said.
    Episode(NewTurn),
}

/// A memory to save.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Add {
    /// What is to be remembered.
    pub new: New,
    /// The code it is about: `PATH`, `PATH:12-20`, `PATH#symbol` or `PATH:"quoted text"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cites: Vec<String>,
    /// Whether only to say what would be stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearse: bool,
    /// What a person said to [`questions`].
    #[serde(default)]
    pub yes: Yes,
    /// The folder that paths in `cites` are taken from, beside the project's.
    #[serde(skip)]
    pub from: Option<PathBuf>,
}

impl Add {
    /// A request with nothing but what is to be remembered.
    pub fn of(new: New) -> Add {
        Add { new, cites: Vec::new(), rehearse: false, yes: Yes::default(), from: None }
    }
}

/// Saves a memory.
pub fn add(call: &Call, ask: &Add) -> Result<Outcome<Added>> {
    add_one(call, ask).map_err(told::in_own_words)
}

fn add_one(call: &Call, ask: &Add) -> Result<Outcome<Added>> {
    let (verb, shelf) = match ask.new {
        New::Fact(_) => (Verb::Remember, ShelfName::Tiers),
        New::Episode(_) => (Verb::Turn, ShelfName::Tiers),
        _ => (Verb::Add, ShelfName::Records),
    };
    asked(call, verb, shelf, Owner::Nobody)?;
    if shelf != ShelfName::Tiers {
        call.project().expect_somewhere()?;
    }
    if matches!(ask.new, New::Fact(_) | New::Episode(_)) && !ask.cites.is_empty() {
        return Err(Fault::new(Code::Usage, "what belongs to a person cites no code")
            .hint("save what the project should know as a record, lesson or note"));
    }
    if ask.rehearse {
        return rehearse(call, ask).map(Outcome::Done);
    }
    let outcome = run(call, ask, call.entry())?;
    if let Outcome::Done(added) = &outcome {
        commit::commit(call, &format!("memory: add {}", added.id));
    }
    Ok(outcome)
}

/// What a person is to be asked before this is saved. Nobody else is asked anything: what they save waits instead.
pub fn questions(call: &Call, ask: &Add) -> Result<Vec<remember::Question>> {
    match &ask.new {
        New::Fact(new) => remember::questions(call, &new.words()),
        New::Episode(new) => Ok(remember::possible_secret(call, &new.text, false).into_iter().collect()),
        _ => Ok(Vec::new()),
    }
}

/// The fields that are still to be said before this can be saved. A door with a person asks for them; for anybody else [`add`] names them.
pub fn lacks(call: &Call, ask: &Add) -> Result<Vec<Missing>> {
    match &ask.new {
        New::Record(new) => record::lacks(call, new),
        _ => Ok(Vec::new()),
    }
}

pub(super) fn run(call: &Call, ask: &Add, entry: Entry) -> Result<Outcome<Added>> {
    let cited = anchor::cited(call, &ask.cites, ask.from.as_deref())?;
    if let New::Record(new) = &ask.new
        && let Some(waiting) = record::held(call, new, ask, &cited)?
    {
        return Ok(Outcome::Waits(waiting));
    }
    let save = || match &ask.new {
        New::Record(new) => record::add(call, new, entry),
        New::Lesson(new) => lesson::add(call, new, entry),
        New::Note(new) => note::add(call, new, entry),
        New::Canon(new) => vault::add(call, new, &Kind::Canon, entry),
        New::Register(new) => vault::add(call, new, &Kind::Register, entry),
        New::Fact(new) => remember::fact(call, new, &ask.yes, entry),
        New::Episode(new) => remember::turn(call, new, &ask.yes, entry),
    };
    Outcome::of(call, anchor::citing(call, cited, entry, save, |added| Some(added.id.clone())))
}

fn rehearse(call: &Call, ask: &Add) -> Result<Added> {
    anchor::cited(call, &ask.cites, ask.from.as_deref())?;
    match &ask.new {
        New::Record(new) => record::rehearse(call, new),
        New::Lesson(new) => lesson::rehearse(call, new),
        New::Note(new) => note::rehearse(call, new),
        New::Canon(new) => vault::rehearse(call, new, &Kind::Canon),
        New::Register(new) => vault::rehearse(call, new, &Kind::Register),
        New::Fact(new) => Ok(remember::rehearse(call, &new.text, Kind::Fact)),
        New::Episode(new) => Ok(remember::rehearse(call, &new.text, Kind::Episode)),
    }
}

/// The id of something that is not stored and has none yet.
fn unnamed(kind: &Kind) -> heirloom_core::MemoryId {
    heirloom_core::MemoryId::new(kind, "new")
}
