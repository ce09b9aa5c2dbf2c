//! The arithmetic of the forward pass, three times: AVX-512 VNNI, AVX2, plain.
//!
//! In: rows of numbers. Out: rows of numbers. Which path runs is decided once, at run time, by what the
//! processor has. The integer products are exact, so the three paths agree to the last bit there; the
//! floating-point parts are one source compiled three times and differ only by fused rounding.

mod avx2;
mod float;
mod plain;
mod vnni;

pub(super) use float::{Attention, add_norm, attend, gelu, norm};

use super::weights::{BLOCK, LinearView};

/// Which instructions the forward pass uses. Only [`Path::available`] makes one that needs any, so whoever has a path has its instructions: the unsafe
/// code behind it relies on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path(Instructions);

/// What a [`Path`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "other processors have the plain path"))]
pub(crate) enum Instructions {
    /// AVX-512 with 8-bit dot products.
    Vnni,
    /// AVX2 with 16-bit multiply-add.
    Avx2,
    /// No special instructions.
    Plain,
}

impl Path {
    /// The one that needs no special instructions.
    pub const PLAIN: Path = Path(Instructions::Plain);

    /// The fastest path this processor has.
    pub fn detect() -> Self {
        Self::available()[0]
    }

    /// Every path this processor has, fastest first.
    pub fn available() -> Vec<Self> {
        let mut paths = Vec::with_capacity(3);
        #[cfg(target_arch = "x86_64")]
        {
            // Processors with AVX2 count bits in hardware; a virtual one may be told to hide that.
            let middle = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("popcnt");
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vnni");
            if wide && middle {
                paths.push(Self(Instructions::Vnni));
            }
            if middle {
                paths.push(Self(Instructions::Avx2));
            }
        }
        paths.push(Self::PLAIN);
        paths
    }

    /// What it stands for.
    pub(crate) fn instructions(self) -> Instructions {
        self.0
    }
}

/// Rows of activations as unsigned bytes, each row with its own scale and zero point.
#[derive(Debug, Default)]
pub(super) struct Rows {
    width: usize,
    cells: Vec<u8>,
    scales: Vec<f32>,
    zeros: Vec<i32>,
}

impl Rows {
    /// Cuts `values` (rows of `width`) to 8 bits.
    pub(super) fn fill(&mut self, path: Path, values: &[f32], width: usize) {
        let rows = values.len() / width;
        self.width = width;
        self.cells.resize(rows * width, 0);
        self.scales.resize(rows, 0.0);
        self.zeros.resize(rows, 0);
        for (row, (from, to)) in
            values.chunks_exact(width).zip(self.cells.chunks_exact_mut(width)).enumerate()
        {
            (self.scales[row], self.zeros[row]) = float::quantise(path, from, to);
        }
    }

    fn count(&self) -> usize {
        self.scales.len()
    }
}

/// `out = rows × weights + bias`, one row of `weights.outputs` numbers per row.
pub(super) fn multiply(path: Path, rows: &Rows, weights: &LinearView<'_>, out: &mut Vec<f32>) {
    out.resize(rows.count() * weights.outputs, 0.0);
    // The kernels index without checks: these are the sizes they rely on.
    assert_eq!(rows.width, weights.inputs);
    assert_eq!(rows.cells.len(), rows.count() * rows.width);
    assert_eq!(rows.zeros.len(), rows.count());
    assert_eq!(weights.cells.len(), weights.inputs * weights.outputs);
    assert!(weights.outputs.is_multiple_of(BLOCK) && weights.inputs.is_multiple_of(4));
    assert!(
        weights.scales.len() == weights.outputs
            && weights.sums.len() == weights.outputs
            && weights.bias.len() == weights.outputs
    );
    match path.instructions() {
        Instructions::Vnni => vnni::multiply(rows, weights, out),
        Instructions::Avx2 => avx2::multiply(rows, weights, out),
        Instructions::Plain => plain::multiply(rows, weights, out),
    }
}

/// What the exact integer sum of one output means as a number.
#[inline(always)]
fn scaled(sum: i32, zero: i32, column: i32, row_scale: f32, weight_scale: f32, bias: f32) -> f32 {
    (sum - zero * column) as f32 * (row_scale * weight_scale) + bias
}

#[cfg(test)]
#[path = "kernel_tests.rs"]
mod tests;
