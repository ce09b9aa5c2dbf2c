//! Import: memories from files, named or found, each as if it were added.
//!
//! Comes in: paths, a stream of files, or where coding agents keep their things. Goes out: what is new, what was here, what waits, what was refused. What is in a
//! file is not a person's word, even if a person brings the file. Never here: a memory's text changed; archives of turns and facts, which are
//! `archive.rs`; asking whether somebody is sure.

use super::{Progress, Watch, asked, commit};
use crate::call::Call;
use crate::gate::Entry;
use crate::transfer::{self, Homes, Origin, Source, find, gather, rehearse};
pub use crate::transfer::{Arriving, Changed, Choice, Imported, Left};
use heirloom_core::{Channel, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::io::BufRead;
use std::path::PathBuf;

/// What to import.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// Files and folders of this machine.
    pub paths: Vec<PathBuf>,
    /// Only say what would arrive.
    #[serde(default)]
    pub dry_run: bool,
}

/// What to do with what is found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportFound {
    /// Only say what would arrive.
    #[serde(default)]
    pub dry_run: bool,
    /// What is not to arrive, or otherwise.
    #[serde(default)]
    pub choice: Choice,
}

/// What was found and what came of it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct FoundImport {
    /// The files, by where they come from.
    pub found: Vec<Origin>,
    /// What arrived, or would.
    pub report: Imported,
}

/// Imports files and folders.
pub fn import(call: &Call, ask: &Import, watch: &mut Watch<'_>) -> Result<Imported> {
    permitted(call)?;
    bring(call, &gather(&ask.paths)?, ask.dry_run, &Choice::default(), watch)
}

/// Imports the files of a stream as [`super::export::write`] writes it. What it holds is looked at only when all of it is here.
pub fn import_stream(
    call: &Call,
    dry_run: bool,
    from: &mut dyn BufRead,
    watch: &mut Watch<'_>,
) -> Result<Imported> {
    permitted(call)?;
    call.project().expect_memory()?;
    let sent = transfer::receive(call, from, &mut |done| {
        watch(Progress { what: "files received", done: done as u64, of: None });
    })?;
    bring(call, &sent.sources, dry_run, &Choice::default(), watch)
}

/// Imports what coding agents on this machine already know about the project.
pub fn import_found(
    call: &Call,
    ask: &ImportFound,
    homes: &Homes,
    watch: &mut Watch<'_>,
) -> Result<FoundImport> {
    permitted(call)?;
    let found = find(call.project(), homes)?;
    let sources: Vec<Source> = found.iter().flat_map(|origin| origin.sources.iter().cloned()).collect();
    let report = bring(call, &sources, ask.dry_run, &ask.choice, watch)?;
    Ok(FoundImport { found, report })
}

fn permitted(call: &Call) -> Result<()> {
    asked(call, Verb::Import, ShelfName::Records, Owner::Nobody).map(|_| ())
}

fn bring(
    call: &Call,
    sources: &[Source],
    dry_run: bool,
    choice: &Choice,
    watch: &mut Watch<'_>,
) -> Result<Imported> {
    let channel = if call.caller().is_person() { Channel::Repository } else { Channel::Agent };
    let entry = Entry::through(channel);
    let of = Some(sources.len() as u64);
    let mut told = |done: usize| watch(Progress { what: "files", done: done as u64, of });
    if dry_run {
        return rehearse(call, sources, entry, choice, &mut told);
    }
    let brought = transfer::import(call, sources, entry, choice, &mut told)?;
    commit::commit(call, &format!("memory: import {} memories", brought.new_count()));
    Ok(brought)
}
