//! `anchor`, and `--anchor` where something is saved: the code a memory is about.
//!
//! Comes in: places as somebody typed them. Goes out: what is cited and what became of it. Never here: looking at code, or deciding whether it
//! changed.

use super::show::visible;
use super::{auto_commit, names};
use crate::args::{AnchorAction, AnchorCommand, Args};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault, MemoryId, fault::Result};
use heirloom_engine::shelf::anchors::{self, Anchor, Anchored, Cited, Freshness};
use heirloom_engine::verbs::show::{Citations, citations};

pub(crate) fn run(args: &Args, call: &AnchorCommand, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let engine = &wired.call;
    let (id, cited) = match &call.action {
        AnchorAction::List { id, stale } => return list(&wired, id.as_deref(), *stale, out),
        AnchorAction::Add { id, places } => {
            let id = names::find(engine, id)?;
            let cited = anchors::add(engine, &id, read(&wired, places)?, person::entry())?;
            (id, cited)
        }
        AnchorAction::Renew { id } => {
            let id = names::find(engine, id)?;
            let cited = anchors::renew(engine, &id, person::entry())?;
            (id, cited)
        }
        AnchorAction::Drop { id, place } => {
            let id = names::find(engine, id)?;
            let cited = anchors::drop_anchors(engine, &id, place.as_deref(), person::entry())?;
            (id, cited)
        }
    };
    let state = Freshness::together(cited.iter().map(|cited| cited.state));
    let anchored = Anchored { id: id.as_str().to_owned(), state, anchors: cited };
    out.answer(&anchored, || print(out, &anchored));
    auto_commit(&wired, out, &format!("memory: anchor {id}"));
    Ok(exit::OK)
}

fn list(wired: &Wired, id: Option<&str>, stale: bool, out: &Out) -> Result<u8> {
    let all = citations(&wired.call, &Citations { id: id.map(str::to_owned), stale })?;
    out.answer(&all, || {
        if all.is_empty() {
            out.say(if stale {
                "no cited code changed"
            } else {
                "nothing is cited; `heirloom anchor add <id> <place>`"
            });
        }
        all.iter().for_each(|one| print(out, one));
    });
    Ok(if stale && !all.is_empty() { exit::REFUSED } else { exit::OK })
}

fn print(out: &Out, anchored: &Anchored) {
    out.line(out.style.bold(&visible(&one_line(&anchored.id))));
    anchored.anchors.iter().for_each(|cited| print_cited(out, cited));
}

/// One citation and what became of it.
pub(super) fn print_cited(out: &Out, cited: &Cited) {
    let state = match cited.state {
        Freshness::Unchanged => out.style.green("unchanged"),
        Freshness::Moved => out.style.cyan("moved"),
        Freshness::Unchecked => out.style.dim("unchecked"),
        Freshness::Changed => out.style.yellow("changed"),
        Freshness::Gone => out.style.red("gone"),
    };
    let now = cited.now.as_ref().map(|place| format!(" -> {}", place.shown())).unwrap_or_default();
    out.line(format!("  {state} {}", visible(&one_line(&format!("{}{now}", cited.anchor)))));
}

/// The places of `--anchor` as they are now.
pub(super) fn read(wired: &Wired, places: &[String]) -> Result<Vec<Anchor>> {
    let folder = wired.call.project().folder();
    places.iter().map(|place| anchors::cite(folder, &wired.cwd, place)).collect()
}

/// Saves a memory, then what it cites. The places are looked at first, so that a wrong one leaves nothing half-done; those of a
/// memory that waits for a person wait with it.
pub(super) fn with_anchors<T>(
    wired: &Wired,
    places: &[String],
    save: impl FnOnce() -> Result<T>,
    id_of: impl FnOnce(&T) -> Option<MemoryId>,
) -> Result<T> {
    let cited = read(wired, places)?;
    let saved = match save() {
        Err(fault) if fault.code == Code::NeedsConfirmation && !cited.is_empty() => {
            if let Some(id) = fault.get("id") {
                anchors::announce(&wired.call, id, cited, person::entry())?;
            }
            return Err(fault);
        }
        saved => saved?,
    };
    if let Some(id) = id_of(&saved).filter(|_| !cited.is_empty()) {
        anchors::add(&wired.call, &id, cited, person::entry()).map_err(|mut fault: Fault| {
            fault.message = format!("`{id}` is saved, but not what it cites: {}", fault.message);
            fault
        })?;
    }
    Ok(saved)
}
