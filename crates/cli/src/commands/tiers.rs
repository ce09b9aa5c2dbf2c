//! `list --tier` and `search --tier`: what was said and what is known about whoever asks.

use super::show::{print_list, visible};
use crate::args::{List, Search};
use crate::output::{Out, Table};
use crate::wiring::Wired;
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Memory, fault::Result, time};
use heirloom_engine::shelf::tiers::{Found, LifeStatus, Stored, Tier};
use serde_json::{Value, json};

/// Turns or facts, newest first.
pub(super) fn list(wired: &Wired, call: &List, tier: Tier, out: &Out) -> Result<u8> {
    let status = match (call.all, call.retired) {
        (true, _) => None,
        (_, true) => Some(LifeStatus::Retired),
        _ => Some(LifeStatus::Active),
    };
    let found = wired.tiers()?.newest(Some(tier), status, call.session.as_deref(), call.limit)?;
    let wanted = |m: &Memory| call.tag.as_ref().is_none_or(|tag| m.tags.contains(tag));
    let memories: Vec<Memory> = found.iter().map(Stored::memory).filter(wanted).collect();
    out.answer(&memories, || print_list(wired, &memories, true, out));
    Ok(exit::OK)
}

/// Turns and facts that answer a question, or the block a model would be given.
pub(super) fn search(wired: &Wired, call: &Search, out: &Out) -> Result<u8> {
    let tiers = wired.tiers()?;
    let question = call.words.join(" ");
    if call.context {
        let context = tiers.context(&question, &tiers.limits())?;
        let all: Vec<Value> = context.facts.iter().chain(&context.episodes).map(told).collect();
        let value = json!({
            "hits": all, "tokens": context.tokens, "left_out": context.left_out, "text": context.text()
        });
        out.answer(&value, || {
            out.line(visible(&heirloom_engine::inject::tiers_block(&wired.call, &context)));
            context.left_out.iter().for_each(|left| out.note(format!("left out {}: {}", left.id, left.why)));
        });
        return Ok(exit::OK);
    }
    let found = tiers.search(&question, call.tier.as_deref().and_then(Tier::named), call.limit)?;
    out.answer(&found.iter().map(told).collect::<Vec<_>>(), || print(out, &found, call.explain));
    Ok(exit::OK)
}

fn print(out: &Out, found: &[Found], explain: bool) {
    if found.is_empty() {
        out.say("nothing like that was said or is known");
        return;
    }
    let mut table = Table::new(&["SCORE", "WHEN", "TRUST", "ID", "TEXT"]);
    for hit in found {
        table.row(vec![
            format!("{:.2}", hit.score),
            time::format_date(hit.memory.occurred_at),
            hit.memory.trust.name().to_owned(),
            hit.memory.id.clone(),
            visible(&one_line(&hit.memory.content)),
        ]);
    }
    table.print(out);
    for hit in found.iter().filter(|_| explain) {
        let parts: Vec<String> =
            hit.why.iter().map(|(name, points)| format!("{name} {points:+.2}")).collect();
        out.line(format!("{}  {}", out.style.dim(&hit.memory.id), parts.join("  ")));
    }
}

fn told(found: &Found) -> Value {
    let why: serde_json::Map<String, Value> =
        found.why.iter().map(|(name, points)| (name.clone(), json!(points))).collect();
    json!({ "score": found.score, "why": why, "memory": found.memory })
}
