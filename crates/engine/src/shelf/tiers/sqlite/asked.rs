//! A question whose vector was made beforehand.
//!
//! Comes in: a model and a question. Goes out: something that answers for the model, but only this question, and at once: a model elsewhere takes
//! its time, and nobody else of the same user should wait for it. Never here: a call to the model while the database is held.

use crate::index::embed::{Asking, Detail, EmbedError, Embedder, Embedding, Nearness, Space, Worth};

/// A model that was asked one question.
pub(super) struct Asked<'m> {
    model: &'m dyn Embedder,
    text: String,
    answer: Result<Vec<Embedding>, EmbedError>,
}

impl<'m> Asked<'m> {
    /// Asks a model; nothing is asked if the answer is not `wanted`.
    pub(super) fn of(model: &'m dyn Embedder, text: &str, wanted: bool) -> Asked<'m> {
        let detail = if model.has_pieces() { Detail::Pieces } else { Detail::Pooled };
        let answer = if wanted { model.embed(&[text], detail) } else { Err(not_asked()) };
        Asked { model, text: text.to_owned(), answer }
    }
}

fn not_asked() -> EmbedError {
    EmbedError::Endpoint { reason: "it was not asked".to_owned(), retryable: true }
}

impl Embedder for Asked<'_> {
    fn space(&self) -> &Space {
        self.model.space()
    }

    fn embed(&self, texts: &[&str], _detail: Detail) -> Result<Vec<Embedding>, EmbedError> {
        if texts == [self.text.as_str()] { self.answer.clone() } else { Err(not_asked()) }
    }

    fn worth(&self) -> Worth {
        self.model.worth()
    }

    fn nearness(&self) -> Nearness {
        self.model.nearness()
    }

    fn asking(&self) -> Option<Asking<'_>> {
        self.model.asking()
    }

    fn is_remote(&self) -> bool {
        self.model.is_remote()
    }

    fn has_pieces(&self) -> bool {
        self.model.has_pieces()
    }
}
