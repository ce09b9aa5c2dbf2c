//! Search: every shelf as you type, filters as chips, and why each hit is there.
//!
//! Comes in: a line of words and filters. Goes out: hits, which can be selected and taken out of use together. A chip only adds a filter to the line or
//! takes it out. Never here: a ranking.

use super::layout::Screen;
use super::{Asked, form, parts};
use heirloom_core::{Verb, fault::Result};
use heirloom_engine::verbs::search::{Ranking, Search, typed};
use heirloom_engine::verbs::told::Hit;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Hits on a screen.
const HITS: usize = 40;
/// Chips of tags and of scopes.
const CHIPS: usize = 6;

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    let line = asked.form.text("q").unwrap_or_default();
    let ask = Search { limit: HITS, ..Search::default() };
    let found = typed(asked.call, line, &ask)?;
    let body = html! {
        p.hidden { "Filters; each is added to the search line or taken out of it." }
        (chips(asked, line, &found.hits))
        @if found.hits.is_empty() {
            @match line.trim().is_empty() {
                true => { (parts::empty("Nothing is remembered yet.", "heirloom add decision \"Use PostgreSQL because we need jsonb\"")) }
                false => { (parts::empty("Nothing matches. Remove a filter or try other words; status:retired finds retired memories.", "")) }
            }
        } @else {
            form #bulk action="/preview" {
                input type="hidden" name="do" value="retire";
                p.bar {
                    span role="status" { (found.hits.len()) @if found.hits.len() == HITS { " or more" } " " (if found.hits.len() == 1 { "memory" } else { "memories" }) @if found.ranking == Ranking::Newest { ", newest first" } @else { ", best first" } }
                    button.quiet data-needs-selection { "Retire selected…" }
                }
                ol.hits { @for hit in &found.hits { (one(asked, hit)) } }
            }
        }
    };
    Ok(Screen::new(
        if line.trim().is_empty() { "Search".to_owned() } else { format!("Search: {line}") },
        "/search",
        body,
    ))
}

fn one(asked: &Asked<'_>, hit: &Hit) -> Markup {
    let memory = &hit.memory;
    let when =
        memory.updated_at.as_deref().or(memory.created_at.as_deref()).or(memory.occurred_at.as_deref());
    html! {
        li.item data-item data-key=(memory.id) {
            label.pick { input type="checkbox" name="id" value=(memory.id); span.hidden { "select " (parts::title(memory)) } }
            div.grow {
                p.head { (parts::line(memory)) (parts::status(memory.status)) }
                @if !hit.untitled || !hit.snippet.marks.is_empty() { (parts::snippet(&hit.snippet)) }
                p.meta {
                    (parts::trust(memory.trust))
                    @if let Some(when) = when { " · " (parts::ago(asked, when)) }
                    @for tag in memory.tags.iter().take(5) { " " span.tag { (tag) } }
                    @if let Some(stale) = &hit.stale { " " span.state { (stale) } }
                    @if let Some(behind) = &hit.behind { " · says the same as " (parts::by_id(behind)) }
                }
            }
            (parts::why(hit.score, &hit.why))
        }
    }
}

fn chips(asked: &Asked<'_>, line: &str, hits: &[Hit]) -> Markup {
    let settings = asked.call.settings();
    let kinds = settings.categories.iter().filter(|one| one.enabled).map(|one| one.name());
    let kinds = kinds
        .chain(["lesson", "note", "canon", "register", "fact", "episode"])
        .map(|name| format!("kind:{name}"));
    let mut tags: BTreeMap<&str, usize> = BTreeMap::new();
    let mut scopes: BTreeMap<String, usize> = BTreeMap::new();
    for hit in hits {
        hit.memory.tags.iter().filter(|tag| is_word(tag)).for_each(|tag| *tags.entry(tag).or_default() += 1);
        let scope = hit.memory.scope.to_string();
        if is_word(&scope) {
            *scopes.entry(scope).or_default() += 1;
        }
    }
    let mut tags: Vec<(&str, usize)> = tags.into_iter().collect();
    tags.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut tags: Vec<String> = tags.into_iter().take(CHIPS).map(|(tag, _)| format!("tag:{tag}")).collect();
    let mut scopes: Vec<String> = match scopes.len() {
        0 | 1 => Vec::new(),
        _ => scopes
            .into_keys()
            .take(CHIPS)
            .map(|scope| format!("scope:{}", scope.strip_prefix("agent:").unwrap_or(&scope)))
            .collect(),
    };
    // What is set stays where it can be taken out.
    for part in line.split_whitespace() {
        for (prefix, list) in [("tag:", &mut tags), ("scope:", &mut scopes)] {
            if part.starts_with(prefix) && !list.iter().any(|known| known == part) {
                list.push(part.to_owned());
            }
        }
    }
    let words = |all: &[&str]| all.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let groups: [(&str, Vec<String>); 6] = [
        ("Kind", kinds.collect()),
        ("Trust", words(&["trust:high", "trust:medium"])),
        ("Status", words(&["status:retired"])),
        ("Time", words(&["since:1d", "since:7d", "since:30d"])),
        ("Tag", tags),
        ("Scope", scopes),
    ];
    html! {
        div.chips {
            @for (name, filters) in groups.iter().filter(|(_, filters)| !filters.is_empty()) {
                ul aria-label=(format!("filter by {}", name.to_lowercase())) {
                    li.dim aria-hidden="true" { (name) }
                    @for filter in filters {
                        @let set = line.split_whitespace().any(|part| part == filter);
                        li { a.chip href=(format!("/search?q={}", form::encoded(&toggled(line, filter)))) aria-current=[set.then_some("true")] data-line=(toggled(line, filter)) { (said(filter)) } }
                    }
                }
            }
        }
    }
}

/// A filter in words.
fn said(filter: &str) -> String {
    match filter {
        "since:1d" => "last day".to_owned(),
        "since:7d" => "last week".to_owned(),
        "since:30d" => "last month".to_owned(),
        "trust:medium" => "medium trust or more".to_owned(),
        "trust:high" => "high trust".to_owned(),
        "status:retired" => "retired".to_owned(),
        _ => {
            let plain = filter.replacen("kind:", "", 1).replacen("scope:", "", 1);
            plain.replacen("tag:", "#", 1).replace('_', " ")
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.len() <= 40 && !text.contains(|c: char| c.is_whitespace() || c == '"')
}

/// The line with a filter, or without it if it is there. Of kinds, times and levels of trust one counts.
fn toggled(line: &str, filter: &str) -> String {
    let alone = ["kind:", "trust:", "since:"].into_iter().find(|prefix| filter.starts_with(prefix));
    let had = line.split_whitespace().any(|part| part == filter);
    let mut parts: Vec<&str> = line
        .split_whitespace()
        .filter(|part| *part != filter && !alone.is_some_and(|prefix| part.starts_with(prefix)))
        .collect();
    if !had {
        parts.push(filter);
    }
    parts.join(" ")
}

/// What would be taken out of use, before it is.
pub(crate) fn preview_retire(asked: &Asked<'_>) -> Result<Screen> {
    let mut memories = Vec::new();
    for id in asked.form.all("id") {
        let show = heirloom_engine::verbs::show::Show { id: id.to_owned() };
        memories.push(heirloom_engine::verbs::show::show(asked.call, &show)?.memory);
    }
    let body = html! {
        @if memories.is_empty() { (parts::empty("Nothing is selected.", "")) a href="/search" { "Back to the search" } }
        @else {
            p { "These go out of use at once: no agent gets them. You can undo it." }
            form method="post" action="/do/retire" {
                (parts::carried(asked, Verb::Retire))
                input type="hidden" name="to" value="/search";
                ul.lines {
                    @for memory in &memories {
                        li data-item { input type="hidden" name="id" value=(memory.id); (parts::line(memory)) p.body { (memory.body) } }
                    }
                }
                label { "Reason " input name="reason" maxlength="200"; }
                p.actions { button.danger autofocus { "Retire " (memories.len()) } a.button href="/search" { "Cancel" } }
            }
        }
    };
    Ok(Screen::new(format!("Retire {}", memories.len()), "/search", body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_adds_its_filter_or_takes_it_out() {
        assert_eq!(toggled("queue", "kind:decision"), "queue kind:decision");
        assert_eq!(toggled("queue kind:decision", "kind:decision"), "queue");
        assert_eq!(toggled("queue kind:lesson", "kind:decision"), "queue kind:decision");
        assert_eq!(toggled("tag:a", "tag:b"), "tag:a tag:b");
    }
}
