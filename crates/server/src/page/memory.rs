//! A memory: all that its kind keeps, where it came from, what it cites, and what can be done with it.
//!
//! Comes in: an id. Goes out: its screen, or the form that changes it. Fields are those of the table of kinds; Markdown is rendered where a kind is
//! written in it. Never here: how a change is made; that is `edit`'s.

use super::layout::Screen;
use super::{Asked, form, markdown, parts};
use heirloom_core::kind::Shape;
use heirloom_core::{Code, Fault, Kind, Memory, ShelfName, Status, Trust, Verb, fault::Result};
use heirloom_engine::verbs::decide::Freshness;
use heirloom_engine::verbs::edit::draft;
use heirloom_engine::verbs::show::{Link, Show, Shown, cited_lines, show};
use maud::{Markup, html};
use serde_json::Value;

fn wanted(asked: &Asked<'_>) -> Result<Shown> {
    let id = asked.form.text("id").unwrap_or_default();
    if id.is_empty() {
        return Err(Fault::new(Code::Usage, "no memory was named").hint("choose one from the search"));
    }
    show(asked.call, &Show { id: id.to_owned() })
}

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    let Shown { memory, links, anchors } = wanted(asked)?;
    let lines = if anchors.is_empty() { Vec::new() } else { cited_lines(asked.call, &memory.id)? };
    let id = memory.id.as_str();
    let forgetting = asked.form.text("forget").is_some();
    let body = html! {
        p.head { (parts::kind(memory.kind.name())) " " (parts::trust(memory.trust)) " " (parts::status(memory.status)) " " code.id { (id) } }
        @if forgetting { (forget(asked, &memory)) } @else { (actions(asked, &memory)) }
        div.two.wide-left {
            section aria-label="What it says" {
                (content(asked, &memory))
                @if !anchors.is_empty() {
                    h2 { "Code it cites" }
                    ul.cited {
                        @for (at, cited) in anchors.iter().enumerate() {
                            li {
                                code { (cited.anchor) } " " span class=(fits(cited.state)) { (freshness(cited.state)) }
                                @if let Some(place) = &cited.now { " now at " code { (place.shown()) } }
                                @if let Some(Some(text)) = lines.get(at) { pre tabindex="0" { code { (text) } } }
                            }
                        }
                    }
                }
            }
            section aria-label="About it" { (about(asked, &memory)) (linked("Made from", &links.distilled_from)) (linked("Became", &links.became)) (linked("Imported from", &links.imported_from)) }
        }
        section #history data-load=(format!("/history?id={}", form::encoded(id))) {
            h2 { a href=(format!("/history?id={}", form::encoded(id))) { "History" } }
        }
    };
    Ok(Screen::new(parts::title(&memory), "", body))
}

const fn fits(state: Freshness) -> &'static str {
    match state {
        Freshness::Changed | Freshness::Gone => "state bad",
        _ => "state good",
    }
}

const fn freshness(state: Freshness) -> &'static str {
    match state {
        Freshness::Changed => "changed since",
        Freshness::Gone => "gone: agents do not get it",
        _ => state.name(),
    }
}

fn linked(title: &str, links: &[Link]) -> Markup {
    html! { @if !links.is_empty() { h2 { (title) } ul.lines { @for link in links { li { (parts::by_id(&link.id)) " " span.dim { (parts::at(&link.at)) } } } } } }
}

/// What a memory says, as its kind is read.
pub(crate) fn content(asked: &Asked<'_>, memory: &Memory) -> Markup {
    match memory.kind.shelf() {
        ShelfName::Records => fields(asked, memory),
        ShelfName::Topics | ShelfName::Notes => html! { div.prose { (markdown::rendered(&memory.body)) } },
        ShelfName::Vault | ShelfName::Tiers => html! { p.body { (memory.body) } },
    }
}

/// A record's fields in the order of its kind, then whatever else it has.
fn fields(asked: &Asked<'_>, memory: &Memory) -> Markup {
    let known: Vec<&str> = match asked.call.settings().category(memory.kind.name()) {
        Some(category) => category.fields().iter().map(|field| field.name).collect(),
        None => Vec::new(),
    };
    let first = known.iter().filter_map(|name| memory.fields.get_key_value(*name));
    let rest = memory.fields.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    html! {
        dl.fields {
            @for (name, value) in first.chain(rest).filter(|(_, value)| !is_blank(value)) {
                div { dt { (name.replace('_', " ")) } dd { (valued(value)) } }
            }
        }
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_blank),
        _ => false,
    }
}

fn valued(value: &Value) -> Markup {
    match value {
        Value::String(text) => html! { span.body { (text) } },
        Value::Array(items) => html! { ul { @for item in items { li { (valued(item)) } } } },
        Value::Object(map) => html! {
            dl.inner { @for (name, value) in map.iter().filter(|(_, value)| !is_blank(value)) { div { dt { (name.replace('_', " ")) } dd { (valued(value)) } } } }
        },
        other => html! { (other) },
    }
}

fn about(asked: &Asked<'_>, memory: &Memory) -> Markup {
    let times = [
        ("happened", &memory.occurred_at),
        ("stored", &memory.created_at),
        ("changed", &memory.updated_at),
        ("expires", &memory.expires_at),
    ];
    let told = |key: &str| memory.fields.get(key).filter(|value| !is_blank(value));
    html! {
        dl.about {
            div { dt { "source" } dd { (memory.source.name().replace('_', " ")) } }
            div { dt { "trust" } dd { (memory.trust.name()) ": " (believed(memory)) } }
            div { dt { "scope" } dd { (memory.scope) } }
            @for (name, at) in times { @if let Some(at) = at { div { dt { (name) } dd { (parts::at(at)) } } } }
            @if let Some(sure) = memory.confidence { div { dt { "confidence" } dd { (format!("{sure:.2}")) } } }
            @if !memory.tags.is_empty() { div { dt { "tags" } dd { @for tag in &memory.tags { a.tag href=(format!("/search?q=tag%3A{}", form::encoded(tag))) { (tag) } " " } } } }
            @if !memory.applies_to.is_empty() { div { dt { "files" } dd { @for file in &memory.applies_to { code { (file) } " " } } } }
            @if let Some(path) = &memory.path { div { dt { "stored in" } dd { code { (path) } } } }
            @if memory.kind.shelf() == ShelfName::Tiers {
                @for name in ["role", "session", "supersedes", "superseded_by"] { @if let Some(value) = told(name) { div { dt { (name.replace('_', " ")) } dd { (tied(value)) } } } }
            }
            div { dt { "version" } dd { code { (memory.version.get(..12).unwrap_or(&memory.version)) } } }
        }
        @if memory.trust < Trust::High && believable(memory) {
            form.inline method="post" action="/do/accept" {
                (parts::carried(asked, Verb::Accept))
                input type="hidden" name="shown" value=(format!("{} {}", memory.content_hash, memory.id));
                input type="hidden" name="to" value=(form::memory(memory.id.as_str()));
                button data-hotkey="a" { "Accept as it is " kbd { "a" } }
            }
        }
    }
}

fn believable(memory: &Memory) -> bool {
    !matches!(memory.kind, Kind::Episode | Kind::Fact | Kind::Working)
}

/// Ids in a value as links.
fn tied(value: &Value) -> Markup {
    match value {
        Value::String(text) if text.contains(':') => parts::by_id(text),
        Value::Array(items) => html! { @for item in items { (tied(item)) " " } },
        Value::String(text) => html! { (text) },
        other => html! { (other) },
    }
}

const fn believed(memory: &Memory) -> &'static str {
    match memory.trust {
        Trust::High => "a person wrote or accepted exactly these bytes",
        Trust::Medium => "from files, tools or the repository; nobody here accepted it",
        Trust::Low => "an agent's own words; nobody accepted it",
    }
}

fn actions(asked: &Asked<'_>, memory: &Memory) -> Markup {
    let id = memory.id.as_str();
    let here = form::memory(id);
    let deed = |path: &str, verb: Verb, key: Option<&str>, name: &str| {
        html! {
            form method="post" action=(path) {
                (parts::carried(asked, verb))
                input type="hidden" name="id" value=(id);
                input type="hidden" name="to" value=(here);
                button data-hotkey=[key] { (name) @if let Some(key) = key { " " kbd { (key) } } }
            }
        }
    };
    html! {
        div.actions role="group" aria-label="Actions" {
            @if memory.kind.shelf() != ShelfName::Notes { a.button href=(format!("/edit?id={}", form::encoded(id))) data-hotkey="e" { "Edit " kbd { "e" } } }
            @match memory.status {
                Status::Active => {
                    (deed("/do/retire", Verb::Retire, Some("x"), "Retire"))
                    @if memory.kind.shelf() != ShelfName::Tiers && memory.kind.shelf() != ShelfName::Vault { (deed("/do/archive", Verb::Archive, None, "Archive")) }
                }
                Status::Retired => { (deed("/do/restore", Verb::Restore, Some("x"), "Restore")) }
                Status::Archived => { (deed("/do/unarchive", Verb::Unarchive, Some("x"), "Back into use")) }
                Status::Superseded => {}
            }
            a.button.danger href=(format!("{here}&forget=1")) { "Forget…" }
            a.button href=(format!("/changes?id={}", form::encoded(id))) { "Undo…" }
        }
    }
}

fn forget(asked: &Asked<'_>, memory: &Memory) -> Markup {
    html! {
        div.fault {
            p { strong { "Forget removes every trace: the text, its history, what undo kept. It cannot be undone." } }
            form.actions method="post" action="/do/forget" {
                (parts::carried(asked, Verb::Forget))
                input type="hidden" name="id" value=(memory.id);
                button.danger autofocus { "Forget it for good" }
                a.button href=(form::memory(memory.id.as_str())) { "Keep it" }
            }
        }
    }
}

/// The form that changes a memory.
pub(crate) fn edit(asked: &Asked<'_>) -> Result<Screen> {
    let memory = wanted(asked)?.memory;
    let id = memory.id.as_str();
    let whole = asked.form.text("whole").is_some() || !matches!(memory.kind.shelf(), ShelfName::Records);
    let body = html! {
        form.edit method="post" action="/do/edit" {
            (parts::carried(asked, Verb::Edit))
            input type="hidden" name="id" value=(id);
            input type="hidden" name="version" value=(memory.version);
            @match whole {
                true => { (as_text(asked, &memory)?) }
                false => { (by_fields(asked, &memory)) }
            }
            @if memory.kind.shelf() == ShelfName::Records { label { "What changed" input name="message" maxlength="200" placeholder="Edited"; } }
            p.actions { button { "Save" } a.button href=(form::memory(id)) { "Cancel" } }
        }
        @if !whole { p { a href=(format!("/edit?id={}&whole=1", form::encoded(id))) { "Edit the stored text as a whole" } } }
    };
    Ok(Screen::new(format!("Edit: {}", parts::title(&memory)), "", body))
}

fn as_text(asked: &Asked<'_>, memory: &Memory) -> Result<Markup> {
    let draft = draft(asked.call, memory.id.as_str())?;
    Ok(html! {
        label { "Text" textarea name="whole" rows="24" spellcheck="true" required autofocus { "\n" (draft.text) } }
        p.dim { @match draft.ending { "json" => { "The whole record as JSON." } "md" => { "The whole entry in Markdown." } _ => { "Plain text." } } }
    })
}

fn by_fields(asked: &Asked<'_>, memory: &Memory) -> Markup {
    let category = asked.call.settings().category(memory.kind.name());
    let fields = category.map(|category| category.fields()).unwrap_or_default();
    html! {
        label { "Title" input name="title" value=(memory.title) required maxlength="120" autofocus; }
        @for field in fields {
            @let value = memory.fields.get(field.name).cloned().unwrap_or_default();
            @let name = format!("field.{}", field.name);
            @match field.shape {
                Shape::Choice(words) => {
                    label { (field.name.replace('_', " ")) select name=(name) { @for word in words { option value=(word) selected[value == **word] { (word) } } } span.help { (field.help) } }
                }
                Shape::Flag => {
                    label { (field.name.replace('_', " ")) select name=(name) { @for word in ["true", "false"] { option selected[value.as_bool() == Some(word == "true")] { (word) } } } span.help { (field.help) } }
                }
                Shape::Text => {
                    label { (field.name.replace('_', " ")) textarea name=(name) rows="3" required[field.required && !is_blank(&value)] { "\n" (value.as_str().unwrap_or_default()) } span.help { (field.help) } }
                }
                Shape::List { .. } | Shape::Alternatives | Shape::Examples => {
                    label { (field.name.replace('_', " ")) textarea name=(name) rows="4" required[field.required && !is_blank(&value)] { "\n" (listed(&value)) } span.help { (field.help) " (" (manner(field.shape)) ")" } }
                }
            }
        }
        label { "Add tags" input name="tags" placeholder="separated by spaces"; span.help { "now: " (memory.tags.join(", ")) } }
    }
}

const fn manner(shape: Shape) -> &'static str {
    match shape {
        Shape::Alternatives => "a line each, option: why not",
        Shape::Examples => "a line each, prefer: … or avoid: …",
        _ => "a line each",
    }
}

/// A list as lines that `edit` reads back.
pub(super) fn listed(value: &Value) -> String {
    let text =
        |value: &Value| value.as_str().map_or_else(|| value.to_string(), |text| text.replace('\n', " "));
    let mut lines = Vec::new();
    match value {
        Value::Array(items) => {
            for item in items {
                match item.get("option").zip(item.get("rejected_reason")) {
                    Some((option, reason)) => lines.push(format!("{}: {}", text(option), text(reason))),
                    None => lines.push(text(item)),
                }
            }
        }
        Value::Object(map) => {
            for (side, items) in map {
                lines.extend(
                    items.as_array().into_iter().flatten().map(|item| format!("{side}: {}", text(item))),
                );
            }
        }
        _ => {}
    }
    lines.join("\n")
}
