//! `title_tags`: words of the prompt against titles and tags of `index.md`, in two passes.
//!
//! Comes in: a prompt and the index. Goes out: the best entries, at most as many as the settings allow. First pass: title word 2, tag 3,
//! prefix of four letters 1. Second pass, over the best twenty: retired records out, recently updated ones +1. Never here: the
//! files of entries beyond those twenty.

use crate::engine::Engine;
use crate::gate::policy::Row;
use crate::shelf::provenance;
use crate::shelf::records::IndexEntry;
use heirloom_core::{Status, fault::Result, hash, kind, text, time};
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};

/// Shorter prompts say too little.
const PROMPT_MIN: usize = 10;
/// How many of the best get a second look.
const DEEP: usize = 20;
/// Days an update counts as recent.
const RECENT_DAYS: i64 = 30;
/// Shortest word that may match the beginning of another.
const PREFIX_MIN: usize = 4;
/// Most points a category's description gives.
const DESCRIPTION_MAX: u32 = 2;

const TITLE: u32 = 2;
const TAG: u32 = 3;
const PREFIX: u32 = 1;
const RECENT: u32 = 1;

/// An entry that matched.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The label of its category.
    pub label: String,
    /// Its title, as the index has it.
    pub title: String,
    /// Its path, as the index has it.
    pub path: String,
    /// Its tags, lower case, sorted, each once.
    pub tags: Vec<String>,
    /// All points together.
    pub score: u32,
    /// Where they come from.
    pub why: Why,
}

/// Where an entry's points come from.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Why {
    /// Prompt words found in the title.
    pub title: Vec<String>,
    /// Prompt words that are tags.
    pub tags: Vec<String>,
    /// Prompt words that begin a title word or a tag.
    pub prefix: Vec<String>,
    /// Points from the category's description.
    pub description: u32,
    /// Updated in the last thirty days.
    pub recent: bool,
}

impl Why {
    fn points(&self) -> u32 {
        let count = |words: &[String]| words.len() as u32;
        count(&self.title) * TITLE
            + count(&self.tags) * TAG
            + count(&self.prefix) * PREFIX
            + self.description
            + if self.recent { RECENT } else { 0 }
    }
}

/// The points of an entry for these words, titles and tags only.
pub fn score(words: &BTreeSet<String>, entry: &IndexEntry) -> u32 {
    explain(words, entry).points()
}

fn explain(words: &BTreeSet<String>, entry: &IndexEntry) -> Why {
    let title = text::tokens(&entry.title);
    let tags: Vec<String> = entry.tags.iter().map(|tag| tag.to_lowercase()).collect();
    let mut why = Why::default();
    for word in words {
        let in_title = title.contains(word);
        let in_tags = tags.iter().any(|tag| tag == word);
        if in_title {
            why.title.push(word.clone());
        }
        if in_tags {
            why.tags.push(word.clone());
        }
        let begins = |other: &String| other.starts_with(word.as_str());
        if !in_title
            && !in_tags
            && word.len() >= PREFIX_MIN
            && (title.iter().any(begins) || tags.iter().any(begins))
        {
            why.prefix.push(word.clone());
        }
    }
    why
}

/// Points of a category's description: 1 a word, half a prefix, whole points only, at most two.
fn description_points(words: &BTreeSet<String>, description: &str) -> u32 {
    let theirs = text::tokens(description);
    let exact = words.iter().filter(|word| theirs.contains(*word)).count() as u32;
    let prefix = words
        .iter()
        .filter(|word| !theirs.contains(*word) && word.len() >= PREFIX_MIN)
        .filter(|word| theirs.iter().any(|other| other.starts_with(word.as_str())))
        .count() as u32;
    (exact + prefix / 2).min(DESCRIPTION_MAX)
}

/// The entries a prompt calls for.
pub fn recall(engine: &Engine, prompt: &str) -> Result<Vec<Hit>> {
    let settings = engine.settings();
    let max = settings.retrieval.max_inject;
    if !settings.retrieval.enabled || max == 0 || prompt.trim().chars().count() < PROMPT_MIN {
        return Ok(Vec::new());
    }
    let words = text::tokens(prompt);
    let records = engine.records();
    let Some(index) = (if words.is_empty() { None } else { records.index_text_or_rebuild()? }) else {
        return Ok(Vec::new());
    };
    let forgotten = provenance::forgotten(engine.project().root())?;
    Ok(rank(engine, &words, &index, &forgotten, max))
}

fn rank(
    engine: &Engine,
    words: &BTreeSet<String>,
    index: &str,
    forgotten: &HashSet<String>,
    max: usize,
) -> Vec<Hit> {
    let settings = engine.settings();
    let described: Vec<(String, u32)> = settings
        .categories
        .iter()
        .filter_map(|c| Some((c.label(), description_points(words, c.description.as_deref()?))))
        .collect();
    let switched_off: Vec<String> =
        settings.categories.iter().filter(|c| !c.enabled).map(|c| c.label()).collect();
    let mut hits: Vec<Hit> = index
        .lines()
        .filter_map(|line| IndexEntry::parse(line.trim()))
        .filter(|entry| is_label(&entry.label, engine) && !switched_off.contains(&entry.label))
        .filter_map(|entry| {
            let mut why = explain(words, &entry);
            why.description =
                described.iter().find(|(label, _)| *label == entry.label).map_or(0, |(_, points)| *points);
            let score = why.points();
            (score > 0).then(|| Hit {
                label: entry.label,
                title: entry.title,
                path: entry.path,
                tags: entry
                    .tags
                    .iter()
                    .map(|tag| tag.to_lowercase())
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect(),
                score,
                why,
            })
        })
        .collect();
    sort(&mut hits);
    // A file that the index names twice is shown once, by its better line.
    let mut seen = BTreeSet::new();
    hits.retain(|hit| seen.insert(hit.path.clone()));
    let mut place = 0;
    hits.retain_mut(|hit| {
        place += 1;
        let id = id_of(hit);
        let was_forgotten = forgotten.contains(&id);
        if place > DEEP { !was_forgotten } else { still_counts(engine, hit, was_forgotten.then_some(&id)) }
    });
    sort(&mut hits);
    // What is about to be shown is checked like a file: a line may have been put into the index by hand.
    let allowed = |hit: &Hit| {
        let shown = format!("{} {}", hit.title, hit.tags.join(" "));
        engine.screen().would_refuse(&shown, Row::Records).is_none()
    };
    hits.into_iter().filter(allowed).take(max).collect()
}

/// Whether a label is one: capital letters and underscores, or whatever a category of the settings is called.
fn is_label(label: &str, engine: &Engine) -> bool {
    label.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
        || engine.settings().categories.iter().any(|category| category.label() == label)
}

/// Best first, then by the category's priority, then as the index has them.
fn sort(hits: &mut [Hit]) {
    hits.sort_by_key(|hit| (std::cmp::Reverse(hit.score), kind::label_priority(&hit.label)));
}

/// The id of the record an entry points to.
fn id_of(hit: &Hit) -> String {
    let name = hit.path.rsplit('/').next().unwrap_or_default();
    format!("{}:{}", hit.label.to_lowercase(), name.strip_suffix(".json").unwrap_or(name))
}

/// The second look: a retired record does not count, a recent one counts more, a file that cannot be read changes nothing. What was
/// forgotten and came back, perhaps with a merge, counts only if it was written or accepted here since.
fn still_counts(engine: &Engine, hit: &mut Hit, forgotten: Option<&String>) -> bool {
    let project = engine.project();
    let Ok(path) = project.root().resolve(&project.folder().join(&hit.path)) else { return true };
    let Ok(bytes) = crate::files::read(&path, crate::files::MAX_FILE) else { return true };
    if forgotten.is_some_and(|id| provenance::came_back(engine, id, &hash::sha256(&bytes))) {
        return false;
    }
    let Ok(document) = crate::shelf::records::Document::parse(&bytes) else { return true };
    if document.status() == Some(Status::Retired) {
        return false;
    }
    let updated = document.text("updated_at").and_then(time::parse);
    hit.why.recent = updated.is_some_and(|at| time::days_between(at, project.world().now) <= RECENT_DAYS);
    hit.score = hit.why.points();
    true
}

#[cfg(test)]
#[path = "title_tags_tests.rs"]
mod tests;
