//! `gate.profile: seed`: a shelf's own pattern list and error texts, and nothing else.
//!
//! Comes in: a draft of a shelf whose profile is `seed`, and a check. Goes out: what that shelf's own format would have done, and a remark for
//! each thing it cut out or made harmless. Records and notes come from formats without a pattern list, so nothing is looked for there. Never
//! here: the measured rules.

use super::policy::{Act, Row};
use super::scan::seed::{guard, levels, words};
use super::scan::{Class, Level};
use super::{Check, Draft, Entry, Remark, refusal};
use heirloom_core::{Code, Fault, Trust, fault::Result};

/// The name under which low-trust orders that were made harmless are reported.
const MARKER: &str = "instruction-marker";

/// Runs one check the way the shelf's own format does. Nothing here waits for a person: what somebody would have to be asked about is stored
/// only after a yes.
pub(super) fn look<D: Draft>(
    draft: &mut D,
    check: Check,
    entry: Entry,
    remarks: &mut Vec<Remark>,
) -> Result<bool> {
    let mut refused: Option<Fault> = None;
    let row = draft.row();
    let low = draft.trust(entry) == Trust::Low;
    let strict = draft.refuses_secrets();
    draft.texts(&mut |field, text| {
        let fault = match (row, check) {
            (Row::Topics, Check::Secrets) => words::blocked(text).first().map(|word| {
                Fault::new(Code::GateRefused, words::REFUSAL)
                    .fact("field", field)
                    .fact("rule", *word)
                    .hint(words::SUGGESTION)
            }),
            (Row::Vault, Check::Secrets) => guard::violations(text).first().map(|violation| {
                Fault::new(Code::GateRefused, "the text holds personal data or credentials")
                    .fact("field", field)
                    .fact("rule", violation.kind())
                    .hint("leave the number or credential out; say where it is kept")
            }),
            (Row::Episode, Check::Secrets) => by_level(field, text, strict, entry.confirmed, remarks),
            (Row::Episode, Check::Injection) => {
                let clean = levels::sanitise(text, low);
                if low && clean != levels::sanitise(text, false) {
                    remarks.push(remark(field, Class::Injection, Level::Probable, MARKER, Act::Neutralise));
                }
                *text = clean;
                None
            }
            (Row::Fact, Check::Secrets) if levels::looks_like_credential(text) => Some(
                Fault::new(Code::GateRefused, levels::CREDENTIAL_REFUSAL)
                    .fact("field", field)
                    .fact("rule", "credential-like")
                    .hint("store where the credential is kept, not the credential"),
            ),
            (Row::Fact, Check::Secrets) => by_level(field, text, strict, entry.confirmed, remarks),
            _ => None,
        };
        if refused.is_none() {
            refused = fault;
        }
    });
    refused.map_or(Ok(false), Err)
}

/// The three levels: what is surely or probably a secret is cut out and said; what possibly is one is stored as it is after a yes, and not at
/// all without one.
fn by_level(
    field: &str,
    text: &mut String,
    strict: bool,
    confirmed: bool,
    remarks: &mut Vec<Remark>,
) -> Option<Fault> {
    let found = levels::detect(text);
    let surely = found.iter().find(|f| f.level > Level::Possible);
    if let Some(first) = surely {
        if strict {
            return Some(refusal(field, Class::Secret, first.pattern));
        }
        *text = levels::redact(text);
        remarks.extend(
            found
                .iter()
                .filter(|f| f.level > Level::Possible)
                .map(|f| remark(field, Class::Secret, f.level, f.pattern, Act::Redact)),
        );
        return None;
    }
    // Names of sessions, messages and tools are often digests; only what is said is asked about.
    if field != "content" {
        let clean = levels::redact(text);
        if clean != *text {
            let rule = found.first().map_or("long-base64", |f| f.pattern);
            remarks.push(remark(field, Class::Secret, Level::Possible, rule, Act::Redact));
        }
        *text = clean;
        return None;
    }
    let first = found.first().filter(|_| strict || !confirmed)?;
    Some(
        Fault::new(Code::GateRefused, format!("`{field}` may hold a secret; nothing was stored"))
            .fact("field", field)
            .fact("class", Class::Secret.name())
            .fact("rule", first.pattern)
            .hint("leave it out, or store it at a terminal, where you are asked"),
    )
}

fn remark(field: &str, class: Class, level: Level, rule: &str, act: Act) -> Remark {
    Remark { field: field.to_owned(), class, level, rule: rule.to_owned(), act }
}

/// What somebody who can be asked would be asked about on that row: only possible secrets, by the names of their patterns.
pub(super) fn possible(row: Row, text: &str) -> Vec<&'static str> {
    let found = if matches!(row, Row::Episode | Row::Fact) { levels::detect(text) } else { Vec::new() };
    let only = found.iter().all(|f| f.level == Level::Possible);
    if only { found.iter().map(|f| f.pattern).collect() } else { Vec::new() }
}

/// The pattern for which that row's own format would refuse a text.
pub(super) fn refuses(row: Row, text: &str) -> Option<&'static str> {
    match row {
        Row::Topics => words::blocked(text).first().copied(),
        Row::Vault => guard::violations(text).first().map(|violation| violation.kind()),
        Row::Fact => levels::looks_like_credential(text).then_some("credential-like"),
        Row::Records | Row::Notes | Row::Episode => None,
    }
}
