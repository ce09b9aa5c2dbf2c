//! Redacting what the vault already holds: texts written before a rule existed, or by hand.
//!
//! Comes in: nothing. Goes out: the file anew with those spans replaced, in every version of every line, audited. Ids, versions and
//! times stay, and so does what is known of who wrote a line. Never here: a line that cannot be read; it stays as it is, and listed.

use super::image::{Held, Image};
use super::store::Vault;
use crate::files::{Mode, Prepared};
use crate::gate::Entry;
use crate::shelf::door::change::{Noting, Was, Written};
use heirloom_core::{ShelfName, Status, fault::Result, hash};
use std::borrow::Cow;
use std::collections::HashMap;

impl Vault<'_> {
    /// Cuts secrets and identity numbers out of every line. Returns the file if it changed.
    pub(super) fn redact_lines(&self, entry: Entry) -> Result<Vec<String>> {
        let lock = self.call.lock()?;
        let bytes = self.bytes()?;
        let image = Image::of(&bytes);
        let mut changed: HashMap<usize, (Held<'_>, String)> = HashMap::new();
        for held in image.readable() {
            if let Some(line) = self.redacted_line(&held) {
                changed.insert(held.number, (held, line));
            }
        }
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        let mut text = Vec::with_capacity(bytes.len());
        for (at, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
            match changed.get(&(at + 1)) {
                Some((_, new)) => {
                    text.extend_from_slice(new.as_bytes());
                    text.push(b'\n');
                }
                None => text.extend_from_slice(line),
            }
        }
        let ready = Prepared::new(&self.path(), &text, Mode::Shared)?;
        let hashes: Vec<(String, String, String, usize, Status)> = changed
            .values()
            .map(|(held, new)| {
                let status = if held.record.is_active() { Status::Active } else { Status::Retired };
                let (before, after) = (hash::sha256(held.bytes), hash::sha256(new.as_bytes()));
                (held.record.memory_id().to_string(), before, after, new.len(), status)
            })
            .collect();
        let noting = hashes.iter().map(|(id, before, after, size, status)| Noting {
            entry,
            remarks: &[],
            what: Written {
                body: "",
                action: "memory_redact",
                shelf: ShelfName::Vault,
                id,
                hash: after,
                before: Some(before),
                size: *size,
                was: Was::Unkept,
                leaves: *status,
            },
            edition: None,
        });
        let intent = self.call.intend_all(&lock, &noting.collect::<Vec<_>>())?;
        ready.commit()?;
        intent.done();
        Ok(vec![self.call.project().shown(&self.path())])
    }

    /// The line without what the gate would not let in; nothing if there is no such thing in it.
    fn redacted_line(&self, held: &Held<'_>) -> Option<String> {
        let cut = |text: &str| self.call.screen().redacted(text);
        let mut record = held.record.clone();
        record.text = Cow::Owned(cut(&record.text));
        record.topic_id = record.topic_id.map(|topic| Cow::Owned(cut(&topic)));
        record.tags = record.tags.iter().map(|tag| Cow::Owned(cut(tag))).collect();
        (record != held.record).then(|| record.line())
    }
}
