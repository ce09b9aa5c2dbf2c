//! Archives of turns and facts: written to a stream, read from one.
//!
//! Comes in: whose memories, and for reading how much the archive is believed. Goes out: counts. Bringing back what was removed here cannot be
//! taken back and needs a person or the scope `delete`; believing what a foreign archive says about trust is accepting it, which only a person
//! can, with the PIN where one is asked for. Never here: a memory of a user who is not the caller, unless the store's keeper asks.

use super::{Progress, Watch, asked};
use crate::call::Call;
use crate::files;
use crate::shelf::tiers::{Brought, Carried, ImportRules, Whose, is_archive};
use crate::transfer::is_files;
use heirloom_core::{Code, Fault, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

/// What to write.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteArchive {
    /// The memories of every user, for the account that keeps the store.
    #[serde(default)]
    pub all_users: bool,
    /// One user's memories, audit, tokens and drafts, for whoever looks after users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// How to read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadArchive {
    /// Only count.
    #[serde(default)]
    pub dry_run: bool,
    /// The memories of every user, for the account that keeps the store.
    #[serde(default)]
    pub all_users: bool,
    /// Also what was removed here.
    #[serde(default)]
    pub even_removed: bool,
    /// Believe what it says about trust.
    #[serde(default)]
    pub vouch: bool,
}

/// Writes an archive of the caller's turns and facts, or of everybody's.
pub fn write(call: &Call, ask: &WriteArchive, to: &mut dyn Write, watch: &mut Watch<'_>) -> Result<Carried> {
    let tiers = call.tiers()?;
    asked(call, Verb::Export, ShelfName::Tiers, Owner::Nobody)?;
    let whose = match &ask.user {
        Some(user) => Whose::User(user),
        None if ask.all_users => Whose::Everybody,
        None => Whose::Own,
    };
    tiers.export(whose, to, &mut |done| watch(Progress { what: "memories", done, of: None }))
}

/// The same to a new file that only its owner reads. A file of that name is a whole archive.
pub fn write_file(call: &Call, ask: &WriteArchive, path: &Path, watch: &mut Watch<'_>) -> Result<Carried> {
    use std::os::unix::fs::OpenOptionsExt as _;
    super::export::elsewhere(call, path)?;
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(
            Fault::new(Code::Create, format!("`{}` exists already", path.display())).hint("name a new file")
        );
    }
    let beside = path.with_extension(format!("part-{}", std::process::id()));
    let cannot = |e: &std::io::Error| Fault::io(&beside, "write", e);
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside);
    let mut writer = BufWriter::new(file.map_err(|e| cannot(&e))?);
    let outcome = write(call, ask, &mut writer, watch).and_then(|carried| {
        writer.flush().and_then(|()| writer.get_ref().sync_all()).map_err(|e| cannot(&e))?;
        files::rename(&beside, path)?;
        Ok(carried)
    });
    if outcome.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    outcome
}

/// Reads an archive.
pub fn read(
    call: &Call,
    ask: &ReadArchive,
    from: &mut dyn BufRead,
    watch: &mut Watch<'_>,
) -> Result<Brought> {
    let tiers = call.tiers()?;
    asked(call, Verb::Import, ShelfName::Tiers, Owner::Nobody)?;
    for verb in weighs(ask) {
        call.permit(verb, ShelfName::Tiers, "")?;
    }
    let rules = ImportRules {
        dry_run: ask.dry_run,
        everybody: ask.all_users,
        person: ask.vouch,
        even_removed: ask.even_removed,
    };
    tiers.import(from, rules, &mut |done| watch(Progress { what: "memories", done, of: None }))
}

/// What this way of reading needs a person for, so that a door can ask for a PIN before it opens the archive. Only to count needs nobody.
pub fn weighs(ask: &ReadArchive) -> Vec<Verb> {
    let wanted = [(ask.even_removed, Verb::Resurrect), (ask.vouch, Verb::Accept)];
    wanted.into_iter().filter(|(wanted, _)| *wanted && !ask.dry_run).map(|(_, verb)| verb).collect()
}

/// What a file or a stream carries, by how it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carries {
    /// Turns and facts.
    Turns,
    /// The files of shelves.
    Files,
}

/// Bytes that tell what a stream carries.
pub const BEGINNING: usize = 64;

/// What a stream that begins so carries, if it is an archive at all.
pub fn carries(beginning: &[u8]) -> Option<Carries> {
    match is_files(beginning) {
        true => Some(Carries::Files),
        false => is_archive(beginning).then_some(Carries::Turns),
    }
}

/// The archive among these files, if one is. It is no file of a shelf, so it goes alone.
pub fn among(paths: &[PathBuf]) -> Result<Option<(&Path, Carries)>> {
    let one = |path: &PathBuf| {
        let mut beginning = [0; BEGINNING];
        let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut beginning));
        carries(&beginning[..read.unwrap_or_default()])
    };
    match paths.iter().find_map(|path| Some((path.as_path(), one(path)?))) {
        Some(_) if paths.len() > 1 => Err(Fault::new(Code::Usage, "an archive must be imported alone")
            .hint("import it by itself, and the other files after it")),
        found => Ok(found),
    }
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
