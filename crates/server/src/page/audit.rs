//! Audit: what was done, by whom, and whether the chain is whole.
//!
//! Comes in: filters. Goes out: lines, newest first, and at a click the walk over the chain. Never here: a text of a memory; the audit has none.

use super::layout::{self, Screen};
use super::{Asked, parts};
use heirloom_core::fault::Result;
use heirloom_engine::verbs::trail::{self, Audit};
use maud::{Markup, html};
use serde_json::Value;

/// Lines on a screen.
const LINES: usize = 200;

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    let form = asked.form;
    // Somebody who signed in at a server has no project, and one chain.
    let guest = asked.page.seat.is_guest();
    let own = guest || form.text("chain") == Some("own");
    let ask = Audit {
        id: form.said("id"),
        verdict: form.said("verdict").filter(|_| !own),
        event: None,
        limit: LINES,
    };
    let lines: Vec<Value> = match own {
        true => {
            let lines = trail::own_audit(asked.call, &ask)?;
            lines.iter().map(|line| serde_json::to_value(line).unwrap_or_default()).collect()
        }
        false => trail::audit(asked.call, &ask)?,
    };
    let body = html! {
        form.bar action="/audit" {
            label { "Memory " input name="id" placeholder="decision:…" value=(form.text("id").unwrap_or_default()); }
            @if !guest { label { "Verdict " select name="verdict" { option value="" { "all" } @for one in ["keep", "redact", "confirm", "refuse"] { option selected[form.text("verdict") == Some(one)] { (one) } } } } }
            @if !guest { label { "Chain " select name="chain" { option value="project" { "project" } option value="own" selected[own] { "turns and facts" } } } }
            button.quiet { "Filter" }
            button name="verify" value="1" { "Verify the chain" }
        }
        @if form.text("verify").is_some() { (verified(asked)) }
        @if lines.is_empty() { (parts::empty("No line fits.", "heirloom audit")) }
        @else {
            div.wide tabindex="0" role="region" aria-label="Lines of the audit" {
                table {
                    caption.hidden { "Lines of the audit, newest first" }
                    thead { tr { th.n scope="col" { "No." } th scope="col" { "When" } th scope="col" { "What" } th scope="col" { "Memory" } th scope="col" { "By" } th scope="col" { "Verdict" } } }
                    tbody { @for line in lines.iter().rev() { (row(line)) } }
                }
            }
        }
    };
    Ok(Screen::new("Audit", "/audit", body))
}

fn text<'v>(line: &'v Value, key: &str) -> &'v str {
    line[key].as_str().unwrap_or_default()
}

fn row(line: &Value) -> Markup {
    let ids: Vec<&str> = match line["metadata"]["memory_ids"].as_array() {
        Some(ids) => ids.iter().filter_map(Value::as_str).collect(),
        None => vec![text(line, "id")],
    };
    let who = if text(line, "by").is_empty() { text(line, "user") } else { text(line, "by") };
    html! {
        tr data-item {
            td.n { (line["seq"].as_u64().unwrap_or_default()) }
            td { (parts::at(text(line, "at"))) }
            td { (text(line, "action").replace('_', " ")) }
            td { @for id in ids.iter().take(3) { @if id.contains(':') { (parts::by_id(id)) " " } @else { span.dim { (id.get(..24).unwrap_or(id)) } } } }
            td { (who) }
            td { (text(line, "verdict")) @if let Some(code) = line["code"].as_str() { " " span.state { (code) } } @if let Some(outcome) = line["outcome"].as_str() { " " span.dim { (outcome) } } }
        }
    }
}

fn verified(asked: &Asked<'_>) -> Markup {
    match trail::verify_audit(asked.call) {
        Ok(whole) => {
            html! { div.said role="status" { "The chain is whole: " (whole.entries) " entries, none altered, removed or moved." @if let Some(left) = &whole.left_out { " Left out: " (left) "." } } }
        }
        Err(fault) => layout::fault(&fault),
    }
}
