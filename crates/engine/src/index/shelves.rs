//! The index of a project's shelves: records, lessons, notes and vault, kept in `<root>/.local/index`.
//!
//! Comes in: an engine. Goes out: an [`Index`] that shows what the files say now. What changed is seen by stamps: of folders, which change when a
//! file comes, goes or is replaced, and of the files themselves where there are few of them or where somebody looks thoroughly. Only
//! files whose stamp differs are read. What reached a file without the gate is checked here: a text the gate would refuse is held back.
//! Never here: a change to a shelf, or an answer to a question.

use super::embed::Embedder as _;
use super::embed::builtin::Builtin;
use super::follow::{Follow, is_current};
use super::{Index, IndexError, Reader};
use crate::engine::Engine;
use crate::recall::answer::Recalled;
use heirloom_core::{Code, Fault, fault::Result};

/// The one owner of a project's documents.
pub(super) const OWNER: &str = "project";

/// How closely to look for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// At folders, and at files where there are few: for every prompt.
    Quick,
    /// At every file: when a session begins and when a person searches.
    Thorough,
}

/// The index of a project.
#[derive(Debug)]
pub struct ShelfIndex {
    index: Index,
    model: Option<Builtin>,
}

impl ShelfIndex {
    /// Opens the project's index and brings it up to date.
    pub fn open(engine: &Engine, look: Look) -> Result<ShelfIndex> {
        let folder = engine.project().local()?.path("index");
        let mut index = Index::open(&folder).map_err(|e| fault(&e))?;
        let model = Builtin::open().ok();
        match follow(engine, &mut index, model.as_ref(), look) {
            // Derived data that cannot be read is made anew; the truth is on the shelves.
            Err(fault) if fault.code == Code::Damaged => {
                index.renew().map_err(|e| self::fault(&e))?;
                follow(engine, &mut index, model.as_ref(), look)?;
            }
            followed => followed?,
        }
        Ok(ShelfIndex { index, model })
    }

    /// A snapshot to rank, with the model that made its vectors.
    pub fn reader(&mut self) -> Result<(Reader<'_>, Option<&Builtin>)> {
        let space = self.model.as_ref().map(|model| model.space());
        let reader = self.index.reader(OWNER, space).map_err(|e| fault(&e))?;
        Ok((reader, self.model.as_ref()))
    }

    /// Reads what the next prompt will need, so that it is in memory when that comes.
    pub fn warm(&mut self) -> Result<()> {
        let space = self.model.as_ref().map(|model| model.space());
        self.index.warm(OWNER, space).map_err(|e| fault(&e))
    }

    /// Whether the files of these hits still are what was indexed.
    pub(crate) fn are_current<'h>(
        &mut self,
        engine: &Engine,
        hits: impl Iterator<Item = &'h Recalled>,
    ) -> Result<bool> {
        for hit in hits {
            if !is_current(&mut self.index, engine, &hit.kind, &hit.file)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes every trace of these memories out of the index files.
    pub fn forget(engine: &Engine, ids: &[&str]) -> Result<()> {
        let folder = engine.project().local()?.path("index");
        if !folder.is_dir() {
            return Ok(());
        }
        let mut index = Index::open(&folder).map_err(|e| fault(&e))?;
        index.forget(OWNER, ids).map_err(|e| fault(&e))?;
        Ok(())
    }
}

fn follow(engine: &Engine, index: &mut Index, model: Option<&Builtin>, look: Look) -> Result<()> {
    Follow::new(engine, index)?.run(model, look)
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
