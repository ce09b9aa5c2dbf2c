//! Reading the shelf: every record file of every category.
//!
//! Comes in: the category folders. Goes out: documents in the order of their file names, and the names of files that cannot be read.
//! Never here: an error because of one bad file, or a look into subfolders.

use super::document::Document;
use super::store::Records;
use crate::budget::{self, Left};
use crate::files;
use heirloom_core::settings::Category;
use heirloom_core::{Code, Fault, Status};
use std::path::{Path, PathBuf};

/// A record that was read.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its file.
    pub path: PathBuf,
    /// What it says.
    pub document: Document,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The category whose folder it is in.
    pub folder_category: String,
}

impl Found {
    /// Where it is in its life; `None` for a status nobody knows.
    pub fn status(&self) -> Option<Status> {
        self.document.status()
    }
}

/// What was read.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// Records.
    pub found: Vec<Found>,
    /// Files that could not be read: `path: why`.
    pub unreadable: Vec<String>,
}

impl Records<'_> {
    /// Every record of every category, whatever its status.
    pub fn scan(&self) -> Scan {
        let mut scan = Scan::default();
        for category in &self.call.settings().categories {
            let one = self.scan_folder(category);
            scan.found.extend(one.found);
            scan.unreadable.extend(one.unreadable);
        }
        scan
    }

    /// The active records.
    pub fn scan_active(&self) -> Scan {
        let mut scan = self.scan();
        scan.found.retain(|found| found.status() == Some(Status::Active));
        scan
    }

    /// The records of one category's folder.
    pub(super) fn scan_folder(&self, category: &Category) -> Scan {
        let mut scan = Scan::default();
        self.each(category, &mut scan.unreadable, &mut |found| scan.found.push(found));
        scan
    }

    /// Shows the records of one category's folder one after the other, so that whoever needs little of each need not hold all.
    pub(super) fn each(
        &self,
        category: &Category,
        unreadable: &mut Vec<String>,
        visit: &mut dyn FnMut(Found),
    ) {
        let folder = self.folder(category);
        // A linked folder could lead anywhere; what is behind it is not ours to index.
        if std::fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_symlink()) {
            unreadable.push(format!("{}: is a link", self.call.project().shown(&folder)));
            return;
        }
        let Ok(entries) = std::fs::read_dir(&folder) else { return };
        let mut names: Vec<_> = entries
            .flatten()
            .enumerate()
            .take_while(|(listed, _)| budget::lists_or_leaves(*listed, Left::Files))
            .map(|(_, entry)| entry.file_name())
            .filter(|name| {
                let name = name.to_string_lossy();
                name.ends_with(".json") && !name.starts_with('.')
            })
            .collect();
        names.sort();
        for name in names {
            if !budget::goes_on_or_leaves(Left::Files) {
                continue;
            }
            let path = folder.join(&name);
            let read = files::read(&path, budget::one_memory(files::MAX_FILE))
                .map_err(|fault| fault.message)
                .and_then(|bytes| Document::parse(&bytes).map(|document| (document, bytes)));
            match read {
                Ok((document, bytes)) => {
                    let folder_category = category.name().to_owned();
                    visit(Found { path, document, bytes, folder_category });
                }
                // A folder that happens to be called `x.json` is nobody's record.
                Err(_) if path.is_dir() => {}
                Err(why) => unreadable.push(self.unreadable(&path, &why)),
            }
        }
    }

    /// Says that a file cannot be read: here in a line, and to whoever speaks to a person.
    pub(super) fn unreadable(&self, path: &Path, why: &str) -> String {
        let shown = self.call.project().shown(path);
        let line = format!("{shown}: {why}");
        self.call.passes_over(shown, &Fault::new(Code::Damaged, why));
        line
    }
}
