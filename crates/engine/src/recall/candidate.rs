//! Candidate selection: is there already a record that new information belongs to?
//!
//! Comes in: a category, the new information, perhaps a lifecycle event. Goes out: the best existing record, what may be done with it,
//! and hints for whoever drafts. Scoring is that of `title_tags` recall, without recency. Never here: writing.

use super::{Words, title_tags};
use crate::shelf::records::{Document, EntryLine, Records, label_of, plain};
use heirloom_core::settings::Category;
use heirloom_core::{Code, Fault, Status, fault::Result, text};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Events in the life of what a record is about.
pub const LIFECYCLE_EVENTS: [&str; 5] = ["resolved", "removed", "reversed", "superseded", "deprecated"];

/// Least score of a candidate.
const ENOUGH: u32 = 3;

/// Longest shown value of a field.
const FIELD_MAX: usize = 200;

/// The answer, in the format's own keys.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Answer {
    /// The best existing record.
    pub candidate: Option<Candidate>,
    /// As given.
    pub lifecycle_event: Option<String>,
    /// Whether triage may delete in this category.
    pub delete_allowed: bool,
    /// `CREATE` or `NOOP` when there is no candidate.
    pub pre_action: Option<&'static str>,
    /// What the structure allows.
    pub structural_cud: &'static str,
    /// What it forbids.
    pub vetoes: Vec<String>,
    /// What a drafter should know.
    pub hints: Vec<String>,
}

/// An existing record.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Candidate {
    /// Its path, as the index has it.
    pub path: String,
    /// Its title, as the index has it.
    pub title: String,
    /// Its tags, as the index has them.
    pub tags: Vec<String>,
    /// What it says, if it can be read.
    pub excerpt: Option<Excerpt>,
}

/// What a record says, in short.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Excerpt {
    /// The title in the file.
    pub title: String,
    /// Where it is in its life.
    pub record_status: String,
    /// The tags in the file.
    pub tags: Vec<String>,
    /// The latest change.
    pub last_change_summary: String,
    /// The fields that matter most.
    pub key_fields: Map<String, Value>,
}

impl Records<'_> {
    /// Finds the candidate. Warnings name index lines that cannot be followed.
    pub fn candidate(
        &self,
        category: &Category,
        new_info: &str,
        event: Option<&str>,
        warnings: &mut Vec<String>,
    ) -> Result<Answer> {
        let index = self.index_text_or_rebuild()?;
        if index.is_none() && !self.root().is_dir() {
            return Err(Fault::new(Code::NotFound, "index.md and the memory folder do not exist")
                .fact("path", self.index_path().display().to_string())
                .hint("run `heirloom init` in the project folder"));
        }
        let mut lost = false;
        let best = self.best(category, new_info, index.as_deref().unwrap_or_default(), warnings, &mut lost);
        Ok(answer(category, event, best, lost))
    }

    fn best(
        &self,
        category: &Category,
        new_info: &str,
        index: &str,
        warnings: &mut Vec<String>,
        lost: &mut bool,
    ) -> Option<(u32, Candidate)> {
        let mut words = Words::new(&text::tokens(new_info));
        let label = label_of(category.name());
        let mut scored: Vec<(u32, EntryLine<'_>)> = index
            .lines()
            .filter_map(|line| EntryLine::parse(line.trim()))
            .filter(|entry| entry.label == label)
            .map(|entry| (title_tags::score(&mut words, &entry), entry))
            .filter(|(score, _)| *score >= ENOUGH)
            .collect();
        scored.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.path.cmp(y.path)));
        scored.into_iter().find_map(|(score, entry)| {
            let path = match self.followed(entry.path) {
                Ok(path) => path,
                Err(why) => {
                    warnings.push(why);
                    *lost = true;
                    return None;
                }
            };
            let excerpt = match self.load(&path, entry.path) {
                // A retired record that a stale index still lists is no candidate.
                Ok(Some((document, _))) if document.status() != Some(Status::Active) => return None,
                Ok(Some((document, _))) => Some(excerpt(&document, category)),
                Ok(None) => {
                    warnings.push(format!("`{}` is in the index but does not exist", entry.path));
                    None
                }
                Err(fault) => {
                    warnings.push(fault.message);
                    None
                }
            };
            let candidate = Candidate {
                path: entry.path.to_owned(),
                title: entry.title.to_owned(),
                tags: entry.tags().map(str::to_owned).collect(),
                excerpt,
            };
            Some((score, candidate))
        })
    }

    /// The file an index line names, if it is a record's place.
    fn followed(&self, path: &str) -> std::result::Result<PathBuf, String> {
        if !path.ends_with(".json") {
            return Err(format!("`{path}` in the index is not a .json file"));
        }
        let full = self.call().project().folder().join(path);
        self.call()
            .project()
            .root()
            .resolve(&full)
            .map_err(|_| format!("`{path}` in the index leaves the memory folder"))
    }
}

/// `lost` says that a line matched whose path cannot be followed.
fn answer(category: &Category, event: Option<&str>, best: Option<(u32, Candidate)>, lost: bool) -> Answer {
    let delete_allowed = category.triage_may_delete();
    let name = category.name();
    let mut vetoes = Vec::new();
    let mut hints = Vec::new();
    let pre_action = match (&best, event) {
        (Some(_), _) => None,
        (None, None) => Some("CREATE"),
        (None, Some(_)) => Some("NOOP"),
    };
    let structural_cud = match (pre_action, delete_allowed) {
        (Some(action), _) => action,
        (None, true) => "UPDATE_OR_DELETE",
        (None, false) => "UPDATE",
    };
    if let Some((score, _)) = &best {
        if !delete_allowed {
            vetoes.push(format!("Cannot DELETE {name} (triage-initiated)"));
        }
        hints.push(format!("1 candidate found (score={score})"));
        match event {
            Some(event) if delete_allowed => {
                hints.push(format!("lifecycle_event={event} suggests DELETE if eligible"))
            }
            Some(event) => hints.push(format!(
                "lifecycle_event={event} present but DELETE disallowed for {name}; consider UPDATE"
            )),
            None => {}
        }
    } else if lost {
        hints.push(format!("a matching index line names no usable path; falling back to {structural_cud}"));
    } else if let Some(event) = event {
        hints.push(format!("lifecycle_event={event} with no matching candidate; NOOP"));
    }
    Answer {
        candidate: best.map(|(_, candidate)| candidate),
        lifecycle_event: event.map(str::to_owned),
        delete_allowed,
        pre_action,
        structural_cud,
        vetoes,
        hints,
    }
}

fn excerpt(document: &Document, category: &Category) -> Excerpt {
    let mut key_fields = Map::new();
    for field in category.fields().into_iter().filter(|field| field.excerpt) {
        let Some(value) =
            document.content().and_then(|content| content.get(field.name)).filter(|v| !v.is_null())
        else {
            continue;
        };
        let shown: String = plain(value).chars().take(FIELD_MAX).collect();
        key_fields.insert(field.name.to_owned(), Value::String(shown));
    }
    let last_change = document.changes().last().map(|entry| {
        entry
            .get("summary")
            .and_then(Value::as_str)
            .filter(|summary| !summary.is_empty())
            .unwrap_or("Unknown change")
    });
    Excerpt {
        title: document.text("title").unwrap_or_default().to_owned(),
        record_status: document.text("record_status").unwrap_or("active").to_owned(),
        tags: document.tags().into_iter().map(str::to_owned).collect(),
        last_change_summary: last_change.unwrap_or("Initial creation").to_owned(),
        key_fields,
    }
}
