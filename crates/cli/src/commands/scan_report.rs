//! Reports of `scan`: for people, as JSON, as SARIF. What was found is named by rule and place; its text never appears.

use super::scan::act_word;
use crate::output::Out;
use heirloom_engine::gate::policy::Act;
use heirloom_engine::gate::scan::{Finding, Level};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where something was found.
#[derive(Debug, Serialize)]
pub(super) struct Place {
    file: String,
    line: usize,
    column: usize,
    length: usize,
    class: &'static str,
    rule: String,
    level: Level,
    #[serde(serialize_with = "as_word")]
    pub(super) act: Act,
}

fn as_word<S: serde::Serializer>(act: &Act, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(act_word(*act))
}

impl Place {
    pub(super) fn new(file: &str, text: &str, first_line: usize, finding: &Finding, act: Act) -> Place {
        let before = &text[..finding.span.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Place {
            file: file.to_owned(),
            line: first_line + before.bytes().filter(|b| *b == b'\n').count(),
            column: before[line_start..].chars().count() + 1,
            length: text[finding.span.clone()].chars().count(),
            class: finding.class.name(),
            rule: finding.rule.clone().into_owned(),
            level: finding.level,
            act,
        }
    }
}

pub(super) fn print(out: &Out, places: &[Place], looked: usize) {
    let style = out.style;
    for place in places {
        let word = match place.act {
            Act::Keep | Act::Report => style.dim("keep"),
            Act::Neutralise | Act::Redact | Act::Confirm => style.yellow(act_word(place.act)),
            Act::Refuse => style.red("refuse"),
        };
        let level = format!("{:?}", place.level).to_lowercase();
        out.line(format!(
            "{}:{}:{}: {word} {} {} ({level}, {} characters)",
            style.bold(&heirloom_core::text::one_line(&place.file)),
            place.line,
            place.column,
            place.class,
            place.rule,
            place.length
        ));
    }
    let serious = places.iter().filter(|place| place.act >= Act::Neutralise).count();
    out.say(format!(
        "{looked} texts looked at, {} findings, {serious} that would not be stored as they are",
        places.len()
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
