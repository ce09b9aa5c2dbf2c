//! Creating notes: once, however often it is asked.
//!
//! Comes in: drafts. Goes out: for each the note that is on the shelf afterwards, new or known, or why not. A note is known by
//! its instant and its content hash, in whatever spelling and under whatever id. Never here: a second copy, or a retired note
//! coming back by itself.

use super::read::{MAX_NOTE, Stored};
use super::{Note, NoteDraft, NoteId, Notes, file};
use crate::files::{self, Lock, Mode, Prepared};
use crate::gate::policy::Act;
use crate::gate::{Entry, Passed, Remark};
use crate::shelf::Done;
use crate::shelf::door::change::{Was, Written};
use crate::shelf::provenance::{self, Line};
use heirloom_core::{Code, Fault, ShelfName, Status, fault::Result, hash, time};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A note that is on the shelf.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The note as stored.
    pub note: Note,
    /// `created`, `already_there` or `already_retired`, and where.
    pub done: Done,
}

/// What makes a note the same note.
type Key = (Timestamp, String);

impl Notes<'_> {
    /// Stores a note, unless it is there already.
    pub fn create(&self, draft: NoteDraft, entry: Entry) -> Result<Kept> {
        let mut kept = self.create_many(vec![draft], entry)?;
        kept.pop().unwrap_or_else(|| Err(Fault::new(Code::Internal, "a draft was lost")))
    }

    /// Stores several under one lock. One that is refused costs only itself.
    pub fn create_many(&self, drafts: Vec<NoteDraft>, entry: Entry) -> Result<Vec<Result<Kept>>> {
        let lock = self.call.lock()?;
        let profile = self.call.settings().gate.profile(ShelfName::Notes);
        let passed: Vec<Result<Passed<NoteDraft>>> = drafts
            .into_iter()
            .map(|draft| {
                self.call.pass(&lock, ShelfName::Notes, draft.under(profile), entry, NoteDraft::to_fields)
            })
            .collect();
        let notes: Vec<Result<(Note, Passed<NoteDraft>)>> = passed
            .into_iter()
            .map(|one| one.and_then(|passed| Ok((passed.draft().note(&self.seed())?, passed))))
            .collect();
        let hashes = notes.iter().flatten().map(|(note, _)| note.content_hash.as_str()).collect();
        let mut known = self.known(&hashes)?;
        let forgotten = self.forgotten()?;
        let mut keep = |note: Note, passed: &Passed<NoteDraft>| {
            let (draft, name) = (passed.draft(), passed.draft().name());
            if let Some(path) = &note.memory_path {
                if forgotten.contains(note.id.memory_id().as_str()) {
                    return Err(was_forgotten(&note.id));
                }
                // An import brings the same file a second time.
                if let Some(same) = draft.id.as_ref().map(|id| self.named(id)).transpose()?.flatten() {
                    return Ok(self.already(&same));
                }
                self.expect_storable(&lock, path, entry)?;
                self.expect_free(path, &note.id)?;
                let stored = self.write(&lock, note, passed)?;
                return Ok(self.kept("created", &stored, said(passed.remarks())));
            }
            let key = (note.occurred_at.at(), note.content_hash.clone());
            let same = known.iter().find(|((at, hash), _)| {
                *hash == note.content_hash && (draft.timeless || *at == note.occurred_at.at())
            });
            if let Some((_, twin)) = same {
                return Ok(self.already(twin));
            }
            let gone = |id: &NoteId| forgotten.contains(id.memory_id().as_str());
            if gone(&note.id) || (draft.id.is_none() && gone(&name)) {
                return Err(was_forgotten(&note.id));
            }
            // The message has been stored here under another id, whatever a hand made of its file since.
            if draft.id.is_none() {
                let earlier = self.stored_as(&name)?.unwrap_or_else(|| name.clone());
                if let Some(edited) = self.named(&earlier)? {
                    return Ok(self.already(&edited));
                }
            }
            let stored = self.write(&lock, note, passed)?;
            self.stored_under(&name, &stored.note.id);
            let fresh = self.kept("created", &stored, said(passed.remarks()));
            known.insert(key, stored);
            Ok(fresh)
        };
        Ok(notes.into_iter().map(|one| one.and_then(|(note, passed)| keep(note, &passed))).collect())
    }

    /// What nobody else makes an id from.
    fn seed(&self) -> Vec<u8> {
        let mut seed = self.call.project().world().unique().into_bytes();
        // Without a source of chance the call's own sixteen random bytes and a number do.
        seed.extend(self.call.random().map(Vec::from).unwrap_or_default());
        seed
    }

    /// The notes with one of these hashes. Only their front matter is looked at until a hash fits.
    fn known(&self, hashes: &HashSet<&str>) -> Result<HashMap<Key, Stored>> {
        let mut found = HashMap::new();
        // A retired twin is overwritten by one in use.
        for status in [Status::Retired, Status::Active] {
            for path in self.files(status)? {
                let Ok(Some(text)) = files::read_text(&path, MAX_NOTE) else { continue };
                if file::claimed_hash(&text).is_some_and(|hash| !hashes.contains(hash)) {
                    continue;
                }
                match file::read(&text) {
                    // A file is not known by what it says.
                    Ok(note) if note.memory_path.is_some() => {}
                    Ok(note) => {
                        let key = (note.occurred_at.at(), note.content_hash.clone());
                        found.insert(key, Stored { note, status, path, hash: hash::sha256(text.as_bytes()) });
                    }
                    Err(fault) => self.passes_over(&path, &fault),
                }
            }
        }
        Ok(found)
    }

    /// Writes a new file. What the gate did to the text is said beside it.
    fn write(&self, lock: &Lock, note: Note, passed: &Passed<NoteDraft>) -> Result<Stored> {
        let folder = self.folder(Status::Active)?;
        let path = folder.join(note.id.file_name());
        for place in [&path, &self.folder(Status::Retired)?.join(note.id.file_name())] {
            if std::fs::symlink_metadata(place).is_ok() {
                return Err(taken(&note, &self.call.project().shown(place)));
            }
        }
        let text = file::write(&note);
        files::make_folder(&folder, Mode::Shared)?;
        let ready = Prepared::new(&path, text.as_bytes(), Mode::Shared)?;
        let id = note.id.memory_id();
        let hash = hash::sha256(text.as_bytes());
        let what = Written {
            body: &note.content,
            action: "memory_write",
            shelf: ShelfName::Notes,
            id: id.as_str(),
            hash: &hash,
            before: None,
            size: text.len(),
            was: Was::Nothing,
            leaves: Status::Active,
        };
        let intent = self.call.intend(lock, passed, what)?;
        let cut = cut_out(passed.remarks());
        if !cut.is_empty() {
            // Before the note: without the word that something was cut out of it, it would not be what was said.
            let line = self.line(id.as_str(), &hash, "redacted", [("rules", json!(cut))]);
            provenance::append(self.call.project().root(), lock, &[line])?;
        }
        ready.commit()?;
        intent.done();
        Ok(Stored { note, status: Status::Active, path, hash })
    }

    /// A line for the provenance file, as of now.
    pub(super) fn line<const N: usize>(
        &self,
        id: &str,
        hash: &str,
        did: &str,
        more: [(&str, Value); N],
    ) -> Line {
        Line {
            id: id.to_owned(),
            hash: hash.to_owned(),
            at: time::format(self.call.project().world().now),
            did: did.to_owned(),
            more: more.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>(),
        }
    }

    fn already(&self, twin: &Stored) -> Kept {
        match twin.status {
            Status::Active => self.kept("already_there", twin, Vec::new()),
            _ => {
                let note = "it was retired; `heirloom restore` puts it back into use".to_owned();
                self.kept("already_retired", twin, vec![note])
            }
        }
    }

    pub(super) fn kept(&self, status: &'static str, stored: &Stored, notes: Vec<String>) -> Kept {
        let done = Done {
            status,
            id: stored.note.id.memory_id(),
            path: Some(self.call.project().shown(&stored.path)),
            notes,
        };
        Kept { note: stored.note.clone(), done }
    }
}

/// How often each rule had something cut out of the content.
pub(super) fn cut_out(remarks: &[Remark]) -> BTreeMap<&str, usize> {
    let mut rules = BTreeMap::new();
    for remark in remarks.iter().filter(|r| r.act == Act::Redact && r.field == "content") {
        *rules.entry(remark.rule.as_str()).or_insert(0) += 1;
    }
    rules
}

pub(super) fn said(remarks: &[Remark]) -> Vec<String> {
    let cut = cut_out(remarks);
    if cut.is_empty() {
        return Vec::new();
    }
    let rules: Vec<String> = cut.iter().map(|(rule, times)| format!("{rule} ({times})")).collect();
    vec![format!("cut out before storing, and marked in the text: {}", rules.join(", "))]
}

fn taken(note: &Note, path: &str) -> Fault {
    Fault::new(Code::Create, format!("`{path}` is another note"))
        .fact("id", note.id.memory_id().as_str())
        .fact("path", path)
        .hint("`heirloom verify` says what is in that file; nothing was overwritten")
}

fn was_forgotten(id: &NoteId) -> Fault {
    Fault::new(Code::AntiResurrection, "this message was forgotten and is not stored again")
        .fact("id", id.memory_id().as_str())
        .hint("a message that should be kept after all can be added again, with a new time")
}
