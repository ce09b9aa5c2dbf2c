//! Memories as a model is given them: the text, and where it comes from.
//!
//! Comes in: memories. Goes out: lines. Never here: choosing memories, or a fence around them ([`crate::inject`]).

use super::Stored;
use heirloom_core::{Source, Trust};

/// A text with what a label needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labelled<'a> {
    /// The text.
    pub content: &'a str,
    /// How far to believe it.
    pub trust: Trust,
    /// Where it came from.
    pub source: Source,
}

impl<'a> From<&'a Stored> for Labelled<'a> {
    fn from(stored: &'a Stored) -> Labelled<'a> {
        Labelled { content: &stored.content, trust: stored.trust, source: stored.source() }
    }
}

impl Labelled<'_> {
    /// What stands behind the text; nothing for what the owner said or saved.
    pub const fn label(self) -> &'static str {
        match (self.trust, self.source) {
            (Trust::High, _) => "",
            (Trust::Medium, Source::UserMessage) => " [from another user]",
            (Trust::Medium, _) => " [from file]",
            (Trust::Low, Source::AiInference) => " [inferred by AI - may be inaccurate]",
            (Trust::Low, _) => " [from web - may be inaccurate]",
        }
    }
}

/// One line per memory, labelled.
pub fn format_memories<'a>(memories: impl IntoIterator<Item = Labelled<'a>>) -> String {
    let line = |m: Labelled<'_>| format!("• {}{}", m.content, m.label());
    memories.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// One line per turn: its text and whether it quotes content from outside.
pub fn format_episodes<'a>(turns: impl IntoIterator<Item = (&'a str, bool)>) -> String {
    let line = |(content, external): (&str, bool)| {
        let from = if external { ", from external content" } else { "" };
        format!("[Past context{from}]: {content}")
    };
    turns.into_iter().map(line).collect::<Vec<_>>().join("\n")
}
