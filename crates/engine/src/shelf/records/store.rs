//! The shelf itself: where records are, and the index kept in step with them.
//!
//! Comes in: an engine. Goes out: paths, documents, and `index.md` written under the lock. Never here: the rules of a single
//! operation.

use super::document::Document;
use super::index_file::{self, IndexEntry};
use crate::engine::Engine;
use crate::files::{self, Lock, Mode, step};
use heirloom_core::settings::Category;
use heirloom_core::{Code, Fault, fault::Result};
use std::path::{Path, PathBuf};

/// The largest index: 100,000 records with long lines.
const MAX_INDEX: u64 = 64 << 20;

/// The record shelf of a project.
#[derive(Debug, Clone, Copy)]
pub struct Records<'e> {
    pub(super) engine: &'e Engine,
}

impl<'e> Records<'e> {
    /// The shelf of this engine's project.
    pub fn new(engine: &'e Engine) -> Records<'e> {
        Records { engine }
    }

    pub(super) fn root(&self) -> &Path {
        self.engine.project().root().folder()
    }

    /// Where `index.md` is.
    pub fn index_path(&self) -> PathBuf {
        self.root().join("index.md")
    }

    /// The folder of a category.
    pub fn folder(&self, category: &Category) -> PathBuf {
        self.root().join(&category.folder)
    }

    /// The index's text; `None` if there is no index.
    pub fn index_text(&self) -> Result<Option<String>> {
        let bytes = files::read_if_there(&self.index_path(), MAX_INDEX)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The index's text, made from the records first if there is none.
    pub fn index_text_or_rebuild(&self) -> Result<Option<String>> {
        if let Some(text) = self.index_text()? {
            return Ok(Some(text));
        }
        if !self.root().is_dir() {
            return Ok(None);
        }
        let lock = self.engine.project().lock()?;
        self.rebuild(&lock)?;
        self.index_text()
    }

    /// Reads a record; says why if it cannot be read.
    pub(super) fn load(&self, path: &Path, shown: &str) -> Result<Option<(Document, Vec<u8>)>> {
        let unreadable = |why: String| {
            Fault::new(Code::Read, format!("`{shown}` cannot be read"))
                .fact("target", shown)
                .fact("error", why)
        };
        let bytes = match files::read_if_there(path, files::MAX_FILE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(None),
            Err(fault) => return Err(unreadable(fault.message)),
        };
        let document = Document::parse(&bytes).map_err(unreadable)?;
        Ok(Some((document, bytes)))
    }

    /// The index line of a record.
    pub(super) fn entry(&self, document: &Document, path: &Path) -> IndexEntry {
        let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let label = document.text("category").map(label_of).unwrap_or_default();
        IndexEntry {
            label,
            title: document.text("title").map_or(stem, str::to_owned),
            path: self.engine.project().shown(path),
            tags: document.tags().into_iter().map(str::to_owned).collect(),
        }
    }

    /// Says in `.local` that the index owes the records something.
    pub(super) fn index_owes(&self) -> Result<()> {
        let mark = self.owes_mark()?;
        std::fs::write(&mark, b"").map_err(|e| Fault::io(&mark, "write", &e))
    }

    fn owes_mark(&self) -> Result<PathBuf> {
        Ok(self.engine.project().local()?.path("index-owes"))
    }

    /// Brings the index in step after a record was stored (`Some` line) or left the active ones (`None`). `also_gone` is the old
    /// path of a renamed record. If an earlier writer died in between, or there is no index, it is made anew.
    pub(super) fn settle_index(
        &self,
        lock: &Lock,
        owed_before: bool,
        path: &Path,
        line: Option<&IndexEntry>,
        also_gone: Option<&Path>,
    ) -> Result<()> {
        step::reached("record-stored");
        match self.index_text()?.filter(|_| !owed_before) {
            None => {
                self.rebuild(lock)?;
            }
            Some(mut text) => {
                if let Some(old) = also_gone {
                    text = index_file::without_line(&text, &self.engine.project().shown(old));
                }
                let shown = self.engine.project().shown(path);
                let text = match line {
                    Some(entry) => index_file::with_line(&text, &shown, &entry.line()),
                    None => index_file::without_line(&text, &shown),
                };
                files::write(&self.index_path(), text.as_bytes(), Mode::Shared)?;
                self.index_owes_nothing()?;
            }
        }
        step::reached("index-stored");
        Ok(())
    }

    /// Whether an earlier writer died before it brought the index in step.
    pub(super) fn index_is_owed(&self) -> Result<bool> {
        Ok(self.owes_mark()?.exists())
    }

    fn index_owes_nothing(&self) -> Result<()> {
        let mark = self.owes_mark()?;
        match std::fs::remove_file(&mark) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Fault::io(&mark, "remove", &e)),
            _ => Ok(()),
        }
    }

    /// Makes `index.md` anew from the records. Returns how many entries it has and what could not be read. With no active record the
    /// file is left out if there was none, and emptied if there was one.
    pub fn rebuild(&self, _lock: &Lock) -> Result<(usize, Vec<String>)> {
        let scan = self.scan_active();
        let mut entries: Vec<IndexEntry> =
            scan.found.iter().map(|found| self.entry(&found.document, &found.path)).collect();
        entries.sort_by_cached_key(|entry| (entry.label.clone(), entry.title.to_lowercase()));
        let lines: Vec<String> = entries.iter().map(IndexEntry::line).collect();
        if !lines.is_empty() || self.index_path().exists() {
            files::write(&self.index_path(), index_file::render(&lines).as_bytes(), Mode::Shared)?;
        }
        self.index_owes_nothing()?;
        Ok((lines.len(), scan.unreadable))
    }
}

/// The index label of a category name, known or not.
pub(super) fn label_of(category: &str) -> String {
    heirloom_core::Kind::named(category).label()
}
