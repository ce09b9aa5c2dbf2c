//! Words as the index knows them, for backends that keep postings of their own and for topics.
//!
//! Comes in: text. Goes out: terms (lower case, accents off, stemmed). Never here: another tokeniser than the index's.

use crate::index::{each_term, of_question};
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
