//! The model in use: the endpoint the user named, else MiniLM where it is installed, else the built-in one.
//!
//! Comes in: the user's data folder. Goes out: an embedder. The file is the choice: installing puts it there, removing it goes back. Never here: a
//! choice made by a project.

use super::builtin::Builtin;
use super::minilm::MiniLm;
use super::{Asking, Detail, EmbedError, Embedder, Embedding, Nearness, Space, Worth};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Threads a batch may use: most machines have two cores to spare.
const THREADS: usize = 2;

/// A model.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one per process")]
pub enum Chosen {
    /// The table in the binary.
    Builtin(Builtin),
    /// The transformer in the data folder.
    MiniLm(MiniLm),
    /// One that was handed in: an endpoint that the user named.
    Given(Given),
}

/// A model that was handed in.
#[derive(Clone)]
pub struct Given(Arc<dyn Embedder>);

impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Given").field(self.0.space()).finish()
    }
}

impl From<Arc<dyn Embedder>> for Given {
    fn from(model: Arc<dyn Embedder>) -> Given {
        Given(model)
    }
}

impl Chosen {
    /// Where an installed model lies.
    pub fn file(data: &Path) -> PathBuf {
        data.join("models").join("minilm.bin")
    }

    /// The model that was handed in, if there is one, else the one on this machine.
    pub fn of(given: Option<&Given>, data: &Path) -> Option<Chosen> {
        match given {
            Some(given) => Some(Chosen::Given(given.clone())),
            None => Self::open(data),
        }
    }

    /// The model on this machine. A file that cannot be read counts as none: recall goes on with the built-in one.
    pub fn open(data: &Path) -> Option<Chosen> {
        let file = Self::file(data);
        let threads = NonZeroUsize::new(THREADS).unwrap_or(NonZeroUsize::MIN);
        if file.exists()
            && let Ok(model) = MiniLm::open(&file, threads)
        {
            return Some(Chosen::MiniLm(model));
        }
        Builtin::open().ok().map(Chosen::Builtin)
    }

    /// Whether it embeds so quickly that nobody waits for it.
    pub fn is_quick(&self) -> bool {
        matches!(self, Chosen::Builtin(_))
    }

    fn inner(&self) -> &dyn Embedder {
        match self {
            Chosen::Builtin(model) => model,
            Chosen::MiniLm(model) => model,
            Chosen::Given(model) => model.0.as_ref(),
        }
    }
}

impl Embedder for Chosen {
    fn space(&self) -> &Space {
        self.inner().space()
    }

    fn embed(&self, texts: &[&str], detail: Detail) -> Result<Vec<Embedding>, EmbedError> {
        self.inner().embed(texts, detail)
    }

    fn worth(&self) -> Worth {
        self.inner().worth()
    }

    fn nearness(&self) -> Nearness {
        self.inner().nearness()
    }

    fn asking(&self) -> Option<Asking<'_>> {
        self.inner().asking()
    }

    fn is_remote(&self) -> bool {
        self.inner().is_remote()
    }

    fn has_pieces(&self) -> bool {
        self.inner().has_pieces()
    }
}
