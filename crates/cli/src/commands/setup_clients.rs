//! `setup` for programs that come to the memory by MCP: our server in their list, and a short rules file.
//!
//! Comes in: a client, and whether to put it in or take it out. Goes out: the changes, each to be shown and asked about like any other. Never here: writing
//! a file, or a decision about where this program is.

use super::setup::{Change, Whose, read, real};
use super::setup_receipt;
use crate::args::Setup;
use crate::{environment, machine};
use heirloom_agents::install::{Called, Reach, rules, server};
use heirloom_agents::table::{Client, Rules};
use heirloom_core::fault::Result;
use std::path::{Path, PathBuf};

/// What becomes of the files of a client.
pub(super) fn planned(client: &Client, call: &Setup, project: &Path) -> Result<Vec<Change>> {
    let reach = if call.shared { Reach::Project } else { Reach::User };
    let mut changes = Vec::new();
    if let Some(file) = machine::servers_file(client, reach, project) {
        let (file, before) = looked(file)?;
        let after = match call.uninstall {
            true => taken_out(&file, before.as_deref(), "{}\n", |text| server::remove(client, text))?,
            false => {
                let program = machine::program(reach)?;
                Some(server::install(client, before.as_deref(), Called::by(&program))?)
            }
        };
        changes.push(change(client, file, before, after));
    }
    if let Some(wanted) = client.rules
        && let Some(file) = rules_file(client, &wanted, reach, project)
    {
        let (file, before) = looked(file)?;
        // The user's own file is not ours to give a head.
        let head = if file.file_name().is_some_and(|name| name.to_string_lossy().contains("heirloom")) {
            wanted.head
        } else {
            ""
        };
        let after = match call.uninstall {
            true => taken_out(&file, before.as_deref(), "", |text| Ok(rules::remove(head, text)))?,
            false => Some(rules::install(head, before.as_deref())),
        };
        changes.push(change(client, file, before, after));
    }
    Ok(changes)
}

fn looked(file: PathBuf) -> Result<(PathBuf, Option<String>)> {
    let file = real(file);
    let before = read(&file)?;
    Ok((file, before))
}

fn change(client: &Client, file: PathBuf, before: Option<String>, after: Option<String>) -> Change {
    Change { whose: Some(Whose { name: client.name, title: client.title }), file, before, after, left: None }
}

/// The rules file: the one that holds our block, the first that is there, or the first of them.
fn rules_file(client: &Client, rules: &Rules, reach: Reach, project: &Path) -> Option<PathBuf> {
    if reach == Reach::User {
        let folder = environment::client_folder(client).filter(|_| !rules.user_file.is_empty())?;
        return Some(folder.join(rules.user_file));
    }
    let all: Vec<PathBuf> = rules.project_files.iter().map(|file| project.join(file)).collect();
    let ours = |file: &&PathBuf| read(file).ok().flatten().is_some_and(|text| rules::installed(&text));
    let found = all.iter().find(ours).or_else(|| all.iter().find(|file| file.is_file()));
    found.or_else(|| all.first()).cloned()
}

/// A file as it was before `setup`, to the byte, if nobody changed it since; otherwise without what is ours. A file that its owner had before stays.
fn taken_out(
    file: &Path,
    before: Option<&str>,
    empty: &str,
    remove: impl Fn(&str) -> Result<Option<String>>,
) -> Result<Option<String>> {
    let Some(now) = before else { return Ok(None) };
    let undo = setup_receipt::read(file).map(|receipt| receipt.undo);
    match undo.as_ref().and_then(|undo| undo.original(now.as_bytes())) {
        Some(None) => Ok(None),
        Some(Some(original)) => {
            let text = String::from_utf8_lossy(&original).into_owned();
            Ok(Some(remove(&text)?.unwrap_or(text)))
        }
        None => {
            let stays = undo.is_some_and(|undo| undo.was_there());
            Ok(remove(now)?.or_else(|| stays.then(|| empty.to_owned())))
        }
    }
}
