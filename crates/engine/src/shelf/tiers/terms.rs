//! Words as the index knows them, for backends that keep postings of their own and for topics.
//!
//! Comes in: text. Goes out: terms (lower case, accents off, stemmed), and which of a question's a memory holds. Never here: another tokeniser than the index's.

use super::Stored;
use super::sqlite::document;
use super::store::{Found, Question};
use crate::index::{Card, each_term, of_question, rarity};
use crate::rank::kin::About;
use crate::rank::{Ask, Explain, Points, Weights, manner};
use std::collections::{BTreeMap, BTreeSet};

/// The terms of a text with how much of each there is.
pub fn counted_terms(text: &str) -> BTreeMap<String, f32> {
    let mut counts = BTreeMap::new();
    each_term(text, |term, weight| *counts.entry(term.to_owned()).or_insert(0.0) += weight);
    counts
}

/// The terms of a question with their weights.
pub fn question_terms(text: &str) -> Vec<(String, f32)> {
    of_question(text)
}

/// The terms of a text.
pub(super) fn terms(text: &str) -> BTreeSet<String> {
    counted_terms(text).into_keys().collect()
}

/// A question to a backend that keeps postings and vectors of its own: it says what it found, and the ranking says what that is worth.
#[derive(Debug)]
pub struct Posed {
    ask: Ask,
    weights: Weights,
    terms: Vec<(String, f32)>,
}

/// What such a backend knows of a memory and a question: features, no score.
#[derive(Debug, Clone, Copy)]
pub struct Met<'a> {
    /// Its keyword score, as a share of the best one's.
    pub keyword: f64,
    /// How near its vector is.
    pub cosine: f64,
    /// How many memories hold each of the question's terms.
    pub having: &'a [i64],
    /// How many memories there are.
    pub all: i64,
}

impl Posed {
    /// A question, read once.
    pub fn new(question: &Question<'_>) -> Posed {
        let ask = Ask {
            text: question.text.to_owned(),
            now: question.now.as_second(),
            limit: question.limit,
            ..Ask::default()
        };
        let weights = Weights { recency: question.recency, ..Weights::default() };
        Posed { ask, weights, terms: question_terms(question.text) }
    }

    /// Its terms with their weights.
    pub fn terms(&self) -> &[(String, f32)] {
        &self.terms
    }

    /// A memory that was met, ranked as every other one is: by the same factors and the same weights.
    pub fn found(&self, memory: Stored, met: Met<'_>) -> Found {
        let mut explain = self.explained(&memory, met);
        let card = Card::of(&document(&memory));
        let manner = manner(&self.weights, &card);
        explain.factors.keyword = manner.keyword * met.keyword as f32;
        explain.factors.vector = manner.vector * met.cosine.max(0.0) as f32;
        Points::of(&self.ask, &self.weights).give(&card, &mut explain.factors);
        Found::of(memory, explain)
    }

    /// Which of the question's terms a memory holds, each counted by how rare it is: its inverse document frequency (IDF).
    fn explained(&self, memory: &Stored, met: Met<'_>) -> Explain {
        let held = terms(&memory.searched());
        let about = About::of(self.terms.iter().map(|(term, _)| term.as_str()));
        // A word nobody wrote tells nothing apart; it counts like one that a single memory holds.
        let worth = |having: i64| rarity(met.all as f32, having.max(1) as f32);
        let worths =
            self.terms.iter().zip(met.having).map(|((term, weight), having)| (term, weight * worth(*having)));
        let (mut sum, mut shared, mut covered, mut counted) = (0.0, Vec::new(), 0.0, 0);
        for (at, (term, worth)) in worths.enumerate() {
            let counts = about.counts(at);
            sum += if counts { worth } else { 0.0 };
            if held.contains(term) {
                shared.push((term.clone(), worth));
                covered += if counts { worth } else { 0.0 };
                counted += usize::from(counts);
            }
        }
        let covered = if sum > 0.0 { covered / sum } else { 0.0 };
        Explain {
            covered,
            held: counted,
            terms: shared,
            cosine: Some(met.cosine as f32),
            ..Explain::default()
        }
    }
}
