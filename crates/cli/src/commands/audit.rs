//! `audit`: what was done.

use crate::args::{Args, Audit, AuditAction};
use crate::output::{Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_engine::gate::audit::{entries, verify};
use heirloom_engine::shelf::tiers::Line;
use serde_json::{Value, json};

pub(crate) fn run(args: &Args, call: &Audit, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    if call.tiers {
        return tiers(&wired, call, out);
    }
    let path = wired.call.project().local()?.path("audit.jsonl");
    if let Some(AuditAction::Verify) = call.action {
        let count = verify(&path)?;
        // The project's chain and the user's own are one question to whoever asks it.
        let own = wired.tiers().map_or(Ok(0), |tiers| tiers.verify_audit())?;
        let count = count + own;
        out.answer(&json!({ "whole": true, "entries": count }), || {
            out.line(format!(
                "{} {count} {}, none altered, removed or moved",
                out.style.green("whole:"),
                if count == 1 { "entry" } else { "entries" }
            ));
        });
        return Ok(exit::OK);
    }
    let text =
        |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut wanted: Vec<Value> = entries(&path)?
        .into_iter()
        .filter(|e| call.id.as_ref().is_none_or(|id| text(e, "id") == *id))
        .filter(|e| call.verdict.as_ref().is_none_or(|verdict| text(e, "verdict") == *verdict))
        .collect();
    let surplus = wanted.len().saturating_sub(call.limit);
    wanted.drain(..surplus);
    out.answer(&wanted, || {
        if wanted.is_empty() {
            out.say("no entries");
            return;
        }
        let mut table = Table::new(&["WHEN", "WHAT", "VERDICT", "CHANNEL", "ID"]);
        for e in &wanted {
            let mut cells: Vec<String> =
                ["at", "action", "verdict", "channel", "id"].iter().map(|key| text(e, key)).collect();
            // What went well needs no second word.
            let outcome = text(e, "outcome");
            if !outcome.is_empty() && outcome != "done" {
                cells[2] = format!("{} ({outcome})", cells[2]);
            }
            table.row(cells);
        }
        table.print(out);
    });
    Ok(exit::OK)
}

/// The user's own chain.
fn tiers(wired: &wiring::Wired, call: &Audit, out: &Out) -> Result<u8> {
    let about = |line: &Line| {
        call.id.as_ref().is_none_or(|id| line.metadata.memory_ids.contains(id))
            && call.event.as_ref().is_none_or(|action| line.action.name() == *action)
    };
    let lines = wired.tiers()?.audit(call.limit, about)?;
    out.answer(&lines, || {
        let mut table = Table::new(&["WHEN", "WHAT", "TIER", "COUNT", "REASON", "IDS"]);
        for line in &lines {
            let facts = &line.metadata;
            table.row(vec![
                line.at.clone(),
                line.action.name(),
                facts.tier.clone().unwrap_or_default(),
                facts.count.map(|n| n.to_string()).unwrap_or_default(),
                facts
                    .reason
                    .clone()
                    .or_else(|| facts.query_type.clone())
                    .or_else(|| facts.rule.clone())
                    .unwrap_or_default(),
                facts.memory_ids.join(" "),
            ]);
        }
        table.print(out);
    });
    Ok(exit::OK)
}
