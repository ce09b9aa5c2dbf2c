//! Words as the index knows them, for backends that keep postings of their own and for topics.
//!
//! Comes in: text. Goes out: terms (lower case, accents off, stemmed), and which of a question's a memory holds. Never here: another tokeniser than the index's.

use super::Stored;
use crate::index::{each_term, of_question, rarity};
use crate::rank::kin::About;
use crate::rank::Explain;
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

/// Why a memory was met: which of the question's terms it holds, each counted by how rare it is among `all` memories, and how near its vector
/// is. `having` says how many hold each term.
pub fn explained(memory: &Stored, asked: &[(String, f32)], having: &[i64], all: i64, cosine: f64) -> Explain {
    let held = terms(&memory.searched());
    let about = About::of(asked.iter().map(|(term, _)| term.as_str()));
    // A word nobody wrote tells nothing apart; it counts like one that a single memory holds.
    let worth = |having: i64| rarity(all as f32, having.max(1) as f32);
    let worths = asked.iter().zip(having).map(|((term, weight), having)| (term, weight * worth(*having)));
    let (mut sum, mut met, mut covered, mut counted) = (0.0, Vec::new(), 0.0, 0);
    for (at, (term, worth)) in worths.enumerate() {
        let counts = about.counts(at);
        sum += if counts { worth } else { 0.0 };
        if held.contains(term) {
            met.push((term.clone(), worth));
            covered += if counts { worth } else { 0.0 };
            counted += usize::from(counts);
        }
    }
    let covered = if sum > 0.0 { covered / sum } else { 0.0 };
    Explain { covered, held: counted, terms: met, cosine: Some(cosine as f32), ..Explain::default() }
}
