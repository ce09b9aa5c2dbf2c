//! `status`: what there is, shelf by shelf, and what needs attention.

use super::show::visible;
use super::vault::print_stats;
use crate::args::Args;
use crate::output::{Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{ShelfName, Status, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::shelf::topics::ExternalState;
use heirloom_engine::shelf::vault::Stats;
use heirloom_engine::shelf::{Count, Listing, Shelf as _};
use serde::Serialize;
use std::path::Path;

/// Everything `status` knows.
#[derive(Serialize)]
struct State<'a> {
    project: &'a Path,
    memory: &'a Path,
    categories: Vec<Row<'a>>,
    shelves: Vec<Shelved>,
    vault: Stats,
    external_memory: ExternalState,
    bytes: u64,
    index_in_sync: bool,
    issues: Vec<String>,
    waiting_for_review: usize,
}

#[derive(Serialize)]
struct Row<'a> {
    category: &'a str,
    enabled: bool,
    #[serde(flatten)]
    count: Count,
}

#[derive(Serialize)]
struct Shelved {
    shelf: &'static str,
    #[serde(flatten)]
    count: Count,
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    let root = wired.call.project().root().folder();
    if !root.is_dir() {
        return Err(heirloom_engine::project::no_memory(root));
    }
    let state = state(&wired.call)?;
    out.answer(&state, || print(out, &state));
    Ok(exit::OK)
}

fn state(engine: &Call) -> Result<State<'_>> {
    let records = engine.records();
    let memories = records.list(&Listing::everything())?;
    let count = |name: &str, status: Status| {
        memories.iter().filter(|m| m.kind.name() == name && m.status == status).count()
    };
    let categories = engine.settings().categories.iter().map(|c| Row {
        category: c.name(),
        enabled: c.enabled,
        count: Count {
            active: count(c.name(), Status::Active),
            retired: count(c.name(), Status::Retired),
            archived: count(c.name(), Status::Archived),
        },
    });
    let mut shelves = Vec::new();
    for shelf in engine.shelves() {
        let count = match shelf.count() {
            // A database that cannot be reached keeps nobody from looking at files; `verify` names it.
            Err(_) if shelf.name() == ShelfName::Tiers => continue,
            counted => counted?,
        };
        shelves.push(Shelved { shelf: shelf.name().name(), count });
    }
    let health = records.health()?;
    // The index is made with the first record: before that nothing is amiss.
    let none_yet = health.sync.is_none()
        && health.active + health.retired + health.archived + health.unreadable.len() == 0;
    let root = engine.project().root().folder();
    Ok(State {
        project: engine.project().folder(),
        memory: root,
        categories: categories.collect(),
        shelves,
        vault: engine.vault().stats()?,
        external_memory: engine.topics().external_state(),
        bytes: folder_size(root),
        index_in_sync: none_yet || health.sync.as_ref().is_some_and(|sync| sync.is_none()),
        issues: if none_yet { Vec::new() } else { health.issues() },
        waiting_for_review: heirloom_engine::review::pending(engine)?.len(),
    })
}

fn print(out: &Out, state: &State<'_>) {
    let style = out.style;
    out.line(format!("{}  {}", style.bold("memory"), state.memory.display()));
    let mut table = Table::new(&["SHELF", "ACTIVE", "RETIRED", "ARCHIVED", ""]);
    let row = |name: String, count: &Count, remark: &str| {
        let Count { active, retired, archived } = count;
        vec![name, active.to_string(), retired.to_string(), archived.to_string(), remark.to_owned()]
    };
    for shelved in &state.shelves {
        table.row(row(shelved.shelf.to_owned(), &shelved.count, ""));
        if shelved.shelf != "records" {
            continue;
        }
        for one in &state.categories {
            table.row(row(format!("- {}", one.category), &one.count, if one.enabled { "" } else { "off" }));
        }
    }
    table.print(out);
    out.line(format!("{}  {} KB on disk", style.bold("size"), state.bytes.div_ceil(1024)));
    if state.issues.is_empty() {
        out.line(format!("{}  {}", style.bold("index"), style.green("in sync")));
    } else {
        out.line(format!(
            "{}  {} (run `heirloom verify --fix`)",
            style.bold("index"),
            style.yellow(&state.issues.join(", "))
        ));
    }
    if state.vault.raw_lines > 0 {
        print_stats(out, &state.vault);
    }
    print_external(out, &state.external_memory);
    if state.waiting_for_review > 0 {
        out.line(format!(
            "{}  {} waiting (run `heirloom review`)",
            style.bold("review"),
            state.waiting_for_review
        ));
    }
}

fn print_external(out: &Out, state: &ExternalState) {
    if !state.enabled {
        return;
    }
    let shown = |text: &str| visible(&one_line(text));
    let configured = shown(state.configured.as_deref().unwrap_or("no path is set"));
    let used = match (state.in_use, &state.error) {
        (true, _) => out.style.green("in use"),
        (false, Some(_)) => out.style.yellow("not used; lessons go to the project's own memory"),
        (false, None) => out.style.yellow("not here yet; the first write or `heirloom sync` fetches it"),
    };
    out.line(format!(
        "{}  {configured} ({}, {}): {used}",
        out.style.bold("external memory"),
        state.memory_type,
        state.sync_strategy
    ));
    if let Some(error) = &state.error {
        out.line(format!("  {} [{}]", shown(&error.message), error.code));
        out.line(format!("  {}", out.style.dim(&shown(&error.next))));
    }
}

fn folder_size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => folder_size(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |meta| meta.len()),
            _ => 0,
        })
        .sum()
}
