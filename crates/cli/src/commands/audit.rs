//! `audit`: what was done.

use crate::args::{Args, Audit, AuditAction};
use crate::output::{Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_engine::verbs::trail::{self, Line};
use serde_json::Value;

pub(crate) fn run(args: &Args, call: &Audit, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let ask = trail::Audit {
        id: call.id.clone(),
        verdict: call.verdict.clone(),
        event: call.event.clone(),
        limit: call.limit,
    };
    if call.tiers {
        // Why no user is signed in is only known here.
        wired.tiers()?;
        print_own(out, &trail::own_audit(&wired.call, &ask)?);
        return Ok(exit::OK);
    }
    if let Some(AuditAction::Verify) = call.action {
        let whole = trail::verify_audit(&wired.call)?;
        let count = whole.entries;
        out.answer(&whole, || {
            out.line(format!(
                "{} {count} {}, none altered, removed or moved",
                out.style.green("whole:"),
                if count == 1 { "entry" } else { "entries" }
            ));
            if let Some(why) = &whole.left_out {
                out.note(format!("these are your own turns, facts and settings; {why}"));
            }
            for point in &whole.checkpoints {
                out.line(format!(
                    "checkpoint of {}: the ids in the {} lines before it were replaced by keyed hashes; the chain ended in {}",
                    point.at, point.lines, point.was
                ));
            }
        });
        return Ok(exit::OK);
    }
    let text =
        |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let wanted = match call.settings {
        true => trail::settings_audit(&wired.call, &ask)?,
        false => trail::audit(&wired.call, &ask)?,
    };
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
fn print_own(out: &Out, lines: &[Line]) {
    out.answer(&lines, || {
        let mut table = Table::new(&["WHEN", "WHAT", "TIER", "COUNT", "REASON", "IDS"]);
        for line in lines {
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
}
