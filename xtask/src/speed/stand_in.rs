//! Vectors that stand in for a slow model's: of its space and its size, made from the text's bytes alone.
//!
//! A million texts take MiniLM hours; what is measured is how long searching takes, which depends on how many vectors there are and how long they
//! are. Word-piece vectors are given to texts that share a word with the prompt, since no other text is looked at word by word.

use heirloom_engine::index::embed::vocab::PieceId;
use heirloom_engine::index::embed::{Detail, EmbedError, Embedder, Embedding, PieceVectors, Space};

pub(super) struct StandIn {
    space: Space,
    asked: Vec<String>,
}

impl StandIn {
    /// For a model's space, and for a prompt.
    pub(super) fn of(space: &Space, prompt: &str) -> Self {
        Self { space: space.clone(), asked: prompt.split(' ').map(str::to_owned).collect() }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let seed = text
            .bytes()
            .fold(0xCBF2_9CE4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3));
        let mut draw = super::texts::Draw(seed | 1);
        let mut vector: Vec<f32> =
            (0..self.space.dims).map(|_| (draw.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0).collect();
        let long = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= long);
        vector
    }
}

impl Embedder for StandIn {
    fn space(&self) -> &Space {
        &self.space
    }

    fn embed(&self, texts: &[&str], _: Detail) -> Result<Vec<Embedding>, EmbedError> {
        let one = |text: &&str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let pieces = words.iter().any(|word| self.asked.iter().any(|asked| asked == word)).then(|| {
                let count = words.len() as u32;
                PieceVectors {
                    ids: (0..count).map(|i| i as PieceId).collect(),
                    words: (0..count).map(Some).collect(),
                    vectors: words.iter().flat_map(|word| self.vector(word)).collect(),
                }
            });
            Embedding { vector: self.vector(text), pieces }
        };
        Ok(texts.iter().map(one).collect())
    }

    fn has_pieces(&self) -> bool {
        true
    }
}
