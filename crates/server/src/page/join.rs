//! Join: two memories that say the same, or the opposite, side by side, and a form that makes one of them.
//!
//! Comes in: two ids, or an id and the key of a draft that contradicts it. Goes out: both texts, and fields that begin with what both say; a person takes
//! either side, both, or writes something else. What was seen goes with the form, so that nothing is lost that changed meanwhile. Never here: how two become one; that is the
//! verb's.

use super::layout::Screen;
use super::{Asked, form, memory, parts};
use heirloom_core::kind::Shape;
use heirloom_core::{Code, Fault, Memory, ShelfName, Verb, fault::Result};
use heirloom_engine::verbs::decide::{self, Choose, Shown as Draft};
use heirloom_engine::verbs::edit::draft;
use heirloom_engine::verbs::show::{Show, show};
use maud::{Markup, html};
use serde_json::Value;

/// The address of the form.
pub(crate) fn path(stays: &str, goes: &str) -> String {
    format!("/join?id={}&other={}", form::encoded(stays), form::encoded(goes))
}

/// Whether the text of a memory can become another one: a note is what was said.
pub(crate) fn can_stay(memory: &Memory) -> bool {
    memory.kind.shelf() != ShelfName::Notes
}

/// The one that goes.
enum Other {
    Memory(Box<Memory>),
    Draft(Box<Draft>),
}

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    let named = |name: &str| asked.form.text(name).unwrap_or_default().to_owned();
    let one = |id: String| show(asked.call, &Show { id }).map(|shown| shown.memory);
    let stays = one(named("id"))?;
    let other = match named("other") {
        // An id has its kind before it, a key has none.
        id if id.contains(':') => Other::Memory(Box::new(one(id)?)),
        key => waiting(asked, key)?,
    };
    let (id, seen, name) = match &other {
        Other::Memory(memory) => (memory.id.as_str(), &memory.version, parts::title(memory)),
        Other::Draft(draft) => (draft.item.key.as_str(), &draft.seen, draft.item.id.as_str()),
    };
    let gone = if matches!(other, Other::Memory(_)) { "retired" } else { "rejected" };
    let body = html! {
        p { strong { (parts::title(&stays)) } " stays, with the text you save here. " strong { (name) } " is " (gone) ". One undo brings both back." }
        div.side.halves {
            section.item aria-label="stays" { (half(asked, "Left: stays", &stays)) }
            section.item aria-label="goes" {
                @match &other {
                    Other::Memory(memory) => {
                        (half(asked, "Right: goes", memory))
                        @if can_stay(memory) { p.actions { a.button href=(path(memory.id.as_str(), stays.id.as_str())) { "Let this one stay instead" } } }
                    }
                    Other::Draft(draft) => { h2 { "Right: waits for review" } p.head { (parts::kind(&draft.kind)) } p.body { (draft_text(draft)) } }
                }
            }
        }
        form.edit.join method="post" action="/do/join" {
            (parts::carried(asked, Verb::Join))
            input type="hidden" name="id" value=(stays.id);
            input type="hidden" name="version" value=(stays.version);
            input type="hidden" name="other" value=(id);
            input type="hidden" name="seen" value=(seen);
            input type="hidden" name="to" value="/review";
            h2 { "What it says from now on" }
            @match stays.kind.shelf() {
                ShelfName::Records => { (by_fields(asked, &stays, &other)) }
                _ => { (as_text(asked, &stays, &other)?) }
            }
            p.actions { button.good { "Save as one" } a.button href="/review" { "Cancel" } }
        }
    };
    Ok(Screen::new("Join into one", "/review", body))
}

fn waiting(asked: &Asked<'_>, key: String) -> Result<Other> {
    let mut chosen = decide::choose(asked.call, &Choose { keys: vec![key], all: false })?;
    match chosen.drafts.pop() {
        Some(draft) => Ok(Other::Draft(Box::new(draft))),
        None => {
            Err(Fault::new(Code::NotFound, "there is nothing to join with").hint("go back to the review"))
        }
    }
}

fn draft_text(draft: &Draft) -> &str {
    draft.item.draft["memory"]["content"].as_str().unwrap_or_default()
}

fn half(asked: &Asked<'_>, title: &str, one: &Memory) -> Markup {
    html! {
        h2 { (title) }
        p.head { (parts::line(one)) " " (parts::trust(one.trust)) }
        (memory::content(asked, one))
    }
}

/// Buttons that put what either side says, or both, into a field. Without the script both texts stand above it.
fn sides(field: &str, left: &str, right: &str, both: &str) -> Markup {
    let take = |name: &str, text: &str| {
        html! { button.quiet type="button" data-into=(field) data-text=(text) { (name) span.hidden { " for " (field.trim_start_matches("field.").replace('_', " ")) } } }
    };
    html! {
        @if left != right {
            span.take role="group" aria-label="take" { (take("Left", left)) (take("Right", right)) @if both != left && both != right { (take("Both", both)) } }
        }
    }
}

fn by_fields(asked: &Asked<'_>, stays: &Memory, other: &Other) -> Markup {
    let Other::Memory(other) = other else { return html! {} };
    let category = asked.call.settings().category(stays.kind.name());
    let fields = category.map(|category| category.fields()).unwrap_or_default();
    let value = |memory: &Memory, name: &str| memory.fields.get(name).cloned().unwrap_or_default();
    let same_kind = stays.kind == other.kind;
    let more: Vec<&str> =
        other.tags.iter().filter(|tag| !stays.tags.contains(tag)).map(String::as_str).collect();
    html! {
        div.joined {
            label for="join-title" { "Title" }
            @if same_kind { (sides("title", &stays.title, &other.title, &stays.title)) }
            input #join-title name="title" value=(stays.title) required maxlength="120";
        }
        @for field in &fields {
            @let (left, right) = (value(stays, field.name), value(other, field.name));
            @let name = format!("field.{}", field.name);
            @let id = format!("join-{}", field.name);
            div.joined {
                label for=(id) { (field.name.replace('_', " ")) }
                @match field.shape {
                    Shape::Choice(words) => {
                        select id=(id) name=(name) { @for word in words { option value=(word) selected[left == **word] { (word) } } }
                    }
                    Shape::Flag => {
                        select id=(id) name=(name) { @for word in ["true", "false"] { option selected[left.as_bool() == Some(word == "true")] { (word) } } }
                    }
                    Shape::Text | Shape::List { .. } | Shape::Alternatives | Shape::Examples => {
                        @let (left, right) = (as_lines(&left), as_lines(&right));
                        @let both = lines_of_both(&left, &right);
                        @let begins = if left.is_empty() { &right } else if field.shape == Shape::Text { &left } else { &both };
                        @if same_kind { (sides(&name, &left, &right, &both)) }
                        textarea id=(id) name=(name) rows=(rows(begins)) { "\n" (begins) }
                    }
                }
                span.help { (field.help) }
            }
        }
        div.joined { label for="join-tags" { "Add tags" } input #join-tags name="tags" value=(more.join(" ")); span.help { "now: " (stays.tags.join(", ")) } }
    }
}

fn as_lines(value: &Value) -> String {
    value.as_str().map_or_else(|| memory::listed(value), str::to_owned)
}

fn rows(text: &str) -> usize {
    text.lines().count().clamp(2, 12) + 1
}

/// Every line once, those of the left side first.
fn lines_of_both(left: &str, right: &str) -> String {
    let mut lines: Vec<&str> = left.lines().collect();
    for line in right.lines() {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

fn as_text(asked: &Asked<'_>, stays: &Memory, other: &Other) -> Result<Markup> {
    let left = draft(asked.call, stays.id.as_str())?.text;
    let right = match other {
        Other::Memory(memory) if can_stay(memory) => draft(asked.call, memory.id.as_str())?.text,
        Other::Memory(memory) => memory.body.clone(),
        Other::Draft(draft) => draft_text(draft).to_owned(),
    };
    let (left, right) = (left.trim_end(), right.trim_end());
    // The heading of a lesson has its day, which is part of what it is called.
    let heading = |text: &str| match stays.kind.shelf() {
        ShelfName::Topics => text.find('\n').map_or(text.len(), |at| at + 1),
        _ => 0,
    };
    let (head, rest) = left.split_at(heading(left));
    let more = &right[heading(right)..];
    let right = format!("{head}{more}");
    let both = format!("{head}{}", lines_of_both(rest, more));
    Ok(html! {
        div.joined {
            label for="join-whole" { "Text" }
            (sides("whole", left, &right, &both))
            textarea #join-whole name="whole" rows=(rows(&both) + 4) spellcheck="true" required { "\n" (left) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_together_say_every_line_once() {
        assert_eq!(lines_of_both("a\nb", "b\nc"), "a\nb\nc");
        assert_eq!(lines_of_both("", "b"), "b");
        assert_eq!(lines_of_both("a", ""), "a");
    }
}
