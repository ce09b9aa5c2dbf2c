//! Home: what needs attention, how much there is, what happened lately.
//!
//! Comes in: `status`, the days of the audit, what was given today. Goes out: a screen. The figures are those of `status`, kept until something
//! changes. Never here: a count of our own.

use super::layout::Screen;
use super::{Asked, chart, parts};
use heirloom_core::{fault::Result, time};
use heirloom_engine::verbs::activity::{self, Activity};
use heirloom_engine::verbs::decide;
use heirloom_engine::verbs::events::{self, Stamp};
use heirloom_engine::verbs::search::{Search, typed};
use heirloom_engine::verbs::sessions::{self, Given};
use heirloom_engine::verbs::show::{Citations, citations};
use heirloom_engine::verbs::status::{self, Own, State, status};
use heirloom_engine::verbs::told::Hit;
use maud::{Markup, html};
use std::sync::PoisonError;

/// Days in a chart.
const DAYS: u32 = 30;
/// Lines in a list.
const LINES: usize = 8;

/// What is known from the last look.
#[derive(Default)]
pub(crate) struct Figures {
    activity: Activity,
    known: Option<(Stamp, u64, Known)>,
}

#[derive(Clone)]
struct Known {
    state: State,
    own: Option<Own>,
    stale: usize,
}

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    let call = asked.call;
    if asked.page.seat.is_guest() {
        return own(asked);
    }
    if call.project().expect_memory().is_err() {
        let body = parts::empty(
            "This project has no memory yet. Prepare it, then let your agents use it.",
            "heirloom init && heirloom setup",
        );
        return Ok(Screen::new("Home", "/", body));
    }
    let (known, activity) = figures(asked)?;
    let state = &known.state;
    let today = time::format_date(call.project().world().now);
    let given = sessions::lately(call, &today, LINES)?;
    let newest = typed(call, "", &Search { limit: LINES, ..Search::default() })?.hits;
    let total: usize = state.shelves.iter().map(|shelf| shelf.count.active).sum();
    let body = html! {
        section aria-labelledby="attention" { h2 #attention { "Needs attention" } (attention(&known, &activity)) }
        @if total == 0 {
            (parts::empty("Nothing is remembered yet. Save the first memory, or let an agent do it.", "heirloom add decision \"Use PostgreSQL because we need jsonb\""))
        }
        div.two {
            section aria-labelledby="counts" { h2 #counts { "All memories" } (counts(state, known.own.as_ref())) }
            section aria-labelledby="over-time" {
                h2 #over-time { "Over time" }
                (chart::bars("Stored or changed", "stored", &days(&activity, asked, |day| day.stored)))
                (chart::bars("Given to agents", "given", &days(&activity, asked, |day| day.given)))
            }
        }
        div.two {
            section aria-labelledby="given" { h2 #given { "Given to agents today" } (given_today(asked, &given)) }
            section aria-labelledby="stored" { (stored_today(asked, &today, &newest)) }
        }
    };
    Ok(Screen::new("Home", "/", body))
}

/// What somebody who signed in at a server has: turns and facts of their own.
fn own(asked: &Asked<'_>) -> Result<Screen> {
    let call = asked.call;
    let state = status::own(call)?;
    let waiting = decide::list(call)?.waiting.drafts.len();
    let newest = typed(call, "", &Search { limit: LINES, ..Search::default() })?.hits;
    let rows = [
        ("facts", "/search?q=kind%3Afact", state.facts),
        ("turns", "/search?q=kind%3Aepisode", state.episodes),
        ("replaced by newer facts", "", state.superseded),
        ("retired", "/search?q=status%3Aretired", state.retired),
    ];
    let body = html! {
        section aria-labelledby="attention" {
            h2 #attention { "Needs attention" }
            @if waiting == 0 { p.calm { "Nothing waits for you." } }
            @else { ul.attention { li data-item { a href="/review" { strong { (waiting) } " waiting for review" } } } }
        }
        div.two {
            section aria-labelledby="counts" {
                h2 #counts { "All memories" }
                table.counts {
                    caption.hidden { "Turns and facts" }
                    tbody { @for (name, path, count) in rows { tr { th scope="row" { @if path.is_empty() { (name) } @else { a href=(path) { (name) } } } td.n { (count) } } } }
                }
            }
            section aria-labelledby="newest" { h2 #newest { "Newest" } (newest_list(asked, &newest.iter().collect::<Vec<_>>())) }
        }
    };
    Ok(Screen::new("Home", "/", body))
}

fn figures(asked: &Asked<'_>) -> Result<(Known, Activity)> {
    let call = asked.call;
    let mut figures = asked.page.figures.lock().unwrap_or_else(PoisonError::into_inner);
    let before = figures.known.as_ref().map(|known| known.0);
    let stamp = (events::stamp(call, before)?, *asked.page.changed.borrow());
    let fresh = figures.known.as_mut().filter(|known| (known.0, known.1) == stamp).map(|known| {
        // The next look goes on from here.
        known.0 = stamp.0;
        known.2.clone()
    });
    let known = match fresh {
        Some(known) => known,
        None => {
            let stale = citations(call, &Citations { id: None, stale: true })?.len();
            let known = Known { state: status(call)?, own: status::own(call).ok(), stale };
            figures.known = Some((stamp.0, stamp.1, known.clone()));
            known
        }
    };
    activity::follow(call, &mut figures.activity)?;
    Ok((known, figures.activity.clone()))
}

fn attention(known: &Known, activity: &Activity) -> Markup {
    let state = &known.state;
    let mut items: Vec<(usize, &str, &str)> = vec![
        (state.waiting_for_review, "waiting for review", "/review"),
        (known.stale, "with cited code that changed", "/review#stale"),
        (state.passed_over.len(), "files held back because they cannot be read as notes", "/review#problems"),
        (activity.failed_hooks as usize, "hook runs failed in a row", "/doctor"),
        (state.issues.len(), "problems with the index", "/doctor"),
    ];
    items.retain(|(count, _, _)| *count > 0);
    html! {
        @if items.is_empty() { p.calm { "Nothing. Everything that agents get is accepted or labelled." } }
        @else {
            ul.attention { @for (count, what, path) in items { li data-item { a href=(path) { strong { (count) } " " (what) } } } }
        }
    }
}

/// A number; nothing is not worth a look.
fn number(count: usize) -> Markup {
    html! { td.n.none[count == 0] { (count) } }
}

/// What a shelf holds, by kind: what it is called, the kind, how many are in use.
fn kinds_of(shelf: &str, state: &State, own: Option<&Own>) -> Vec<(&'static str, &'static str, usize)> {
    let tier = |name: &str| state.vault.by_tier.get(name).copied().unwrap_or_default();
    match (shelf, own) {
        ("vault", _) => vec![("canon", "canon", tier("canon")), ("registers", "register", tier("register"))],
        ("tiers", Some(own)) => {
            vec![("facts", "fact", own.facts as usize), ("turns", "episode", own.episodes as usize)]
        }
        _ => Vec::new(),
    }
}

fn counts(state: &State, own: Option<&Own>) -> Markup {
    let most = state
        .categories
        .iter()
        .map(|one| one.count.active)
        .chain(state.shelves.iter().map(|one| one.count.active))
        .max()
        .unwrap_or(0)
        .max(1);
    let bar = |count: usize| {
        html! {
            svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" { rect x="0" y="0" width=(count * 100 / most) height="8" {} }
        }
    };
    html! {
        table.counts {
            caption.hidden { "Memories by shelf and kind" }
            thead { tr { th scope="col" { "Shelf" } th.n scope="col" { "Active" } th.n scope="col" { "Retired" } th.n scope="col" { "Archived" } td {} } }
            tbody {
                @for shelf in &state.shelves {
                    @let whole = match shelf.shelf { "topics" => "lesson", "notes" => "note", _ => "" };
                    tr {
                        th scope="row" { @if whole.is_empty() { (shelf.shelf) } @else { a href=(format!("/search?q=kind%3A{whole}")) { (shelf.shelf) } } }
                        (number(shelf.count.active)) (number(shelf.count.retired)) (number(shelf.count.archived)) td { (bar(shelf.count.active)) }
                    }
                    @for (name, kind, count) in kinds_of(shelf.shelf, state, own) {
                        tr.sub { th scope="row" { a href=(format!("/search?q=kind%3A{kind}")) { (name) } } (number(count)) td {} td {} td { (bar(count)) } }
                    }
                    @if shelf.shelf == "records" {
                        @for one in state.categories.iter().filter(|one| one.enabled || one.count.active > 0) {
                            tr.sub {
                                th scope="row" { a href=(format!("/search?q=kind%3A{}", super::form::encoded(&one.category))) { (one.category.replace('_', " ")) } }
                                (number(one.count.active)) (number(one.count.retired)) (number(one.count.archived)) td { (bar(one.count.active)) }
                            }
                        }
                    }
                }
            }
        }
        p.dim { (state.bytes.div_ceil(1024)) " KB on disk" }
    }
}

fn days(activity: &Activity, asked: &Asked<'_>, of: fn(&activity::Day) -> u32) -> Vec<(String, u32)> {
    let now = asked.call.project().world().now;
    (0..DAYS)
        .rev()
        .map(|back| time::format_date(time::days_before(now, back)))
        .map(|day| {
            let count = activity.days.get(&day).map_or(0, of);
            (day, count)
        })
        .collect()
}

fn given_today(asked: &Asked<'_>, given: &[Given]) -> Markup {
    html! {
        @if given.is_empty() { (parts::empty("Nothing yet. Ask an agent something that the memory knows, or see what it would get.", "heirloom recall \"which database do we use?\"")) }
        @else {
            ul.lines {
                @for one in given {
                    li data-item {
                        @match &one.memory {
                            Some(memory) => { (parts::line(memory)) }
                            None => { (parts::by_id(&one.id)) " " span.state { "gone" } }
                        }
                        span.meta { (one.agent) " · " (parts::ago(asked, &one.at)) " · " a href=(format!("/sessions?id={}", one.session)) { "session" } }
                    }
                }
            }
        }
    }
}

/// What was stored since midnight, and what came before it where there is room.
fn stored_today(asked: &Asked<'_>, today: &str, hits: &[Hit]) -> Markup {
    let (of_today, before): (Vec<&Hit>, Vec<&Hit>) =
        hits.iter().partition(|hit| when(hit).is_some_and(|at| at.starts_with(today)));
    html! {
        h2 #stored { "Stored today" }
        @if of_today.is_empty() { p.dim { "Nothing yet." } } @else { (newest_list(asked, &of_today)) }
        @if !before.is_empty() { h3 { "Before" } (newest_list(asked, &before)) }
    }
}

fn when(hit: &Hit) -> Option<&str> {
    let memory = &hit.memory;
    memory.updated_at.as_deref().or(memory.created_at.as_deref()).or(memory.occurred_at.as_deref())
}

fn newest_list(asked: &Asked<'_>, hits: &[&Hit]) -> Markup {
    html! {
        @if hits.is_empty() { p.dim { "Nothing yet." } }
        ul.lines {
            @for hit in hits {
                li data-item { (parts::line(&hit.memory)) span.meta { (parts::trust(hit.memory.trust)) @if let Some(when) = when(hit) { " · " (parts::ago(asked, when)) } } }
            }
        }
    }
}
