//! Reports on the index: does it match the files, what does it hold, how is the store.
//!
//! Comes in: the shelf as it is. Goes out: data for a report; the command line words it. Never here: repairing.

use super::gist::Gists;
use super::index_file::{is_entry, line_path};
use super::scan::Found;
use super::store::{Records, label_of};
use heirloom_core::{Status, fault::Result, time};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Times a record was updated from which it is worth mentioning.
const HEAVY: u64 = 5;
/// Days a retirement counts as recent.
const RECENT_DAYS: i64 = 7;

/// Where index and files differ.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Mismatch {
    /// Active files without an index line.
    pub missing: Vec<String>,
    /// Index lines without an active file.
    pub stale: Vec<String>,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
}

impl Mismatch {
    /// Whether index and files agree.
    pub fn is_none(&self) -> bool {
        self.missing.is_empty() && self.stale.is_empty()
    }
}

/// How the store is.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Health {
    /// Active records by label.
    pub by_category: BTreeMap<String, usize>,
    /// Records by status.
    pub active: usize,
    /// Retired ones.
    pub retired: usize,
    /// Archived ones.
    pub archived: usize,
    /// Often updated: path, title, times.
    pub heavy: Vec<(String, String, u64)>,
    /// Retired in the last week: title, whole days ago.
    pub recent: Vec<(String, i64)>,
    /// Where index and files differ; `None` if there is no index.
    pub sync: Option<Mismatch>,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
}

impl Health {
    /// What needs attention, a line each: the index, and records that change more often than they should.
    pub fn attention(&self) -> Vec<String> {
        let mut all = self.issues();
        if !self.heavy.is_empty() {
            all.push(format!("{} updated more than {HEAVY} times", self.heavy.len()));
        }
        all
    }

    /// What is wrong with the index, a line each.
    pub fn issues(&self) -> Vec<String> {
        match &self.sync {
            None => vec!["index.md does not exist".to_owned()],
            Some(sync) => {
                [("missing from index.md", sync.missing.len()), ("stale in index.md", sync.stale.len())]
                    .into_iter()
                    .filter(|(_, count)| *count > 0)
                    .map(|(what, count)| format!("{count} {what}"))
                    .collect()
            }
        }
    }
}

impl Records<'_> {
    /// Compares the index with the files; `None` if there is no index.
    pub fn compare_index(&self) -> Result<Option<Mismatch>> {
        let scan = self.scan();
        self.compare(&scan.found, scan.unreadable)
    }

    fn compare(&self, found: &[Found], unreadable: Vec<String>) -> Result<Option<Mismatch>> {
        let active = found.iter().filter(|f| f.status() == Some(Status::Active)).map(|f| f.path.as_path());
        self.compare_active(active, unreadable)
    }

    fn compare_active<'p>(
        &self,
        active: impl Iterator<Item = &'p Path>,
        unreadable: Vec<String>,
    ) -> Result<Option<Mismatch>> {
        let Some(text) = self.index_text()? else { return Ok(None) };
        let listed: BTreeSet<&str> = text.lines().filter_map(line_path).collect();
        let active: BTreeSet<String> = active.map(|path| self.call.project().shown(path)).collect();
        let missing = active.iter().filter(|path| !listed.contains(path.as_str())).cloned().collect();
        let stale =
            listed.iter().filter(|path| !active.contains(**path)).map(|path| (*path).to_owned()).collect();
        Ok(Some(Mismatch { missing, stale, unreadable }))
    }

    /// Index lines that contain a text, in any case; `None` if there is no index.
    pub fn query(&self, needle: &str) -> Result<Option<Vec<String>>> {
        let needle = needle.to_lowercase();
        let Some(text) = self.index_text()? else { return Ok(None) };
        let hits = text.lines().filter(|line| is_entry(line) && line.to_lowercase().contains(&needle));
        Ok(Some(hits.map(str::to_owned).collect()))
    }

    /// How the store is, from what counting knows of each record: names in place of titles, and of retired ones not when that was.
    pub(crate) fn health_of(&self, gists: &Gists) -> Result<Health> {
        let mut health = Health { unreadable: gists.unreadable.clone(), ..Health::default() };
        for gist in &gists.all {
            match gist.status {
                Some(Status::Active) => {
                    health.active += 1;
                    *health.by_category.entry(label_of(gist.kind.name())).or_default() += 1;
                }
                Some(Status::Retired) => health.retired += 1,
                Some(Status::Archived | Status::Superseded) => health.archived += 1,
                None => {}
            }
            if gist.times > HEAVY {
                let name = gist.id.name().to_owned();
                health.heavy.push((self.call.project().shown(&gist.path), name, gist.times));
            }
        }
        let active = gists.all.iter().filter(|gist| gist.status == Some(Status::Active));
        health.sync =
            self.compare_active(active.map(|gist| gist.path.as_path()), gists.unreadable.clone())?;
        Ok(health)
    }

    /// How the store is.
    pub fn health(&self) -> Result<Health> {
        let scan = self.scan();
        let mut health = Health { unreadable: scan.unreadable.clone(), ..Health::default() };
        let now = self.call.project().world().now;
        for found in &scan.found {
            let title = || found.document.text("title").unwrap_or_default().to_owned();
            match found.status() {
                Some(Status::Active) => {
                    health.active += 1;
                    let label = label_of(found.document.category().unwrap_or(&found.folder_category));
                    *health.by_category.entry(label).or_default() += 1;
                }
                Some(Status::Retired) => {
                    health.retired += 1;
                    let age = found
                        .document
                        .text("retired_at")
                        .and_then(time::parse)
                        .map(|at| time::days_between(at, now));
                    if let Some(days) = age.filter(|days| (0..=RECENT_DAYS).contains(days)) {
                        health.recent.push((title(), days));
                    }
                }
                Some(Status::Archived | Status::Superseded) => health.archived += 1,
                None => {}
            }
            let times = found.document.times_updated();
            if times > HEAVY {
                health.heavy.push((self.call.project().shown(&found.path), title(), times));
            }
        }
        health.sync = self.compare(&scan.found, scan.unreadable)?;
        Ok(health)
    }
}
