//! Record write: a record by the path of its file, with the arguments and answers scripts know.
//!
//! Comes in: an action, a target, a document. Goes out: the answer of the record format, word for word; or a change that waits, where it touches
//! what a person stands behind or took out of use. Never here: reading the input, or printing an error block.

use super::add::{Add, New, NewRecord, held_at};
use super::edit::Edit;
use super::life::{self, Move};
use super::{Outcome, anchor, asked_of, commit, waiting};
use crate::call::Call;
use crate::shelf::anchors;
use crate::shelf::records::Target;
use heirloom_core::settings::Category;
use heirloom_core::{Code, Fault, May, Memory, MemoryId, Status, Verb, fault::Result};
use serde_json::Value;
use std::path::Path;

pub use crate::shelf::records::{Document, Said, Version};

/// Tries at an update whose record changes while its owner is looked up.
const TRIES: usize = 8;

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A new record.
    Create {
        /// Its category.
        category: String,
        /// The record.
        document: Document,
    },
    /// A changed record.
    Update {
        /// The record from now on.
        document: Document,
        /// The version it is based on.
        version: Version,
    },
    /// Out of use.
    Retire {
        /// Why.
        reason: Option<String>,
    },
    /// Kept for the record.
    Archive {
        /// Why.
        reason: Option<String>,
    },
    /// Back from the archive.
    Unarchive,
    /// Back into use.
    Restore,
}

impl Action {
    /// The word of the record format for it.
    fn word(&self) -> &'static str {
        match self {
            Action::Create { .. } => "create",
            Action::Update { .. } => "update",
            Action::Retire { .. } => "delete",
            Action::Archive { .. } => "archive",
            Action::Unarchive => "unarchive",
            Action::Restore => "restore",
        }
    }
}

/// A write.
#[derive(Debug, Clone, PartialEq)]
pub struct Write<'a> {
    /// The record's file as it was given.
    pub target: &'a str,
    /// The folder that relative paths start at.
    pub cwd: &'a Path,
    /// What is to be done.
    pub action: Action,
    /// The code it is about.
    pub cites: &'a [String],
}

/// Whether there is a record in the target's file. A path that is no record's place is refused.
pub fn is_there(call: &Call, target: &str, cwd: &Path) -> Result<bool> {
    Ok(call.records().target(target, cwd)?.path.exists())
}

/// Does it. `said` holds corrections and warnings, whatever comes out.
pub fn write(call: &Call, ask: Write<'_>, said: &mut Said) -> Result<Outcome<Value>> {
    let message = format!("memory: {} {}", ask.action.word(), ask.target);
    let outcome = run(call, ask, said)?;
    if matches!(outcome, Outcome::Done(_)) {
        commit::commit(call, &message);
    }
    Ok(outcome)
}

fn run(call: &Call, ask: Write<'_>, said: &mut Said) -> Result<Outcome<Value>> {
    let cited = anchor::cited(call, ask.cites, Some(ask.cwd))?;
    let records = call.records();
    let target = records.target(ask.target, ask.cwd)?;
    let entry = call.entry();
    let done = |answer| Outcome::of(call, answer);
    let move_of = |verb: Verb, reason: &Option<String>| moved(call, verb, &target, reason.as_deref());
    match ask.action {
        Action::Retire { reason } => match move_of(Verb::Retire, &reason)? {
            Some(waits) => Ok(waits),
            None => done(records.retire_target(&target, reason.as_deref(), entry)),
        },
        Action::Archive { reason } => match move_of(Verb::Archive, &reason)? {
            Some(waits) => Ok(waits),
            None => done(records.archive_target(&target, reason.as_deref(), entry)),
        },
        Action::Unarchive => match move_of(Verb::Unarchive, &None)? {
            Some(waits) => Ok(waits),
            None => done(records.unarchive_target(&target, entry)),
        },
        Action::Restore => match move_of(Verb::Restore, &None)? {
            Some(waits) => Ok(waits),
            None => done(records.restore_target(&target, entry, said)),
        },
        Action::Create { category, document } => {
            let category = call.settings().category(&category).ok_or_else(|| {
                Fault::new(Code::Usage, format!("there is no category `{category}`"))
                    .hint("`heirloom config list` shows the categories")
            })?;
            let request = || replaced(category, &target, &document, &cited);
            if let Some(waits) = held_at(call, category, &target, request)? {
                return Ok(Outcome::Waits(waits));
            }
            let create = || records.create(&target, category, document.clone(), entry, said);
            done(anchor::citing(call, cited, entry, create, |answer| named(call, answer, ask.cwd)))
        }
        Action::Update { document, version } => {
            update(call, ask.cwd, &target, (document, version), cited, said)
        }
    }
}

fn update(
    call: &Call,
    cwd: &Path,
    target: &Target,
    (document, version): (Document, Version),
    cited: Vec<anchors::Anchor>,
    said: &mut Said,
) -> Result<Outcome<Value>> {
    let records = call.records();
    let entry = call.entry();
    for left in (0..TRIES).rev() {
        let memory = at(call, target)?;
        if let Some(memory) = &memory
            && asked_of(call, Verb::Edit, memory, call.stands_behind(memory)?)? == May::Waits
        {
            let whole = document.to_value().to_string();
            records.expect_update(target, document, &version, cwd, said)?;
            if !cited.is_empty() {
                said.warnings.push("what it cites is not kept while the change waits".to_owned());
            }
            let ask = Edit { id: memory.id.to_string(), whole: Some(whole), ..Edit::default() };
            return waiting::wait(call, Verb::Edit, memory, &ask).map(Outcome::Waits);
        }
        // Whose text it is was asked about these bytes, so these bytes are what is replaced.
        let pinned = match (&version, &memory) {
            (Version::Any, Some(memory)) => Version::Exactly(memory.version.clone()),
            _ => version.clone(),
        };
        let mut heard = Said::default();
        let save = || records.update(target, document.clone(), &pinned, cwd, entry, &mut heard);
        let answer = anchor::citing(call, cited.clone(), entry, save, |answer| named(call, answer, cwd));
        let raced =
            version == Version::Any && answer.as_ref().is_err_and(|fault| fault.code == Code::OccConflict);
        if !raced || left == 0 {
            *said = heard;
            return Outcome::of(call, answer);
        }
    }
    Err(Fault::new(Code::Internal, "an update had no outcome"))
}

/// A move that a person decides about; `None` if it may go to the shelf, which also says what cannot be moved at all.
fn moved(call: &Call, verb: Verb, target: &Target, reason: Option<&str>) -> Result<Option<Outcome<Value>>> {
    let Some(memory) = at(call, target)? else { return Ok(None) };
    let from = match verb {
        Verb::Restore => Status::Retired,
        Verb::Unarchive => Status::Archived,
        _ => Status::Active,
    };
    if memory.status != from
        || asked_of(call, verb, &memory, life::stands_behind(call, verb, &memory)?)? != May::Waits
    {
        return Ok(None);
    }
    let ask = Move { ids: vec![memory.id.to_string()], reason: reason.map(str::to_owned) };
    waiting::wait(call, verb, &memory, &ask).map(|waits| Some(Outcome::Waits(waits)))
}

/// The memory in the target's file. One that cannot be read is the shelf's to report.
fn at(call: &Call, target: &Target) -> Result<Option<Memory>> {
    let folder = target.path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let category = folder.and_then(|folder| call.settings().category_of_folder(folder));
    match call.records().memory_at(&target.path, category.map_or("", Category::name)) {
        Err(fault) if fault.code == Code::Read => Ok(None),
        found => found,
    }
}

/// The record an answer is about, by the place it names.
fn named(call: &Call, answer: &Value, cwd: &Path) -> Option<MemoryId> {
    let target = call.records().target(answer["target"].as_str()?, cwd).ok()?;
    let folder = target.path.parent()?.file_name()?.to_str()?;
    let category = call.settings().category_of_folder(folder)?;
    Some(MemoryId::new(&category.kind, target.path.file_stem()?.to_str()?))
}

/// A new record in place of a person's, as it waits.
fn replaced(category: &Category, target: &Target, document: &Document, cited: &[anchors::Anchor]) -> Add {
    let mut document = document.to_value();
    document["id"] = Value::String(target.stem());
    let new =
        NewRecord { category: category.name().to_owned(), document: Some(document), ..NewRecord::default() };
    Add { cites: cited.iter().map(anchors::Anchor::shown).collect(), ..Add::of(New::Record(new)) }
}
