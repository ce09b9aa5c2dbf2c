//! Status: what there is, shelf by shelf, and what needs attention.
//!
//! Comes in: a call. Goes out: figures. Never here: a memory's text.

use super::{Progress, Watch, asked, may_read, unwatched};
use crate::call::Call;
use crate::shelf::Problem;
use crate::shelf::tiers::Counts;
use crate::shelf::vault::Stats;
use heirloom_core::{Owner, ShelfName, Status, Verb, fault::Result};
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub use crate::shelf::Count;
pub use crate::shelf::topics::ExternalState;

/// Everything `status` knows.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct State {
    /// The project folder.
    pub project: PathBuf,
    /// The memory folder.
    pub memory: PathBuf,
    /// Records by category.
    pub categories: Vec<OfCategory>,
    /// All shelves.
    pub shelves: Vec<OfShelf>,
    /// The vault's own figures.
    pub vault: Stats,
    /// Where lessons live, and where they should.
    pub external_memory: ExternalState,
    /// Size on the disk.
    pub bytes: u64,
    /// Whether `index.md` says what the files say.
    pub index_in_sync: bool,
    /// What is wrong with it.
    pub issues: Vec<String>,
    /// Files of notes that hold no note anybody can use, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<Problem>,
    /// How much waits for a person.
    pub waiting_for_review: usize,
}

/// How much there is of a category.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OfCategory {
    /// Its name.
    pub category: String,
    /// Whether it is switched on.
    pub enabled: bool,
    /// How much.
    #[serde(flatten)]
    pub count: Count,
}

/// How much there is on a shelf.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OfShelf {
    /// Its name.
    pub shelf: &'static str,
    /// How much.
    #[serde(flatten)]
    pub count: Count,
}

/// How much a user has of turns and facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Own {
    /// Whose.
    pub user: String,
    /// Turns in use.
    pub episodes: u64,
    /// Facts in use.
    pub facts: u64,
    /// Facts replaced by newer ones.
    pub superseded: u64,
    /// Taken out of use.
    pub retired: u64,
}

/// Whose turns and facts this call reaches.
pub fn user(call: &Call) -> Result<String> {
    Ok(call.tiers()?.who().user().to_owned())
}

/// How much the caller has of turns and facts.
pub fn own(call: &Call) -> Result<Own> {
    asked(call, Verb::Status, ShelfName::Tiers, Owner::Nobody)?;
    let tiers = call.tiers()?;
    let Counts { episodes, facts, superseded, retired } = tiers.store().counts(tiers.who())?;
    Ok(Own { user: tiers.who().user().to_owned(), episodes, facts, superseded, retired })
}

/// What there is.
pub fn status(call: &Call) -> Result<State> {
    status_watched(call, &mut unwatched)
}

/// The same for somebody who waits for it: the first look at a large memory takes its time.
pub fn status_watched(call: &Call, watch: &mut Watch<'_>) -> Result<State> {
    may_read(call, Verb::Status)?;
    call.project().expect_memory()?;
    let root = call.project().root().folder();
    let records = call.records();
    let gists = records.gists(&mut |done, of| {
        watch(Progress { what: "records", done: done as u64, of: Some(of as u64) });
    })?;
    let mut by_kind: HashMap<&str, Count> = HashMap::new();
    let mut all = Count::default();
    for gist in &gists.all {
        for count in [by_kind.entry(gist.kind.name()).or_default(), &mut all] {
            // A status nobody knows counts as active, as in a list.
            match gist.status.unwrap_or(Status::Active) {
                Status::Active => count.active += 1,
                Status::Retired | Status::Superseded => count.retired += 1,
                Status::Archived => count.archived += 1,
            }
        }
    }
    let categories = call.settings().categories.iter().map(|c| OfCategory {
        category: c.name().to_owned(),
        enabled: c.enabled,
        count: by_kind.get(c.name()).cloned().unwrap_or_default(),
    });
    let mut shelves = Vec::new();
    for shelf in call.shelves() {
        let count = match shelf.name() {
            ShelfName::Records => all.clone(),
            name => match shelf.count() {
                // A database that cannot be reached keeps nobody from looking at files; `verify` names it.
                Err(_) if name == ShelfName::Tiers => continue,
                counted => counted?,
            },
        };
        shelves.push(OfShelf { shelf: shelf.name().name(), count });
    }
    let health = records.health_of(&gists)?;
    let passed_over = call.notes().passed_over()?;
    // The index is made with the first record: before that nothing is amiss.
    let none_yet = health.sync.is_none()
        && health.active + health.retired + health.archived + health.unreadable.len() == 0;
    Ok(State {
        project: call.project().folder().to_owned(),
        memory: root.to_owned(),
        categories: categories.collect(),
        shelves,
        vault: call.vault().stats()?,
        external_memory: call.topics().external_state(),
        bytes: folder_size(root),
        index_in_sync: none_yet || health.sync.as_ref().is_some_and(|sync| sync.is_none()),
        issues: if none_yet { Vec::new() } else { health.issues() },
        waiting_for_review: super::review::count(call, &gists.all)? + passed_over.len(),
        passed_over,
    })
}

fn folder_size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => folder_size(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |meta| meta.len()),
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::review::pending;
    use crate::verbs::tests::Desk;
    use heirloom_core::Caller;

    fn put(desk: &Desk, name: &str, text: &str) {
        let path = desk.folder.path().join("project/.claude/memory").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }

    fn record(category: &str, title: &str, rationale: &str) -> String {
        serde_json::json!({ "category": category, "title": title, "record_status": "active",
            "content": { "rule": rationale, "decision": rationale } })
        .to_string()
    }

    /// Long after every file was written, so that stamps count.
    fn later(desk: &Desk) -> Call {
        desk.call_at("2190-01-10T09:00:00Z", Caller::person("tester"), |_| {})
    }

    /// What is said with what was kept is what is said without.
    fn same_twice(desk: &Desk) -> State {
        let call = later(desk);
        let first = status(&call).unwrap();
        let again = status(&later(desk)).unwrap();
        assert_eq!(first, again);
        assert_eq!(first.waiting_for_review, pending(&call).unwrap().len());
        let kept = call.project().data().unwrap().join("gists");
        let lines = std::fs::read_to_string(&kept).unwrap().lines().count();
        assert_eq!(lines, 1 + 4, "all that can be read, but for the category with a tab in it");
        std::fs::remove_file(&kept).unwrap();
        assert_eq!(status(&later(desk)).unwrap(), first);
        first
    }

    #[test]
    fn status_counts_the_same_whether_it_read_the_files_or_knew_them() {
        let desk = Desk::new();
        let key = ["ghp", "_x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo"].concat();
        // The project is known to this user's data folder.
        later(&desk).project().data().unwrap();
        put(&desk, "decisions/a.json", &record("decision", "Use one queue", "it is simple"));
        put(&desk, "decisions/b.json", &record("decision", "Keep a key", &format!("it is {key}")));
        put(&desk, "constraints/c.json", &record("constraint", "Never push on Fridays", "nobody is there"));
        put(&desk, "constraints/d.json", &record("constraint", "Broken", &format!("say {key}")));
        put(&desk, "decisions/e.json", "no json");
        put(&desk, "decisions/f.json", &record("poem\tactive", "Odd", "x"));
        let state = same_twice(&desk);
        let decisions = state.categories.iter().find(|c| c.category == "decision").unwrap();
        assert_eq!(decisions.count.active, 2);
        assert!(state.waiting_for_review >= 3, "{state:?}");
        // As long as before, with other bytes: the stamp tells.
        status(&later(&desk)).unwrap();
        put(
            &desk,
            "decisions/b.json",
            &record("decision", "Keep a key", &format!("it is {}", "x".repeat(key.len()))),
        );
        let after = same_twice(&desk);
        status(&later(&desk)).unwrap();
        let kept = later(&desk).project().data().unwrap().join("gists");
        assert!(std::fs::read_to_string(&kept).unwrap().contains("a.json"));
        let id = heirloom_core::MemoryId::parse("decision:a").unwrap();
        crate::verbs::remove::forget(&later(&desk), &id, false).unwrap();
        assert!(!kept.exists(), "not even its name is left");
        assert!(after.waiting_for_review < state.waiting_for_review, "{after:?}");
    }
}
