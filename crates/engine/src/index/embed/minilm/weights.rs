//! The weight file of MiniLM: made once by [`super::convert`], mapped at every start, read in place.
//!
//! In: a mapped file. Out: typed views of its sections. Sizes are checked when it is opened; a file that
//! was cut or is of another version is an error that says so.
//!
//! Layout, little endian: 64 bytes of header (`HLMINI01`, hidden, layers, inner, vocabulary, positions),
//! then one `u64 offset, u64 length` pair per section in the order of [`Weights::open`], then the sections,
//! each at a multiple of 64.

use memmap2::Mmap;

use super::super::EmbedError;

pub(super) const MAGIC: &[u8; 8] = b"HLMINI01";
/// Outputs per packed block of a weight matrix: four 512-bit registers.
pub(super) const BLOCK: usize = 64;
/// Width of an attention head.
pub(super) const HEAD: usize = 32;
pub(super) const SECTIONS_BEFORE_LAYERS: usize = 6;
pub(super) const SECTIONS_PER_LAYER: usize = 20;

/// Sizes of a model of this family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width of the hidden state, a multiple of 64.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Width of the inner layer, a multiple of 64.
    pub inner: usize,
    /// Size of the vocabulary.
    pub vocab: usize,
    /// Longest text, in word pieces with the two special ones.
    pub positions: usize,
}

impl Shape {
    pub(super) fn words(&self) -> [usize; 5] {
        [self.hidden, self.layers, self.inner, self.vocab, self.positions]
    }

    fn sound(&self) -> bool {
        self.hidden.is_multiple_of(BLOCK)
            && self.inner.is_multiple_of(BLOCK)
            && (BLOCK..=8192).contains(&self.hidden)
            && (BLOCK..=32768).contains(&self.inner)
            && (1..=64).contains(&self.layers)
            && (1..65535).contains(&self.vocab)
            && (3..=8192).contains(&self.positions)
    }
}

/// Where a section of numbers lies in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    at: usize,
    len: usize,
}

/// One linear layer: packed 8-bit weights, a scale, a column sum and a bias per output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    cells: Span,
    scales: Span,
    sums: Span,
    bias: Span,
}

/// A linear layer's numbers, borrowed from the file.
#[derive(Clone, Copy)]
pub(super) struct LinearView<'a> {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) cells: &'a [i8],
    pub(super) scales: &'a [f32],
    pub(super) sums: &'a [i32],
    pub(super) bias: &'a [f32],
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Norm {
    pub(super) gain: Span,
    pub(super) bias: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Layer {
    pub(super) qkv: Linear,
    pub(super) mix: Linear,
    pub(super) mix_norm: Norm,
    pub(super) up: Linear,
    pub(super) down: Linear,
    pub(super) down_norm: Norm,
}

/// An opened weight file.
#[derive(Debug)]
pub(super) struct Weights {
    map: Mmap,
    pub(super) shape: Shape,
    vocab: Span,
    pub(super) word_cells: Span,
    pub(super) word_scales: Span,
    pub(super) positions: Span,
    pub(super) norm: Norm,
    pub(super) layers: Vec<Layer>,
}

impl Weights {
    pub(super) fn open(map: Mmap) -> Result<Self, EmbedError> {
        let cut = || EmbedError::model("the weight file is cut or damaged");
        if map.get(..8) != Some(MAGIC) {
            return Err(EmbedError::model("the weight file is not one of this version"));
        }
        let word = |i: usize| Some(u32::from_le_bytes(*map.get(8 + i * 4..)?.first_chunk()?) as usize);
        let head: Vec<usize> = (0..5).map_while(word).collect();
        let [hidden, layers, inner, vocab, positions] = head[..] else { return Err(cut()) };
        let shape = Shape { hidden, layers, inner, vocab, positions };
        if !shape.sound() {
            return Err(cut());
        }
        let mut next = 0;
        // Takes the next section, which must be `want` bytes long (0: any length).
        let mut span = |want: usize| -> Result<Span, EmbedError> {
            let pair = 64 + next * 16;
            next += 1;
            let long = |at: usize| -> Option<usize> {
                usize::try_from(u64::from_le_bytes(*map.get(at..)?.first_chunk()?)).ok()
            };
            let (at, len) = (long(pair).ok_or_else(cut)?, long(pair + 8).ok_or_else(cut)?);
            let inside = at.checked_add(len).is_some_and(|end| end <= map.len());
            if !inside || at % 64 != 0 || (want > 0 && len != want) {
                return Err(cut());
            }
            Ok(Span { at, len })
        };
        let vocab_span = span(0)?;
        let word_cells = span(vocab * hidden)?;
        let word_scales = span(vocab * 4)?;
        let position_span = span(positions * hidden * 4)?;
        let norm = Norm { gain: span(hidden * 4)?, bias: span(hidden * 4)? };
        let mut all = Vec::with_capacity(layers);
        for _ in 0..layers {
            let mut linear = |inputs: usize, outputs: usize| -> Result<Linear, EmbedError> {
                let (cells, scales) = (span(inputs * outputs)?, span(outputs * 4)?);
                let (sums, bias) = (span(outputs * 4)?, span(outputs * 4)?);
                Ok(Linear { inputs, outputs, cells, scales, sums, bias })
            };
            let qkv = linear(hidden, 3 * hidden)?;
            let mix = linear(hidden, hidden)?;
            let up = linear(hidden, inner)?;
            let down = linear(inner, hidden)?;
            let mix_norm = Norm { gain: span(hidden * 4)?, bias: span(hidden * 4)? };
            let down_norm = Norm { gain: span(hidden * 4)?, bias: span(hidden * 4)? };
            all.push(Layer { qkv, mix, mix_norm, up, down, down_norm });
        }
        Ok(Self {
            map,
            shape,
            vocab: vocab_span,
            word_cells,
            word_scales,
            positions: position_span,
            norm,
            layers: all,
        })
    }

    fn bytes(&self, span: Span) -> &[u8] {
        // `open` checked that every span lies inside the map.
        self.map.get(span.at..span.at + span.len).unwrap_or_default()
    }

    pub(super) fn vocab_block(&self) -> &[u8] {
        self.bytes(self.vocab)
    }

    pub(super) fn floats(&self, span: Span) -> &[f32] {
        // Sections start at multiples of 64 in a page-aligned map, so the cast cannot fail.
        bytemuck::try_cast_slice(self.bytes(span)).unwrap_or_default()
    }

    pub(super) fn signed(&self, span: Span) -> &[i8] {
        bytemuck::cast_slice(self.bytes(span))
    }

    pub(super) fn linear(&self, l: &Linear) -> LinearView<'_> {
        LinearView {
            inputs: l.inputs,
            outputs: l.outputs,
            cells: self.signed(l.cells),
            scales: self.floats(l.scales),
            sums: bytemuck::try_cast_slice(self.bytes(l.sums)).unwrap_or_default(),
            bias: self.floats(l.bias),
        }
    }
}
