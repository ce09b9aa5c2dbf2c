//! Review: what waits for a person, every stored byte of it, and what could be tidied up.
//!
//! Comes in: what `review` lists. Goes out: items to accept or reject, one by one or several after a preview. A yes carries the hash of what was
//! shown, so that it counts for exactly those bytes. Never here: who may say yes.

use super::layout::Screen;
use super::{Asked, join, memory, parts};
use heirloom_core::{Memory, Verb, fault::Result, time};
use heirloom_engine::verbs::decide::{self, Choose, Freshness, Shown, Waits};
use heirloom_engine::verbs::list::{List, list};
use heirloom_engine::verbs::show::{Show, show};
use maud::{Markup, html};

/// Days ahead in which something that expires is told of.
const SOON: u32 = 14;
/// Near-duplicates on a screen.
const PAIRS: usize = 20;

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    let waits = decide::list(asked.call)?;
    let expiring = if asked.page.seat.is_guest() { Vec::new() } else { expiring(asked)? };
    let nothing = waits.waiting.is_empty()
        && waits.suggestions.near_duplicates.is_empty()
        && waits.suggestions.proposed_deletions.is_empty()
        && expiring.is_empty();
    let (drafts, stored) = (&waits.waiting.drafts, &waits.waiting.saved_by_agents);
    let body = html! {
        @if nothing { (parts::empty("Nothing waits. What agents save without a person's yes shows up here.", "heirloom review")) }
        @if !drafts.is_empty() || !stored.is_empty() {
            form #bulk action="/preview" {
                p.bar {
                    label.check { input type="checkbox" data-select-all; " select all" }
                    button.quiet name="do" value="accept" data-needs-selection { "Accept selected…" }
                    button.quiet name="do" value="reject" data-needs-selection { "Reject selected…" }
                }
            }
        }
        @if !drafts.is_empty() { section #drafts { (parts::counted("Drafts", drafts.len())) ol.items { @for one in drafts { (draft(asked, one, true)) } } } }
        @if !stored.is_empty() {
            section #saved {
                (parts::counted("Saved by agents, and they would steer every session", stored.len()))
                ol.items { @for one in stored { (saved(asked, one, true)) } }
            }
        }
        (tidy(asked, &waits)?)
        @if !expiring.is_empty() {
            section #expiring { (parts::counted("Expiring soon", expiring.len())) ul.lines { @for one in &expiring { li data-item { (parts::line(one)) span.meta { "until " (one.expires_at.as_deref().unwrap_or_default()) } } } } }
        }
    };
    Ok(Screen::new("Review", "/review", body))
}

/// Records that say themselves until when they hold.
fn expiring(asked: &Asked<'_>) -> Result<Vec<Memory>> {
    let now = asked.call.project().world().now;
    let until = time::format_date(time::days_after(now, SOON));
    let mut found = Vec::new();
    for category in &asked.call.settings().categories {
        if category.fields().iter().any(|field| field.name == "expires") {
            let all = list(asked.call, &List { kind: Some(category.name().to_owned()), ..List::default() })?
                .memories;
            found.extend(all.into_iter().filter(|one| {
                one.expires_at.as_deref().is_some_and(|at| {
                    time::parse(at).is_some() && at.get(..10).unwrap_or(at) <= until.as_str()
                })
            }));
        }
    }
    Ok(found)
}

/// A draft with all that a yes would store.
fn draft(asked: &Asked<'_>, one: &Shown, decides: bool) -> Markup {
    let item = &one.item;
    html! {
        li.item data-item data-key=(item.key) tabindex="-1" {
            @if decides { label.pick { input type="checkbox" name="key" value=(item.key) form="bulk"; span.hidden { "select " (item.id) } } }
            div.grow {
                p.head { (parts::kind(&one.kind)) " " code.id { (item.id) } " " span.state { "would be " (one.would_be) } }
                p.meta { "waits for " (one.age) @if item.reasons.is_empty() { " · from " (item.channel.row().who) } @for reason in &item.reasons { " · " (parts::ticked(reason)) } @if !item.verified { " · " span.state.bad { "unverified origin" } } }
                @if let Some(said) = &one.said { p { "said: " q { (said) } } }
                @if let Some(why) = &one.cannot { p.state.bad { (why) } }
                @if one.known.is_empty() { (bytes(one)) } @else {
                    div.side { div { h3 { "New" } (bytes(one)) } div { h3 { "Known, and would be replaced" } @for known in &one.known { p { (parts::by_id(&known.id)) } p.body { (known.text) } } } }
                }
                @if decides {
                    div.actions {
                        @if one.cannot.is_none() { (yes(asked, &one.seen, &item.key)) }
                        @if let Some(known) = one.known.first() { a.button data-hotkey="m" href=(join::path(&known.id, &item.key)) { "Join into one… " kbd { "m" } } }
                        form method="post" action="/do/reject" {
                            (parts::carried(asked, Verb::Reject))
                            input type="hidden" name="key" value=(item.key);
                            button data-hotkey="x" { "Reject " kbd { "x" } }
                        }
                    }
                }
            }
        }
    }
}

/// Every stored byte: what it says first, then what is only noted about it.
fn bytes(one: &Shown) -> Markup {
    let says = |field: &&decide::Field| {
        let last = field.name.rsplit('.').next().unwrap_or_default();
        matches!(last, "text" | "title" | "body" | "content" | "whole" | "reason" | "problem" | "solution")
            || field.name.starts_with("content.")
            || field.name.starts_with("asked.")
    };
    html! {
        dl.fields { @for field in one.fields.iter().filter(says) { div { dt { (field.name) } dd { span.body { (field.value) } } } } }
        dl.noted { @for field in one.fields.iter().filter(|field| !says(field)) { div { dt { (field.name) } dd { span.body { (field.value) } } } } }
    }
}

fn yes(asked: &Asked<'_>, seen: &str, key: &str) -> Markup {
    html! {
        form method="post" action="/do/accept" {
            (parts::carried(asked, Verb::Accept))
            input type="hidden" name="shown" value=(format!("{seen} {key}"));
            button.good data-hotkey="a" { "Accept " kbd { "a" } }
        }
    }
}

/// A stored memory that nobody has accepted.
fn saved(asked: &Asked<'_>, one: &Memory, decides: bool) -> Markup {
    html! {
        li.item data-item data-key=(one.id) tabindex="-1" {
            @if decides { label.pick { input type="checkbox" name="key" value=(one.id) form="bulk"; span.hidden { "select " (parts::title(one)) } } }
            div.grow {
                p.head { (parts::line(one)) " " (parts::trust(one.trust)) }
                (memory::content(asked, one))
                @if !one.tags.is_empty() { p.meta { @for tag in &one.tags { span.tag { (tag) } " " } } }
                @if decides {
                    div.actions {
                        (yes(asked, &one.content_hash, one.id.as_str()))
                        form method="post" action="/do/retire" {
                            (parts::carried(asked, Verb::Retire))
                            input type="hidden" name="id" value=(one.id);
                            input type="hidden" name="to" value="/review";
                            button data-hotkey="x" { "Retire " kbd { "x" } }
                        }
                    }
                }
            }
        }
    }
}

fn tidy(asked: &Asked<'_>, waits: &Waits) -> Result<Markup> {
    let waiting = &waits.waiting;
    let (pairs, deletions) = (&waits.suggestions.near_duplicates, &waits.suggestions.proposed_deletions);
    let one = |id: &str| show(asked.call, &Show { id: id.to_owned() }).map(|shown| shown.memory);
    Ok(html! {
        @if !waiting.problems.is_empty() {
            section #problems {
                (parts::counted("Held back", waiting.problems.len()))
                p.dim { "Files that contain what the gate refuses or that cannot be read. Agents do not get them." }
                ul.lines { @for problem in &waiting.problems { li data-item { code { (problem.file) @if let Some(line) = problem.line { ":" (line) } } " " (problem.message) p.dim { (problem.fix) } } } }
            }
        }
        @if !waiting.doubts.is_empty() { section #doubts { (parts::counted("Lines of the vault to look at", waiting.doubts.len())) ul.lines { @for doubt in &waiting.doubts { li data-item { (parts::by_id(doubt.id.as_str())) " " (doubt.reason) } } } } }
        @if !waiting.older.is_empty() { section #older { (parts::counted("Older than a later change", waiting.older.len())) p.dim { "Another branch or an old copy brought these back; they count as not accepted until you accept them again." } ul.lines { @for id in &waiting.older { li data-item { (parts::by_id(id.as_str())) } } } } }
        @if !waiting.stale.is_empty() {
            section #stale {
                (parts::counted("Cited code that changed", waiting.stale.len()))
                ul.lines { @for one in &waiting.stale { li data-item { (parts::by_id(&one.id)) " " span.state.bad { @if one.state == Freshness::Gone { "gone: agents do not get it" } @else { "changed" } } @for cited in &one.anchors { " " code { (cited.anchor) } } } } }
            }
        }
        @if !pairs.is_empty() {
            section #duplicates.pairs {
                (parts::counted("Nearly the same, or the opposite", pairs.len()))
                @for pair in pairs.iter().take(PAIRS) {
                    @if let (Ok(a), Ok(b)) = (one(pair.a.as_str()), one(pair.b.as_str())) {
                        div.item data-item data-key=(format!("{} {}", a.id, b.id)) tabindex="-1" {
                            p.bar {
                                @if pair.opposite { span.state.bad { "they contradict each other" } } @else { span.state { (format!("{:.0} % alike", pair.score * 100.0)) } }
                                @if join::can_stay(&a) { a.button data-hotkey="m" href=(join::path(a.id.as_str(), b.id.as_str())) { "Join into one… " kbd { "m" } } }
                            }
                            div.side { (half(asked, &a, &b)) (half(asked, &b, &a)) }
                        }
                    }
                }
            }
        }
        @if !deletions.is_empty() {
            section #deletions {
                (parts::counted("Can be removed", deletions.len()))
                ul.lines { @for proposed in deletions { li data-item { (parts::by_id(proposed.id.as_str())) " " (proposed.reason) (retire(asked, proposed.id.as_str(), "Retire", &proposed.reason)) } } }
            }
        }
    })
}

/// One of two that say nearly the same: keeping it takes the other out of use.
fn half(asked: &Asked<'_>, one: &Memory, other: &Memory) -> Markup {
    html! {
        div {
            p.head { (parts::line(one)) " " (parts::trust(one.trust)) }
            (memory::content(asked, one))
            div.actions {
                (retire(asked, other.id.as_str(), "Keep only this one", &format!("says the same as {}", one.id)))
            }
        }
    }
}

fn retire(asked: &Asked<'_>, id: &str, name: &str, reason: &str) -> Markup {
    html! {
        form.inline method="post" action="/do/retire" {
            (parts::carried(asked, Verb::Retire))
            input type="hidden" name="id" value=(id);
            input type="hidden" name="reason" value=(reason);
            input type="hidden" name="to" value="/review";
            button.quiet { (name) }
        }
    }
}

/// What is selected, once more and whole, before it happens.
pub(crate) fn preview(asked: &Asked<'_>) -> Result<Screen> {
    let keys: Vec<String> = asked.form.all("key").map(str::to_owned).collect();
    let deed = asked.form.text("do").unwrap_or_default();
    if deed == "retire" {
        return super::search::preview_retire(asked);
    }
    let accepts = deed == "accept";
    if keys.is_empty() {
        return Ok(Screen::new(
            "Nothing is selected",
            "/review",
            html! { p { a href="/review" { "Back to the review" } } },
        ));
    }
    let chosen = decide::choose(asked.call, &Choose { keys, all: false })?;
    let count = chosen.drafts.len() + if accepts { chosen.memories.len() } else { 0 };
    let left = if accepts { 0 } else { chosen.memories.len() };
    let body = html! {
        p { @if accepts { "Exactly this will be stored or trusted:" } @else { "These drafts are thrown away:" } }
        ol.items { @for one in &chosen.drafts { (draft(asked, one, false)) } @if accepts { @for one in &chosen.memories { (saved(asked, one, false)) } } }
        @if left > 0 { p.dim { (left) " of the selected are stored already and cannot be rejected; retire them instead." } }
        form method="post" action=(if accepts { "/do/accept" } else { "/do/reject" }) {
            (parts::carried(asked, if accepts { Verb::Accept } else { Verb::Reject }))
            @if accepts { @for seen in chosen.yes().shown { input type="hidden" name="shown" value=(format!("{} {}", seen.seen, seen.key)); } }
            @else { @for one in &chosen.drafts { input type="hidden" name="key" value=(one.item.key); } }
            p.actions { button.good[accepts] autofocus { (if accepts { "Accept " } else { "Reject " }) (count) } a.button href="/review" { "Cancel" } }
        }
    };
    Ok(Screen::new(format!("{} {count}", if accepts { "Accept" } else { "Reject" }), "/review", body))
}
