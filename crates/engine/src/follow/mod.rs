//! The index of a project's shelves: records, lessons, notes and vault, kept in `<root>/.local/index`.
//!
//! Comes in: an engine. Goes out: an [`Index`] that shows what the files say now. What changed is seen by stamps: of folders, which change when a
//! file comes, goes or is replaced, and of the files themselves where there are few of them or where somebody looks thoroughly. Only
//! files whose stamp differs are read. What reached a file without the gate is checked here: a text the gate would refuse is held back.
//! Never here: a change to a shelf, or an answer to a question.

pub(crate) mod described;
mod doubt;
mod walk;

use crate::budget;
use crate::call::Call;
use crate::index::embed::Embedder as _;
use crate::index::embed::chosen::Chosen;
use crate::index::{Index, IndexError, Reader};
use heirloom_core::{Code, Fault, fault::Result};
use std::sync::Arc;
use walk::{Follow, is_current};

/// The one owner of a project's documents.
pub(super) const OWNER: &str = "project";

/// How closely to look for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// At folders, and at files where there are few: for every prompt.
    Quick,
    /// At every file, but without making vectors that take long: when a session begins.
    Start,
    /// At every file: when a person searches.
    Thorough,
}

/// The index of a project.
#[derive(Debug)]
pub struct ShelfIndex {
    index: Index,
    model: Option<Arc<Chosen>>,
}

impl ShelfIndex {
    /// Opens the project's index and brings it up to date.
    pub fn open(call: &Call, look: Look) -> Result<ShelfIndex> {
        let folder = folder(call)?;
        let mut index = Index::open(&folder).map_err(|e| fault(&e))?;
        let model = call.model();
        match follow(call, &mut index, model.as_deref(), look) {
            // Derived data that cannot be read is made anew; the truth is on the shelves.
            Err(fault) if fault.code == Code::Damaged => {
                index.renew().map_err(|e| self::fault(&e))?;
                follow(call, &mut index, model.as_deref(), look)?;
            }
            followed => followed?,
        }
        name_passed_over(call, &mut index)?;
        Ok(ShelfIndex { index, model })
    }

    /// The project's index for one quick question, without waiting for anybody; `None` where only [`open`](Self::open) will do. What it says counts
    /// only if it [`held_still`](Self::held_still).
    pub(crate) fn glance(call: &Call) -> Option<ShelfIndex> {
        let (folder, now) = (folder(call).ok()?, call.project().world().now);
        let mut index = Index::glance(&folder, now.as_nanosecond())?;
        let model = call.model();
        follow(call, &mut index, model.as_deref(), Look::Quick).ok()?;
        name_passed_over(call, &mut index).ok()?;
        Some(ShelfIndex { index, model })
    }

    /// Whether it is still only read as it lies there; whoever wrote to it has opened it for good.
    pub(crate) fn is_glance(&self) -> bool {
        self.index.is_glance()
    }

    /// Whether everything read so far was of one moment.
    pub(crate) fn held_still(&self) -> bool {
        self.index.held_still()
    }

    /// A snapshot to rank, with the model that made its vectors.
    pub fn reader(&mut self) -> Result<(Reader<'_>, Option<&Chosen>)> {
        let space = self.model.as_ref().map(|model| model.space());
        let reader = self.index.reader(OWNER, space).map_err(|e| fault(&e))?;
        Ok((reader, self.model.as_deref()))
    }

    /// Gives vectors of the model in use to up to `limit` memories that have none; says how many still lack one.
    pub fn embed(&mut self, limit: usize) -> Result<usize> {
        match &self.model {
            Some(model) => embed_missing(&mut self.index, model, limit),
            None => Ok(0),
        }
    }

    /// Whether every memory has a vector of the model in use.
    pub fn is_complete(&mut self) -> Result<bool> {
        let Some(model) = &self.model else { return Ok(true) };
        Ok(self.index.mark(COMPLETE).map_err(|e| fault(&e))?.as_ref() == Some(&model.space().model))
    }

    /// The model in use.
    pub fn model(&self) -> Option<&Chosen> {
        self.model.as_deref()
    }

    /// Asks the system to have ready what the next prompt will need, at most so many bytes; says whether that was all.
    pub fn warm(call: &Call, most: u64) -> bool {
        !call.project().has_local()
            || call.project().local().is_ok_and(|local| Index::warm(&local.path("index"), most))
    }

    /// Whether the files of these hits, each by its kind and file, still are what was indexed.
    pub(crate) fn are_current<'h>(
        &mut self,
        call: &Call,
        hits: impl Iterator<Item = (&'h str, &'h str)>,
    ) -> Result<bool> {
        for (kind, file) in hits {
            if !is_current(&mut self.index, call, kind, file)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes every trace of these memories out of the index files.
    pub fn forget(call: &Call, ids: &[&str]) -> Result<()> {
        let beside = call.project().known_data()?.map(|data| data.join("index"));
        for folder in std::iter::once(folder(call)?).chain(beside) {
            if folder.is_dir() {
                let mut index = Index::open(&folder).map_err(|e| fault(&e))?;
                index.forget(OWNER, ids).map_err(|e| fault(&e))?;
            }
        }
        Ok(())
    }
}

/// Where the index is: with the memory; in the user's folder for the project where there is no memory yet, but lessons from elsewhere, and where the memory is
/// read-only. Reading makes no memory folder.
fn folder(call: &Call) -> Result<std::path::PathBuf> {
    let project = call.project();
    match project.root().folder().is_dir() && !project.is_read_only() {
        true => Ok(project.local()?.path("index")),
        false => Ok(project.data()?.join("index")),
    }
}

/// Files without a memory are known here by a mark without an id. A hook has nobody to tell.
fn name_passed_over(call: &Call, index: &mut Index) -> Result<()> {
    if budget::is_bounded() {
        return Ok(());
    }
    let marks = index.marks("~f:notes/").map_err(|e| fault(&e))?;
    let empty = marks.iter().filter(|(_, value)| value.split('\t').nth(1) == Some(""));
    empty.for_each(|(name, _)| call.notes().look_again(name.trim_start_matches("~f:")));
    Ok(())
}

fn follow(call: &Call, index: &mut Index, model: Option<&Chosen>, look: Look) -> Result<()> {
    let _span = tracing::debug_span!("follow", ?look).entered();
    budget::following(|| Follow::new(call, index)?.run(model, look))
}

/// The mark that names the model of which every document has a vector. One model at a time: what is put while another is in use has none of
/// this one.
pub(super) const COMPLETE: &str = "complete";

/// Gives vectors to documents that have none, until the index notes that all have one.
pub(super) fn embed_missing(index: &mut Index, model: &Chosen, limit: usize) -> Result<usize> {
    let name = &model.space().model;
    if index.mark(COMPLETE).map_err(|e| fault(&e))?.as_ref() == Some(name) {
        return Ok(0);
    }
    match index.embed_missing(OWNER, model, limit).map_err(|e| fault(&e))? {
        0 => index.note_complete(OWNER, model.space(), COMPLETE).map_err(|e| fault(&e)),
        left => Ok(left),
    }
}

/// An index error as everybody sees it.
pub(crate) fn fault(error: &IndexError) -> Fault {
    let code = match error {
        IndexError::Busy => Code::LockBusy,
        IndexError::Damaged { .. } => Code::Damaged,
        _ => Code::Io,
    };
    Fault::new(code, error.to_string())
}
