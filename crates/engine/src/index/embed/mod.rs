//! Embeddings behind one trait: the built-in static model, MiniLM from a local file, an endpoint.
//!
//! In: texts. Out: unit vectors of one space, and for models that can, one vector per word piece. Vectors
//! of two spaces are never compared: [`Space`] says which one a vector belongs to.

pub mod builtin;
pub mod chosen;
pub mod endpoint;
pub mod followed;
pub mod minilm;
pub mod pieces;
pub mod vocab;

use std::fmt;

/// Which space vectors live in. Two embedders with equal spaces may be mixed, no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Name and version of the model, such as `static-256-1`.
    pub model: String,
    /// Length of a vector.
    pub dims: usize,
}

/// How much of an embedding is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// One vector per text.
    Pooled,
    /// Also one vector per word piece, where the model has them.
    Pieces,
}

/// Vectors of the word pieces of one text, in order, special pieces left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PieceVectors {
    /// Numbers of the word pieces.
    pub ids: Vec<vocab::PieceId>,
    /// For each piece, which of the text's words (as white space parts them) it belongs to; `None` for punctuation.
    pub words: Vec<Option<u32>>,
    /// Unit vectors, one after the other.
    pub vectors: Vec<f32>,
}

/// One text, embedded.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// Unit vector of the text (all zeros if nothing in it is known to the model).
    pub vector: Vec<f32>,
    /// Word-piece vectors, if asked for and if the model has them.
    pub pieces: Option<PieceVectors>,
}

/// How far recall leans on a model's vectors: a property of the model, the same for every set of memories.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// Share of the ranking's vector weight for turns of a conversation.
    pub dialogue: f32,
    /// The same for everything else, where words are chosen with more care and a weak model adds less.
    pub document: f32,
    /// Part of it that stays where the vector disagrees with the keywords, 0 to 1.
    pub floor: f32,
}

impl Default for Worth {
    /// A model nobody has measured counts only where it agrees with the keywords.
    fn default() -> Self {
        Self { dialogue: 1.0, document: 1.0, floor: 0.0 }
    }
}

/// From which cosine on a model's vectors say that two texts are about the same thing: a property of the model, measured on questions and
/// texts that have nothing to do with each other (`docs/benchmarks.md`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearness {
    /// The cosine that says so by itself, among few texts.
    pub alone: f32,
    /// The cosine that says so together with a word that the text answers by another name.
    pub beside: f32,
    /// The cosine below which one word in common of several is taken for chance.
    pub partly: f32,
}

impl Default for Nearness {
    /// A model nobody has measured must be very sure.
    fn default() -> Self {
        Self { alone: Self::MOST, beside: 0.35, partly: f32::NEG_INFINITY }
    }
}

impl Nearness {
    /// Vectors say nothing: words alone count.
    pub(crate) const SILENT: Nearness =
        Nearness { alone: f32::INFINITY, beside: f32::INFINITY, partly: f32::NEG_INFINITY };
    /// What is enough however many texts there are.
    const MOST: f32 = 0.5;
    /// So many texts are few.
    const FEW: f32 = 16.0;
    /// What a cosine must be higher each time there are twice as many: the nearest of many unrelated texts is nearer than that of few.
    const DOUBLED: f32 = 0.03;

    /// What counts among so many texts.
    pub(crate) fn among(self, texts: usize) -> Nearness {
        let doublings = (texts as f32 / Self::FEW).max(1.0).log2();
        let alone = (self.alone + Self::DOUBLED * doublings).min(self.alone.max(Self::MOST));
        Nearness { alone, ..self }
    }
}

/// What all questions have in common, as a model sees them. A text is near to it whatever is asked, so that it is taken off where the text's vector
/// is at hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asking<'m> {
    /// The mean vector of questions.
    pub vector: &'m [f32],
    /// From which nearness on vectors say something once it is taken off.
    pub nearness: Nearness,
}

/// Turns texts into vectors of one space.
pub trait Embedder: Send + Sync {
    /// The space all answers belong to.
    fn space(&self) -> &Space;

    /// One embedding per text, in order.
    fn embed(&self, texts: &[&str], detail: Detail) -> Result<Vec<Embedding>, EmbedError>;

    /// How far recall may lean on the model's vectors.
    fn worth(&self) -> Worth {
        Worth::default()
    }

    /// From which cosine on its vectors say something.
    fn nearness(&self) -> Nearness {
        Nearness::default()
    }

    /// What all questions have in common; nothing for a model where taking it off tells no more.
    fn asking(&self) -> Option<Asking<'_>> {
        None
    }

    /// Whether texts leave this machine: such a model is asked only where nobody waits long for it, and may fail at any time.
    fn is_remote(&self) -> bool {
        false
    }

    /// Whether [`Detail::Pieces`] brings word-piece vectors.
    fn has_pieces(&self) -> bool {
        false
    }
}

/// Why texts could not be embedded or a model could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmbedError {
    /// A model file is not what it should be.
    Model {
        /// What is wrong with it.
        reason: String,
    },
    /// The endpoint could not be reached or answered with an error.
    Endpoint {
        /// What it said.
        reason: String,
        /// Whether the same call may work later.
        retryable: bool,
    },
}

impl EmbedError {
    pub(crate) fn model(reason: impl Into<String>) -> Self {
        Self::Model { reason: reason.into() }
    }
}

impl fmt::Display for EmbedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model { reason } => {
                write!(f, "the embedding model cannot be used: {reason}; install it again")
            }
            Self::Endpoint { reason, retryable: true } => {
                write!(f, "the embedding endpoint did not answer: {reason}; try again")
            }
            Self::Endpoint { reason, retryable: false } => {
                write!(f, "the embedding endpoint refused: {reason}; check its address, model and key")
            }
        }
    }
}

impl std::error::Error for EmbedError {}

/// Scales a vector to length one; all zeros stay all zeros.
pub(crate) fn to_unit(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if norm > 0.0 && norm.is_finite() {
        let inverse = norm.recip();
        vector.iter_mut().for_each(|x| *x *= inverse);
    }
}
