//! The model that is always there: a table of 256 numbers per word piece, inside the binary.
//!
//! In: text. Out: the unit sum of its pieces' rows. No file is read, nothing is parsed at start: the table
//! is used where it lies. How it is made: `models/README.md`.

use super::vocab::{PieceId, Vocab};
use super::{Detail, EmbedError, Embedder, Embedding, Nearness, Space, Worth, pieces, to_unit};

static TABLE: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/static-256.bin"));

const MAGIC: &[u8; 8] = b"HLSTAT01";
const HEADER: usize = 64;

/// Longest text read, in word pieces; beyond that a mean says little.
const LONGEST: usize = 512;

/// The built-in static model.
#[derive(Debug)]
pub struct Builtin {
    space: Space,
    vocab: Vocab<'static>,
    unknown: PieceId,
    scales: &'static [u8],
    cells: &'static [u8],
}

impl Builtin {
    /// Opens the table that is part of this binary.
    pub fn open() -> Result<Self, EmbedError> {
        Self::read(TABLE)
    }

    fn read(table: &'static [u8]) -> Result<Self, EmbedError> {
        let bad = || EmbedError::model("the built-in table is damaged");
        let word = |at: usize| Some(u32::from_le_bytes(*table.get(at..)?.first_chunk()?) as usize);
        if table.get(..8) != Some(MAGIC) {
            return Err(bad());
        }
        let (dims, count, block) =
            (word(8).ok_or_else(bad)?, word(12).ok_or_else(bad)?, word(16).ok_or_else(bad)?);
        let vocab = table.get(HEADER..HEADER + block).and_then(Vocab::parse).ok_or_else(bad)?;
        let scales_at = HEADER + block;
        let cells_at = scales_at + (count * 4).next_multiple_of(64);
        let scales = table.get(scales_at..scales_at + count * 4).ok_or_else(bad)?;
        let cells = table.get(cells_at..cells_at + count * dims).ok_or_else(bad)?;
        if vocab.len() != count {
            return Err(bad());
        }
        let unknown = vocab.find("", "[UNK]").ok_or_else(bad)?;
        Ok(Self { space: Space { model: "static-256-2".into(), dims }, vocab, unknown, scales, cells })
    }

    /// The vocabulary of word pieces, shared with MiniLM.
    pub fn vocab(&self) -> (&Vocab<'static>, PieceId) {
        (&self.vocab, self.unknown)
    }

    /// The vector of one text.
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let dims = self.space.dims;
        let mut sum = vec![0f32; dims];
        for id in pieces::cut(&self.vocab, self.unknown, text, LONGEST) {
            let at = usize::from(id);
            let (Some(scale), Some(row)) = (
                self.scales.get(at * 4..).and_then(|s| s.first_chunk()),
                self.cells.get(at * dims..(at + 1) * dims),
            ) else {
                continue;
            };
            let scale = f32::from_le_bytes(*scale);
            for (s, c) in sum.iter_mut().zip(row) {
                *s += scale * f32::from(c.cast_signed());
            }
        }
        to_unit(&mut sum);
        sum
    }
}

impl Embedder for Builtin {
    fn space(&self) -> &Space {
        &self.space
    }

    /// Measured (`docs/benchmarks.md`): carries more than its share in talk, and less than keywords on documents.
    fn worth(&self) -> Worth {
        Worth { dialogue: 1.5, document: 0.4, floor: 1.0 }
    }

    fn nearness(&self) -> Nearness {
        Nearness { alone: 0.29, beside: 0.02, partly: 0.26 }
    }

    fn embed(&self, texts: &[&str], _detail: Detail) -> Result<Vec<Embedding>, EmbedError> {
        Ok(texts.iter().map(|t| Embedding { vector: self.vector(t), pieces: None }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cos(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn texts_of_one_meaning_are_nearer_than_texts_of_two() {
        let model = Builtin::open().unwrap();
        let car = model.vector("the car broke down on the highway");
        let auto = model.vector("my automobile stopped working on the road");
        let cake = model.vector("a recipe for chocolate cake with vanilla icing");
        assert!(cos(&car, &auto) > cos(&car, &cake) + 0.2);
        assert!((cos(&car, &car) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn a_text_without_words_is_the_zero_vector() {
        let model = Builtin::open().unwrap();
        assert!(model.vector("").iter().all(|x| *x == 0.0));
    }

    #[test]
    fn a_damaged_table_is_an_error() {
        assert!(Builtin::read(&TABLE[..1000]).is_err());
        assert!(Builtin::read(b"").is_err());
    }
}
