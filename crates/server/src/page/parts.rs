//! Small parts that several screens share: a memory in a line, trust, time, why, forms that do something, empty places.
//!
//! Comes in: what verbs answered. Goes out: markup. Never here: a decision about a memory.

use super::{Asked, form};
use heirloom_core::{Memory, Status, Trust, Verb, time};
use heirloom_engine::verbs::told::{Reason, Snippet};
use maud::{Markup, html};

/// A moment, short, with the whole of it for machines.
pub(crate) fn at(text: &str) -> Markup {
    let short = text.get(..16).unwrap_or(text).replace('T', " ");
    html! { time datetime=(text) title=(text) { (short) } }
}

/// How long ago something was.
pub(crate) fn ago(asked: &Asked<'_>, text: &str) -> Markup {
    let Some(then) = time::parse(text) else { return html! { (text) } };
    let seconds = (asked.call.project().world().now.as_second() - then.as_second()).max(0);
    let told = match seconds {
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        86_400..2_592_000 => format!("{} d ago", seconds / 86_400),
        _ => text.get(..10).unwrap_or(text).to_owned(),
    };
    html! { time datetime=(text) title=(text) { (told) } }
}

/// A kind.
pub(crate) fn kind(name: &str) -> Markup {
    html! { span.kind { (name.replace('_', " ")) } }
}

/// How far a memory is believed.
pub(crate) fn trust(level: Trust) -> Markup {
    let class = match level {
        Trust::High => "trust high",
        Trust::Medium => "trust medium",
        Trust::Low => "trust low",
    };
    html! { span class=(class) { (level.name()) " trust" } }
}

/// What is unusual about a memory's place in its life.
pub(crate) fn status(status: Status) -> Markup {
    html! { @if status != Status::Active { span.state { (status.name()) } } }
}

/// A memory as a link in a list.
pub(crate) fn line(memory: &Memory) -> Markup {
    html! { (kind(memory.kind.name())) " " a href=(form::memory(memory.id.as_str())) { (title(memory)) } }
}

/// A title that is never empty.
pub(crate) fn title(memory: &Memory) -> &str {
    if memory.title.trim().is_empty() { memory.id.as_str() } else { &memory.title }
}

/// A link to a memory by its id alone.
pub(crate) fn by_id(id: &str) -> Markup {
    html! { a.id href=(form::memory(id)) { (id) } }
}

/// The part that answers, with the words that do.
pub(crate) fn snippet(snippet: &Snippet) -> Markup {
    let text = &snippet.text;
    let mut at = 0;
    let mut pieces: Vec<(bool, &str)> = Vec::new();
    for [from, to] in &snippet.marks {
        if let (Some(plain), Some(marked)) = (text.get(at..*from), text.get(*from..*to)) {
            pieces.extend([(false, plain), (true, marked)]);
            at = *to;
        }
    }
    pieces.push((false, text.get(at..).unwrap_or_default()));
    html! {
        p.snippet {
            @if snippet.cut_before { "…" }
            @for (marked, piece) in pieces {
                @if marked { mark { (piece) } } @else { (piece) }
            }
            @if snippet.cut_after { "…" }
        }
    }
}

/// What a score is made of: a bar, and its numbers for whoever looks closer.
pub(crate) fn why(score: Option<f64>, reasons: &[Reason]) -> Markup {
    const WIDE: f64 = 96.0;
    let total: f64 = reasons.iter().map(|reason| reason.points.max(0.0)).sum();
    let Some(score) = score.filter(|_| total > 0.0) else { return html! {} };
    let told: Vec<String> =
        reasons.iter().map(|reason| format!("{} {:+.2}", reason.what, reason.points)).collect();
    let mut x = 0.0;
    let bars: Vec<(f64, f64, usize)> = reasons
        .iter()
        .filter(|reason| reason.points > 0.0)
        .enumerate()
        .map(|(at, reason)| {
            let width = reason.points / total * WIDE;
            x += width;
            (x - width, width, at % 5)
        })
        .collect();
    html! {
        span.why tabindex="0" role="img" aria-label=(format!("why: score {score:.2}; {}", told.join(", "))) {
            span.label aria-hidden="true" { "why " (format!("{score:.2}")) }
            svg width="96" height="8" viewBox="0 0 96 8" aria-hidden="true" {
                @for (x, width, at) in bars {
                    rect class=(format!("w{at}")) x=(format!("{x:.1}")) y="0" width=(format!("{:.1}", (width - 1.0).max(0.5))) height="8" {}
                }
            }
            span.tip aria-hidden="true" { strong { (format!("{score:.2}")) } @for one in &told { br; (one) } }
        }
    }
}

/// What stands where nothing is: what to do next, with the command to copy.
pub(crate) fn empty(text: &str, command: &str) -> Markup {
    html! {
        div.empty {
            p { (text) }
            @if !command.is_empty() {
                p.command { code { (command) } button.quiet type="button" data-copy=(command) { "Copy" } }
            }
        }
    }
}

/// A text in which commands and names stand between backticks, each shown as code.
pub(crate) fn ticked(text: &str) -> Markup {
    let mut pieces = text.split('`').enumerate().peekable();
    html! {
        @while let Some((at, piece)) = pieces.next() {
            @if at % 2 == 0 { (piece) } @else if pieces.peek().is_some() { code { (piece) } } @else { "`" (piece) }
        }
    }
}

/// The first command of such a text, to be copied.
pub(crate) fn command_in(text: &str) -> Option<&str> {
    text.split('`').skip(1).step_by(2).find(|piece| piece.starts_with("heirloom "))
}

/// What every form that does something carries; and the PIN, where the settings ask for it.
pub(crate) fn carried(asked: &Asked<'_>, verb: Verb) -> Markup {
    html! {
        input type="hidden" name="token" value=(asked.page.session.form_token());
        @if asked.call.wants_check(verb) {
            label.pin { "PIN " input type="password" name="pin" autocomplete="off" required; }
        }
    }
}

/// What was done, in a word.
pub(crate) fn deed(action: &str) -> String {
    match action {
        "memory_write" => "saved".to_owned(),
        "memory_retire" => "retired".to_owned(),
        "memory_restore" => "restored".to_owned(),
        "memory_archive" => "archived".to_owned(),
        "memory_unarchive" => "back in use".to_owned(),
        "memory_change" => "changed".to_owned(),
        "review_accept" => "accepted".to_owned(),
        "review_reject" => "rejected".to_owned(),
        other => other.replace('_', " "),
    }
}

/// A heading with how many there are.
pub(crate) fn counted(title: &str, count: usize) -> Markup {
    html! { h2 { (title) " " span.count { (count) } } }
}
