//! `search`: words over every shelf.

use super::pick;
use super::visible;
use crate::args::{Args, Search};
use crate::output::{Out, Table};
use crate::{picker, wiring};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Status, fault::Result};
use heirloom_engine::verbs::search::{self, Found, Ranking};
use heirloom_engine::verbs::told::{Hit, Reason};

/// How much of a body is shown below its title where nothing says which part answers, in characters.
const EXCERPT: usize = 100;
/// How much of a body stands for a title that is missing.
const TITLE: usize = 80;

pub(crate) fn run(args: &Args, call: &Search, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    let of_tiers = call.tier.is_some() || call.context;
    let plain = call.words.is_empty() && call.kind.is_none() && !out.is_json() && !of_tiers;
    if call.pick || (plain && picker::can_ask()) {
        return pick::run(args, &wired, call, out);
    }
    if of_tiers && !call.words.is_empty() {
        // Why no user is signed in is only known here.
        wired.tiers()?;
    }
    let found = search::search(&wired.call, &request(call))?;
    out.answer(&found, || print(out, &found, call));
    Ok(exit::OK)
}

/// What was typed, as the verb takes it.
pub(super) fn request(call: &Search) -> search::Search {
    search::Search {
        words: call.words.clone(),
        kind: call.kind.clone(),
        include_retired: call.include_retired,
        limit: call.limit,
        tier: call.tier.clone(),
        session: call.session.clone(),
        context: call.context,
    }
}

fn print(out: &Out, found: &Found, call: &Search) {
    match (found.ranking, &found.context) {
        (_, Some(context)) => {
            out.line(visible(&context.block));
            context.left_out.iter().for_each(|left| out.note(format!("left out {}: {}", left.id, left.why)));
        }
        (Ranking::Tiers, None) => print_tiers(out, &found.hits, call.explain),
        _ if !found.unmet.is_empty() => {
            out.say(format!("no memory meets {}", visible(&one_line(&found.unmet.join(", ")))));
        }
        _ if found.hits.is_empty() => out.say(match (found.ranking, call.include_retired) {
            (_, true) => "no matches",
            _ => "no matches; --retired also searches retired and archived memories",
        }),
        (Ranking::TitleTags, None) => print_groups(out, found, call.explain),
        _ => found.hits.iter().for_each(|hit| print_ranked(out, hit, call.explain)),
    }
}

/// Why a hit is there, in a line.
pub(super) fn reasons(why: &[Reason]) -> String {
    let part = |reason: &Reason| match reason.points == 0.0 {
        true => reason.what.clone(),
        false => format!("{} {:+.2}", reason.what, reason.points),
    };
    why.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// A hit of the ranking over all shelves.
fn print_ranked(out: &Out, hit: &Hit, explain: bool) {
    let memory = &hit.memory;
    let title = if hit.untitled { memory.body.chars().take(TITLE).collect() } else { memory.title.clone() };
    let yellow = |text: &str| format!(" {}", out.style.yellow(&visible(&one_line(text))));
    let status = if memory.status == Status::Active { String::new() } else { yellow(memory.status.name()) };
    let stale = hit.stale.as_deref().map(yellow).unwrap_or_default();
    let score = hit.score.map_or_else(|| "    -".to_owned(), |score| format!("{score:5.2}"));
    let beside = score.len() + memory.kind.name().len() + 2;
    out.line(format!(
        "{} {} {}{status}{stale}",
        out.style.dim(&score),
        out.style.dim(memory.kind.name()),
        out.fit(&visible(&one_line(&title)), beside)
    ));
    out.line(format!("      {}", out.style.cyan(&visible(&one_line(memory.id.as_str())))));
    let cut = &hit.snippet;
    if !hit.untitled && !cut.text.is_empty() {
        let mut text = String::new();
        let mut at = 0;
        for [start, end] in &cut.marks {
            text.push_str(&visible(&cut.text[at..*start]));
            text.push_str(&out.style.bold(&visible(&cut.text[*start..*end])));
            at = *end;
        }
        text.push_str(&visible(&cut.text[at..]));
        let (before, after) = (if cut.cut_before { "…" } else { "" }, if cut.cut_after { "…" } else { "" });
        for line in out.wrapped(&format!("{before}{text}{after}"), 6) {
            out.line(format!("      {line}"));
        }
    }
    if explain && hit.score.is_some() {
        let behind =
            hit.behind.as_ref().map(|id| format!("; behind {id}, which says the same")).unwrap_or_default();
        out.line(format!("      {}", out.style.dim(&format!("{}{behind}", reasons(&hit.why)))));
    }
}

/// Hits kind after kind.
fn print_groups(out: &Out, found: &Found, explain: bool) {
    let mut rest = &found.hits[..];
    for (at, (kind, total)) in found.totals.iter().enumerate() {
        let here = rest.iter().take_while(|hit| hit.memory.kind == *kind).count();
        let (hits, others) = rest.split_at(here);
        rest = others;
        let more = match total - hits.len() {
            0 => String::new(),
            more => format!(" of {total}, {more} more with --limit"),
        };
        let gap = if at > 0 { "\n" } else { "" };
        out.line(format!(
            "{gap}{} {}{more}",
            out.style.bold(kind.name()),
            out.style.dim(&hits.len().to_string())
        ));
        hits.iter().for_each(|hit| print_grouped(out, hit, explain));
    }
}

fn print_grouped(out: &Out, hit: &Hit, explain: bool) {
    let memory = &hit.memory;
    let status = match memory.status {
        Status::Active => String::new(),
        other => format!(" {}", out.style.yellow(other.name())),
    };
    let score = hit.score.map_or_else(|| "    -".to_owned(), |score| format!("{score:5.1}"));
    out.line(format!("{} {}{status}", out.style.dim(&score), visible(&one_line(&memory.title))));
    out.line(format!("      {}", out.style.cyan(&visible(&one_line(memory.id.as_str())))));
    let body = visible(&one_line(&memory.body));
    if !body.is_empty() && !memory.title.starts_with(&body) {
        let cut: String = body.chars().take(EXCERPT).collect();
        let end = if cut.len() < body.len() { "…" } else { "" };
        for line in out.wrapped(&format!("{cut}{end}"), 6) {
            out.line(format!("      {}", out.style.dim(&line)));
        }
    }
    if explain {
        let parts: Vec<String> =
            hit.why.iter().map(|part| format!("{} +{:.1}", one_line(&part.what), part.points)).collect();
        let why = if parts.is_empty() { "a keyword fits; newest first".to_owned() } else { parts.join(", ") };
        out.line(format!("      {}", out.style.dim(&visible(&why))));
    }
}

/// Turns and facts.
fn print_tiers(out: &Out, hits: &[Hit], explain: bool) {
    if hits.is_empty() {
        out.say("no turns or facts match");
        return;
    }
    let mut table = Table::new(&["SCORE", "WHEN", "TRUST", "ID", "TEXT"]);
    for hit in hits {
        let memory = &hit.memory;
        let day = memory.occurred_at.as_deref().and_then(|at| at.get(..10)).unwrap_or("-");
        table.row(vec![
            hit.score.map(|score| format!("{score:.2}")).unwrap_or_default(),
            day.to_owned(),
            memory.trust.name().to_owned(),
            memory.id.to_string(),
            visible(&one_line(&memory.body)),
        ]);
    }
    table.print(out);
    for hit in hits.iter().filter(|_| explain) {
        let parts: Vec<String> =
            hit.why.iter().map(|part| format!("{} {:+.2}", part.what, part.points)).collect();
        out.line(format!("{}  {}", out.style.dim(hit.memory.id.as_str()), parts.join("  ")));
    }
}
