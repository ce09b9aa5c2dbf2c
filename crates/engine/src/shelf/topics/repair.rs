//! Repairing: what `verify --fix` does to this shelf.
//!
//! Comes in: the base, locked. Goes out: what was put right, a line each. Conflict marks are joined entry by entry, interrupted moves
//! finished, twins named, the index brought up to date. Never here: deleting text that is in one place only.

use super::page::Page;
use super::stock::Stock;
use super::store::{self, Open};
use super::verify::{conflict_line, files_of, pages};
use super::{Topics, index, marks, merge_index, merge_topic, names};
use crate::files::{self, Mode};
use heirloom_core::fault::Result;
use std::path::Path;

impl Topics<'_> {
    /// Puts right what can be put right without a choice.
    pub fn repair(&self) -> Result<Vec<String>> {
        let open = self.open()?;
        let mut done = Vec::new();
        for topic in open.stock.topics() {
            for (path, limit) in files_of(&open.stock, &topic) {
                let text = files::read_text(&path, limit).ok().flatten();
                if text.is_some_and(|text| conflict_line(&text).is_some()) {
                    join(&path, limit, merge_topic)?;
                    done.push(format!("joined both versions of `{}`", self.call.project().shown(&path)));
                }
            }
            for subtopic in open.stock.subtopics(&topic) {
                self.repair_page(&open, &topic, &subtopic, &mut done)?;
            }
        }
        self.repair_index(&open.stock, &mut done)?;
        Ok(done)
    }

    fn repair_page(&self, open: &Open, topic: &str, subtopic: &str, done: &mut Vec<String>) -> Result<()> {
        // A file that cannot be read is `verify`'s to name and a person's to mend.
        let Ok((path, mut page)) = store::live_page(&open.stock, topic, subtopic) else { return Ok(()) };
        let shown = self.call.project().shown(&path);
        let mut batch = files::Batch::default();
        if store::clear_leftovers(&open.stock, &mut batch, topic, subtopic, &page)? {
            batch.commit()?;
            done.push(format!("finished an interrupted move of `{shown}`"));
        }
        let part = super::stock::Part { subtopic: Some(subtopic), year: None };
        let mut named = 0;
        for held in open.stock.entries(topic, part).into_iter().filter(|held| held.path == path) {
            let heading = &page.spots()[held.at].heading;
            let natural = heading.anchor.clone().unwrap_or_else(|| names::slug_of(&heading.title));
            if natural != held.slug {
                page = with_name(&page, held.at, &held.slug);
                named += 1;
            }
        }
        if named > 0 {
            files::write(&path, page.text().as_bytes(), Mode::Shared)?;
            done.push(format!("gave {named} twins in `{shown}` names of their own"));
        }
        Ok(())
    }

    fn repair_index(&self, stock: &Stock, done: &mut Vec<String>) -> Result<()> {
        let path = stock.index_path();
        let before = files::read_text(&path, files::MAX_FILE)?.unwrap_or_default();
        if conflict_line(&before).is_some() {
            join(&path, files::MAX_FILE, merge_index)?;
        }
        let there = pages(stock);
        let mut text = files::read_text(&path, files::MAX_FILE)?.unwrap_or_default();
        let listed = index::lines(&text).into_iter().map(|(topic, subtopic, _)| (topic, subtopic));
        text = index::without_all(&text, &listed.filter(|line| !there.contains(line)).collect());
        if text != before {
            files::write(&path, text.as_bytes(), Mode::Shared)?;
        }
        for (topic, subtopic) in &there {
            // Likewise: the others still get their line.
            let mut batch = files::Batch::default();
            if store::update_index(stock, &mut batch, topic, subtopic, None).is_ok() {
                batch.commit()?;
            }
        }
        if files::read_text(&path, files::MAX_FILE)?.unwrap_or_default() != before {
            done.push("brought the index up to date".to_owned());
        }
        Ok(())
    }
}

/// The page with a name behind an entry's title.
fn with_name(page: &Page, at: usize, name: &str) -> Page {
    let plain = page.plain(at);
    let (first, rest) = plain.split_once('\n').unwrap_or((&plain, ""));
    let title = marks::split_anchor(first.trim_end()).0;
    page.replaced(at, &format!("{title} {{#{name}}}\n{rest}"))
}

/// Base, ours, theirs in; one file out.
type Merge = fn(&[u8], &[u8], &[u8]) -> Vec<u8>;

/// Joins the versions that stand between conflict marks.
fn join(path: &Path, limit: u64, merge: Merge) -> Result<()> {
    let text = files::read_text(path, limit)?.unwrap_or_default();
    let [base, ours, theirs] = sides(&text);
    files::write(path, &merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()), Mode::Shared)
}

/// Base, ours and theirs of a text with conflict marks. Lines outside them belong to all; without a base part, to none: then nothing
/// counts as removed.
fn sides(text: &str) -> [String; 3] {
    let mut out = [String::new(), String::new(), String::new()];
    let mut at: Option<usize> = None;
    let mut has_base = false;
    for line in text.split_inclusive('\n') {
        match (marks::conflict(line), at) {
            (Some(b'<'), None) => at = Some(1),
            (Some(b'|'), Some(1)) => {
                at = Some(0);
                has_base = true;
            }
            (Some(b'='), Some(0 | 1)) => at = Some(2),
            (Some(b'>'), Some(2)) => at = None,
            (_, Some(side)) => out[side].push_str(line),
            (_, None) => out.iter_mut().for_each(|side| side.push_str(line)),
        }
    }
    if !has_base {
        out[0].clear();
    }
    out
}
