//! One text and what the gate would do with it.
//!
//! Comes in: a text, the row of the policy and the trust of whoever says it. Goes out: the act, the findings by their bytes, and the text as it
//! would be stored. Never here: storing anything.

use super::place::act_word;
use super::row_named;
use crate::call::Call;
use crate::gate::Verdict;
use crate::gate::scan::{Class, Finding, Level};
use heirloom_core::{Code, Fault, Trust, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// A text to be judged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Text {
    /// The text.
    pub text: String,
    /// The row of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shelf: Option<String>,
    /// `high`, `medium` or `low`; anything else is low.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
}

/// What the gate would do with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The strongest act that any finding calls for.
    pub action: &'static str,
    /// What was found.
    pub findings: Vec<Shown>,
    /// The text as it would be stored; nothing if it would not be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A finding by its bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// `secret`, `pii` or `injection`.
    pub class: &'static str,
    /// The rule.
    pub kind: String,
    /// How sure that is.
    pub level: Level,
    /// From which byte to which.
    pub span: [usize; 2],
}

impl From<&Finding> for Shown {
    fn from(finding: &Finding) -> Shown {
        let class = match finding.class {
            Class::Secret => "secret",
            Class::Identity | Class::Contact => "pii",
            Class::Injection => "injection",
        };
        Shown {
            class,
            kind: finding.rule.clone().into_owned(),
            level: finding.level,
            span: [finding.span.start, finding.span.end],
        }
    }
}

/// What the gate would do with a text. `usual` is the row of a text that names none.
pub fn judge(call: &Call, ask: &Text, usual: &str) -> Result<Judged> {
    super::may_read(call, Verb::Scan)?;
    let row = match ask.shelf.as_deref() {
        None => row_named(usual)?,
        Some(name) => row_named(name).map_err(|_| Fault::new(Code::Input, "unknown shelf"))?,
    };
    let trust = match ask.trust.as_deref() {
        Some("high") => Trust::High,
        Some("medium") => Trust::Medium,
        _ => Trust::Low,
    };
    let Verdict { act, findings, stored } = call.screen().verdict(&ask.text, row, trust);
    let findings = findings.iter().map(|(finding, _)| finding.into()).collect();
    Ok(Judged { action: act_word(act), findings, text: stored })
}
