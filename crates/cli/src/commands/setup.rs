//! `setup`: hooks into agents' settings and out again, after showing every change.
//!
//! Comes in: which agents, and whether to put hooks in or take them out. Goes out: changed settings files, each with a receipt that
//! lets `--uninstall` give it back. Never here: a change that was not shown, or a file that changed while the question was open.

use super::setup_ask::{self, Asked};
use super::setup_clients;
use super::setup_first;
use super::setup_purge::Purge;
use super::setup_receipt::{self, Receipt};
use crate::args::{Args, Setup};
use crate::machine::{self, shown};
use crate::output::{Out, unified};
use crate::{person, wiring};
use heirloom_agents::install::{self, Called, Reach, Undo};
use heirloom_agents::table::{AGENTS, CLIENTS, Client};
use heirloom_agents::{Agent, bundle};
use heirloom_core::code::exit;
use heirloom_core::settings::flat;
use heirloom_core::{Code, Fault, Verb, fault::Result};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::settings;
use heirloom_engine::verbs::setup::{self, FileChange, Report, Uninstall};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The setting that `--notes` switches on.
const NOTES: &str = "notes.capture";
const FOREIGN: &str = "not made by Heirloom, stays as it is";
const PLUGIN: &str = "has the plugin, which brings the hooks and the skill";
/// The largest settings file.
const MAX: u64 = 16 << 20;

/// An agent, whichever way it comes to the memory: its name and its name for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Whose {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
}

impl Whose {
    fn of(agent: &Agent) -> Option<Whose> {
        Some(Whose { name: agent.name, title: agent.title })
    }
}

/// A file and what becomes of it.
pub(super) struct Change {
    /// Whose it is; `None` is our own settings file.
    pub(super) whose: Option<Whose>,
    pub(super) file: PathBuf,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// Why nothing is done, if there is a reason beyond nothing being needed.
    pub(super) left: Option<&'static str>,
}

impl Change {
    pub(super) fn title(&self) -> &'static str {
        self.whose.map_or("Heirloom", |whose| whose.title)
    }

    pub(super) fn changes(&self) -> bool {
        self.before != self.after
    }

    pub(super) fn diff(&self) -> Vec<String> {
        unified(self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default())
    }
}

pub(crate) fn run(args: &Args, call: &Setup, out: &Out) -> Result<u8> {
    if let Some(ended) = setup_first::installed(call)? {
        return Ok(ended);
    }
    let project = wiring::project_folder(&wiring::cwd(args)?);
    let mut wired = wiring::wire_for_settings(args)?;
    match (call.dry_run, call.uninstall) {
        (true, _) => {}
        (false, false) => setup::may_install(&wired.call)?,
        (false, true) => {
            person::checked(&mut wired, Verb::Uninstall)?;
            if call.purge {
                person::checked(&mut wired, Verb::Clear)?;
            }
            setup::may_uninstall(&wired.call)?;
        }
    }
    let (agents, clients) = wanted(call)?;
    let mut plan = Vec::new();
    for agent in &agents {
        let change = planned(agent, call, &project)?;
        let wants_more = change.left.is_none();
        plan.push(change);
        if wants_more {
            plan.extend(beside(agent, call, &project)?);
        }
        for client in clients.iter().filter(|client| client.name == agent.name) {
            plan.extend(setup_clients::planned(client, call, &project)?);
        }
    }
    for client in clients.iter().filter(|client| !agents.iter().any(|agent| agent.name == client.name)) {
        plan.extend(setup_clients::planned(client, call, &project)?);
    }
    if call.uninstall && call.agent.is_empty() && !call.shared {
        plan.extend(without_notes()?);
        plan.retain(Change::changes);
    }
    if call.notes {
        plan.push(with_notes()?);
    }
    let mut purge = match call.purge {
        true => Some(Purge::look(&wiring::wire_for_settings(args)?)?),
        false => None,
    };
    let asked = setup_ask::ask(&plan, purge.as_ref(), call, out)?;
    if asked.notes {
        plan.push(with_notes()?);
    }
    let needed = plan.iter().any(Change::changes) || purge.as_ref().is_some_and(|purge| !purge.is_empty());
    let wanted = |change: &&Change| change.changes() && asked.wants(change);
    let applied = plan.iter().any(|change| wanted(&change)) || (purge.is_some() && asked.purge);
    let applied = applied && !call.dry_run;
    if applied {
        let names = agents.iter().map(|agent| agent.name).chain(clients.iter().map(|client| client.name));
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.dedup();
        let ask = Uninstall { agents: names };
        let own = plan.iter().any(|change| change.whose.is_none() && wanted(&change));
        let underway = match (call.uninstall, own) {
            (true, _) => Some(setup::uninstall(&wired.call, &ask)?),
            (false, true) => Some(setup::own_setting(&wired.call, NOTES)?),
            (false, false) => None,
        };
        let mut made = Vec::new();
        for change in plan.iter().filter(wanted) {
            made.extend(apply(change, call.uninstall)?);
        }
        remove_empty(made);
        underway.into_iter().for_each(setup::Underway::done);
        if let Some(purge) = purge.as_mut().filter(|_| asked.purge) {
            purge.carry_out(&wired)?;
        }
    }
    let done: Vec<&'static Agent> =
        agents.iter().copied().filter(|agent| asked.wants_agent(agent.name)).collect();
    let report = Report {
        applied,
        changes: plan.iter().map(|change| row(change, &asked, applied)).collect(),
        purged: purge.as_ref().map(Purge::shown).unwrap_or_default(),
        next: if applied || !needed { next(&done, call) } else { Vec::new() },
    };
    out.answer(&report, || finish(out, &report, needed, call));
    Ok(if needed && !applied && !call.dry_run { exit::REFUSED } else { exit::OK })
}

/// The agents to work on: those named, those that are here, and for taking hooks out all there are.
fn wanted(call: &Setup) -> Result<(Vec<&'static Agent>, Vec<&'static Client>)> {
    if !call.agent.is_empty() {
        return machine::named(&call.agent);
    }
    if call.uninstall {
        return Ok((AGENTS.to_vec(), CLIENTS.to_vec()));
    }
    let (agents, clients) = (machine::agents(), machine::clients());
    if agents.is_empty() && clients.is_empty() {
        let mut known: Vec<&str> = AGENTS.iter().map(|agent| agent.title).collect();
        known.extend(CLIENTS.iter().map(|client| client.title));
        known.sort_unstable();
        known.dedup();
        return Err(Fault::new(
            Code::NotFound,
            format!("none of {} was found on this machine", known.join(", ")),
        )
        .hint("install one and start it once, or name one with --agent"));
    }
    Ok((agents, clients))
}

fn planned(agent: &'static Agent, call: &Setup, project: &Path) -> Result<Change> {
    let reach = if call.shared { Reach::Project } else { Reach::User };
    let file = real(machine::settings_file(agent, reach, project)?);
    let before = read(&file)?;
    let bytes = before.as_deref().map(str::as_bytes);
    if !call.uninstall && before.as_deref().is_some_and(|text| install::is_plugin(agent, text)) {
        // Both would run every hook twice.
        return Ok(Change {
            whose: Whose::of(agent),
            file,
            after: before.clone(),
            before,
            left: Some(PLUGIN),
        });
    }
    let edit = if call.uninstall {
        install::uninstall(
            agent,
            reach,
            bytes,
            setup_receipt::read(&file).map(|receipt| receipt.undo).as_ref(),
        )?
    } else {
        install::install(
            agent,
            reach,
            bytes,
            Called { program: &machine::program(reach)?, everywhere: call.everywhere },
        )?
    };
    // Edits are made of text.
    let after = edit.after.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Change { whose: Whose::of(agent), file, before, after, left: None })
}

/// The files that belong beside an agent's hooks. One of the same name that is not ours stays as it is.
fn beside(agent: &'static Agent, call: &Setup, project: &Path) -> Result<Vec<Change>> {
    let reach = if call.shared { Reach::Project } else { Reach::User };
    let settings = machine::settings_file(agent, reach, project)?;
    let folder = settings.parent().unwrap_or(&settings);
    let mut changes = Vec::new();
    let program =
        machine::program(reach).map_or_else(|_| machine::NAME.to_owned(), |path| install::quoted(&path));
    let by_name = bundle::beside(agent, machine::NAME);
    for wanted in bundle::beside(agent, &program) {
        let file = real(folder.join(&wanted.path));
        let before = read(&file)?;
        let original =
            before.as_deref().and_then(|now| setup_receipt::read(&file)?.undo.original(now.as_bytes()));
        // Version 0.1 wrote the same text with the program's name.
        let is_ours = |now: &String| *now == wanted.text || by_name.iter().any(|file| file.text == *now);
        let ours = original.is_some() || before.as_ref().is_none_or(is_ours);
        let after = match (ours, call.uninstall) {
            (false, _) => before.clone(),
            (true, false) => Some(wanted.text),
            (true, true) => original.flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        };
        changes.push(Change {
            whose: Whose::of(agent),
            file,
            before,
            after,
            left: (!ours).then_some(FOREIGN),
        });
    }
    Ok(changes)
}

/// The file a link leads to: people keep their settings elsewhere and link to them.
pub(super) fn real(file: PathBuf) -> PathBuf {
    std::fs::canonicalize(&file).unwrap_or(file)
}

pub(super) fn read(file: &Path) -> Result<Option<String>> {
    files::read_text(file, MAX).map_err(|fault| {
        Fault::new(Code::Config, format!("`{}` cannot be read: {}", file.display(), fault.message))
            .hint("correct the file by hand, then run `heirloom setup` again; nothing was changed")
    })
}

/// Our own settings with notes switched on.
fn with_notes() -> Result<Change> {
    let file = real(wiring::user_settings_file());
    let before = read(&file)?;
    let mut document = document(&file)?;
    flat::set(&mut document, NOTES, json!(true));
    let unchanged = settings::read_document(&file).ok().flatten().as_ref() == Some(&document);
    let after = if unchanged { before.clone() } else { Some(pretty(&document)) };
    Ok(Change { whose: None, file, before, after, left: None })
}

/// Our own settings without what `setup` switched on; nothing if it did not.
fn without_notes() -> Result<Option<Change>> {
    let file = real(wiring::user_settings_file());
    let (Some(receipt), Some(before)) = (setup_receipt::read(&file), read(&file)?) else { return Ok(None) };
    let after = match receipt.undo.original(before.as_bytes()) {
        Some(original) => original.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        None => {
            let mut document = document(&file)?;
            if flat::remove(&mut document, NOTES) { Some(pretty(&document)) } else { Some(before.clone()) }
        }
    };
    Ok(Some(Change { whose: None, file, before: Some(before), after, left: None }))
}

fn document(file: &Path) -> Result<Value> {
    match settings::read_document(file) {
        Ok(document) => Ok(document.unwrap_or_else(|| json!({}))),
        Err(why) => Err(Fault::new(Code::Config, format!("`{}`: {why}", file.display()))
            .hint("correct the file by hand first; nothing was changed")),
    }
}

fn pretty(document: &Value) -> String {
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}

/// Makes a change. Returns the folders that were made for a file that is gone now.
fn apply(change: &Change, uninstall: bool) -> Result<Vec<PathBuf>> {
    let file = &change.file;
    if read(file)? != change.before {
        return Err(Fault::new(
            Code::OccConflict,
            format!("`{}` changed while you were asked", file.display()),
        )
        .hint("run the command again"));
    }
    let receipt = setup_receipt::read(file);
    let Some(after) = &change.after else {
        files::remove(file)?;
        setup_receipt::drop(file)?;
        return Ok(receipt.map(|receipt| receipt.made).unwrap_or_default());
    };
    let made = missing_folders(file);
    if let Some(folder) = file.parent() {
        files::make_folder(folder, Mode::Shared)?;
    }
    write(file, after)?;
    if uninstall {
        setup_receipt::drop(file)?;
        return Ok(Vec::new());
    }
    // What was there before our own first edit is what counts, if the file is still as that left it.
    let now = change.before.as_deref();
    let earlier = receipt.as_ref().and_then(|receipt| receipt.undo.original(now?.as_bytes()));
    let original = match earlier {
        Some(original) => original.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        None => change.before.clone(),
    };
    let made = receipt.map(|receipt| receipt.made).filter(|made| !made.is_empty()).unwrap_or(made);
    setup_receipt::keep(&Receipt { file: file.clone(), undo: Undo::of(original.as_deref(), after), made })?;
    Ok(Vec::new())
}

/// Removes folders that `setup` made, innermost first, after all files are gone: two files may lie in one of them. One that is not empty stays.
fn remove_empty(mut made: Vec<PathBuf>) {
    made.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in made {
        let _ = std::fs::remove_dir(folder);
    }
}

/// Replaces a file and leaves its permissions as they were.
fn write(file: &Path, text: &str) -> Result<()> {
    let mode = std::fs::metadata(file).map(|meta| meta.permissions());
    match mode {
        Err(_) => files::write(file, text.as_bytes(), Mode::Shared),
        Ok(mode) => {
            files::write(file, text.as_bytes(), Mode::Private)?;
            std::fs::set_permissions(file, mode).map_err(|e| Fault::io(file, "set the permissions of", &e))
        }
    }
}

/// The folders above a file that are not there yet, innermost first.
fn missing_folders(file: &Path) -> Vec<PathBuf> {
    let above = file.ancestors().skip(1);
    above.take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
}

fn row(change: &Change, asked: &Asked, applied: bool) -> FileChange {
    FileChange {
        agent: change.whose.map(|whose| whose.name.to_owned()),
        file: change.file.display().to_string(),
        changes: change.changes(),
        applied: applied && change.changes() && asked.wants(change),
        diff: change.diff(),
    }
}

/// What is left to do for a person.
fn next(agents: &[&'static Agent], call: &Setup) -> Vec<String> {
    if call.purge {
        return vec![
            "the memory folders of your projects stay; delete `.claude/memory` where you do not want it"
                .to_owned(),
        ];
    }
    if call.uninstall {
        return vec!["your memories stay; `heirloom setup` connects the agents again".to_owned()];
    }
    let mut lines: Vec<String> = agents
        .iter()
        .filter(|agent| agent.asks_for_trust)
        .map(|agent| {
            format!(
                "start {} and approve the hooks when it asks; it does not run them before that",
                agent.title
            )
        })
        .collect();
    lines.push("restart agent sessions that are open now".to_owned());
    lines.push("`heirloom doctor` checks that everything works".to_owned());
    lines
}

fn finish(out: &Out, report: &Report, needed: bool, call: &Setup) {
    if !needed {
        let state = if call.uninstall { "there is nothing to remove" } else { "everything is set up" };
        out.line(out.style.green(state));
    } else if report.applied {
        for change in report.changes.iter().filter(|change| change.applied) {
            let file = Path::new(&change.file);
            let word = if file.exists() { "changed" } else { "removed" };
            out.line(format!("{} {}", out.style.green(word), shown(file)));
        }
        report.purged.iter().for_each(|what| out.line(format!("{} {what}", out.style.green("removed"))));
    } else {
        out.say("nothing was changed");
        if call.dry_run && !call.uninstall && !call.notes {
            out.say("`--notes` also keeps the assistant's longer messages as notes");
        }
    }
    for line in &report.next {
        out.say(format!("next: {line}"));
    }
}
