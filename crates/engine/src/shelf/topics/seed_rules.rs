//! The word list that the lesson format came with, for `gate.profile: seed`.
//!
//! Comes in: a text. Goes out: the first listed pattern it contains, in any case. Exactly this list and nothing else; it refuses much
//! ordinary text (`keyboard`, `task-force`), which is why it is not the standard.

use heirloom_core::{Code, Fault};

/// The patterns, in the order of the format.
pub(super) const PATTERNS: [&str; 13] = [
    "password",
    "token",
    "key",
    "secret",
    "credential",
    "ghp_",
    "sk-",
    "ak_",
    "-----BEGIN",
    "api_key",
    "@gmail.com",
    "amazonaws.com/key",
    "bearer ",
];

/// The pattern a text contains.
pub(super) fn pattern_in(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    PATTERNS.into_iter().find(|pattern| lower.contains(&pattern.to_lowercase()))
}

/// The refusal, in the words of the format.
pub(super) fn refusal(field: &str, pattern: &str) -> Fault {
    Fault::new(Code::GateRefused, "Security violation: Cannot store sensitive data")
        .fact("field", field)
        .fact("class", "secret")
        .fact("rule", pattern.trim_end())
        .hint("store where the value is kept or how to get it, not the value itself")
}
