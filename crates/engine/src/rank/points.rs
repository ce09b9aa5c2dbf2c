//! Points: what a memory is worth for a question, whoever found it.
//!
//! In: a question, once, and a card of each memory. Out: the factors that hang on neither keywords nor vectors: time, role, speaker, recency, trust, kind,
//! scope, files, confidence. Every backend's candidates go through here, so that one ranking holds for all of them. Never here: finding anything.

use crate::index::{Card, Role, fingerprint, of_question};

use super::ask::{Ask, asks_agent};
use super::explain::Factors;
use super::weights::{Weights, priority};
use super::when::{self, Window};

/// A question, as far as points hang on it.
pub(crate) struct Points<'a> {
    ask: &'a Ask,
    weights: &'a Weights,
    /// The days it speaks of.
    window: Option<Window>,
    /// Whether it asks for what an agent said.
    agent: bool,
    /// Who may be meant by its words.
    names: Vec<i64>,
}

impl<'a> Points<'a> {
    pub(crate) fn of(ask: &'a Ask, weights: &'a Weights) -> Points<'a> {
        let names = of_question(&ask.text).iter().map(|(term, _)| fingerprint(&[term])).collect();
        let window = when::window(&ask.text, ask.now);
        Points { ask, weights, window, agent: asks_agent(&ask.text), names }
    }

    /// Adds what a memory has beside its keywords and its vector.
    pub(crate) fn give(&self, card: &Card, f: &mut Factors) {
        let (ask, weights) = (self.ask, self.weights);
        f.time = weights.time * self.window.map_or(0.0, |window| window.nearness(card.occurred_at));
        let favoured = match card.role {
            Role::None => true,
            Role::Person => !self.agent,
            Role::Agent => self.agent,
        };
        f.role = if favoured { weights.role } else { 0.0 };
        let named = card.speaker != 0 && self.names.contains(&card.speaker);
        f.speaker = if named { weights.speaker } else { 0.0 };
        let days = (ask.now - card.occurred_at).max(0) as f32 / 86_400.0;
        f.recency = weights.recency * (-days / weights.half_life_days.max(0.1)).exp2();
        f.trust = weights.trust * card.trust.share();
        f.kind = weights.kind * priority(&card.kind);
        f.scope = if ask.scopes.iter().any(|scope| **scope == *card.scope) { weights.scope } else { 0.0 };
        f.file = if in_play(&card.scope, &ask.files) { weights.file } else { 0.0 };
        f.confidence = weights.confidence * card.confidence.clamp(0.0, 1.0);
    }
}

/// Whether a `file:` scope names a file in play.
fn in_play(scope: &str, files: &[String]) -> bool {
    scope.strip_prefix("file:").is_some_and(|path| files.iter().any(|f| f == path))
}
