//! Late interaction: how well each word of a question is met by the best word of a text (MaxSim).
//!
//! In: word-piece vectors. Stored: one bit per dimension and word piece (48 bytes each for MiniLM). Out: a
//! score from about 0 to 1, each word of the question weighed by how rare it is. The question keeps its
//! full numbers; only the stored side is cut to bits, which costs next to nothing in quality.

use super::embed::PieceVectors;
use super::embed::minilm::Path;
use super::simd;

/// The stored form of a text's word pieces; pieces that are no words (punctuation) are left out.
pub(crate) fn pack(pieces: &PieceVectors) -> Vec<u8> {
    let count = pieces.ids.len();
    if count == 0 {
        return Vec::new();
    }
    let dims = pieces.vectors.len() / count;
    let mut out = Vec::with_capacity(count * dims / 8);
    for (row, word) in pieces.vectors.chunks_exact(dims.max(1)).zip(&pieces.words) {
        if word.is_none() {
            continue;
        }
        for eight in row.chunks(8) {
            out.push(eight.iter().enumerate().fold(0u8, |byte, (i, x)| byte | u8::from(*x > 0.0) << i));
        }
    }
    out
}

/// A question's word pieces, ready to be compared.
#[derive(Debug)]
pub(crate) struct LateProbe {
    /// For each piece: its weight, the size of one step of its cells, its cells.
    pieces: Vec<(f32, f32, Vec<i8>)>,
    /// Length of a stored row in bytes.
    row: usize,
    total: f32,
    path: Path,
}

impl LateProbe {
    /// Prepares a question; `weights` has one weight per piece, 0 leaves a piece out.
    pub(crate) fn of(question: &PieceVectors, weights: &[f32]) -> Option<Self> {
        let count = question.ids.len();
        let dims = question.vectors.len().checked_div(count)?;
        if dims == 0 || dims % 64 != 0 {
            return None;
        }
        let weighed = question.vectors.chunks_exact(dims).zip(weights).filter(|(_, w)| **w > 0.0);
        let pieces: Vec<(f32, f32, Vec<i8>)> = weighed
            .map(|(row, weight)| {
                let high = row.iter().fold(0f32, |m, x| m.max(x.abs())).max(1e-20);
                let cells = row.iter().map(|x| (x / high * 127.0).round_ties_even() as i8).collect();
                // A stored row has length sqrt(dims), so this makes the sums cosines.
                (*weight, high / 127.0 / (dims as f32).sqrt(), cells)
            })
            .collect();
        let total = pieces.iter().map(|p| p.0).sum();
        (total > 0.0).then_some(Self { pieces, row: dims / 8, total, path: Path::detect() })
    }

    /// The score of a stored text; `None` if it has no word pieces.
    pub(crate) fn score(&self, stored: &[u8]) -> Option<f32> {
        let whole = stored.len() / self.row * self.row;
        if whole == 0 {
            return None;
        }
        let mut sum = 0f32;
        for (weight, step, cells) in &self.pieces {
            // A set bit counts as one and any other as minus one: twice the sum over the set ones, without the sum over all.
            let all: i32 = cells.iter().map(|cell| i32::from(*cell)).sum();
            let nearest =
                stored[..whole].chunks_exact(self.row).map(|row| simd::weigh(self.path, row, cells)).max();
            sum += weight * step * (2 * nearest.unwrap_or(0) - all) as f32;
        }
        Some(sum / self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(rows: &[[f32; 64]]) -> PieceVectors {
        PieceVectors { ids: vec![7; rows.len()], words: vec![Some(0); rows.len()], vectors: rows.concat() }
    }

    fn pattern(step: usize) -> [f32; 64] {
        std::array::from_fn(|i| if i % step == 0 { 0.125 } else { -0.125 })
    }

    #[test]
    fn a_text_that_holds_the_word_scores_higher_than_one_that_does_not() {
        let (a, b) = (pattern(3), pattern(3).map(|x| -x));
        let probe = LateProbe::of(&vectors(&[a]), &[1.0]).unwrap();
        let with = probe.score(&pack(&vectors(&[b, a]))).unwrap();
        let without = probe.score(&pack(&vectors(&[b]))).unwrap();
        assert!(with > 0.99 && without < -0.99, "{with} {without}");
    }

    #[test]
    fn each_word_counts_by_its_weight() {
        let (a, b) = (pattern(2), pattern(2).map(|x| -x));
        let stored = pack(&vectors(&[a]));
        let probe = LateProbe::of(&vectors(&[a, b]), &[3.0, 1.0]).unwrap();
        assert!((probe.score(&stored).unwrap() - 0.5).abs() < 0.01);
    }

    #[test]
    fn pieces_without_weight_and_texts_without_pieces_score_nothing() {
        assert!(LateProbe::of(&vectors(&[pattern(2)]), &[0.0]).is_none());
        assert!(LateProbe::of(&PieceVectors::default(), &[]).is_none());
        assert_eq!(LateProbe::of(&vectors(&[pattern(2)]), &[1.0]).unwrap().score(&[]), None);
    }

    #[test]
    fn punctuation_is_not_stored() {
        let mut both = vectors(&[pattern(2), pattern(3)]);
        both.words[0] = None;
        assert_eq!(pack(&both), pack(&vectors(&[pattern(3)])));
    }
}
