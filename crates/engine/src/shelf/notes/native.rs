//! Notes on the move: native files out, native files in.
//!
//! Comes in: the text of a note's file, by whatever writer. Goes out: files as they are, or a note on this shelf that went through
//! the gate like any other. Never here: reading or writing outside the shelf; the caller brings the text.

use super::read::MAX_NOTE;
use super::{Kept, NoteDraft, Notes, file};
use crate::files;
use crate::gate::Entry;
use crate::shelf::provenance;
use heirloom_core::{Code, Status, fault::Result, hash};
use serde_json::json;

/// A note's file, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Native {
    /// Its name, below the folder of an export.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// What came of an import.
#[derive(Debug)]
pub struct Brought {
    /// Where it came from, as the caller named it.
    pub from: String,
    /// The note that is on the shelf, or why there is none.
    pub kept: Result<Kept>,
}

impl Notes<'_> {
    /// Every file of the shelf; retired ones only if asked for. A file that holds no readable note is taken along as it is.
    pub fn export(&self, retired: bool) -> Result<Vec<Native>> {
        let mut out = Vec::new();
        for status in [Status::Active, Status::Retired] {
            if status == Status::Retired && !retired {
                continue;
            }
            for path in self.files(status)? {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let name = if status == Status::Active { name } else { format!("retired/{name}") };
                match files::read(&path, MAX_NOTE) {
                    Ok(bytes) => out.push(Native { name, bytes }),
                    // A link or a folder with a note's name is no note of this shelf; `verify` names it.
                    Err(fault) if matches!(fault.code, Code::Path | Code::Read) => {}
                    Err(fault) => return Err(fault),
                }
            }
        }
        Ok(out)
    }

    /// Takes notes in from their files, each named by where it came from. Ids are kept; a note that is here already stays as it is.
    pub fn import(&self, sources: Vec<(String, String)>, entry: Entry) -> Result<Vec<Brought>> {
        let mut brought = Vec::with_capacity(sources.len());
        let mut drafts = Vec::new();
        for (from, text) in sources {
            match file::read(&text) {
                Ok(note) => drafts.push((from, file::further_keys(&text), NoteDraft::of_note(note))),
                Err(fault) => brought.push(Brought { from, kept: Err(fault) }),
            }
        }
        let (labels, drafts): (Vec<_>, Vec<_>) =
            drafts.into_iter().map(|(from, further, draft)| ((from, further), draft)).unzip();
        let mut lines = Vec::new();
        for ((from, further), mut kept) in labels.into_iter().zip(self.create_many(drafts, entry)?) {
            if let Ok(kept) = &mut kept
                && kept.done.status == "created"
            {
                if !further.is_empty() {
                    let names = further.join(", ");
                    kept.done.notes.push(format!("left out, as the format has no such field: {names}"));
                }
                let hash = hash::sha256(file::write(&kept.note).as_bytes());
                let origin = json!(self.call.screen().redacted(&from));
                lines.push(self.line(kept.done.id.as_str(), &hash, "imported", [("from", origin)]));
            }
            brought.push(Brought { from, kept });
        }
        if !lines.is_empty() {
            let lock = self.call.lock()?;
            let noted = provenance::append(self.call.project().root(), &lock, &lines);
            // The notes are stored by now; an error would say that they are not.
            if let Err(fault) = noted
                && let Some(Ok(kept)) = brought.iter_mut().map(|one| &mut one.kept).rfind(|kept| kept.is_ok())
            {
                kept.done.notes.push(format!("where it came from could not be noted: {}", fault.message));
            }
        }
        Ok(brought)
    }
}
