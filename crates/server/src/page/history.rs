//! History: the steps of a memory's life, its kept versions side by side, and the changes that can be taken back.
//!
//! Comes in: an id and perhaps two versions. Goes out: steps, who accepted it, a diff. Never here: a version that is not kept.

use super::layout::Screen;
use super::{Asked, form, parts};
use heirloom_core::{Verb, fault::Result};
use heirloom_engine::verbs::show::{Past, Show, Version, history, versions};
use heirloom_engine::verbs::trail::{Audit, audit};
use heirloom_engine::verbs::undo::{self, Change, Undo};
use maud::{Markup, html};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

/// Lines of the audit about one memory.
const LINES: usize = 50;
/// Changes on a screen.
const CHANGES: usize = 50;

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    let id = asked.form.text("id").unwrap_or_default();
    let show = Show { id: id.to_owned() };
    let (steps, kept) = (history(asked.call, &show)?, versions(asked.call, &show)?);
    let decided: Vec<Value> =
        audit(asked.call, &Audit { id: Some(id.to_owned()), verdict: None, event: None, limit: LINES })?
            .into_iter()
            .filter(|line| line["action"].as_str().is_some_and(|action| action.starts_with("review_")))
            .collect();
    let body = html! {
        p { (parts::by_id(id)) }
        (timeline(asked, id, &steps))
        @if !decided.is_empty() {
            h2 { "Who accepted it" }
            ul.lines { @for line in &decided { li { (parts::deed(text(line, "action"))) " by " (text(line, "by")) " " span.dim { (parts::at(text(line, "at"))) } } } }
        }
        (compared(asked, id, &kept))
    };
    Ok(Screen::new("History", "", body))
}

fn text<'v>(line: &'v Value, key: &str) -> &'v str {
    line[key].as_str().unwrap_or_default()
}

fn timeline(asked: &Asked<'_>, id: &str, steps: &[Past]) -> Markup {
    html! {
        h2 { "What happened" }
        @if steps.is_empty() { p.dim { "Nothing yet, except that it was stored." } }
        ol.steps {
            @for step in steps.iter().rev() {
                li data-item {
                    (parts::at(&step.change.at)) " " (step.change.summary)
                    @if let Some(field) = &step.change.field { " " code { (field) } }
                    @if let (Some(old), Some(new)) = (&step.change.old, &step.change.new) { div.pair { del { (short(old)) } " → " ins { (short(new)) } } }
                    @if let Some(number) = &step.undo {
                        form.inline method="post" action="/do/undo" {
                            (parts::carried(asked, Verb::Edit))
                            input type="hidden" name="number" value=(number);
                            input type="hidden" name="to" value=(form::memory(id));
                            button.quiet { "Undo " (number) }
                        }
                    }
                }
            }
        }
    }
}

fn short(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn compared(asked: &Asked<'_>, id: &str, kept: &[Version]) -> Markup {
    if kept.len() < 2 {
        return html! { p.dim { "No earlier text is kept; what a change replaced is kept for thirty days." } };
    }
    let named = |name: Option<&str>, usual: usize| {
        name.and_then(|name| kept.iter().position(|one| one.number == name)).unwrap_or(usual)
    };
    let from = named(asked.form.text("from"), kept.len() - 2);
    let to = named(asked.form.text("to"), kept.len() - 1);
    let pick = |name: &str, label: &str, chosen: usize| {
        html! {
            label { (label) " " select name=(name) { @for (at, one) in kept.iter().enumerate() { option value=(one.number) selected[at == chosen] { (told(one)) } } } }
        }
    };
    html! {
        h2 { "Compare versions" }
        form.bar action="/history" data-into="history" {
            input type="hidden" name="id" value=(id);
            (pick("from", "from", from)) (pick("to", "to", to))
            button.quiet { "Compare" }
        }
        (diff(&kept[from].text, &kept[to].text))
    }
}

fn told(one: &Version) -> String {
    let at = one.at.get(..16).unwrap_or(&one.at).replace('T', " ");
    if one.number == "now" { format!("now ({at})") } else { format!("before {} ({at})", one.number) }
}

/// Two texts, line by line.
pub(crate) fn diff(old: &str, new: &str) -> Markup {
    if old == new {
        return html! { p.dim { "Both are the same." } };
    }
    let lines = TextDiff::from_lines(old, new);
    html! {
        pre.diff tabindex="0" aria-label="differences" {
            @for change in lines.iter_all_changes() {
                @match change.tag() {
                    ChangeTag::Delete => { del { "- " (change.value()) } }
                    ChangeTag::Insert => { ins { "+ " (change.value()) } }
                    ChangeTag::Equal => { span { "  " (change.value()) } }
                }
            }
        }
    }
}

/// The changes that can be taken back.
pub(crate) fn changes(asked: &Asked<'_>) -> Result<Screen> {
    let about = asked.form.text("id");
    let mut all = undo::list(asked.call)?;
    all.retain(|change| !change.undone && about.is_none_or(|id| change.ids.iter().any(|one| one == id)));
    all.truncate(CHANGES);
    let previewed = asked.form.text("number");
    let body = html! {
        p { "Undo is a change of its own: nothing is lost, and it can be undone. What was forgotten is gone." }
        @if all.is_empty() { (parts::empty("Nothing to undo.", "")) }
        ol.lines { @for change in &all { (one(asked, change, previewed == Some(change.number.as_str()))?) } }
    };
    Ok(Screen::new("Undo", "", body))
}

fn one(asked: &Asked<'_>, change: &Change, open: bool) -> Result<Markup> {
    let would = match open {
        true => Some(undo::undo(asked.call, &Undo { number: Some(change.number.clone()), dry_run: true })?),
        false => None,
    };
    Ok(html! {
        li data-item data-key=(change.number) {
            strong { (change.actions.iter().map(|action| parts::deed(action)).collect::<Vec<_>>().join(", ")) } " "
            @for id in change.ids.iter().take(4) { (parts::by_id(id)) " " }
            @if change.ids.len() > 4 { "and " (change.ids.len() - 4) " more " }
            span.meta { (parts::ago(asked, &change.at)) " by " (change.by) }
            @if let Some(would) = &would {
                @for step in &would.memories {
                    p { (step.does.replace('_', " ")) " " (parts::by_id(&step.id)) @if step.changed_since { " " span.state.bad { "changed since: nothing would be undone" } } }
                    @if !step.diff.is_empty() { pre.diff tabindex="0" { @for line in &step.diff { @if line.starts_with('+') { ins { (line) "\n" } } @else { del { (line) "\n" } } } } }
                }
            }
            div.actions {
                form method="post" action="/do/undo" {
                    (parts::carried(asked, Verb::Edit))
                    input type="hidden" name="number" value=(change.number);
                    input type="hidden" name="to" value="/changes";
                    button.quiet { "Undo " (change.number) }
                }
                @if !open { a.quiet href=(format!("/changes?number={}{}", change.number, asked.form.text("id").map(|id| format!("&id={}", form::encoded(id))).unwrap_or_default())) { "What would happen" } }
            }
        }
    })
}
