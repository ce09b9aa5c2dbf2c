//! What all shelves have for a prompt.
//!
//! Comes in: a prompt and who will read the answer. Goes out: records by title and tags, and beside them the notes on files and areas the
//! prompt speaks of and the lessons that share its words. A shelf that is not there costs one look at the disk. Never
//! here: how any of it is shown; a text the gate would refuse; more words of a prompt than a question needs.

use super::ledger::Given;
use super::title_tags::{self, Hit};
use crate::budget::{self, Left};
use crate::call::Call;
use crate::gate::policy::Row;
use crate::shelf::anchors::{self, Anchored, Freshness};
use crate::shelf::notes::Session;
use heirloom_core::{Memory, Scope, fault::Result, text};

/// Shorter prompts say too little.
pub(super) const PROMPT_MIN: usize = 10;

/// Whether a prompt says too little to be answered.
pub fn says_too_little(prompt: &str) -> bool {
    prompt.trim().chars().nth(PROMPT_MIN - 1).is_none()
}

/// So much of a prompt is a question; what follows is mostly pasted.
const QUESTION_MAX: usize = 2_000;
/// Most notes and most lessons of an answer.
const BESIDE_MAX: usize = 3;
/// Words a note or a lesson must share with a prompt.
const WORDS_MIN: usize = 2;

/// A memory of another shelf and why it is there.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Beside {
    /// The memory.
    pub memory: Memory,
    /// Why.
    pub why: String,
    /// The code it cites and whether that is still what it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cited: Option<Anchored>,
}

/// What a prompt calls for.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Called {
    /// Records.
    pub records: Vec<Hit>,
    /// Notes.
    pub notes: Vec<Beside>,
    /// Lessons.
    pub lessons: Vec<Beside>,
    /// The vault's own block, put in by whoever makes it; empty if it has nothing.
    pub vault: String,
}

impl Called {
    /// Whether nothing fits.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && !self.has_more()
    }

    /// What is given, for the ledger: each with why. The vault's answer is one text and stays out.
    pub fn given(&self) -> Vec<Given> {
        let records = self.records.iter().map(|hit| Given {
            id: hit.id(),
            version: String::new(),
            score: f64::from(hit.score),
            why: hit.why.parts(),
        });
        let beside = self.notes.iter().chain(&self.lessons).map(|beside| Given {
            id: beside.memory.id.as_str().to_owned(),
            version: beside.memory.content_hash.get(..16).unwrap_or_default().to_owned(),
            score: 0.0,
            why: vec![(beside.why.clone(), 0.0)],
        });
        records.chain(beside).collect()
    }

    /// Whether a shelf beside the records has something.
    pub fn has_more(&self) -> bool {
        !self.notes.is_empty() || !self.lessons.is_empty() || !self.vault.is_empty()
    }
}

/// The question in a prompt; nothing if recall is off or the prompt says too little.
pub fn question_of<'p>(call: &Call, prompt: &'p str) -> Option<&'p str> {
    let retrieval = &call.settings().retrieval;
    let asks = retrieval.enabled && retrieval.max_inject > 0 && !says_too_little(prompt);
    asks.then(|| text::cut(prompt, QUESTION_MAX))
}

/// What records, notes and lessons a prompt calls for.
pub fn for_prompt(call: &Call, prompt: &str) -> Result<Called> {
    let records = title_tags::recall(call, prompt)?;
    let Some(question) = question_of(call, prompt) else {
        return Ok(Called { records, ..Called::default() });
    };
    let most = BESIDE_MAX.min(call.settings().retrieval.max_inject);
    Ok(Called {
        records,
        notes: fresh(call, or_left_out(notes(call, question, most))?),
        lessons: fresh(call, or_left_out(lessons(call, question, most))?),
        vault: String::new(),
    })
}

/// What a hook cannot read is left out of its answer, and noted where it was met.
fn or_left_out<T: Default>(found: Result<T>) -> Result<T> {
    found.or_else(|fault| if budget::gaps() > 0 { Ok(T::default()) } else { Err(fault) })
}

/// Those whose cited code is not gone; what cites changed code last.
fn fresh(call: &Call, mut found: Vec<Beside>) -> Vec<Beside> {
    let ids: Vec<&str> = found.iter().map(|beside| beside.memory.id.as_str()).collect();
    let Some(mut cited) = anchors::check_ids(call, &ids).ok().filter(|cited| !cited.is_empty()) else {
        return found;
    };
    for beside in &mut found {
        beside.cited = cited.remove(beside.memory.id.as_str());
    }
    let state = |beside: &Beside| beside.cited.as_ref().map_or(Freshness::Unchanged, |cited| cited.state);
    found.retain(|beside| state(beside) != Freshness::Gone);
    found.sort_by_key(|beside| state(beside) == Freshness::Changed);
    found
}

/// Notes on a file the prompt names, on an area it speaks of, then those it shares words with; newest first each.
fn notes(call: &Call, question: &str, most: usize) -> Result<Vec<Beside>> {
    let notes = call.notes();
    if !call.project().root().folder().join("notes").is_dir() {
        return Ok(Vec::new());
    }
    let area = match text::scope_of(question) {
        Scope::Area(area) => Some(area),
        _ => None,
    };
    let session = Session { files: text::files_named(question), area };
    let words = text::tokens(question);
    let mut found = Vec::new();
    for (group, memory) in notes.in_play(&session)? {
        if !budget::goes_on_or_leaves(Left::Files) {
            break;
        }
        let why = match (group, &memory.scope) {
            (0, Scope::File(file)) => format!("about {file}"),
            (1, Scope::Area(area)) => format!("about {area}"),
            _ => {
                let keywords: std::collections::BTreeSet<String> =
                    memory.tags.iter().flat_map(|keyword| text::tokens(keyword)).collect();
                let shared: Vec<&str> =
                    keywords.iter().filter(|word| words.contains(*word)).map(String::as_str).collect();
                if shared.len() < WORDS_MIN {
                    continue;
                }
                format!("shares {}", shared.join(", "))
            }
        };
        if super::search::is_cut_today(call, &memory) {
            continue;
        }
        found.push(Beside { memory, why, cited: None });
        if found.len() == most {
            break;
        }
    }
    Ok(found)
}

fn lessons(call: &Call, question: &str, most: usize) -> Result<Vec<Beside>> {
    let topics = call.topics();
    if !topics.base().is_dir() {
        return Ok(Vec::new());
    }
    // Quotes and colons narrow a search; in a prompt they are punctuation.
    let plain = question.replace(['"', ':'], " ");
    let fits = |hit: &crate::shelf::topics::Hit| {
        // The name of its topic says what a lesson is about, whatever its words are.
        hit.why.context.is_some() || hit.why.place || hit.why.keywords.len() + hit.why.tags.len() >= WORDS_MIN
    };
    let hits = topics.search(&plain, most * 2)?.into_iter().filter(fits).take(most);
    Ok(hits
        .map(|hit| {
            let mut shared: Vec<&str> = hit
                .why
                .tags
                .iter()
                .chain(&hit.why.keywords)
                .chain(&hit.why.context)
                .map(String::as_str)
                .collect();
            shared.sort_unstable();
            shared.dedup();
            Beside { why: format!("shares {}", shared.join(", ")), memory: hit.memory, cited: None }
        })
        .filter(|beside| call.screen().would_refuse(&beside.memory.body, Row::Topics).is_none())
        .collect())
}
