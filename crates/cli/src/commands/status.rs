//! `status`: what there is, shelf by shelf, and what needs attention.

use super::vault::print_stats;
use super::visible;
use crate::args::Args;
use crate::output::{Meter, Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::text::one_line;
use heirloom_engine::verbs::status::{Count, ExternalState, State, status_watched};

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    let mut meter = Meter::new();
    let state = status_watched(&wired.call, &mut |at| meter.show(at))?;
    drop(meter);
    out.answer(&state, || print(out, &state));
    Ok(exit::OK)
}

fn print(out: &Out, state: &State) {
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
    for one in &state.passed_over {
        let line = one_line(&format!("`{}` is skipped: {}", one.file, one.message));
        out.line(format!("{}  {}", style.bold("notes"), style.yellow(&visible(&line))));
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
    let line = shown(&state.line());
    let line = if state.in_use && state.error.is_none() { line } else { out.style.yellow(&line) };
    out.line(format!("{}  {line}", out.style.bold("external memory")));
    if let Some(error) = &state.error {
        out.line(format!("  {} [{}]", shown(&error.message), error.code));
        out.line(format!("  {}", out.style.dim(&shown(&error.next))));
    }
}
