//! What a scan reports. In: raw findings of all detectors. Out: findings in text order that do not
//! overlap within a class. The text itself is never kept here.

use serde::{Deserialize, Serialize};
use std::{borrow::Cow, ops::Range};

/// What kind of thing was found; the gate's policy has one row per class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// A credential: whoever reads it can act as its owner.
    Secret,
    /// A number that names one person or account: national ids, cards, bank accounts.
    Identity,
    /// How to reach somebody: e-mail, phone, postal address, IP, MAC, date of birth.
    Contact,
    /// Text that tries to instruct whoever reads it.
    Injection,
}

impl Class {
    /// The name used in markers and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Secret => "secret",
            Class::Identity => "identity",
            Class::Contact => "contact",
            Class::Injection => "injection",
        }
    }
}

/// How sure the scanner is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Looks like it, but the context is thin.
    Possible,
    /// Context and shape agree.
    Probable,
    /// The format belongs to nothing else.
    Definite,
}

/// One thing found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub class: Class,
    /// How sure the scanner is.
    pub level: Level,
    /// The rule that found it; stable, fit for allow-lists and audit lines.
    pub rule: Cow<'static, str>,
    /// Bytes of the original text, on character boundaries.
    pub span: Range<usize>,
}

impl Finding {
    pub(super) fn new(class: Class, level: Level, rule: &'static str, span: Range<usize>) -> Self {
        Finding { class, level, rule: Cow::Borrowed(rule), span }
    }
}

/// Sorts by position and joins findings of one class that overlap: the surer one names the rule,
/// the span covers both, so that redaction leaves no tail behind.
pub(super) fn settle(mut found: Vec<Finding>) -> Vec<Finding> {
    found.retain(|f| !f.span.is_empty());
    found.sort_by(|a, b| {
        (a.class, a.span.start, b.span.end, b.level)
            .cmp(&(b.class, b.span.start, a.span.end, a.level))
            .then_with(|| a.rule.cmp(&b.rule))
    });
    let mut out: Vec<Finding> = Vec::with_capacity(found.len());
    for f in found {
        match out.last_mut() {
            Some(last) if last.class == f.class && f.span.start < last.span.end => {
                last.span.end = last.span.end.max(f.span.end);
                if f.level > last.level {
                    last.level = f.level;
                    last.rule = f.rule;
                }
            }
            _ => out.push(f),
        }
    }
    out.sort_by_key(|f| (f.span.start, f.span.end, f.class));
    out
}
