//! Verifying: what is wrong with the shelf's files.
//!
//! Comes in: the base. Goes out: a problem per finding, with the line where one can be named and what to do. Never here: a change;
//! [`super::repair`] makes those that are safe.

use super::stock::{Held, MAX_ARCHIVE, Part, Stock};
use super::{Topics, index, marks};
use crate::files;
use crate::shelf::Problem;
use heirloom_core::{Code, fault::Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of a topic: its pages, then its archive.
pub(super) fn files_of(stock: &Stock, topic: &str) -> Vec<(PathBuf, u64)> {
    let live = stock
        .subtopics(topic)
        .into_iter()
        .filter_map(|name| Some((stock.live_path(topic, &name).ok()?, files::MAX_FILE)));
    let old = stock
        .years(topic)
        .into_iter()
        .filter_map(|year| Some((stock.archive_path(topic, year).ok()?, MAX_ARCHIVE)));
    live.chain(old).collect()
}

/// Where two versions stand side by side: the first line of the first conflict that git left whole.
pub(super) fn conflict_line(text: &str) -> Option<usize> {
    let mut first = None;
    let mut middle = false;
    for (at, line) in text.lines().enumerate() {
        match marks::conflict(line) {
            Some(b'<') => (first, middle) = (Some(at + 1), false),
            Some(b'=') if first.is_some() => middle = true,
            Some(b'>') if middle => return first,
            _ => {}
        }
    }
    None
}

impl Topics<'_> {
    /// What is wrong with the shelf's files.
    pub(super) fn problems(&self) -> Result<Vec<Problem>> {
        let stock = self.stock();
        let mut out = Vec::new();
        if let Some(fault) = self.external_fault() {
            let configured = self.call.settings().memory_configuration.path.as_deref();
            out.push(Problem {
                file: configured.map(super::url::shown).unwrap_or_default(),
                line: None,
                code: fault.code.name(),
                message: fault.message.clone(),
                fix: fault.next_step().to_owned(),
            });
        }
        let forgotten = self.forgotten()?;
        for topic in stock.topics() {
            for (path, limit) in files_of(&stock, &topic) {
                self.check_file(&path, limit, &mut out);
            }
            let entries = stock.entries(&topic, Part::default());
            for held in entries.iter().filter(|held| self.came_back(&forgotten, held)) {
                let message = format!("`{}` was forgotten and came back; it is not recalled", held.id);
                let fix = "`heirloom forget` it again, and see where it came from (a merge, a pull)";
                out.push(self.problem(&held.path, None, Code::AntiResurrection, message, fix));
            }
            self.check_entries(&entries, &mut out);
        }
        self.check_index(&stock, &mut out);
        Ok(out)
    }

    fn problem(&self, path: &Path, line: Option<usize>, code: Code, message: String, fix: &str) -> Problem {
        Problem {
            file: self.call.project().shown(path),
            line,
            code: code.name(),
            message,
            fix: fix.to_owned(),
        }
    }

    fn check_file(&self, path: &Path, limit: u64, out: &mut Vec<Problem>) {
        let text = match files::read_text(path, limit) {
            Ok(text) => text.unwrap_or_default(),
            Err(fault) => {
                let next = fault.next_step().to_owned();
                return out.push(self.problem(path, None, fault.code, fault.message, &next));
            }
        };
        if let Some(line) = conflict_line(&text) {
            let message = "conflict markers of a merge: the file has two versions".to_owned();
            out.push(self.problem(
                path,
                Some(line),
                Code::Damaged,
                message,
                "`heirloom verify --fix` joins them",
            ));
        }
        for (at, line) in text.lines().enumerate() {
            if marks::is_almost_dated(line) {
                let message = "this heading looks like an entry, but its date does not exist".to_owned();
                out.push(self.problem(
                    path,
                    Some(at + 1),
                    Code::Validation,
                    message,
                    "write `## YYYY-MM-DD: Title`",
                ));
            }
        }
    }

    fn check_entries(&self, entries: &[Held], out: &mut Vec<Problem>) {
        let mut hashes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for held in entries {
            let name = format!("`{}`", held.id);
            let lesson = &held.lesson;
            if lesson.title.is_empty() {
                out.push(self.problem(
                    &held.path,
                    None,
                    Code::Validation,
                    format!("{name} has no title"),
                    "write one behind its date",
                ));
            }
            if [&lesson.problem, &lesson.solution, &lesson.lead].iter().all(|text| text.is_empty()) {
                let message = format!("{name} says neither what went wrong nor how it was fixed");
                out.push(self.problem(
                    &held.path,
                    None,
                    Code::Validation,
                    message,
                    "add `**Problem:**` or `**Solution:**`",
                ));
            }
            let natural = marks::dated(held.plain.lines().next().unwrap_or_default());
            let natural = natural.map(|h| h.anchor.unwrap_or_else(|| super::names::slug_of(&h.title)));
            if natural.is_some_and(|slug| slug != held.slug) {
                let message = format!("{name} has the name of another entry of that day");
                out.push(self.problem(
                    &held.path,
                    None,
                    Code::Ambiguous,
                    message,
                    "`heirloom verify --fix` gives it a name of its own",
                ));
            }
            if let Some(rule) = self.held_back(held) {
                let message = format!("{name} holds what the gate refuses ({rule}); it is not recalled");
                out.push(self.problem(
                    &held.path,
                    None,
                    Code::GateRefused,
                    message,
                    "`heirloom scan --store --fix` cuts it out; take it out of use where it is valid",
                ));
            }
            *hashes.entry((held.subtopic.as_str(), held.hash.as_str())).or_default() += 1;
        }
        for ((_, hash), count) in hashes.into_iter().filter(|(_, count)| *count > 1) {
            if let Some(held) = entries.iter().find(|held| held.hash == hash) {
                let message = format!("`{}` is in the file {count} times, word for word", held.id);
                out.push(self.problem(&held.path, None, Code::Damaged, message, "delete all but one"));
            }
        }
    }

    fn check_index(&self, stock: &Stock, out: &mut Vec<Problem>) {
        let path = stock.index_path();
        let text = match files::read_text(&path, files::MAX_FILE) {
            Ok(text) => text.unwrap_or_default(),
            Err(fault) => {
                let next = fault.next_step().to_owned();
                return out.push(self.problem(&path, None, fault.code, fault.message, &next));
            }
        };
        if let Some(line) = conflict_line(&text) {
            let message = "conflict markers of a merge: the file has two versions".to_owned();
            return out.push(self.problem(
                &path,
                Some(line),
                Code::Damaged,
                message,
                "`heirloom verify --fix` joins them",
            ));
        }
        let listed: BTreeSet<(String, String)> =
            index::lines(&text).into_iter().map(|(t, s, _)| (t, s)).collect();
        let there = pages(stock);
        for (topic, subtopic) in there.symmetric_difference(&listed) {
            let file = format!("{topic}/{subtopic}.md");
            let message = if listed.contains(&(topic.clone(), subtopic.clone())) {
                format!("the index lists `{file}`, which does not exist")
            } else {
                format!("the index does not list `{file}`")
            };
            out.push(self.problem(
                &path,
                None,
                Code::Damaged,
                message,
                "`heirloom verify --fix` brings the index up to date",
            ));
        }
    }
}

/// All topic files.
pub(super) fn pages(stock: &Stock) -> BTreeSet<(String, String)> {
    let of = |topic: String| {
        let names = stock.subtopics(&topic);
        names.into_iter().map(move |name| (topic.clone(), name))
    };
    stock.topics().into_iter().flat_map(of).collect()
}
