//! `status`, `gc`, `verify`.

use super::record::print_collected;
use crate::args::{Args, Gc, Verify};
use crate::output::{Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::{Status, fault::Result};
use heirloom_engine::shelf::{Listing, Problem, Shelf as _};
use serde_json::json;

pub(crate) fn status(args: &Args, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    let engine = &wired.engine;
    let root = engine.project().root().folder();
    if !root.is_dir() {
        return Err(heirloom_engine::project::no_memory(root));
    }
    let records = engine.records();
    let memories = records.list(&Listing::everything())?;
    let count = |name: &str, status: Status| {
        memories.iter().filter(|m| m.kind.name() == name && m.status == status).count()
    };
    let rows: Vec<_> = engine
        .settings()
        .categories
        .iter()
        .map(|c| {
            json!({
                "category": c.name(), "enabled": c.enabled, "active": count(c.name(), Status::Active),
                "retired": count(c.name(), Status::Retired), "archived": count(c.name(), Status::Archived),
            })
        })
        .collect();
    let health = records.health()?;
    let waiting = heirloom_engine::review::pending(engine)?.len();
    let bytes = folder_size(root);
    let issues = health.issues();
    let value = json!({
        "project": engine.project().folder(), "memory": root, "categories": rows, "bytes": bytes,
        "index_in_sync": health.sync.as_ref().is_some_and(|sync| sync.is_none()), "issues": issues, "waiting_for_review": waiting,
    });
    out.answer(&value, || {
        let style = out.style;
        out.line(format!("{}  {}", style.bold("memory"), root.display()));
        let mut table = Table::new(&["CATEGORY", "ACTIVE", "RETIRED", "ARCHIVED", ""]);
        for c in &engine.settings().categories {
            table.row(vec![
                c.name().to_owned(),
                count(c.name(), Status::Active).to_string(),
                count(c.name(), Status::Retired).to_string(),
                count(c.name(), Status::Archived).to_string(),
                if c.enabled { String::new() } else { "off".to_owned() },
            ]);
        }
        table.print(out);
        let kilobytes = bytes.div_ceil(1024);
        out.line(format!("{}  {kilobytes} KB on disk", style.bold("size")));
        if issues.is_empty() {
            out.line(format!("{}  {}", style.bold("index"), style.green("in sync")));
        } else {
            out.line(format!(
                "{}  {} (run `heirloom verify --fix`)",
                style.bold("index"),
                style.yellow(&issues.join(", "))
            ));
        }
        if waiting > 0 {
            out.line(format!("{}  {waiting} waiting (run `heirloom review`)", style.bold("review")));
        }
    });
    Ok(exit::OK)
}

fn folder_size(folder: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => folder_size(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |meta| meta.len()),
            _ => 0,
        })
        .sum()
}

pub(crate) fn gc(args: &Args, call: &Gc, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let records = wired.engine.records();
    let collected = records.collect(call.dry_run)?;
    if !call.dry_run {
        records.rebuild(&wired.engine.project().lock()?)?;
    }
    out.answer(&collected, || {
        if call.dry_run {
            out.say("nothing was touched; this is what would be done:");
        }
        print_collected(out, &collected);
    });
    super::auto_commit(&wired, out, "memory: gc");
    Ok(exit::OK)
}

pub(crate) fn verify(args: &Args, call: &Verify, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let root = wired.engine.project().root().folder();
    if !root.is_dir() {
        return Err(heirloom_engine::project::no_memory(root));
    }
    if call.fix {
        let (count, _) = wired.engine.records().rebuild(&wired.engine.project().lock()?)?;
        out.say(format!("index.md made anew with {count} entries"));
    }
    let mut problems: Vec<Problem> = wired
        .loaded
        .warnings
        .iter()
        .map(|warning| Problem {
            file: wiring::PROJECT_SETTINGS.to_owned(),
            line: None,
            code: heirloom_core::Code::Config.name(),
            message: format!("{} ({}): {}", warning.name, warning.origin.name(), warning.message),
            fix: "`heirloom config list` shows names and values".to_owned(),
        })
        .collect();
    for shelf in wired.engine.shelves() {
        problems.extend(shelf.verify()?);
    }
    out.answer(&json!({ "ok": problems.is_empty(), "problems": problems }), || {
        if problems.is_empty() {
            out.line(out.style.green("everything fits"));
        }
        for problem in &problems {
            let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
            out.line(format!(
                "{}{line}: {} [{}]",
                out.style.bold(&problem.file),
                problem.message,
                problem.code
            ));
            out.line(format!("  {}", out.style.dim(&problem.fix)));
        }
    });
    Ok(if problems.is_empty() { exit::OK } else { exit::REFUSED })
}
