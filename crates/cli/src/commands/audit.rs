//! `audit`: what was done.

use crate::args::{Args, Audit, AuditAction};
use crate::output::{Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_engine::gate::audit::{entries, verify};
use serde_json::{Value, json};

pub(crate) fn run(args: &Args, call: &Audit, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let path = wired.engine.project().local()?.path("audit.jsonl");
    if let Some(AuditAction::Verify) = call.action {
        let count = verify(&path)?;
        out.answer(&json!({ "whole": true, "entries": count }), || {
            out.line(format!(
                "{} {count} entries, none altered, removed or moved",
                out.style.green("whole:")
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
        let mut table = Table::new(&["WHEN", "WHAT", "VERDICT", "CHANNEL", "ID"]);
        for e in &wanted {
            table.row(["at", "action", "verdict", "channel", "id"].iter().map(|key| text(e, key)).collect());
        }
        table.print(out);
    });
    Ok(exit::OK)
}
