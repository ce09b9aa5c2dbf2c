//! An import under way: who brings what, and what has become of it so far.
//!
//! Comes in: the call, and what each file brought. Goes out: the report, and a line beside the shelves for every new memory that says where it came from.
//! Never here: reading a format.

use super::report::{Choice, Imported};
use super::sort::{MAX_FILE, Source};
use crate::call::Call;
use crate::files;
use crate::gate::Entry;
use crate::shelf::provenance::{self, Line};
use crate::shelf::{Listing, Shelf as _};
use heirloom_core::{Code, Fault, MemoryId, ShelfName, fault::Result, time};
use serde_json::{Map, json};
use std::collections::HashSet;

/// An import under way.
pub(super) struct Run<'c> {
    pub(super) call: &'c Call,
    pub(super) entry: Entry,
    pub(super) report: Imported,
    /// New memories, and the file each came from.
    origins: Vec<(String, String)>,
    /// The texts of all notes, once somebody asked.
    bodies: Option<HashSet<String>>,
}

impl<'c> Run<'c> {
    pub(super) fn new(call: &'c Call, entry: Entry, files: usize, choice: &Choice) -> Run<'c> {
        let report = Imported { files, choice: choice.clone(), ..Imported::default() };
        Run { call, entry, report, origins: Vec::new(), bodies: None }
    }

    /// A memory was stored.
    pub(super) fn stored(&mut self, shelf: ShelfName, id: String, source: &Source) {
        self.origins.push((id.clone(), source.shown.clone()));
        self.report.at(shelf).new.push(id);
    }

    /// The text of a file; one that cannot be read is refused, and then there is none.
    pub(super) fn text(&mut self, source: &Source, shelf: ShelfName) -> Result<Option<String>> {
        match read_text(source) {
            Ok(text) => Ok(Some(text)),
            Err(fault) => self.report.refuse(shelf, source.shown.clone(), fault).map(|()| None),
        }
    }

    /// The texts of all notes, in whatever status: agents rewrite their files, and an old text in a new file is not new.
    pub(super) fn bodies(&mut self) -> Result<&mut HashSet<String>> {
        let bodies = match self.bodies.take() {
            Some(bodies) => bodies,
            None => {
                let all = self.call.notes().list(&Listing::everything())?;
                all.into_iter().map(|memory| memory.body.trim().to_owned()).collect()
            }
        };
        Ok(self.bodies.insert(bodies))
    }

    /// Everything was looked at.
    pub(super) fn end(mut self) -> Result<Imported> {
        note_origins(self.call, &self.origins)?;
        self.report.shelves.sort_by_key(|shelf| shelf.shelf);
        self.report.clean(self.call);
        Ok(self.report)
    }
}

/// Says beside the shelves where each new memory came from.
fn note_origins(call: &Call, origins: &[(String, String)]) -> Result<()> {
    if origins.is_empty() {
        return Ok(());
    }
    let at = time::format(call.project().world().now);
    let mut lines = Vec::with_capacity(origins.len());
    for (id, from) in origins {
        let hash = match MemoryId::parse(id) {
            Some(id) => call.shelf_of(&id)?.get(&id)?.map(|memory| memory.content_hash),
            None => None,
        };
        let from = json!(call.screen().redacted(from));
        lines.push(Line {
            id: id.clone(),
            hash: hash.unwrap_or_default(),
            at: at.clone(),
            did: "imported".to_owned(),
            more: Map::from_iter([("from".to_owned(), from)]),
        });
    }
    provenance::append(call.project().root(), &call.lock()?, &lines)
}

fn read_text(source: &Source) -> Result<String> {
    files::read_text(&source.path, MAX_FILE)?.ok_or_else(|| {
        Fault::new(Code::NotFound, format!("`{}` no longer exists", source.shown)).hint("import it again")
    })
}
