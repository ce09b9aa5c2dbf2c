//! What a question calls for in the tiers, within limits: so many facts, so many episodes, so many tokens.
//!
//! Comes in: a question. Goes out: ranked memories that fit, the lines a model is given, and what was left out and why. Limits are applied
//! after ranking, so that the best stay. Never here: a limit that cuts without saying so.

use super::choose::chosen;
use crate::rank::{Weights, block};
use crate::shelf::tiers::{Found, Question, Tier, Tiers, format_episodes, format_memories};
use crate::working::estimate_tokens;
use heirloom_core::fault::Result;
use serde::Serialize;

/// The weight of age at which recall ranks as it was measured: the setting's default.
const USUAL_WEIGHT: f64 = 0.3;

/// Candidates ranked for each one that may stay.
const RANKED: usize = 3;

/// How much may be recalled at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Most episodes.
    pub episodes: usize,
    /// Most facts.
    pub facts: usize,
    /// Most tokens altogether.
    pub tokens: usize,
    /// How much of an episode's score depends on its age.
    pub recency_weight: f64,
}

/// Something that was found and not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// Its id.
    #[schemars(with = "heirloom_core::MemoryId")]
    pub id: String,
    /// Which limit it met.
    pub why: String,
}

/// What a model is given for a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Context {
    /// Facts, best first.
    pub facts: Vec<Found>,
    /// Episodes, best first.
    pub episodes: Vec<Found>,
    /// What was found and not taken.
    pub left_out: Vec<LeftOut>,
    /// Tokens of the lines, four characters each.
    pub tokens: usize,
}

impl Context {
    /// The lines.
    pub fn text(&self) -> String {
        let facts = format_memories(self.facts.iter().map(|found| (&found.memory).into()));
        let turns = self.episodes.iter().map(|f| (f.memory.content.as_str(), f.memory.from_external_content));
        let episodes = format_episodes(turns);
        [facts, episodes].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Takes what fits, in order; what has less than high trust fills at most half while high trust waits.
    fn take(&mut self, found: Vec<Found>, most: usize, limits: &Limits) -> Vec<Found> {
        let chosen = block(&found, found.len().min(most), |one| one.memory.trust.into());
        let first: Vec<String> = chosen.into_iter().map(|one| one.memory.id.clone()).collect();
        let (found, rest): (Vec<Found>, Vec<Found>) =
            found.into_iter().partition(|one| first.contains(&one.memory.id));
        let mut taken = Vec::new();
        for one in found.into_iter().chain(rest) {
            let line = match one.memory.tier {
                Tier::Semantic => format_memories([(&one.memory).into()]),
                _ => format_episodes([(one.memory.content.as_str(), one.memory.from_external_content)]),
            };
            let tokens = estimate_tokens(&line);
            let why = if taken.len() >= most {
                format!("more than {most} {} memories", one.memory.tier.name())
            } else if self.tokens + tokens > limits.tokens {
                format!("no room: {tokens} tokens more would pass {}", limits.tokens)
            } else {
                self.tokens += tokens;
                taken.push(one);
                continue;
            };
            self.left_out.push(LeftOut { id: one.memory.id, why });
        }
        taken
    }
}

impl Tiers<'_> {
    /// The limits of the settings.
    pub fn limits(&self) -> Limits {
        let settings = self.settings();
        Limits {
            episodes: settings.max_episodes,
            facts: settings.max_facts,
            tokens: settings.max_tokens,
            recency_weight: settings.recency_weight,
        }
    }

    /// What a question calls for. Facts come first: they are few and were confirmed.
    pub fn context(&self, question: &str, limits: &Limits) -> Result<Context> {
        let mut context = Context::default();
        let facts = self.ask(question, Some(Tier::Semantic), limits.facts.saturating_mul(RANKED), limits)?;
        context.facts = context.take(facts, limits.facts, limits);
        let episodes =
            self.ask(question, Some(Tier::Episodic), limits.episodes.saturating_mul(RANKED), limits)?;
        context.episodes = context.take(episodes, limits.episodes, limits);
        self.was_read("context", None, context.facts.len() + context.episodes.len())?;
        Ok(context)
    }

    /// The best memories of one tier, or of both.
    pub fn search(&self, question: &str, tier: Option<Tier>, limit: usize) -> Result<Vec<Found>> {
        let limits = self.limits();
        let mut found = Vec::new();
        for wanted in Tier::STORED.into_iter().filter(|t| tier.is_none_or(|tier| tier == *t)) {
            found.extend(self.ask(question, Some(wanted), limit, &limits)?);
        }
        let found = chosen(found, limit);
        self.was_read("search", tier, found.len())?;
        Ok(found)
    }

    /// The best memories of both tiers by the ranking alone, as it ranks every other shelf.
    pub fn recall(&self, question: &str, limit: usize) -> Result<Vec<Found>> {
        let share = self.limits().recency_weight / USUAL_WEIGHT;
        let found = self.asked(question, None, limit, Weights::default().recency * share as f32)?;
        let found = chosen(found, limit);
        if !found.is_empty() {
            self.was_read("recall", None, found.len())?;
        }
        Ok(found)
    }

    fn ask(&self, question: &str, tier: Option<Tier>, limit: usize, limits: &Limits) -> Result<Vec<Found>> {
        // How new an episode is counts once, by the user's own weight; the ranking's own small share of it would count beside it.
        let found = self.asked(question, tier, limit, 0.0)?.into_iter();
        Ok(chosen(found.map(|one| one.aged(limits.recency_weight, self.now())).collect(), limit))
    }

    fn asked(&self, question: &str, tier: Option<Tier>, limit: usize, recency: f32) -> Result<Vec<Found>> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let question = Question { text: question, tier, now: self.now(), limit, recency };
        self.store().search(self.who(), &question)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_usual_weight_of_age_is_the_settings_default() {
        let default = heirloom_core::settings::load(&[]).settings.tiers.recency_weight;
        assert!((default - super::USUAL_WEIGHT).abs() < 1e-9);
    }
}
