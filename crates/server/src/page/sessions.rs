//! Sessions: a timeline, and of one session what it was given, what was kept, and what came to wait meanwhile.
//!
//! Comes in: the ledger and the turns. Goes out: a screen. What was given is shown as it is now, marked where it changed since. Never here: a text
//! that a session had and nobody keeps.

use super::layout::Screen;
use super::{Asked, parts};
use heirloom_core::fault::Result;
use heirloom_engine::verbs::decide;
use heirloom_engine::verbs::sessions::{list, show};
use heirloom_engine::verbs::trail::{Ended, Last, last};
use maud::{Markup, html};

/// Sessions on a screen.
const SHOWN: usize = 100;
/// Runs of hooks on a screen.
const RUNS: usize = 30;

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    match asked.form.text("id") {
        Some(id) => one(asked, id),
        None => all(asked),
    }
}

fn all(asked: &Asked<'_>) -> Result<Screen> {
    let sessions = list(asked.call)?;
    let body = html! {
        @if sessions.is_empty() { (parts::empty("No session has received a memory yet. Install the hooks, then ask your agent something.", "heirloom setup")) }
        @else {
            table {
                caption.hidden { "Sessions, newest first" }
                thead { tr { th scope="col" { "Last seen" } th scope="col" { "Session" } th scope="col" { "Agent" } th.n scope="col" { "Given" } th.n scope="col" { "Kept" } } }
                tbody { @for session in sessions.iter().take(SHOWN) {
                    tr data-item { td { (parts::ago(asked, &session.ended)) } td { a href=(format!("/sessions?id={}", session.id)) { (session.id) } } td { (session.agent) } td.n { (session.given) } td.n { (session.kept) } }
                } }
            }
        }
        (runs(asked)?)
    };
    Ok(Screen::new("Sessions", "/sessions", body))
}

fn runs(asked: &Asked<'_>) -> Result<Markup> {
    let runs = last(asked.call, &Last { hook: None, limit: RUNS })?;
    Ok(html! {
        h2 { "What hooks did last" }
        @if runs.is_empty() { p.dim { "No hook has run here yet." } }
        ul.lines {
            @for run in &runs {
                li {
                    (parts::ago(asked, &run.at)) " " strong { (run.hook) } " " span class=(if run.ended == Ended::Failed { "state bad" } else { "state" }) { (format!("{:?}", run.ended).to_lowercase()) } " " (run.agent)
                    @if !run.saw.is_empty() { ": " (run.saw) }
                    @for why in run.because.iter().take(5) { br; span.dim { (why) } }
                    @for left in &run.left_out { br; span.dim { "left out: " (left) } }
                }
            }
        }
    })
}

fn one(asked: &Asked<'_>, id: &str) -> Result<Screen> {
    let told = show(asked.call, id)?;
    let session = &told.session;
    let waits = decide::list(asked.call)?.waiting.drafts;
    let meanwhile: Vec<_> = waits
        .iter()
        .filter(|one| {
            one.item.at.as_str() >= session.began.as_str() && one.item.at.as_str() <= session.ended.as_str()
        })
        .collect();
    let body = html! {
        p.meta { (session.agent) " · " (parts::at(&session.began)) " to " (parts::at(&session.ended)) }
        (parts::counted("What it got", told.given.len()))
        @if told.given.is_empty() { p.dim { "Nothing." } }
        ol.items {
            @for one in &told.given {
                li.item data-item {
                    div.grow {
                        p.head {
                            @match &one.memory { Some(memory) => { (parts::line(memory)) } None => { (parts::by_id(&one.id)) " " span.state.bad { "gone since" } } }
                            @if one.changed { " " span.state.bad { "changed since" } }
                        }
                        @if let Some(memory) = &one.memory { p.snippet { (memory.body.lines().next().unwrap_or_default()) } }
                        p.meta { (parts::at(&one.at)) }
                    }
                    (parts::why(Some(one.score), &one.why))
                }
            }
        }
        (parts::counted("What was kept of it", told.kept.len()))
        @if told.kept.is_empty() { p.dim { "No turn of it was kept." } }
        ol.lines { @for turn in &told.kept { li data-item { (parts::line(turn)) span.meta { (turn.fields.get("role").and_then(|role| role.as_str()).unwrap_or_default()) @if let Some(at) = &turn.occurred_at { " · " (parts::at(at)) } } } } }
        (parts::counted("Drafts that wait since then", meanwhile.len()))
        ul.lines { @for one in meanwhile { li data-item { (parts::kind(&one.kind)) " " a href="/review" { (one.item.id) } } } }
    };
    Ok(Screen::new(format!("Session {id}"), "/sessions", body))
}
