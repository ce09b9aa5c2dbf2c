//! The ranking of candidates that a backend brings, which keeps postings and vectors of its own: the rules of [`super::hybrid`], without an index.
//!
//! In: cards with keyword scores and cosines, what stands beside them in their conversations, and how cosines are spread. Out: the candidates with their
//! factors, best first. Never here: finding anything, a text, or a weight that the ranking of an index does not have.

use super::ask::Ask;
use super::explain::Factors;
use super::hybrid::{
    Candidate, FEW, GROUPS, JUDGES, MEMBERS, RERANKED, WITH_NEIGHBOURS, add_late, agreed, beside, by_sum,
    late_probe, manner, openness, score,
};
use super::weights::{Weights, is_dialogue};
use crate::index::embed::{Embedding, Worth};
use crate::index::{Card, saturated};
use std::collections::{HashMap, HashSet};

/// A memory with what its backend knows of it.
#[derive(Debug, Clone)]
pub(crate) struct One {
    pub(crate) card: Card,
    /// The number the backend gave it.
    pub(crate) place: i64,
    pub(crate) keyword: f32,
    pub(crate) cosine: Option<f32>,
    /// Share of the question's words that it answers by another name.
    pub(crate) related: f32,
    /// How often it holds each of the question's terms, if it was brought as a member of a conversation.
    pub(crate) counts: Vec<f32>,
}

/// What a backend knows of all of a user's memories.
#[derive(Debug, Clone)]
pub(crate) struct Around {
    /// How many there are.
    pub(crate) all: usize,
    /// Cosines between the question and all of them: the mean and how they are spread.
    pub(crate) mean: f32,
    pub(crate) spread: f32,
    /// Weight times rarity of each of the question's terms.
    pub(crate) factors: Vec<f32>,
    pub(crate) worth: Worth,
}

impl Around {
    /// How far a cosine deviates. Among few memories a deviation says little: it counts by how many there are to deviate from.
    fn deviation(&self, cosine: f32) -> f32 {
        let many = self.all as f32 / (self.all as f32 + FEW);
        if self.spread > 1e-6 { many * (cosine - self.mean) / self.spread } else { 0.0 }
    }

    /// The scores that conversations would have as one text.
    fn together(&self, groups: &Groups) -> HashMap<i64, f32> {
        let of = |group: &i64| groups.members.get(group);
        let length = |members: &Vec<One>| members.iter().map(|m| m.card.length).sum::<u32>();
        let lengths = groups.whole.iter().filter_map(of).map(length).sum::<u32>();
        let average = lengths as f32 / groups.whole.len().max(1) as f32;
        let score = |members: &Vec<One>| -> f32 {
            let of_term = |(at, factor): (usize, &f32)| {
                let count: f32 = members.iter().filter_map(|m| m.counts.get(at)).sum();
                if count > 0.0 { factor * saturated(count, length(members), average) } else { 0.0 }
            };
            self.factors.iter().enumerate().map(of_term).sum()
        };
        groups.whole.iter().filter_map(|group| Some((*group, score(of(group)?)))).collect()
    }
}

/// A stretch of a conversation: positions from and to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) group: i64,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Whether it is looked at as one text.
    whole: bool,
}

/// The stretches a ranking wants to see: a long one around the best keyword match of each conversation, a short one around every other candidate.
pub(crate) fn stretches(ones: &[One]) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for one in ones.iter().filter(|one| one.card.group != 0) {
        let group = one.card.group;
        let known = found.iter().any(|stretch| stretch.group == group && stretch.whole);
        if !known && one.keyword > 0.0 && found.len() < GROUPS {
            let from = one.card.position.saturating_sub(MEMBERS / 2);
            found.push(Stretch { group, from, to: from.saturating_add(MEMBERS), whole: true });
        } else if !known && is_dialogue(&one.card.kind) {
            let from = one.card.position.saturating_sub(2);
            found.push(Stretch { group, from, to: from.saturating_add(4), whole: false });
        }
    }
    found
}

/// What was seen of conversations.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    members: HashMap<i64, Vec<One>>,
    /// Those that are looked at as one text.
    whole: HashSet<i64>,
}

impl Groups {
    /// The members of stretches, each once.
    pub(crate) fn of(stretches: &[Stretch], members: impl IntoIterator<Item = One>) -> Groups {
        let mut groups = Groups::default();
        groups.whole.extend(stretches.iter().filter(|one| one.whole).map(|one| one.group));
        let mut known = HashSet::new();
        for member in members {
            if known.insert(member.place) {
                groups.members.entry(member.card.group).or_default().push(member);
            }
        }
        groups
    }

    fn of_one(&self, one: &One) -> impl Iterator<Item = &One> {
        self.members.get(&one.card.group).filter(|_| is_dialogue(&one.card.kind)).into_iter().flatten()
    }
}

/// Candidates on their way to becoming hits, best first.
pub(crate) struct Ranked {
    candidates: Vec<Candidate>,
    /// The backend's number of each, by the number on its card.
    places: Vec<i64>,
    related: Vec<f32>,
}

/// Ranks candidates. Those found by keyword stand first, best first.
pub(crate) fn ranked(
    mut ones: Vec<One>,
    groups: &Groups,
    around: &Around,
    ask: &Ask,
    weights: &Weights,
) -> Ranked {
    let by_keyword = || ones.iter().filter(|one| one.keyword > 0.0);
    let judged: Vec<f32> =
        by_keyword().take(JUDGES).filter_map(|one| one.cosine).map(|c| around.deviation(c)).collect();
    let vectors = ones.iter().any(|one| one.cosine.is_some());
    let agreement = if vectors { agreed(&judged) } else { 0.0 }.max(around.worth.floor);
    // What stands beside one of the best matches may be the answer to it.
    let mut known: HashSet<i64> = ones.iter().map(|one| one.place).collect();
    let mut more: Vec<One> = Vec::new();
    for one in by_keyword().take(WITH_NEIGHBOURS) {
        let next = groups.of_one(one).filter(|m| m.card.position.abs_diff(one.card.position) == 1);
        more.extend(next.filter(|m| known.insert(m.place)).cloned());
    }
    ones.extend(more);
    let (places, related) = ones.iter().map(|one| (one.place, one.related)).unzip();
    let scores = around.together(groups);
    let best = scores.values().fold(0f32, |most, score| most.max(*score));
    let candidate = |(n, one): (usize, One)| {
        let (manner, dialogue) = (manner(weights, &one.card), is_dialogue(&one.card.kind));
        let mut keyword = (one.keyword, 0.0);
        let mut vector = one.cosine.map_or(0.0, |cosine| around.deviation(cosine));
        // A short turn says little by itself: what it answers, and what answers it, count as well.
        let open = openness(one.card.length, weights);
        for m in groups.of_one(&one).filter(|_| open > 0.0) {
            let Some(place) = beside(&one.card, m.card.position) else { continue };
            keyword.1 += open * manner.neighbours[place] * m.keyword;
            // A long neighbour is about many things: its vector says little about this turn.
            if let (Some(share), Some(near)) = (manner.near_vectors.get(place), m.cosine) {
                vector += open * openness(m.card.length, weights) * share * around.deviation(near);
            }
        }
        let group = scores.get(&one.card.group).filter(|_| best > 0.0).map_or(0.0, |score| score / best);
        let related = if dialogue { 0.0 } else { weights.related * one.related };
        Candidate {
            keyword,
            cosine: one.cosine,
            vector: vector * agreement,
            share: if dialogue { around.worth.dialogue } else { around.worth.document },
            factors: Factors { group: manner.group * group, related, ..Factors::default() },
            sum: 0.0,
            card: Card { number: u32::try_from(n).unwrap_or(u32::MAX), ..one.card },
        }
    };
    let mut candidates: Vec<Candidate> = ones.into_iter().enumerate().map(candidate).collect();
    score(&mut candidates, ask, weights);
    candidates.sort_unstable_by(by_sum);
    Ranked { candidates, places, related }
}

impl Ranked {
    fn place(&self, candidate: &Candidate) -> i64 {
        self.places.get(candidate.card.number as usize).copied().unwrap_or_default()
    }

    /// Those whose word pieces late interaction wants.
    pub(crate) fn to_rerank(&self) -> Vec<i64> {
        self.candidates.iter().take(RERANKED).map(|one| self.place(one)).collect()
    }

    /// Looks at the best word by word. `pieces` are those of [`Self::to_rerank`], `rarity` tells how much a term says.
    pub(crate) fn rerank(
        &mut self,
        question: &Embedding,
        pieces: &HashMap<i64, Vec<u8>>,
        rarity: impl Fn(&str) -> f32,
        ask: &Ask,
        weights: &Weights,
    ) {
        let Some(probe) = late_probe(question, ask, rarity) else { return };
        let of = |one: &Candidate| pieces.get(&self.place(one)).and_then(|stored| probe.score(stored));
        let scores: Vec<Option<f32>> = self.candidates.iter().take(RERANKED).map(of).collect();
        add_late(&mut self.candidates, &scores, weights);
    }

    /// The candidates, best first: number, whether it is trusted, factors, cosine, what it answers by another name.
    pub(crate) fn each(&self) -> impl Iterator<Item = Placed> {
        self.candidates.iter().map(|one| Placed {
            place: self.place(one),
            trusted: one.card.trust == crate::index::Trust::High,
            factors: one.factors,
            cosine: one.cosine,
            related: self.related.get(one.card.number as usize).copied().unwrap_or_default(),
        })
    }
}

/// A candidate that was ranked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) place: i64,
    pub(crate) trusted: bool,
    pub(crate) factors: Factors,
    pub(crate) cosine: Option<f32>,
    pub(crate) related: f32,
}
