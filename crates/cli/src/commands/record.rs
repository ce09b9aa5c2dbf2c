//! `record write|candidate|index`: the record shelf's own tools, with the arguments, streams and exit codes of its format.
//!
//! `write` answers on stdout, one line of JSON or an error block; corrections and warnings go to stderr.

use crate::args::{Args, RecordCandidate, RecordIndex, RecordWrite};
use crate::environment;
use crate::output::{Out, cleaned};
use crate::wiring::{self, Wired};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::files::{self, TempRoots};
use heirloom_engine::gate::fields::without_secrets;
use heirloom_engine::verbs::record::{
    Action, Document, Said, Version, Write, is_there, write as write_record,
};
use heirloom_engine::verbs::records::{self, Candidate, Collected, Health};
use heirloom_engine::verbs::upkeep;
use serde_json::Value;
use std::path::{Component, Path, PathBuf};

/// The error block: the code, then `key: value` lines.
fn error_block(out: &Out, fault: &Fault) -> u8 {
    let fault = &cleaned(fault);
    out.line(fault.code.name());
    for (key, value) in &fault.facts {
        out.line(format!("{key}: {value}"));
    }
    // Wrong fields carry a fix each.
    if fault.get("fix").is_none() {
        out.line(format!("fix: {}", fault.next_step()));
    }
    fault.code.exit()
}

pub(crate) fn write(args: &Args, call: &RecordWrite, out: &Out) -> Result<u8> {
    let mut said = Said::default();
    let needs_input = matches!(call.action.as_str(), "create" | "update");
    if needs_input && call.input.is_none() {
        out.line("ERROR: --input is required for create and update actions.");
        return Ok(exit::REFUSED);
    }
    if call.action == "create" && call.category.is_none() {
        out.line("ERROR: --category is required for the create action.");
        return Ok(exit::REFUSED);
    }
    if call.action == "update" && call.hash.is_none() {
        out.say("WARNING: no --hash given for update; a change made meanwhile would not be noticed.");
    }
    let wired = match wire_for_target(args, &call.target) {
        Ok(wired) => wired,
        Err(fault) => return Ok(error_block(out, &fault)),
    };
    if let Some(name) = call.category.as_deref().filter(|name| wired.call.settings().category(name).is_none())
    {
        let names: Vec<&str> = wired.call.settings().categories.iter().map(|c| c.name()).collect();
        let name = without_secrets(name);
        out.say(format!("error: unknown category '{name}' (choose from {})", names.join(", ")));
        return Ok(exit::USAGE);
    }
    let outcome = act(&wired, call, &mut said);
    for fix in &said.fixes {
        out.say(format!("[AUTO-FIX] {fix}"));
    }
    for warning in &said.warnings {
        out.say(format!("[WARN] {warning}"));
    }
    match outcome {
        Ok(answer) => {
            out.json_line(&answer);
            Ok(exit::OK)
        }
        Err(fault) => Ok(error_block(out, &fault)),
    }
}

fn act(wired: &Wired, call: &RecordWrite, said: &mut Said) -> Result<Value> {
    // A wrong target is named before anything is read.
    let there = is_there(&wired.call, &call.target, &wired.cwd)?;
    let reason = call.reason.clone();
    let mut handed_over = None;
    let mut document = || -> Result<Document> {
        let (path, document) = input(call.input.as_deref().unwrap_or_default(), &wired.cwd)?;
        handed_over = Some(path);
        Ok(document)
    };
    let action = match call.action.as_str() {
        "delete" => Action::Retire { reason },
        "archive" => Action::Archive { reason },
        "unarchive" => Action::Unarchive,
        "restore" => Action::Restore,
        "create" => {
            Action::Create { category: call.category.clone().unwrap_or_default(), document: document()? }
        }
        _ => Action::Update {
            document: if there { document()? } else { Document::default() },
            version: call.hash.clone().map_or(Version::Any, Version::Exactly),
        },
    };
    let cites: &[String] = match &action {
        Action::Create { .. } | Action::Update { .. } => &call.anchor,
        _ => &[],
    };
    let ask = Write { target: &call.target, cwd: &wired.cwd, action, cites };
    let answer = write_record(&wired.call, ask, said)?.done()?;
    // The input was a hand-over; once it is stored, a second copy would only lie around. Failing to remove it is no error.
    if let Some(path) = handed_over {
        let _ = std::fs::remove_file(path);
    }
    Ok(answer)
}

/// Reads the input file as a document.
fn input(given: &str, cwd: &Path) -> Result<(PathBuf, Document)> {
    let roots = TempRoots::new(&environment::temp_folder());
    let (path, bytes) = files::read_input(given, cwd, &roots)?;
    let document = Document::parse(&bytes).map_err(|why| {
        Fault::new(Code::Input, format!("`{given}` holds no JSON object"))
            .fact("path", given)
            .fact("error", why)
            .hint("Ensure the input file contains one valid JSON object.")
    })?;
    Ok((path, document))
}

/// The project a target belongs to: the one whose memory folder its path names.
fn wire_for_target(args: &Args, target: &str) -> Result<Wired> {
    let cwd = wiring::cwd(args)?;
    let full = cwd.join(target);
    let here = wiring::wire_at(args, &wiring::project_folder(&cwd), None, cwd.clone())?;
    if full.starts_with(here.call.project().root().folder()) {
        return Ok(here);
    }
    let parts: Vec<Component> = full.components().collect();
    let marker =
        parts.windows(2).position(|two| two[0].as_os_str() == ".claude" && two[1].as_os_str() == "memory");
    let Some(at) = marker else {
        return Err(Fault::new(Code::Path, format!("`{target}` is not in a memory folder"))
            .fact("target", target)
            .hint(format!(
                "Target path must be below '{}/'. Example: {}/decisions/my-decision.json",
                here.call.settings().memory_root,
                here.call.settings().memory_root
            )));
    };
    let folder: PathBuf = parts[..at].iter().collect();
    wiring::wire_at(args, &folder, None, cwd)
}

/// An engine for an explicit `--root`; its project is the folder two levels up, as index lines have it.
fn wire_for_root(args: &Args, root: &Path) -> Result<Wired> {
    let cwd = wiring::cwd(args)?;
    let full: PathBuf = cwd.join(root).components().filter(|part| *part != Component::CurDir).collect();
    let default = root == Path::new(wiring::DEFAULT_ROOT);
    let folder = full.parent().and_then(Path::parent).unwrap_or(&full).to_owned();
    if default {
        return wiring::wire_at(args, &cwd, None, cwd.clone());
    }
    wiring::wire_at(args, &folder, Some(&full), cwd)
}

pub(crate) fn candidate(args: &Args, call: &RecordCandidate, out: &Out) -> Result<u8> {
    let wired = wire_for_root(args, &call.root)?;
    if wired.call.settings().category(&call.category).is_none() {
        out.say(format!("error: unknown category '{}'", without_secrets(&call.category)));
        return Ok(exit::USAGE);
    }
    let ask = Candidate {
        category: call.category.clone(),
        new_info: call.new_info.clone(),
        lifecycle_event: call.lifecycle_event.clone(),
    };
    let mut warnings = Vec::new();
    let answer = records::candidate(&wired.call, &ask, &mut warnings);
    for warning in warnings {
        out.say(format!("WARNING: {warning}"));
    }
    match answer {
        Ok(answer) => {
            out.json(&answer);
            Ok(exit::OK)
        }
        Err(fault) => {
            out.say(format!("ERROR: {}", fault.message));
            Ok(exit::REFUSED)
        }
    }
}

pub(crate) fn index(args: &Args, call: &RecordIndex, out: &Out) -> Result<u8> {
    let wired = wire_for_root(args, &call.root)?;
    if let Err(none) = records::expect_memory(&wired.call) {
        out.say(format!("ERROR: {}", none.message));
        return Ok(exit::REFUSED);
    }
    let warn = |lines: &[String]| lines.iter().for_each(|line| out.say(format!("WARNING: {line}")));
    if call.rebuild {
        let rebuilt = records::rebuild(&wired.call)?;
        warn(&rebuilt.unreadable);
        out.line(match rebuilt.entries {
            0 => "No active memories found.".to_owned(),
            count => format!("Rebuilt index.md with {count} entries"),
        });
        return Ok(exit::OK);
    }
    if call.validate {
        let Some(mismatch) = records::mismatch(&wired.call)? else {
            out.line("ERROR: index.md does not exist. Run --rebuild first.");
            return Ok(exit::REFUSED);
        };
        warn(&mismatch.unreadable);
        if mismatch.is_none() {
            out.line("Index is valid: every active record has its line.");
            return Ok(exit::OK);
        }
        list(out, "Files NOT in index.md:", "+", &mismatch.missing);
        list(out, "Index entries with NO matching file:", "-", &mismatch.stale);
        return Ok(exit::REFUSED);
    }
    if let Some(needle) = &call.query {
        match records::lines_with(&wired.call, needle)? {
            None => out.line("index.md does not exist. Run --rebuild first."),
            Some(lines) if lines.is_empty() => out.line(format!("No matches for '{needle}'")),
            Some(lines) => {
                out.line(format!(
                    "Found {} match{} for '{needle}':",
                    lines.len(),
                    if lines.len() == 1 { "" } else { "es" }
                ));
                lines.iter().for_each(|line| out.line(line));
            }
        }
        return Ok(exit::OK);
    }
    if call.health {
        let health = records::health(&wired.call)?;
        warn(&health.unreadable);
        print_health(out, &health);
        return Ok(exit::OK);
    }
    let ask = upkeep::Gc { keep_index: true, ..upkeep::Gc::default() };
    let collected = upkeep::gc(&wired.call, &ask)?;
    warn(&collected.unreadable);
    print_collected(out, &collected);
    Ok(exit::OK)
}

fn list(out: &Out, head: &str, mark: &str, paths: &[String]) {
    if paths.is_empty() {
        return;
    }
    out.line(head);
    for path in paths {
        out.line(format!("  {mark} {path}"));
    }
}

fn print_health(out: &Out, health: &Health) {
    out.line("Memory health\n\nEntries by category");
    for (label, count) in &health.by_category {
        out.line(format!("  {label}: {count}"));
    }
    out.line(format!("  Total active: {}", health.active));
    if !health.heavy.is_empty() {
        out.line("\nHeavily updated");
        for (path, title, times) in &health.heavy {
            out.line(format!("  {title} ({path}): {times} updates"));
        }
    }
    if !health.recent.is_empty() {
        out.line("\nRecent retirements");
        for (title, days) in &health.recent {
            out.line(format!("  {title}: {days} days ago"));
        }
    }
    out.line("\nIndex");
    match &health.sync {
        None => out.line("  index.md does not exist"),
        Some(sync) if sync.is_none() => out.line(format!("  In sync ({} entries)", health.active)),
        Some(sync) => {
            list(out, "  Missing from index.md:", "  +", &sync.missing);
            list(out, "  Stale in index.md:", "  -", &sync.stale);
        }
    }
    out.line("\nSummary");
    out.line(format!(
        "  Active: {}\n  Retired: {}\n  Archived: {}",
        health.active, health.retired, health.archived
    ));
    let issues = health.attention();
    if issues.is_empty() {
        out.line("  Health: GOOD");
    } else {
        out.line("  Health: NEEDS ATTENTION");
        issues.iter().for_each(|issue| out.line(format!("  - {issue}")));
    }
}

/// The report of a collection, also used by `gc`.
pub(crate) fn print_collected(out: &Out, collected: &Collected) {
    out.line(format!("Grace period: {} days", collected.grace_period_days));
    let group =
        |word: &str, lines: &[String]| lines.iter().for_each(|line| out.line(format!("  {word}: {line}")));
    group("RETIRED", &collected.retired);
    group("DELETED", &collected.deleted);
    group("ARCHIVED", &collected.archived);
    group("SKIP", &collected.skipped);
    group("ERROR", &collected.failed);
    let gone = collected.deleted.len() + collected.archived.len();
    out.line(format!("Collected {gone} of {} retired files that were due.", gone + collected.failed.len()));
    if gone > 0 {
        out.line("If index.md lists any of them, run --rebuild.");
    }
}
