//! `anchor`: the code a memory is about.
//!
//! Comes in: places as somebody typed them. Goes out: what is cited and what became of it. Never here: looking at code, or deciding whether it
//! changed.

use super::visible;
use crate::args::{AnchorAction, AnchorCommand, Args};
use crate::output::Out;
use crate::wiring;
use crate::wiring::Wired;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::text::one_line;
use heirloom_engine::verbs::anchor::{Anchor, Anchored, Cited, Deed, Freshness, anchor};
use heirloom_engine::verbs::show::{Citations, citations};

pub(crate) fn run(args: &Args, call: &AnchorCommand, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let ask = |id: &str, deed: Deed| Anchor { id: id.to_owned(), deed, from: Some(wired.cwd.clone()) };
    let ask = match &call.action {
        AnchorAction::List { id, stale } => return list(&wired, id.as_deref(), *stale, out),
        AnchorAction::Add { id, places } => ask(id, Deed::Add(places.clone())),
        AnchorAction::Renew { id } => ask(id, Deed::Renew),
        AnchorAction::Drop { id, place } => ask(id, Deed::Drop(place.clone())),
    };
    let anchored = anchor(&wired.call, &ask)?.done()?;
    out.answer(&anchored, || {
        print(out, &anchored);
        if !anchored.kept.is_empty() {
            let kept = one_line(&anchored.kept.join(", "));
            out.line(out.style.dim(&format!("  kept: a hash of {}, in provenance.jsonl", visible(&kept))));
        }
    });
    Ok(exit::OK)
}

fn list(wired: &Wired, id: Option<&str>, stale: bool, out: &Out) -> Result<u8> {
    let all = citations(&wired.call, &Citations { id: id.map(str::to_owned), stale })?;
    out.answer(&all, || {
        if all.is_empty() {
            out.say(if stale {
                "no cited code changed"
            } else {
                "no memory cites code yet; `heirloom anchor add <id> <place>` adds a place"
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
