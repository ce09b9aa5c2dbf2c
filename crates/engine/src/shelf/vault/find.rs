//! Looking things up: by words, by what they are filed under, and the vault's figures.
//!
//! Comes in: a question or a filter. Goes out: records in use, best or newest first. Scopes are always named by the caller; `None`
//! is all of them, which only a person may ask for. Never here: what is shown to an agent; blocks choose and label that.

use super::alike::{self, Pair, Question};
use super::current::{Current, View};
use super::image::Held;
use super::journal::journal_signal;
use super::record::Record;
use super::rules::Rules;
use super::store::Vault;
use heirloom_core::{fault::Result, text, time};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Which records are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'f> {
    /// Only these scopes; `None` is all.
    pub scopes: Option<&'f [&'f str]>,
    /// Only this category.
    pub category: Option<&'f str>,
    /// Only with at least one of these tags; none is no wish.
    pub tags: &'f [&'f str],
}

impl Filter<'_> {
    /// Everything in these scopes.
    pub fn in_scopes<'f>(scopes: Option<&'f [&'f str]>) -> Filter<'f> {
        Filter { scopes, ..Filter::default() }
    }

    fn wants(&self, record: &Record<'_>) -> bool {
        self.scopes.is_none_or(|scopes| scopes.iter().any(|s| s.to_lowercase() == record.scope))
            && self.category.is_none_or(|category| category.to_lowercase() == record.category)
            && (self.tags.is_empty() || record.tags.iter().any(|tag| self.tags.contains(&tag.as_ref())))
    }
}

/// A record that could go, and why. Nothing goes by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// The record.
    pub id: String,
    /// Why it could go.
    pub reason: String,
}

/// The vault's figures.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Stats {
    /// In use.
    pub active_count: usize,
    /// Most that can be in use.
    pub max_active: usize,
    /// The first as a share of the second, in percent with one decimal.
    pub utilization_pct: f64,
    /// Taken out of use, but still in the file.
    pub deleted_count: usize,
    /// Lines in the file.
    pub raw_lines: usize,
    /// Lines that compacting would leave out.
    pub compactable_lines: usize,
    /// Lines that cannot be read; compacting keeps them.
    #[serde(skip_serializing_if = "is_zero")]
    pub unreadable_lines: usize,
    /// Lines for each record in use, one decimal.
    pub bloat_ratio: f64,
    /// In use, by scope.
    pub by_scope: BTreeMap<String, usize>,
    /// In use, by tier.
    pub by_tier: BTreeMap<String, usize>,
    /// In use, by category.
    pub by_category: BTreeMap<String, usize>,
    /// Registers in use that have a topic.
    pub register_topics: usize,
}

/// Shorter registers without a topic say too little to be found again.
const SHORT: usize = 20;

/// Of these records in use, those that answer a question, best first, in file order among equals.
pub(super) fn search<'r, 'a>(
    held: &'r [Held<'a>],
    query: &str,
    filter: &Filter<'_>,
    limit: usize,
) -> Vec<(&'r Held<'a>, f64)> {
    let question = Question::new(query);
    let mut hits: Vec<(&Held<'a>, f64)> = held
        .iter()
        .filter(|one| filter.wants(&one.record))
        .filter_map(|one| Some((one, question.score(&one.record.text)?)))
        .collect();
    hits.sort_by(|a, b| b.1.total_cmp(&a.1));
    hits.truncate(limit);
    hits
}

/// Of these records in use, those filed as asked, newest first, in file order among equals.
pub(super) fn recall<'r, 'a>(held: &'r [Held<'a>], filter: &Filter<'_>, limit: usize) -> Vec<&'r Held<'a>> {
    let mut hits: Vec<&Held<'a>> = held.iter().filter(|one| filter.wants(&one.record)).collect();
    hits.sort_by_cached_key(|one| std::cmp::Reverse(time::parse(&one.record.created_at)));
    hits.truncate(limit);
    hits
}

impl Vault<'_> {
    /// The records that answer a question, with their scores.
    pub fn search(
        &self,
        query: &str,
        scopes: Option<&[&str]>,
        limit: usize,
    ) -> Result<Vec<(Record<'static>, f64)>> {
        let current = self.current()?;
        let held: Vec<Held<'_>> = current.view().active().collect();
        let hits = search(&held, query, &Filter::in_scopes(scopes), limit);
        Ok(hits.into_iter().map(|(one, score)| (one.record.clone().into_owned(), score)).collect())
    }

    /// The newest records filed as asked.
    pub fn recall(&self, filter: &Filter<'_>, limit: usize) -> Result<Vec<Record<'static>>> {
        let current = self.current()?;
        let held: Vec<Held<'_>> = current.view().active().collect();
        Ok(recall(&held, filter, limit).into_iter().map(|one| one.record.clone().into_owned()).collect())
    }

    /// The first of these records that a new text would be a duplicate of.
    pub fn duplicate_of<'r, 'a: 'r>(
        &self,
        text: &str,
        among: impl Iterator<Item = &'r Record<'a>>,
    ) -> Option<&'r Record<'a>> {
        alike::duplicate_of(text, among, self.rules.overlap, self.rules.similarity)
    }

    /// Pairs of one scope that may be one memory, best first.
    pub fn consolidation_candidates(&self, scopes: Option<&[&str]>, floor: f64) -> Result<Vec<Pair>> {
        let current = self.current()?;
        let held = wanted(&current, scopes);
        Ok(alike::pairs(&held.iter().map(|one| &one.record).collect::<Vec<_>>(), floor))
    }

    /// What could go, with reasons. Nothing is deleted.
    pub fn propose_deletions(&self, scopes: Option<&[&str]>) -> Result<Vec<Proposal>> {
        let current = self.current()?;
        let held = wanted(&current, scopes);
        let mut seen: HashMap<(&str, Vec<String>), &str> = HashMap::new();
        let mut proposals = Vec::new();
        for record in held.iter().map(|one| &one.record) {
            let lower = record.text.to_lowercase();
            let words: Vec<String> = lower.split_whitespace().map(str::to_owned).collect();
            let first = *seen.entry((record.scope.as_ref(), words)).or_insert(&record.id);
            let short = record.is_register()
                && record.topic().is_none()
                && text::trim(&record.text).chars().count() < SHORT;
            let reason = if short {
                format!("a very short register (under {SHORT} characters) without a topic")
            } else if let Some(signal) = journal_signal(&record.text) {
                format!("journal noise: it holds `{signal}`")
            } else if first != record.id {
                format!("says the same as `{first}`")
            } else {
                continue;
            };
            proposals.push(Proposal { id: record.id.to_string(), reason });
        }
        Ok(proposals)
    }

    /// The figures.
    pub fn stats(&self) -> Result<Stats> {
        let current = self.current()?;
        Ok(stats(&current.view(), &self.rules))
    }
}

/// What is in use in these scopes.
fn wanted<'c>(current: &'c Current, scopes: Option<&[&str]>) -> Vec<Held<'c>> {
    let filter = Filter::in_scopes(scopes);
    current.view().active().filter(|one| filter.wants(&one.record)).collect()
}

fn stats(view: &View<'_>, rules: &Rules) -> Stats {
    let active: Vec<Record<'_>> = view.active().map(|held| held.record).collect();
    let tally = |of: fn(&Record<'_>) -> String| {
        let mut counts = BTreeMap::new();
        for record in &active {
            *counts.entry(of(record)).or_insert(0) += 1;
        }
        counts
    };
    let unreadable = view.unreadable();
    let share = |part: usize, whole: usize| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    Stats {
        active_count: active.len(),
        max_active: rules.capacity,
        utilization_pct: one_decimal(share(active.len(), rules.capacity) * 100.0),
        deleted_count: view.ids - active.len(),
        raw_lines: view.lines,
        compactable_lines: view.lines - active.len() - unreadable,
        unreadable_lines: unreadable,
        bloat_ratio: one_decimal(share(view.lines, active.len().max(1))),
        by_scope: tally(|r| r.scope.to_string()),
        by_tier: tally(|r| r.tier.to_string()),
        by_category: tally(|r| r.category.to_string()),
        register_topics: active.iter().filter(|r| r.is_register() && r.topic().is_some()).count(),
    }
}

/// Rounded to one decimal by the exact value, halves to even, as printing does.
fn one_decimal(n: f64) -> f64 {
    format!("{n:.1}").parse().unwrap_or(n)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}
