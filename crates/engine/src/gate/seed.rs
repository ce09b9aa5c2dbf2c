//! `gate.profile: seed`: a shelf's own pattern list and error texts, and nothing else.
//!
//! Comes in: a draft of a shelf whose profile is `seed`, and a check. Goes out: what that shelf's own format would have done. Records and
//! notes come from formats without a pattern list, so nothing is looked for there. Never here: the measured rules.

use super::policy::Row;
use super::scan::seed::{guard, levels, words};
use super::{Check, Draft, Entry};
use heirloom_core::{Code, Fault, Trust, fault::Result};

/// Runs one check the way the shelf's own format does. Nothing here waits for a person.
pub(super) fn look<D: Draft>(draft: &mut D, check: Check, entry: Entry) -> Result<bool> {
    let mut refused: Option<Fault> = None;
    let row = draft.row();
    let low = draft.trust(entry) == Trust::Low;
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
            (Row::Episode, Check::Secrets) => {
                *text = levels::redact(text);
                None
            }
            (Row::Episode, Check::Injection) => {
                *text = levels::sanitise(text, low);
                None
            }
            (Row::Fact, Check::Secrets) => levels::looks_like_credential(text).then(|| {
                Fault::new(Code::GateRefused, levels::CREDENTIAL_REFUSAL)
                    .fact("field", field)
                    .fact("rule", "credential-like")
                    .hint("store where the credential is kept, not the credential")
            }),
            _ => None,
        };
        if refused.is_none() {
            refused = fault;
        }
    });
    refused.map_or(Ok(false), Err)
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
