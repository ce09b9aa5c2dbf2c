//! Redacting what the topic files already hold: lessons saved before a rule existed, or by hand.
//!
//! Comes in: nothing. Goes out: topic files, archives and the index with those spans replaced, every other byte as it was, audited.
//! What is known of who wrote a lesson stays with it. Never here: a file that cannot be read; it stays listed.

use super::Topics;
use super::stock::{Held, MAX_ARCHIVE, Part};
use super::verify::files_of;
use crate::files::{self, Batch};
use crate::gate::Entry;
use crate::shelf::door::change::{Noting, Was, Written};
use heirloom_core::{ShelfName, fault::Result, hash};

impl Topics<'_> {
    /// Cuts secrets and identity numbers out of every file. Returns the files that changed.
    pub(super) fn redact_files(&self, entry: Entry) -> Result<Vec<String>> {
        let open = self.open()?;
        let mut changed = Vec::new();
        for topic in open.stock.topics() {
            let mut batch = Batch::default();
            for (path, limit) in files_of(&open.stock, &topic) {
                self.redact_file(&mut batch, &path, limit, &mut changed);
            }
            if batch.is_empty() {
                continue;
            }
            let ready = batch.prepare()?;
            // Only the audit of what holds such a span is told; its texts are not kept anywhere.
            let cut: Vec<(Held, String)> = open
                .stock
                .entries(&topic, Part::default())
                .into_iter()
                .filter_map(|held| {
                    let cut = self.call.screen().redacted(&held.plain);
                    (cut != held.plain).then_some((held, cut))
                })
                .collect();
            let named: Vec<(String, String)> =
                cut.iter().map(|(held, cut)| self.named_after(held, cut)).collect();
            let noting: Vec<Noting<'_>> = cut
                .iter()
                .zip(&named)
                .map(|((held, cut), (id, hash))| Noting {
                    entry,
                    remarks: &[],
                    what: Written {
                        body: "",
                        action: "memory_redact",
                        shelf: ShelfName::Topics,
                        id,
                        hash,
                        before: (!hash.is_empty()).then_some(held.hash.as_str()),
                        size: cut.len(),
                        was: Was::Unkept,
                        leaves: held.status,
                    },
                    edition: None,
                })
                .collect();
            if noting.is_empty() {
                ready.place()?;
                continue;
            }
            let intent = self.call.intend_all(&open.lock, &noting)?;
            ready.place()?;
            intent.done();
        }
        let mut batch = Batch::default();
        self.redact_file(&mut batch, &open.stock.index_path(), MAX_ARCHIVE, &mut changed);
        batch.commit()?;
        Ok(changed)
    }

    /// The id by which the audit names a lesson, and the hash of what is left of it. A title that is cut makes another id of it, of which nothing
    /// is known, and the old one may hold what was cut.
    fn named_after(&self, held: &Held, cut: &str) -> (String, String) {
        if cut.lines().next() == held.plain.lines().next() {
            return (held.id.to_string(), hash::sha256(cut.as_bytes()));
        }
        let place = self.call.screen().redacted(&format!("{}/{}", held.topic, held.subtopic));
        (format!("lesson:{place}#{}", held.lesson.date), String::new())
    }

    fn redact_file(&self, batch: &mut Batch, path: &std::path::Path, limit: u64, changed: &mut Vec<String>) {
        let Ok(Some(text)) = files::read_text(path, limit) else { return };
        let cut = self.call.screen().redacted(&text);
        if cut != text {
            batch.write(path, cut, "page-stored");
            changed.push(self.call.project().shown(path));
        }
    }
}
