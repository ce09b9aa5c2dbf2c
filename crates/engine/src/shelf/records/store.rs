//! The shelf itself: where records are, and the index kept in step with them.
//!
//! Comes in: an engine. Goes out: paths, documents, and `index.md` written under the lock. Never here: the rules of a single
//! operation.

use super::document::Document;
use super::index_file::{self, IndexEntry};
use super::index_source::IndexSource;
use crate::budget::{self, Left};
use crate::call::Call;
use crate::files::{self, Lock, Mode};
use heirloom_core::settings::Category;
use heirloom_core::{Code, Fault, Status, fault::Result};
use std::path::{Path, PathBuf};

/// The largest index: 100,000 records with long lines.
const MAX_INDEX: u64 = 64 << 20;

/// Where it is noted that a hook could not make the index.
const TRIED: &str = "index-tried";

/// The record shelf of a project.
#[derive(Debug, Clone, Copy)]
pub struct Records<'e> {
    pub(super) call: &'e Call,
}

impl<'e> Records<'e> {
    /// The shelf of this engine's project.
    pub fn new(call: &'e Call) -> Records<'e> {
        Records { call }
    }

    /// The call this is the shelf of.
    pub(crate) fn call(&self) -> &'e Call {
        self.call
    }

    pub(crate) fn root(&self) -> &Path {
        self.call.project().root().folder()
    }

    /// Where `index.md` is.
    pub fn index_path(&self) -> PathBuf {
        self.root().join("index.md")
    }

    /// The folder of a category.
    pub fn folder(&self, category: &Category) -> PathBuf {
        self.root().join(&category.folder)
    }

    /// The index as it is; `None` if there is no index. A file that a power cut left empty or full of zeros is none.
    fn index_bytes(&self) -> Result<Option<Vec<u8>>> {
        let bytes = files::read_if_there(&self.index_path(), MAX_INDEX)?;
        Ok(bytes.filter(|bytes| bytes.iter().any(|b| *b != 0)))
    }

    /// The index's text; `None` if there is no index.
    pub fn index_text(&self) -> Result<Option<String>> {
        Ok(self.index_bytes()?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The index's text, made from the records first if there is none.
    pub fn index_text_or_rebuild(&self) -> Result<Option<String>> {
        let bytes = match self.index_bytes()? {
            Some(bytes) => Some(bytes),
            None => self.rebuilt_index()?,
        };
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The same without reading it.
    pub fn index_or_rebuild(&self) -> Result<Option<IndexSource>> {
        let path = self.index_path();
        if let Some((file, size)) = files::open_if_there(&path)?
            && size <= MAX_INDEX
        {
            let source = IndexSource::File(file, path);
            let mut head = [0; 256];
            let read = source.read_at(&mut head, 0)?;
            if head[..read].iter().any(|b| *b != 0) {
                return Ok(Some(source));
            }
        }
        // Odd files get the long look.
        let bytes = match self.index_bytes()? {
            Some(bytes) => Some(bytes),
            None => self.rebuilt_index()?,
        };
        Ok(bytes.map(IndexSource::Bytes))
    }

    fn rebuilt_index(&self) -> Result<Option<Vec<u8>>> {
        // With nothing to list there is nothing to make; an empty file is as good as any.
        if !self.has_files() {
            return Ok(None);
        }
        // A hook that once could not look at all of it takes no longer at later prompts than for anything else.
        let tried = self.call.project().local()?.path(TRIED);
        let patient = !(budget::is_bounded() && tried.exists());
        let unwritten = |lines: Vec<String>| Some(lines).filter(|lines| !lines.is_empty());
        let unwritten = |lines| unwritten(lines).map(|lines| index_file::render(&lines).into_bytes());
        let before = budget::gaps();
        let made = self.call.lock().and_then(|lock| {
            self.finish_rename(&lock)?;
            let lines = if patient { budget::once(|| self.lines().0) } else { self.lines().0 };
            // A hook that could not look at every record hands on those it saw. An index without the others would hide them for good.
            if budget::gaps() > before {
                budget::leave_out(Left::Index, 1);
                files::write_passing(&tried, b"")?;
                return Ok(unwritten(lines));
            }
            if lines.is_empty() {
                return Ok(None);
            }
            let text = index_file::render(&lines).into_bytes();
            files::write(&self.index_path(), &text, Mode::Shared)?;
            self.index_owes_nothing()?;
            let _ = files::remove(&tried);
            Ok(Some(text))
        });
        match made {
            // A disk that cannot be written can still be read.
            Err(fault) if fault.code == Code::Io => Ok(unwritten(self.lines().0)),
            made => made,
        }
    }

    /// Whether any category has a file that could be a record.
    fn has_files(&self) -> bool {
        let is_record = |entry: std::fs::DirEntry| {
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            name.ends_with(b".json") && !name.starts_with(b".")
        };
        let mut categories = self.call.settings().categories.iter();
        categories.any(|category| {
            std::fs::read_dir(self.folder(category)).into_iter().flatten().flatten().any(is_record)
        })
    }

    /// Reads a record; says why if it cannot be read.
    pub(crate) fn load(&self, path: &Path, shown: &str) -> Result<Option<(Document, Vec<u8>)>> {
        let unreadable = |why: String| {
            Fault::new(Code::Read, format!("`{shown}` cannot be read"))
                .fact("target", shown)
                .fact("error", why)
        };
        let bytes = match files::read_if_there(path, budget::one_memory(files::MAX_FILE)) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(None),
            Err(fault) => return Err(unreadable(fault.message)),
        };
        let document = Document::parse(&bytes).map_err(unreadable)?;
        Ok(Some((document, bytes)))
    }

    /// The category a record names, else the one of its folder.
    pub(super) fn category_named<'d>(&'d self, document: &'d Document, path: &Path) -> &'d str {
        let folder =
            path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
        let of_folder = || self.call.settings().category_of_folder(folder).map(Category::name);
        document.category().or_else(of_folder).unwrap_or_default()
    }

    /// The index line of a record.
    pub(super) fn entry(&self, document: &Document, path: &Path) -> IndexEntry {
        let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let label = label_of(self.category_named(document, path));
        IndexEntry {
            label,
            title: document.text("title").map_or(stem, str::to_owned),
            path: self.call.project().shown(path),
            tags: document.tags().into_iter().map(str::to_owned).collect(),
        }
    }

    /// Makes `index.md` anew from the records. Returns how many entries it has and what could not be read. With no active record the
    /// file is left out if there was none, and emptied if there was one.
    pub fn rebuild(&self, lock: &Lock) -> Result<(usize, Vec<String>)> {
        self.finish_rename(lock)?;
        let (lines, unreadable) = self.lines();
        if !lines.is_empty() || self.index_path().exists() {
            files::write(&self.index_path(), index_file::render(&lines).as_bytes(), Mode::Shared)?;
        }
        self.index_owes_nothing()?;
        let _ = files::remove(&self.call.project().local()?.path(TRIED));
        Ok((lines.len(), unreadable))
    }

    /// The lines that the index has if it says what the records say.
    pub(crate) fn index_lines(&self) -> Vec<String> {
        self.lines().0
    }

    /// The index lines of all active records, sorted, and what could not be read.
    pub(super) fn lines(&self) -> (Vec<String>, Vec<String>) {
        let (mut entries, mut unreadable): (Vec<IndexEntry>, _) = (Vec::new(), Vec::new());
        for category in &self.call.settings().categories {
            self.each(category, &mut unreadable, &mut |found| {
                if found.status() == Some(Status::Active) {
                    entries.push(self.entry(&found.document, &found.path));
                }
            });
        }
        entries.sort_by_cached_key(|entry| (entry.label.clone(), entry.title.to_lowercase()));
        (entries.iter().map(IndexEntry::line).collect(), unreadable)
    }
}

/// The index label of a category name, known or not.
pub(crate) fn label_of(category: &str) -> String {
    heirloom_core::Kind::named(category).label()
}
