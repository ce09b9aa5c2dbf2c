//! Where something was found.
//!
//! Comes in: a text and its findings, in their order. Goes out: lines and columns, counted once from the beginning to the end. Never here: the
//! text that was found.

use crate::gate::policy::Act;
use crate::gate::scan::{Finding, Level};
use serde::Serialize;

/// Where something was found.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Place {
    /// The file, or what stands for one.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
    /// How many characters.
    pub length: usize,
    /// What it is.
    pub class: &'static str,
    /// The rule that found it.
    pub rule: String,
    /// How sure that is.
    pub level: Level,
    /// What the gate would do about it.
    #[serde(serialize_with = "as_word")]
    pub act: Act,
}

impl Place {
    pub(super) fn start(&self) -> (usize, usize) {
        (self.line, self.column)
    }
}

/// What an act is called in reports; reporting keeps the text as it is.
pub fn act_word(act: Act) -> &'static str {
    match act {
        Act::Keep | Act::Report => "keep",
        Act::Neutralise => "neutralise",
        Act::Redact => "redact",
        Act::Confirm => "confirm",
        Act::Refuse => "refuse",
    }
}

fn as_word<S: serde::Serializer>(act: &Act, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(act_word(*act))
}

/// Adds the places of findings that stand in the order of their beginnings.
pub(super) fn add(
    file: &str,
    text: &str,
    first_line: usize,
    findings: &[(Finding, Act)],
    places: &mut Vec<Place>,
) {
    let (mut line, mut line_start, mut at) = (first_line, 0, 0);
    for (finding, act) in findings {
        let start = finding.span.start;
        // In their order every stretch of the text is walked through once.
        for (offset, byte) in text.as_bytes()[at..start.max(at)].iter().enumerate() {
            if *byte == b'\n' {
                line += 1;
                line_start = at + offset + 1;
            }
        }
        at = start.max(at);
        places.push(Place {
            file: file.to_owned(),
            line,
            column: text[line_start..start].chars().count() + 1,
            length: text[finding.span.clone()].chars().count(),
            class: finding.class.name(),
            rule: finding.rule.clone().into_owned(),
            level: finding.level,
            act: *act,
        });
    }
}
