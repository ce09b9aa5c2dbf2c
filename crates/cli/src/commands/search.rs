//! `search`: words over every shelf.

use super::pick;
use super::show::{known_kind, visible};
use crate::args::{Args, Search};
use crate::output::Out;
use crate::{person, picker, wiring};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault, Status, fault::Result};
use heirloom_engine::recall::search::{Found, Group, Wanted, search};

/// How much of a body is shown below its title, in characters.
const EXCERPT: usize = 100;

pub(crate) fn run(args: &Args, call: &Search, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    if call.tier.is_some() || call.context {
        if call.words.is_empty() {
            return Err(nothing_asked());
        }
        return super::tiers::search(&wired, call, out);
    }
    let plain = call.words.is_empty() && call.kind.is_none() && !out.is_json();
    if call.pick || (plain && picker::can_ask()) {
        return pick::run(args, &wired, call, out);
    }
    if super::hybrid::is_on(&wired) {
        return super::hybrid::search(&wired, call, out);
    }
    if call.words.is_empty() && call.kind.is_some() {
        return super::hybrid::search(&wired, call, out);
    }
    let wanted = Wanted {
        kind: call.kind.as_deref().map(|name| known_kind(&wired, name)).transpose()?,
        include_retired: call.include_retired,
        per_kind: call.limit,
        audience: person::audience(&wired.call, call.agent.as_deref()),
    };
    let groups = search(&wired.call, &call.words.join(" "), &wanted)?;
    out.answer(&groups, || print(out, &groups, call));
    Ok(exit::OK)
}

/// The fault for a search that says neither what nor where.
pub(super) fn nothing_asked() -> Fault {
    Fault::new(Code::Usage, "there is nothing to search for")
        .hint("give words or filters: `heirloom search \"queue worker\" kind:decision`; at a terminal, `heirloom search` alone lets you choose")
}

fn print(out: &Out, groups: &[Group], call: &Search) {
    if groups.is_empty() {
        out.say(if call.include_retired {
            "nothing fits"
        } else {
            "nothing fits; --include-retired also looks among what is out of use"
        });
        return;
    }
    for (at, group) in groups.iter().enumerate() {
        let more = match group.total - group.hits.len() {
            0 => String::new(),
            more => format!(" of {}, {more} more with --limit", group.total),
        };
        let gap = if at > 0 { "\n" } else { "" };
        out.line(format!(
            "{gap}{} {}{more}",
            out.style.bold(group.kind.name()),
            out.style.dim(&group.hits.len().to_string())
        ));
        for hit in &group.hits {
            print_hit(out, hit, call.explain);
        }
    }
}

fn print_hit(out: &Out, hit: &Found, explain: bool) {
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
        out.line(format!("      {}", out.style.dim(&format!("{cut}{end}"))));
    }
    if explain {
        let parts: Vec<String> =
            hit.why.iter().map(|part| format!("{} +{:.1}", one_line(&part.what), part.points)).collect();
        let why = if parts.is_empty() { "a keyword fits; newest first".to_owned() } else { parts.join(", ") };
        out.line(format!("      {}", out.style.dim(&visible(&why))));
    }
}
