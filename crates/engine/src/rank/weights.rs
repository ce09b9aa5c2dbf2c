//! The one fixed configuration of the ranking.
//!
//! Every number here was chosen on the development halves of the benchmark sets and holds for all of them;
//! there is one rule by kind (turns of a conversation, everything else) and none by set. Values are points:
//! a factor that is fully met adds its weight to the score.

use serde::{Deserialize, Serialize};

/// Weights of one manner of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manner {
    /// Keywords, as a share of the best keyword score.
    pub keyword: f32,
    /// Vector, standardised over the owner's documents.
    pub vector: f32,
    /// The group's keyword score as one text, as a share of the best group's.
    pub group: f32,
    /// Late interaction, from worst to best of the re-ranked.
    pub late: f32,
    /// What the neighbours' keyword scores add to a short memory's own: the one before, after, two before, two after.
    pub neighbours: [f32; 4],
    /// What the neighbours' vector scores add to a short memory's own: the one before and the one after.
    pub near_vectors: [f32; 2],
}

/// All weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Turns of a conversation.
    pub dialogue: Manner,
    /// Everything else.
    pub document: Manner,
    /// Nearness to the time the question names.
    pub time: f32,
    /// The favoured role: a person's turns, or an agent's if the question asks what it said.
    pub role: f32,
    /// The speaker the question names.
    pub speaker: f32,
    /// Recency, halved every `half_life_days`.
    pub recency: f32,
    /// Days after which recency counts half.
    pub half_life_days: f32,
    /// Trust, from low to high.
    pub trust: f32,
    /// Priority of the kind.
    pub kind: f32,
    /// Scope of the memory is the one in play.
    pub scope: f32,
    /// A file in play is one the memory is about.
    pub file: f32,
    /// Confidence.
    pub confidence: f32,
    /// Names that answer all words of the question.
    pub related: f32,
    /// Below this many terms neighbours count in full.
    pub short: f32,
    /// From this many terms on they do not count.
    pub long: f32,
    /// Standard deviations that make one full vector share.
    pub deviations: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            dialogue: Manner {
                keyword: 0.6,
                vector: 0.4,
                group: 0.3,
                late: 0.8,
                neighbours: [0.4, 0.2, 0.15, 0.05],
                near_vectors: [0.2, 0.2],
            },
            document: Manner {
                keyword: 0.5,
                vector: 0.5,
                group: 0.1,
                late: 0.3,
                neighbours: [0.0; 4],
                near_vectors: [0.0; 2],
            },
            time: 0.25,
            role: 0.25,
            speaker: 0.05,
            recency: 0.02,
            half_life_days: 30.0,
            trust: 0.1,
            kind: 0.05,
            scope: 0.05,
            file: 0.3,
            confidence: 0.05,
            related: 0.3,
            short: 20.0,
            long: 40.0,
            deviations: 4.0,
        }
    }
}

/// Priority of a kind, 0 to 1: what binds before what informs before what merely happened.
pub(crate) fn priority(kind: &str) -> f32 {
    match kind {
        "constraint" | "canon" => 1.0,
        "decision" | "preference" | "fact" => 0.8,
        "runbook" | "lesson" | "tech_debt" => 0.6,
        "note" | "register" => 0.4,
        "session_summary" => 0.2,
        _ => 0.0,
    }
}

/// Whether a kind is a turn of a conversation.
pub(crate) fn is_dialogue(kind: &str) -> bool {
    matches!(kind, "episode" | "working")
}
