//! Redacting what is already stored: records saved before a rule existed, or by hand.
//!
//! Comes in: records whose text the gate would refuse. Goes out: the same records with those spans replaced, audited. Never here: a record
//! that cannot be read or is not valid without the span; those are left for a person and stay listed.

use super::draft::RecordDraft;
use super::store::Records;
use crate::files::{Mode, Prepared};
use crate::gate::policy::{Act, Row};
use crate::gate::{Draft as _, Entry, scan};
use crate::shelf::door::change::Was;
use heirloom_core::{ShelfName, Trust, fault::Result};
use serde_json::Value;

impl Records<'_> {
    /// Cuts what the gate refuses out of every record. Returns the files that changed.
    pub fn redact_refused(&self, entry: Entry) -> Result<Vec<String>> {
        let lock = self.call.lock()?;
        let screen = self.call.screen();
        let mut changed = Vec::new();
        for found in self.scan().found {
            let name = found.document.category().unwrap_or(&found.folder_category);
            let Some(category) = self.call.settings().category(name) else { continue };
            let mut draft = RecordDraft { document: found.document.clone(), category, given: Vec::new() };
            draft.texts(&mut |_, text| {
                let verdict = screen.verdict(text, Row::Records, Trust::Medium);
                let cut: Vec<&scan::Finding> = verdict
                    .findings
                    .iter()
                    .filter(|(_, act)| *act == Act::Refuse)
                    .map(|(finding, _)| finding)
                    .collect();
                if !cut.is_empty() {
                    *text = scan::redact(text, &cut);
                }
            });
            if draft.document == found.document {
                continue;
            }
            let passed = self
                .call
                .pass(&lock, ShelfName::Records, draft, entry, |d| Value::Object(d.document.0.clone()));
            if let Ok(passed) = passed {
                let bytes = passed.draft().document.to_bytes();
                let record = Prepared::new(&found.path, &bytes, Mode::Shared)?;
                self.store(&lock, &passed, &bytes, record, &found.path, None, Was::Unkept)?.sync()?;
                changed.push(self.call.project().shown(&found.path));
            }
        }
        Ok(changed)
    }
}
