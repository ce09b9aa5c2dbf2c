//! The vault's own format in and out.
//!
//! Comes in: the bytes of another vault, or nothing. Goes out: what of it is here now, or this vault's lines as they are. Every
//! imported line goes through the gate like any other write and keeps its id, version and times; the import's own lines are not
//! held against one another. Never here: a newer line of ours replaced by an older one.

use super::image::{Held, Image};
use super::store::Vault;
use super::write::Write;
use crate::gate::Entry;
use heirloom_core::{Code, Fault, fault::Result};
use serde::Serialize;

/// What an import did.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Imported {
    /// Ids that are here now as the other vault has them.
    pub imported: Vec<String>,
    /// Memories that were here already, as they are there or newer.
    pub unchanged: usize,
    /// Memories of the other vault that are not here, with their line there and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<NotTaken>,
    /// Lines of the other vault that cannot be read.
    pub unreadable: usize,
}

/// A line that was not taken.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotTaken {
    /// The line in the other vault.
    pub line: usize,
    /// The error code.
    pub code: &'static str,
    /// Why.
    pub message: String,
}

impl NotTaken {
    fn of(line: usize, fault: &Fault) -> NotTaken {
        NotTaken { line, code: fault.code.name(), message: fault.message.clone() }
    }
}

impl Vault<'_> {
    /// Every readable line, or only those in use, as they are in the file.
    pub fn export(&self, history: bool) -> Result<Vec<u8>> {
        let bytes = self.bytes()?;
        let image = Image::of(&bytes);
        let resolved = image.resolve();
        let mut lines: Vec<(usize, &[u8])> = match history {
            true => image.readable().map(|held| (held.number, held.bytes)).collect(),
            false => resolved.active().map(|held| (held.number, held.bytes)).collect(),
        };
        lines.sort_unstable();
        let mut out = Vec::with_capacity(bytes.len());
        for (_, line) in lines {
            out.extend_from_slice(line);
            out.push(b'\n');
        }
        Ok(out)
    }

    /// Takes over what another vault has in use, and what it retired of ours.
    pub fn import(&self, other: &[u8], entry: Entry) -> Result<Imported> {
        let lock = self.call.lock()?;
        let bytes = self.bytes()?;
        let ours: Vec<Held<'_>> = Image::of(&bytes).resolve().all().collect();
        let by_id: std::collections::HashMap<&str, &super::Record<'_>> =
            ours.iter().map(|held| (held.record.id.as_ref(), &held.record)).collect();
        let theirs = Image::of(other);
        let resolved = theirs.resolve();
        let mut report = Imported { unreadable: theirs.broken().len(), ..Imported::default() };
        let mut writes = Vec::new();
        let mut lines = Vec::new();
        for held in resolved.all() {
            match by_id.get(held.record.id.as_ref()) {
                None if !held.record.is_active() => report.unchanged += 1,
                Some(here) if here.version == held.record.version && **here != held.record => {
                    let fault = Fault::new(
                        Code::OccConflict,
                        format!("`{}` says something else here under the same version", here.memory_id()),
                    );
                    report.refused.push(NotTaken::of(held.number, &fault));
                }
                Some(here) if here.version >= held.record.version => report.unchanged += 1,
                _ => {
                    writes.push(Write::Import { line: held.record.line() });
                    lines.push(held.number);
                }
            }
        }
        for (line, outcome) in lines.into_iter().zip(self.write_locked(&lock, writes, entry, None)?) {
            match outcome {
                Ok(stored) => report.imported.push(stored.id.as_str().to_owned()),
                Err(fault) => report.refused.push(NotTaken::of(line, &fault)),
            }
        }
        report.refused.sort_by_key(|not| not.line);
        Ok(report)
    }
}
