//! all-MiniLM-L6-v2 in plain Rust, 8-bit: from a mapped weight file to sentence and word-piece vectors.
//!
//! In: texts. Out: unit vectors, close to the single-precision model (mean cosine at least 0.996, checked by
//! [`verify`]). Opening costs a map, nothing is parsed or copied. No network, no Python: the weight file is
//! made by [`convert`] from the folder the model is distributed as.

mod convert;
mod forward;
mod kernel;
mod reference;
mod weights;

pub use convert::{Report, convert, verify};
#[cfg(target_arch = "x86_64")]
pub(crate) use kernel::Instructions;
pub use kernel::Path;
pub use weights::Shape;

use std::fs::File;
use std::num::NonZeroUsize;
use std::path::Path as FilePath;
use std::sync::Mutex;

use self::forward::{Pass, Text};
use self::weights::Weights;
use super::vocab::{PieceId, Vocab};
use super::{
    Asking, Detail, EmbedError, Embedder, Embedding, Nearness, PieceVectors, Space, Worth, pieces, to_unit,
};
use crate::index::mapped;

/// Longest text read, in word pieces with the two special ones: what the model was trained on.
pub const LONGEST: usize = 256;
/// Word pieces that go through the layers together: enough rows to reuse a block of weights.
const TOGETHER: usize = 1024;

/// What all questions have in common (`models/asking.py`).
static ASKING: [f32; 384] = {
    let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/asking-minilm.bin"));
    let (cells, _) = bytes.as_chunks::<4>();
    let mut out = [0.0; 384];
    let mut at = 0;
    while at < out.len() {
        out[at] = f32::from_le_bytes(cells[at]);
        at += 1;
    }
    out
};

/// MiniLM, ready to embed.
#[derive(Debug)]
pub struct MiniLm {
    weights: Weights,
    space: Space,
    path: Path,
    threads: NonZeroUsize,
    unknown: PieceId,
    start: PieceId,
    end: PieceId,
    /// Buffers of the last single-threaded call, kept because a query is one small call after another.
    idle: Mutex<Pass>,
}

impl MiniLm {
    /// Opens a weight file; `threads` is how many a batch may use.
    pub fn open(file: &FilePath, threads: NonZeroUsize) -> Result<Self, EmbedError> {
        Self::open_on(file, threads, Path::detect())
    }

    /// As [`MiniLm::open`], with a chosen path; one this processor does not have falls back to the best it has.
    pub fn open_on(file: &FilePath, threads: NonZeroUsize, path: Path) -> Result<Self, EmbedError> {
        let unreadable =
            |e: std::io::Error| EmbedError::model(format!("{} cannot be read ({e})", file.display()));
        let handle = File::open(file).map_err(unreadable)?;
        let weights = Weights::open(mapped::map(&handle, u64::MAX).map_err(unreadable)?)?;
        let vocab = Vocab::parse(weights.vocab_block()).filter(|v| v.len() == weights.shape.vocab);
        let vocab = vocab.ok_or_else(|| EmbedError::model("the vocabulary in the weight file is damaged"))?;
        let special = |name| {
            vocab.find("", name).ok_or_else(|| EmbedError::model(format!("the vocabulary has no {name}")))
        };
        let (unknown, start, end) = (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        let path = if Path::available().contains(&path) { path } else { Path::detect() };
        let space = Space { model: "all-minilm-l6-v2-int8-1".into(), dims: weights.shape.hidden };
        Ok(Self { weights, space, path, threads, unknown, start, end, idle: Mutex::default() })
    }

    /// Which instructions are used.
    pub fn path(&self) -> Path {
        self.path
    }

    /// Word pieces of a text with the two special ones around them.
    fn cut(&self, text: &str) -> Vec<PieceId> {
        let mut ids = vec![self.start];
        if let Some(vocab) = Vocab::parse(self.weights.vocab_block()) {
            ids.extend(pieces::cut(&vocab, self.unknown, text, self.limit()));
        }
        ids.push(self.end);
        ids
    }

    fn limit(&self) -> usize {
        LONGEST.min(self.weights.shape.positions) - 2
    }

    /// Which word each of `ids` belongs to. White space always ends a piece, so the words can be cut one by one.
    fn words(&self, text: &str, ids: &[PieceId]) -> Vec<Option<u32>> {
        let mut words = Vec::with_capacity(ids.len());
        let Some(vocab) = Vocab::parse(self.weights.vocab_block()) else { return vec![None; ids.len()] };
        for (number, word) in text.split_whitespace().enumerate() {
            let room = ids.len() - words.len();
            if room == 0 {
                break;
            }
            for id in pieces::cut(&vocab, self.unknown, word, room) {
                let spelled = vocab.word(id).unwrap_or_default();
                // Letters beyond ASCII count as letters; only plain punctuation is left out.
                let is_word = spelled.iter().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii());
                words.push(is_word.then_some(number as u32));
            }
        }
        words.resize(ids.len(), None);
        words
    }

    fn run(
        &self,
        pass: &mut Pass,
        texts: &[(usize, Vec<PieceId>)],
        detail: Detail,
        out: &mut [Option<Embedding>],
    ) {
        let mut from = 0;
        while from < texts.len() {
            let mut to = from + 1;
            let mut rows = texts[from].1.len();
            while to < texts.len() && rows + texts[to].1.len() <= TOGETHER {
                rows += texts[to].1.len();
                to += 1;
            }
            let batch: Vec<Text<'_>> = texts[from..to].iter().map(|(_, ids)| Text { ids }).collect();
            let hidden = pass.forward(&self.weights, self.path, &batch);
            let mut at = 0;
            for (slot, ids) in &texts[from..to] {
                let width = self.weights.shape.hidden;
                let rows = &hidden[at * width..(at + ids.len()) * width];
                at += ids.len();
                if let Some(place) = out.get_mut(*slot) {
                    *place = Some(pooled(rows, width, ids, detail));
                }
            }
            from = to;
        }
    }
}

/// The mean of all rows, special pieces included as the model was trained, and the pieces' own vectors.
fn pooled(rows: &[f32], width: usize, ids: &[PieceId], detail: Detail) -> Embedding {
    let mut vector = vec![0f32; width];
    for row in rows.chunks_exact(width) {
        vector.iter_mut().zip(row).for_each(|(v, x)| *v += x);
    }
    to_unit(&mut vector);
    let inner = ids.len().saturating_sub(1).max(1);
    let pieces = (detail == Detail::Pieces).then(|| {
        let mut vectors = rows.get(width..inner * width).unwrap_or_default().to_vec();
        vectors.chunks_exact_mut(width).for_each(to_unit);
        PieceVectors { ids: ids.get(1..inner).unwrap_or_default().to_vec(), words: Vec::new(), vectors }
    });
    Embedding { vector, pieces }
}

impl Embedder for MiniLm {
    fn space(&self) -> &Space {
        &self.space
    }

    /// Measured (`docs/benchmarks.md`).
    fn worth(&self) -> Worth {
        Worth { floor: 0.5, ..Worth::default() }
    }

    fn nearness(&self) -> Nearness {
        Nearness { alone: 0.26, beside: 0.10, partly: 0.21 }
    }

    fn asking(&self) -> Option<Asking<'_>> {
        let nearness = Nearness { alone: 0.21, beside: 0.05, partly: 0.18 };
        (self.space.dims == ASKING.len()).then_some(Asking { vector: &ASKING, nearness })
    }

    fn has_pieces(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str], detail: Detail) -> Result<Vec<Embedding>, EmbedError> {
        let mut cut: Vec<(usize, Vec<PieceId>)> = texts.iter().map(|t| self.cut(t)).enumerate().collect();
        let mut out: Vec<Option<Embedding>> = vec![None; texts.len()];
        if self.threads.get() == 1 || texts.len() < 4 {
            match self.idle.try_lock() {
                Ok(mut pass) => self.run(&mut pass, &cut, detail, &mut out),
                Err(_) => self.run(&mut Pass::default(), &cut, detail, &mut out),
            }
        } else {
            // Longest first, dealt out in turn: every thread gets about the same amount of work.
            cut.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
            let count = self.threads.get().min(texts.len());
            let mut hands: Vec<Vec<(usize, Vec<PieceId>)>> = vec![Vec::new(); count];
            for (i, one) in cut.into_iter().enumerate() {
                hands[i % count].push(one);
            }
            std::thread::scope(|scope| {
                let work: Vec<_> = hands
                    .iter()
                    .map(|hand| {
                        scope.spawn(move || {
                            let mut part = vec![None; texts.len()];
                            self.run(&mut Pass::default(), hand, detail, &mut part);
                            part
                        })
                    })
                    .collect();
                for handle in work {
                    // A thread that died leaves its places empty, which is an error below.
                    for (place, got) in out.iter_mut().zip(handle.join().unwrap_or_default()) {
                        if got.is_some() {
                            *place = got;
                        }
                    }
                }
            });
        }
        for (one, text) in out.iter_mut().zip(texts) {
            if let Some(PieceVectors { ids, words, .. }) = one.as_mut().and_then(|e| e.pieces.as_mut()) {
                *words = self.words(text, ids);
            }
        }
        let all: Option<Vec<Embedding>> = out.into_iter().collect();
        all.ok_or_else(|| EmbedError::model("a part of the batch was lost"))
    }
}

#[cfg(test)]
#[path = "minilm_tests.rs"]
mod tests;
