//! Reports of `scan`: for people and as SARIF. What was found is named by rule and place; its text never appears.

use crate::output::{Out, counted};
use heirloom_core::text::one_line;
use heirloom_engine::gate::policy::Act;
use heirloom_engine::verbs::scan::{LeftOut, Place, Scanned, act_word};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What was passed over is listed up to here and counted from there on; `--json` has it all.
const LISTED: usize = 10;

/// Names what was not looked at.
pub(super) fn name_left_out(out: &Out, left_out: &[LeftOut]) {
    if out.is_json() {
        return;
    }
    for left in left_out.iter().take(LISTED) {
        out.note(format!("left out: {} {}", one_line(&left.path), one_line(&left.why)));
    }
    let more = left_out.len().saturating_sub(LISTED);
    if more > 0 {
        out.note(format!("left out: {more} more; --json names them all"));
    }
}

pub(super) fn print(out: &Out, found: &Scanned) {
    let style = out.style;
    for place in &found.findings {
        let word = match place.act {
            Act::Keep | Act::Report => style.dim("keep"),
            Act::Neutralise | Act::Redact | Act::Confirm => style.yellow(act_word(place.act)),
            Act::Refuse => style.red("refuse"),
        };
        let level = format!("{:?}", place.level).to_lowercase();
        out.line(format!(
            "{}:{}:{}: {word} {} {} ({level}, {} characters)",
            style.bold(&one_line(&place.file)),
            place.line,
            place.column,
            place.class,
            place.rule,
            place.length
        ));
    }
    let serious = found.findings.iter().filter(|place| place.act >= Act::Neutralise).count();
    out.say(format!(
        "checked {}: {}, {serious} of them cannot be stored as they are",
        counted(found.looked, "text", "texts"),
        counted(found.findings.len(), "finding", "findings")
    ));
}

/// SARIF 2.1.0 for code hosts and editors.
pub(super) fn sarif(places: &[Place]) -> Value {
    let rules: BTreeMap<&str, &str> = places.iter().map(|place| (place.rule.as_str(), place.class)).collect();
    let results: Vec<Value> = places
        .iter()
        .map(|place| {
            let level = match place.act {
                Act::Keep | Act::Report => "note",
                Act::Neutralise | Act::Redact | Act::Confirm => "warning",
                Act::Refuse => "error",
            };
            json!({
                "ruleId": place.rule,
                "level": level,
                "message": { "text": format!("{} ({}): {}", place.class, place.rule, act_word(place.act)) },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": place.file },
                    "region": { "startLine": place.line, "startColumn": place.column, "endColumn": place.column + place.length },
                }}],
            })
        })
        .collect();
    let rules: Vec<Value> = rules
        .into_iter()
        .map(|(id, class)| json!({ "id": id, "shortDescription": { "text": format!("{class} found by {id}") } }))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "heirloom", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
        }],
    })
}
