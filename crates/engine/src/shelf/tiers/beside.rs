//! What a new fact must be seen beside: stored ones that say nearly the same, or the opposite.
//!
//! Comes in: a fact on its way. Goes out: the one that already says exactly this, or those a person should look at. Never here: deciding which
//! of two is right.

use super::draft::{Beside, Relation};
use super::similarity::cosine;
use super::statement::contradict;
use super::store::{Question, Wanted};
use super::{LifeStatus, Stored, Tier, Tiers};
use crate::index::embed::builtin::Builtin;
use heirloom_core::fault::Result;
use std::collections::BTreeSet;

/// Stored facts that are compared.
const COMPARED: usize = 20;

/// Facts that are held against each other, newest first: every pair costs.
const PAIRED: usize = 300;

/// Share of words in common from which two facts say nearly the same.
const NEARLY: f64 = 0.8;

/// Cosine from which two facts mean nearly the same: above what different values of one preference reach.
const SAME_MEANING: f64 = 0.95;

/// Words that turn a sentence around.
const NEGATIONS: &[&str] = &[
    "not", "no", "never", "none", "dont", "doesnt", "didnt", "isnt", "arent", "wont", "cannot", "cant",
    "without", "longer", "always",
];

/// How a new fact stands to what is known.
pub(super) enum Standing {
    /// Nothing like it is known.
    New,
    /// It is known word for word.
    Known(Box<Stored>),
    /// A person should see these.
    Beside(Vec<Beside>),
}

impl Tiers<'_> {
    pub(super) fn standing_of(&self, fact: &Stored) -> Result<Standing> {
        let mut candidates: Vec<Stored> = Vec::new();
        if let Some(statement) = &fact.statement {
            let wanted = Wanted {
                tier: Some(Tier::Semantic),
                status: Some(LifeStatus::Active),
                slot: Some(statement.slot()),
                newest: true,
                limit: COMPARED,
                ..Wanted::default()
            };
            candidates = self.store().page(self.who(), &wanted)?.memories;
        }
        let question = Question {
            text: &fact.content,
            tier: Some(Tier::Semantic),
            now: self.now(),
            limit: COMPARED,
            recency: 0.0,
        };
        let mut found = self.store().search(self.who(), &question)?;
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.memory.id.cmp(&b.memory.id)));
        for found in found.into_iter().take(COMPARED) {
            if !candidates.iter().any(|known| known.id == found.memory.id) {
                candidates.push(found.memory);
            }
        }
        let plain = words(&fact.content);
        let meaning = Meaning::of(&fact.content);
        let mut beside = Vec::new();
        // An item is what a program keeps under a name of its own; it says nothing for or against a fact.
        let others = |known: &Stored| known.item.is_none() && !fact.supersedes.contains(&known.id);
        for known in candidates.into_iter().filter(others) {
            let other = words(&known.content);
            if plain == other
                && normal(&fact.content) == normal(&known.content)
                && fact.heading() == known.heading()
            {
                return Ok(Standing::Known(Box::new(known)));
            }
            let relation = if cannot_both_be(fact, &known) || differ_by_a_negation(&plain, &other) {
                Relation::Contradiction
            } else if alike(&plain, &other) >= NEARLY || meaning.is_that_of(&known.content) {
                Relation::NearDuplicate
            } else {
                continue;
            };
            beside.push(Beside { id: known.id, relation });
        }
        Ok(if beside.is_empty() { Standing::New } else { Standing::Beside(beside) })
    }

    /// Pairs of the newest facts that say nearly the same or cannot both be true, the older one first, with how alike they are.
    pub(crate) fn pairs(&self) -> Result<Vec<(Stored, Stored, Relation, f64)>> {
        if !self.are_there() {
            return Ok(Vec::new());
        }
        let wanted = Wanted {
            tier: Some(Tier::Semantic),
            status: Some(LifeStatus::Active),
            newest: true,
            limit: PAIRED,
            ..Wanted::default()
        };
        let mut facts = self.store().page(self.who(), &wanted)?.memories;
        facts.retain(|fact| fact.item.is_none());
        facts.reverse();
        let spoken: Vec<BTreeSet<String>> = facts.iter().map(|fact| words(&fact.content)).collect();
        let mut pairs = Vec::new();
        for (i, a) in facts.iter().enumerate() {
            for (j, b) in facts.iter().enumerate().skip(i + 1) {
                let score = alike(&spoken[i], &spoken[j]);
                let relation = if cannot_both_be(a, b) || differ_by_a_negation(&spoken[i], &spoken[j]) {
                    Relation::Contradiction
                } else if score >= NEARLY {
                    Relation::NearDuplicate
                } else {
                    continue;
                };
                pairs.push((a.clone(), b.clone(), relation, score));
            }
        }
        Ok(pairs)
    }
}

fn cannot_both_be(a: &Stored, b: &Stored) -> bool {
    a.statement.as_ref().zip(b.statement.as_ref()).is_some_and(|(a, b)| contradict(a, b))
}

/// Whether two texts have the same words but for a negation.
pub(crate) fn turned_around(a: &str, b: &str) -> bool {
    differ_by_a_negation(&words(a), &words(b))
}

/// What a sentence means, as far as the built-in model can tell.
pub(crate) struct Meaning(Option<(Builtin, Vec<f32>)>);

impl Meaning {
    pub(crate) fn of(text: &str) -> Meaning {
        Meaning(Builtin::open().ok().map(|model| {
            let vector = model.vector(text);
            (model, vector)
        }))
    }

    fn is_that_of(&self, other: &str) -> bool {
        self.nearness(other).is_some_and(|cosine| cosine >= SAME_MEANING)
    }

    /// How near another text comes to it.
    pub(crate) fn nearness(&self, other: &str) -> Option<f64> {
        let (model, vector) = self.0.as_ref()?;
        cosine(vector, &model.vector(other))
    }
}

fn normal(text: &str) -> String {
    let lower = text.to_lowercase();
    let plain: Vec<&str> = lower.split_whitespace().collect();
    plain.join(" ").trim_end_matches(['.', '!']).to_owned()
}

fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase().replace(['\'', '’'], "");
    lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

/// The same words but for a negation.
fn differ_by_a_negation(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let helping = |w: &str| matches!(w, "do" | "does" | "did");
    let differs: Vec<&String> = a.symmetric_difference(b).filter(|w| !helping(w)).collect();
    !differs.is_empty()
        && a.len().min(b.len()) >= 2
        && differs.iter().all(|w| NEGATIONS.contains(&w.as_str()))
}
