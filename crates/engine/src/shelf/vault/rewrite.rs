//! The only two rewrites: `compact`, which leaves out what no longer counts, and `forget`, which removes every line of a memory.
//!
//! Comes in: nothing, or an id. Goes out: the file anew, in one piece. Both hold the store's lock, which every append needs too, so
//! no line is lost between reading and replacing. Lines that stay keep their bytes, so what was accepted stays accepted; a line that
//! cannot be read stays as well, at the end, for whoever can mend it.
//!
//! Compacting drops tombstones: a branch that still has the line of a retired memory can bring it back when it is merged.

use super::image::{Broken, Held, Image};
use super::store::Vault;
use crate::files::{self, Mode, Prepared};
use crate::gate::Entry;
use crate::git;
use crate::shelf::door::change::{Was, Written};
use crate::shelf::provenance;
use crate::shelf::{Forgotten, unknown};
use heirloom_core::{Kind, MemoryId, ShelfName, Status, fault::Result, time};
use serde::Serialize;

/// What compacting did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Compacted {
    /// Lines before, blank ones left out.
    pub lines_before: usize,
    /// Lines after.
    pub lines_after: usize,
    /// Lines that are gone.
    pub lines_removed: usize,
    /// Lines among those that said something else under the same id and version.
    #[serde(skip_serializing_if = "is_zero")]
    pub twins_removed: usize,
    /// Lines that cannot be read and stayed.
    #[serde(skip_serializing_if = "is_zero")]
    pub unreadable: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Vault<'_> {
    /// Leaves out superseded versions and tombstones; what stays is sorted by category, then by when it was first written.
    pub fn compact(&self, entry: Entry) -> Result<Compacted> {
        let lock = self.call.lock()?;
        let bytes = self.bytes()?;
        let image = Image::of(&bytes);
        let resolved = image.resolve();
        let mut active: Vec<Held<'_>> = resolved.active().collect();
        active.sort_by_cached_key(|held| {
            let created = held.record.created_at.to_string();
            (held.record.category.to_string(), time::parse(&created), created)
        });
        let unreadable = image.broken();
        let kept = active.len() + unreadable.len();
        let lines = active.iter().map(|held| held.bytes).chain(unreadable.iter().map(|b| b.bytes));
        let text = joined(lines);
        if text != bytes {
            let ready = Prepared::new(&self.path(), &text, Mode::Shared)?;
            let written = Written {
                body: "",
                action: "vault_compact",
                shelf: ShelfName::Vault,
                id: "vault",
                hash: "",
                before: None,
                size: text.len(),
                was: Was::Unkept,
                leaves: Status::Active,
            };
            let intent = self.call.intend_plain(&lock, entry, &[], written)?;
            ready.commit()?;
            intent.done();
        }
        Ok(Compacted {
            lines_before: image.lines(),
            lines_after: kept,
            lines_removed: image.lines() - kept,
            twins_removed: image.twins().len(),
            unreadable: unreadable.len(),
        })
    }

    pub(super) fn forget_memory(&self, asked: &MemoryId, entry: Entry) -> Result<Forgotten> {
        let project = self.call.project();
        let lock = self.call.lock()?;
        let name = asked.name();
        let ids = [Kind::Canon, Kind::Register].map(|kind| MemoryId::new(&kind, name));
        let (inbox, now) = (self.call.inbox()?, project.world().now);
        let of_ids = |id: &str| ids.iter().any(|one| one.as_str() == id);
        let mut waiting = inbox.list(now)?.iter().filter(|item| of_ids(&item.id)).count();
        let bytes = self.bytes()?;
        let image = Image::of(&bytes);
        let of_it = image.versions(name);
        let id = of_it.last().map_or_else(|| asked.clone(), |held| held.record.memory_id());
        let damaged: Vec<Broken<'_>> =
            image.broken().into_iter().filter(|line| mentions(line.bytes, name)).collect();
        if of_it.is_empty() && damaged.is_empty() && waiting == 0 {
            return Err(unknown(asked.as_str()));
        }
        let mut places = Vec::new();
        let gone: Vec<usize> =
            of_it.iter().map(|held| held.number).chain(damaged.iter().map(|line| line.number)).collect();
        let file = project.shown(&self.path());
        let ready = match gone.is_empty() {
            true => None,
            false => Some(Prepared::new(&self.path(), &without(&bytes, &gone), Mode::Shared)?),
        };
        let written = Written {
            body: "",
            action: "memory_forget",
            shelf: ShelfName::Vault,
            id: id.as_str(),
            hash: "",
            before: None,
            size: gone.len(),
            was: Was::Unkept,
            leaves: Status::Retired,
        };
        let marker = provenance::forgetting(
            project.root(),
            &lock,
            id.as_str(),
            &[],
            &time::format(now),
            &self.call.salt(),
        )?;
        let intent = self.call.intend_plain(&lock, entry, &[], written)?;
        marker.map_or(Ok(()), Prepared::commit)?;
        let mut swept = 0;
        for id in &ids {
            swept += inbox.sweep(now, Some(id.as_str()))?;
        }
        waiting = waiting.max(swept);
        if let Some(ready) = ready {
            ready.commit()?;
            places.push(format!("{file} ({} lines)", gone.len()));
        }
        if waiting > 0 {
            places.push(format!("review inbox ({waiting})"));
        }
        files::sweep_temporary(project.root().folder());
        for id in &ids {
            self.call.forget_trust(id.as_str())?;
        }
        intent.done();
        let in_git = if git::has_history(project.folder(), &self.path()) { vec![file] } else { Vec::new() };
        Ok(Forgotten { id, places, in_git })
    }
}

fn joined<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut text = Vec::new();
    for line in lines {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    text
}

/// The file without the lines of these numbers; every other byte stays.
fn without(bytes: &[u8], gone: &[usize]) -> Vec<u8> {
    let gone: std::collections::HashSet<usize> = gone.iter().copied().collect();
    let lines = bytes.split_inclusive(|b| *b == b'\n').enumerate();
    lines.filter(|(at, _)| !gone.contains(&(at + 1))).flat_map(|(_, line)| line.iter().copied()).collect()
}

/// Whether an unreadable line speaks of an id: a torn line of it may hold its text.
fn mentions(line: &[u8], id: &str) -> bool {
    memchr::memmem::find(line, id.as_bytes()).is_some()
}
