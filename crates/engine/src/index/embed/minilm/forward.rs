//! The forward pass: word-piece numbers of several texts in, last hidden states out.
//!
//! Texts lie one after the other without padding; linear layers see all rows at once, attention sees one
//! text at a time. Buffers are kept in [`Pass`] and only ever grow.

use super::super::vocab::PieceId;
use super::kernel::{self, Attention, Path, Rows};
use super::weights::Weights;

/// One text of a batch.
pub(super) struct Text<'a> {
    pub(super) ids: &'a [PieceId],
}

/// Buffers of a forward pass.
#[derive(Debug, Default)]
pub(super) struct Pass {
    hidden: Vec<f32>,
    qkv: Vec<f32>,
    mixed: Vec<f32>,
    wide: Vec<f32>,
    rows: Rows,
    attention: Attention,
}

impl Pass {
    /// Rows of the last layer, one per word piece, texts in order.
    pub(super) fn forward(&mut self, weights: &Weights, path: Path, texts: &[Text<'_>]) -> &[f32] {
        let width = weights.shape.hidden;
        self.look_up(weights, texts);
        kernel::norm(
            path,
            &mut self.hidden,
            weights.floats(weights.norm.gain),
            weights.floats(weights.norm.bias),
        );
        for layer in &weights.layers {
            self.rows.fill(path, &self.hidden, width);
            kernel::multiply(path, &self.rows, &weights.linear(&layer.qkv), &mut self.qkv);
            self.mixed.resize(self.hidden.len(), 0.0);
            let mut at = 0;
            for text in texts {
                let (from, to) = (at, at + text.ids.len());
                let (qkv, out) =
                    (&self.qkv[from * 3 * width..to * 3 * width], &mut self.mixed[from * width..to * width]);
                kernel::attend(path, qkv, out, width, &mut self.attention);
                at = to;
            }
            self.rows.fill(path, &self.mixed, width);
            kernel::multiply(path, &self.rows, &weights.linear(&layer.mix), &mut self.mixed);
            let (gain, bias) = (weights.floats(layer.mix_norm.gain), weights.floats(layer.mix_norm.bias));
            kernel::add_norm(path, &mut self.hidden, &self.mixed, gain, bias);

            self.rows.fill(path, &self.hidden, width);
            kernel::multiply(path, &self.rows, &weights.linear(&layer.up), &mut self.wide);
            kernel::gelu(path, &mut self.wide);
            self.rows.fill(path, &self.wide, weights.shape.inner);
            kernel::multiply(path, &self.rows, &weights.linear(&layer.down), &mut self.mixed);
            let (gain, bias) = (weights.floats(layer.down_norm.gain), weights.floats(layer.down_norm.bias));
            kernel::add_norm(path, &mut self.hidden, &self.mixed, gain, bias);
        }
        &self.hidden
    }

    /// Word and position embeddings, added.
    fn look_up(&mut self, weights: &Weights, texts: &[Text<'_>]) {
        let width = weights.shape.hidden;
        let (cells, scales) = (weights.signed(weights.word_cells), weights.floats(weights.word_scales));
        let positions = weights.floats(weights.positions);
        self.hidden.clear();
        for text in texts {
            for (place, id) in text.ids.iter().enumerate() {
                // Ids come from the vocabulary of the same file and texts are cut to the positions there are.
                let id = usize::from(*id).min(scales.len() - 1);
                let place = place.min(weights.shape.positions - 1);
                let row = &cells[id * width..(id + 1) * width];
                let position = &positions[place * width..(place + 1) * width];
                self.hidden.extend(row.iter().zip(position).map(|(c, p)| f32::from(*c) * scales[id] + p));
            }
        }
    }
}
