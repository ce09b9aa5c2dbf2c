//! Redacting what the topic files already hold: lessons saved before a rule existed, or by hand.
//!
//! Comes in: nothing. Goes out: topic files, archives and the index with those spans replaced, every other byte as it was, audited.
//! What is known of who wrote a lesson stays with it. Never here: a file that cannot be read; it stays listed.

use super::Topics;
use super::stock::{MAX_ARCHIVE, Part};
use super::verify::files_of;
use crate::call::Written;
use crate::files::{self, Mode};
use crate::gate::Entry;
use heirloom_core::{ShelfName, fault::Result};
use std::collections::HashMap;

impl Topics<'_> {
    /// Cuts secrets and identity numbers out of every file. Returns the files that changed.
    pub(super) fn redact_files(&self, entry: Entry) -> Result<Vec<String>> {
        let open = self.open()?;
        let mut changed = Vec::new();
        for topic in open.stock.topics() {
            let before: HashMap<String, String> = open
                .stock
                .entries(&topic, Part::default())
                .into_iter()
                .map(|held| (held.id.to_string(), held.hash))
                .collect();
            let mut touched = false;
            for (path, limit) in files_of(&open.stock, &topic) {
                touched |= self.redact_file(&path, limit, &mut changed)?;
            }
            if !touched {
                continue;
            }
            for held in open.stock.entries(&topic, Part::default()) {
                let old = before.get(held.id.as_str());
                if old == Some(&held.hash) {
                    continue;
                }
                let what = Written {
                    action: "memory_redact",
                    shelf: ShelfName::Topics,
                    id: held.id.as_str(),
                    // A title that was cut made another id of it, and of that one nothing is known.
                    hash: if old.is_some() { &held.hash } else { "" },
                    before: old.map(String::as_str),
                    size: held.plain.len(),
                };
                self.call.noted(&open.lock, entry, &[], what)?;
            }
        }
        self.redact_file(&open.stock.index_path(), MAX_ARCHIVE, &mut changed)?;
        Ok(changed)
    }

    fn redact_file(&self, path: &std::path::Path, limit: u64, changed: &mut Vec<String>) -> Result<bool> {
        let Ok(Some(text)) = files::read_text(path, limit) else { return Ok(false) };
        let cut = self.call.screen().redacted(&text);
        if cut == text {
            return Ok(false);
        }
        files::write(path, cut.as_bytes(), Mode::Shared)?;
        changed.push(self.call.project().shown(path));
        Ok(true)
    }
}
