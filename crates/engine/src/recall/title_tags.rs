//! `title_tags`: words of the prompt against titles and tags of `index.md`, in two passes.
//!
//! Comes in: a prompt and the index. Goes out: the best entries, at most as many as the settings allow. First pass: title word 2, tag 3,
//! prefix of four letters 1. Second pass, over the best twenty: retired records out, recently updated ones +1. Never here: the
//! files of entries beyond those twenty.

use super::prompt::PROMPT_MIN;
use super::sift::sift;
use super::words::{Place, Words};
use crate::budget::{self, Left};
use crate::call::Call;
use crate::gate::policy::Row;
use crate::shelf::anchors::{self, Anchored, Freshness};
use crate::shelf::forgets::Forgets;
use crate::shelf::provenance;
use crate::shelf::records::{EntryLine, Glance, IndexSource};
use heirloom_core::{Status, fault::Result, hash, kind, text, time};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// How many of the best get a second look.
const DEEP: usize = 20;
/// Entries looked at beyond those wanted, since some may cite code that is gone.
const SPARE: usize = 8;
/// Days an update counts as recent.
const RECENT_DAYS: i64 = 30;
/// Shortest word that may match the beginning of a description's.
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
    /// The code it cites and whether that is still what it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cited: Option<Anchored>,
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
    /// Each source of points with what it gave.
    pub fn parts(&self) -> Vec<(String, f64)> {
        let points = |words: &[String], each: u32| words.len() as f64 * f64::from(each);
        let parts = [
            ("title", points(&self.title, TITLE)),
            ("tags", points(&self.tags, TAG)),
            ("prefix", points(&self.prefix, PREFIX)),
            ("description", f64::from(self.description)),
            ("recent", if self.recent { f64::from(RECENT) } else { 0.0 }),
        ];
        parts.into_iter().filter(|(_, n)| *n > 0.0).map(|(name, n)| (name.to_owned(), n)).collect()
    }

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
pub fn score(words: &mut Words, entry: &EntryLine<'_>) -> u32 {
    let mut points = 0;
    words.look(entry.title, entry.tags(), |_, place| {
        points += match place {
            Place { title: false, tag: false } => PREFIX,
            Place { title, tag } => u32::from(title) * TITLE + u32::from(tag) * TAG,
        };
    });
    points
}

fn explain(words: &mut Words, entry: &EntryLine<'_>) -> Why {
    let mut why = Why::default();
    words.look(entry.title, entry.tags(), |word, place| {
        let lists = [
            (place.title, &mut why.title),
            (place.tag, &mut why.tags),
            (!place.title && !place.tag, &mut why.prefix),
        ];
        for (_, list) in lists.into_iter().filter(|(there, _)| *there) {
            list.push(word.to_owned());
        }
    });
    [&mut why.title, &mut why.tags, &mut why.prefix].into_iter().for_each(|list| list.sort_unstable());
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
pub fn recall(call: &Call, prompt: &str) -> Result<Vec<Hit>> {
    let settings = call.settings();
    let max = settings.retrieval.max_inject;
    if !settings.retrieval.enabled || max == 0 || prompt.trim().chars().count() < PROMPT_MIN {
        return Ok(Vec::new());
    }
    let words = text::tokens(prompt);
    let records = call.records();
    let Some(index) = (if words.is_empty() { None } else { records.index_or_rebuild()? }) else {
        return Ok(Vec::new());
    };
    let forgotten = match provenance::forgotten(call.project().root()) {
        // What may have been forgotten is not shown.
        Err(_) if budget::is_bounded() => return Ok(Vec::new()),
        forgotten => forgotten?,
    };
    budget::answering(|| rank(call, &words, &index, &forgotten, max))
}

fn rank(
    call: &Call,
    words: &BTreeSet<String>,
    index: &IndexSource,
    forgotten: &Forgets,
    max: usize,
) -> Result<Vec<Hit>> {
    // The first of two categories with one label counts.
    let categories: HashMap<String, Category> = call
        .settings()
        .categories
        .iter()
        .rev()
        .map(|category| (category.label(), Category::of(category, words)))
        .collect();
    let points_of = |label: &str| match categories.get(label) {
        Some(category) => category.enabled.then_some(category.points),
        None => label.bytes().all(|b| b.is_ascii_uppercase() || b == b'_').then_some(0),
    };
    let described = categories.values().any(|category| category.points > 0);
    let mut words = Words::new(words);
    // Lines of a category stand together, so the last label is mostly this one's too.
    let last: RefCell<(String, Option<u32>, u8)> = RefCell::new((String::new(), None, 0));
    let worth = |entry: &EntryLine<'_>, words: &mut Words| {
        let mut last = last.borrow_mut();
        if last.0 != entry.label {
            *last = (entry.label.to_owned(), points_of(entry.label), kind::label_priority(entry.label));
        }
        Some((last.1? + score(words, entry), last.2))
    };
    let candidates = sift(index, &mut words, described, &worth)?;
    // A file that the index names twice is shown once, by its better line.
    let mut seen = HashSet::new();
    let mut hits = candidates
        .filter_map(|text| {
            let entry = EntryLine::parse(text.trim())?;
            let why = Why { description: points_of(entry.label).unwrap_or(0), ..explain(&mut words, &entry) };
            Some(Hit::of(&entry, why))
        })
        .filter(|hit| seen.insert(hit.path.clone()));
    let mut folders = Folders::default();
    let mut best: Vec<Hit> = hits
        .by_ref()
        .take(DEEP)
        .filter_map(|mut hit| {
            let id = id_of(&hit);
            let id = forgotten.contains(&id).then_some(&id);
            still_counts(call, &mut hit, id, &mut folders).then_some(hit)
        })
        .collect();
    // A second look takes away or adds a point, so none of the others can come before these.
    sort(&mut best);
    let rest = hits
        .take_while(|_| budget::goes_on_or_leaves(Left::Index))
        .filter(|hit| !forgotten.contains(&id_of(hit)));
    // What is about to be shown is checked like a file: a line may have been put into the index by hand.
    let allowed = |hit: &Hit| {
        let shown = format!("{} {}", hit.title, hit.tags.join(" "));
        call.screen().would_refuse(&shown, Row::Records).is_none()
    };
    // Code is looked at for as many as could be shown: what cites something gone makes room for another.
    let mut shown: Vec<Hit> = best.into_iter().chain(rest).filter(allowed).take(max + SPARE).collect();
    mark_stale(call, &mut shown);
    shown.truncate(max);
    Ok(shown)
}

/// Takes out what cites code that is gone, and puts what cites changed code behind the rest.
fn mark_stale(call: &Call, hits: &mut Vec<Hit>) {
    let ids: Vec<String> = hits.iter().map(id_of).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    // Citations that cannot be read cost nobody a memory.
    let Ok(cited) = anchors::check_ids(call, &ids) else { return };
    if cited.is_empty() {
        return;
    }
    for hit in hits.iter_mut() {
        hit.cited = cited.get(&id_of(hit)).cloned();
    }
    let state = |hit: &Hit| hit.cited.as_ref().map_or(Freshness::Unchanged, |cited| cited.state);
    hits.retain(|hit| state(hit) != Freshness::Gone);
    hits.sort_by_key(|hit| state(hit) == Freshness::Changed);
}

/// What a prompt makes of a category of the settings.
struct Category {
    enabled: bool,
    /// Points every entry of it gets.
    points: u32,
}

impl Category {
    fn of(category: &heirloom_core::settings::Category, words: &BTreeSet<String>) -> Category {
        Category {
            enabled: category.enabled,
            points: category.description.as_deref().map_or(0, |text| description_points(words, text)),
        }
    }
}

impl Hit {
    /// The id of the record it points to.
    pub fn id(&self) -> String {
        id_of(self)
    }

    fn of(entry: &EntryLine<'_>, why: Why) -> Hit {
        let tags: BTreeSet<String> = entry.tags().map(str::to_lowercase).collect();
        Hit {
            label: entry.label.to_owned(),
            title: entry.title.to_owned(),
            path: entry.path.to_owned(),
            tags: tags.into_iter().collect(),
            score: why.points(),
            why,
            cited: None,
        }
    }
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
fn still_counts(call: &Call, hit: &mut Hit, forgotten: Option<&String>, folders: &mut Folders) -> bool {
    let project = call.project();
    let Some(bytes) = folders.read(call, &project.folder().join(&hit.path)) else {
        // Of what was forgotten nothing is shown that cannot be looked at.
        return forgotten.is_none();
    };
    if forgotten.is_some_and(|id| provenance::came_back(call, id, &hash::sha256(&bytes))) {
        return false;
    }
    let Some(glance) = Glance::of(&bytes) else { return true };
    if glance.status == Some(Status::Retired) {
        return false;
    }
    hit.why.recent =
        glance.updated_at.is_some_and(|at| time::days_between(at, project.world().now) <= RECENT_DAYS);
    hit.score = hit.why.points();
    true
}

/// Where folders of records really are. The best hits mostly lie in one, and finding that out costs more than reading them.
#[derive(Default)]
struct Folders {
    last: Option<(PathBuf, PathBuf)>,
}

impl Folders {
    /// The bytes of a record that an index names; `None` if it is not below the memory folder or cannot be read.
    fn read(&mut self, call: &Call, path: &Path) -> Option<Vec<u8>> {
        let root = call.project().root();
        let (folder, name) = (path.parent()?, path.file_name()?);
        if self.last.as_ref().is_none_or(|(known, _)| known != folder) {
            let real = std::fs::canonicalize(folder).ok()?;
            self.last = Some((folder.to_owned(), real));
        }
        let real = self.last.as_ref().map(|(_, real)| real).filter(|real| real.starts_with(root.real()))?;
        // A link in the last place is not followed here; it gets the long look.
        let limit = budget::one_memory(crate::files::MAX_FILE);
        let read = crate::files::read(&real.join(name), limit);
        let slow = || crate::files::read(&root.resolve(path).ok()?, limit).ok();
        read.ok().or_else(slow)
    }
}

#[cfg(test)]
#[path = "title_tags_tests.rs"]
mod tests;
