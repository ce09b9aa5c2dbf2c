//! Redacting what notes already hold: messages kept before a rule existed, or by hand.
//!
//! Comes in: nothing. Goes out: the same notes with those spans replaced and the hash of what is left, audited and said in the
//! provenance file. The id stays. Never here: a note that cannot be read; it stays listed.

use super::{Notes, file, note};
use crate::files::{Mode, Prepared};
use crate::gate::Entry;
use crate::shelf::door::change::{Was, Written};
use crate::shelf::provenance;
use heirloom_core::{ShelfName, fault::Result, hash};

impl Notes<'_> {
    /// Cuts secrets and identity numbers out of every note. Returns the files that changed.
    pub(super) fn redact_notes(&self, entry: Entry) -> Result<Vec<String>> {
        let lock = self.call.lock()?;
        let screen = self.call.screen();
        let mut changed = Vec::new();
        for stored in self.all(None)? {
            let mut cut = stored.note.clone();
            cut.content = screen.redacted(&cut.content);
            cut.subject = screen.redacted(&cut.subject);
            cut.keywords = cut.keywords.iter().map(|word| screen.redacted(word)).collect();
            if cut == stored.note {
                continue;
            }
            cut.content_hash = note::content_hash(&cut.content);
            let text = file::write(&cut);
            let ready = Prepared::new(&stored.path, text.as_bytes(), Mode::Shared)?;
            let id = cut.id.memory_id();
            let hash = hash::sha256(text.as_bytes());
            let line = self.line(id.as_str(), &hash, "redacted", []);
            let what = Written {
                body: "",
                action: "memory_redact",
                shelf: ShelfName::Notes,
                id: id.as_str(),
                hash: &hash,
                before: Some(&stored.hash),
                size: text.len(),
                was: Was::Unkept,
                leaves: stored.status,
            };
            let intent = self.call.intend_plain(&lock, entry, &[], what)?;
            ready.commit()?;
            provenance::append(self.call.project().root(), &lock, &[line])?;
            intent.done();
            changed.push(self.call.project().shown(&stored.path));
        }
        Ok(changed)
    }
}
