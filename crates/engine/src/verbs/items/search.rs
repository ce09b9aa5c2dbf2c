//! Finding items: by namespace, by the fields of their values, by a question.
//!
//! Comes in: how a namespace begins, a filter, perhaps a question. Goes out: items, a page of them. Without a question they come in the order in
//! which they were first stored; with one, the best first, and what nothing speaks for comes last. Never here: an item outside the namespace,
//! however well it would answer.

use super::{Item, filter};
use crate::call::Call;
use crate::shelf::tiers::{Item as Inside, Meaning, Stored, Tiers, under};
use crate::verbs::asked;
use heirloom_core::{Code, Fault, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};

/// Items of a page, unless somebody says.
const PAGE: usize = 10;

/// Most items of a page.
pub(super) const MOST: usize = 10_000;

/// Memories ranked at first, and at most, to find those of one namespace among all others.
const RANKED: usize = 64;
const MOST_RANKED: usize = 4_096;

/// Items whose meaning is looked at one by one where the ranking did not reach them.
const MOST_READ: usize = 2_000;

/// What nearness of meaning alone is worth.
const MEANING: f64 = 0.4;

/// Which items are wanted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// How their namespace begins; everything if it is empty.
    pub namespace_prefix: Vec<String>,
    /// A question they answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// What the fields of their values are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Map<String, Value>>,
    /// At most so many; ten if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// After so many.
    pub offset: usize,
}

/// Items that were found.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Wanted {
    /// The items.
    pub items: Vec<Item>,
}

/// Which namespaces are wanted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Namespaces {
    /// What they must meet, all of it.
    pub conditions: Vec<Match>,
    /// Cut after so many words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<usize>,
    /// At most so many; a hundred if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// After so many.
    pub offset: usize,
}

/// How a namespace begins or ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// `prefix` or `suffix`.
    #[serde(rename = "match")]
    pub side: Side,
    /// The words; `*` stands for any one.
    pub path: Vec<String>,
}

/// Which end of a namespace is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// How it begins.
    Prefix,
    /// How it ends.
    Suffix,
}

impl Match {
    fn fits(&self, namespace: &[String]) -> bool {
        let fits = |(word, wanted): (&String, &String)| wanted == "*" || word == wanted;
        namespace.len() >= self.path.len()
            && match self.side {
                Side::Prefix => namespace.iter().zip(&self.path).all(fits),
                Side::Suffix => namespace.iter().rev().zip(self.path.iter().rev()).all(fits),
            }
    }
}

/// Namespaces that were found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Found {
    /// The namespaces, in order.
    pub namespaces: Vec<Vec<String>>,
}

/// The items that are wanted.
pub fn search(call: &Call, ask: &Search) -> Result<Wanted> {
    asked(call, Verb::Search, ShelfName::Tiers, Owner::Nobody)?;
    let limit = page(ask.limit, PAGE)?;
    let filter = ask.filter.clone().unwrap_or_default();
    filter::check(&filter)?;
    let tiers = call.tiers()?;
    let fits =
        |_: &Stored, item: &Inside| item.value.as_ref().is_some_and(|value| filter::meets(value, &filter));
    let found = tiers.items(&under(&ask.namespace_prefix), fits)?;
    let question = ask.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
    let ranked: Vec<(Stored, Option<f64>)> = match question {
        None => found.into_iter().map(|stored| (stored, None)).collect(),
        Some(question) => ranked(tiers, question, found, ask.offset.saturating_add(limit))?,
    };
    let items: Vec<Item> = ranked
        .into_iter()
        .skip(ask.offset)
        .take(limit)
        .filter_map(|(stored, score)| Item::of(call, stored, score))
        .collect();
    tiers.was_read(if question.is_some() { "search" } else { "list" }, None, items.len())?;
    Ok(Wanted { items })
}

/// The namespaces that have an item in use.
pub fn namespaces(call: &Call, ask: &Namespaces) -> Result<Found> {
    asked(call, Verb::List, ShelfName::Tiers, Owner::Nobody)?;
    let limit = page(ask.limit, 100)?;
    let tiers = call.tiers()?;
    let fits = |_: &Stored, item: &Inside| ask.conditions.iter().all(|one| one.fits(&item.namespace));
    let found = tiers.items(&under(&[]), fits)?;
    tiers.was_read("list", None, found.len())?;
    let depth = ask.max_depth.unwrap_or(usize::MAX);
    let all: BTreeSet<Vec<String>> = found
        .into_iter()
        .filter_map(|stored| stored.item)
        .map(|item| item.namespace.into_iter().take(depth).collect())
        .collect();
    Ok(Found { namespaces: all.into_iter().skip(ask.offset).take(limit).collect() })
}

pub(super) fn page(limit: Option<usize>, usual: usize) -> Result<usize> {
    match limit.unwrap_or(usual) {
        limit @ 1..=MOST => Ok(limit),
        _ => Err(Fault::new(Code::Validation, "the page size is wrong")
            .fact("field", "limit")
            .hint(format!("use 1 to {MOST}"))),
    }
}

/// Items by how well they answer a question: first those that the ranking of all memories met, in its order; then the others by what they
/// mean, then those that are searched by nothing.
pub(super) fn ranked(
    tiers: Tiers<'_>,
    question: &str,
    items: Vec<Stored>,
    wanted: usize,
) -> Result<Vec<(Stored, Option<f64>)>> {
    let mut by_id: HashMap<String, Stored> =
        items.iter().map(|stored| (stored.id.clone(), stored.clone())).collect();
    let mut limit = RANKED.max(wanted.saturating_mul(2)).min(MOST_RANKED);
    let met = loop {
        // A crowd of other memories may stand before these.
        let found = tiers.rank_items(question, limit)?;
        let exhausted = found.len() < limit || limit >= MOST_RANKED;
        let met: Vec<(String, f64)> = found
            .into_iter()
            .filter(|found| by_id.contains_key(&found.memory.id))
            .map(|found| {
                let factors = &found.explain.factors;
                let score = f64::from(factors.keyword + factors.vector + factors.related + factors.late);
                (found.memory.id, score.clamp(0.0, 1.0))
            })
            .collect();
        if exhausted || met.len() >= wanted.min(items.len()) {
            break met;
        }
        limit = (limit * 4).min(MOST_RANKED);
    };
    let mut ranked: Vec<(Stored, Option<f64>)> =
        met.into_iter().filter_map(|(id, score)| Some((by_id.remove(&id)?, Some(score)))).collect();
    ranked.sort_by(|(_, a), (_, b)| b.unwrap_or_default().total_cmp(&a.unwrap_or_default()));
    let least = ranked.last().and_then(|(_, score)| *score).unwrap_or(1.0);
    // What is left comes in the order in which it was stored, until its meaning says otherwise.
    let rest = items.into_iter().filter(|stored| by_id.contains_key(&stored.id));
    let (mut silent, mut rest): (Vec<Stored>, Vec<Stored>) =
        rest.partition(|stored| stored.content.is_empty());
    if rest.len() > MOST_READ {
        silent.splice(0..0, rest.drain(MOST_READ..));
    }
    let meaning = Meaning::of(question);
    let score =
        |stored: &Stored| meaning.nearness(&stored.content).map(|near| (near * MEANING).clamp(0.0, least));
    let mut rest: Vec<(Stored, Option<f64>)> = rest
        .into_iter()
        .map(|stored| (score(&stored), stored))
        .map(|(score, stored)| (stored, score))
        .collect();
    rest.sort_by(|(_, a), (_, b)| b.unwrap_or(-1.0).total_cmp(&a.unwrap_or(-1.0)));
    ranked.extend(rest);
    ranked.extend(silent.into_iter().map(|stored| (stored, None)));
    Ok(ranked)
}
