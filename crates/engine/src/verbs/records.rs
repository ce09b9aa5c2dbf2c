//! The record tools that look: which record new information belongs to, and what `index.md` holds.
//!
//! Comes in: a category and a text, or what to look for. Goes out: answers in the record format's own words, cut to what the caller may have. Never
//! here: a record that changes; of the files only `index.md` is written, and only by [`rebuild`].

use super::told::{fit_text, redact_in};
use super::{asked, may_read};
use crate::call::Call;
use crate::project::no_memory;
use heirloom_core::{Code, Fault, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

pub use crate::recall::candidate::Answer;
pub use crate::shelf::records::{Collected, Health, Mismatch};

/// New information that may belong to a record that is there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The category to look in.
    pub category: String,
    /// What is new.
    pub new_info: String,
    /// What happened to what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle_event: Option<String>,
}

/// The record that the information may belong to, and what may be done. `warnings` names index lines that cannot be followed.
pub fn candidate(call: &Call, ask: &Candidate, warnings: &mut Vec<String>) -> Result<Answer> {
    may_read(call, Verb::Search)?;
    let category = call.settings().category(&ask.category).ok_or_else(|| {
        Fault::new(Code::Usage, format!("there is no category `{}`", ask.category))
            .hint("`heirloom config list` shows the categories")
    })?;
    let event = ask.lifecycle_event.as_deref();
    let mut answer = call.records().candidate(category, &ask.new_info, event, warnings)?;
    if let (Some(found), false) = (&mut answer.candidate, call.caller().is_person()) {
        let fit = |text: &mut String| *text = fit_text(call, text);
        fit(&mut found.title);
        found.tags.iter_mut().for_each(fit);
        if let Some(excerpt) = &mut found.excerpt {
            fit(&mut excerpt.title);
            fit(&mut excerpt.last_change_summary);
            excerpt.tags.iter_mut().for_each(fit);
            for value in excerpt.key_fields.values_mut() {
                redact_in(call.screen(), value);
            }
        }
    }
    Ok(answer)
}

/// Refuses to look at the records of a folder that has no memory.
pub fn expect_memory(call: &Call) -> Result<()> {
    let root = call.project().root().folder();
    if root.is_dir() { Ok(()) } else { Err(no_memory(root)) }
}

/// What became of `index.md`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rebuilt {
    /// How many records it lists.
    pub entries: usize,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
}

/// Writes `index.md` again from the records.
pub fn rebuild(call: &Call) -> Result<Rebuilt> {
    expect_memory(call)?;
    asked(call, Verb::Repair, ShelfName::Records, Owner::Nobody)?;
    let (entries, unreadable) = call.records().rebuild(&call.lock()?)?;
    super::commit::commit(call, "memory: rebuild index.md");
    Ok(Rebuilt { entries, unreadable })
}

/// Where `index.md` and the records differ; nothing if there is no `index.md`.
pub fn mismatch(call: &Call) -> Result<Option<Mismatch>> {
    expect_memory(call)?;
    may_read(call, Verb::Verify)?;
    call.records().compare_index()
}

/// The lines of `index.md` that hold a text, in any case; nothing if there is no `index.md`.
pub fn lines_with(call: &Call, text: &str) -> Result<Option<Vec<String>>> {
    expect_memory(call)?;
    may_read(call, Verb::Search)?;
    let lines = call.records().query(text)?;
    Ok(lines.map(|lines| lines.iter().map(|line| fit_text(call, line)).collect()))
}

/// How the records are.
pub fn health(call: &Call) -> Result<Health> {
    expect_memory(call)?;
    may_read(call, Verb::Status)?;
    let mut health = call.records().health()?;
    let titles = health.heavy.iter_mut().map(|(_, title, _)| title);
    titles.chain(health.recent.iter_mut().map(|(title, _)| title)).for_each(|title| {
        *title = fit_text(call, title);
    });
    Ok(health)
}
