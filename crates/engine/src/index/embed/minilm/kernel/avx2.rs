//! Integer products with AVX2: exact 16-bit multiply-add, four rows by 16 outputs at a time.
//!
//! The saturating byte instruction of AVX2 would clip; instead each group of four bytes is split into its
//! even and odd ones, which makes two exact 16-bit products per output.
#![allow(
    unsafe_code,
    reason = "measured: 4.9 times the texts a second of the plain path; intrinsics need pointers"
)]

use super::super::weights::LinearView;
use super::Rows;

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn multiply(rows: &Rows, w: &LinearView<'_>, out: &mut [f32]) {
    super::plain::multiply(rows, w, out);
}

#[cfg(target_arch = "x86_64")]
pub(super) fn multiply(rows: &Rows, w: &LinearView<'_>, out: &mut [f32]) {
    // SAFETY: the path that leads here is only made by `Path::available`, which saw AVX2 and FMA on this processor;
    // `kernel::multiply` asserted the sizes that `x86::multiply` relies on.
    unsafe { x86::multiply(rows, w, out) }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::super::weights::{BLOCK, LinearView};
    use super::super::Rows;

    const STEP: usize = 4;

    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn multiply(rows: &Rows, w: &LinearView<'_>, out: &mut [f32]) {
        let count = rows.scales.len();
        // Sixteen outputs are a quarter of a packed block.
        for first in (0..w.outputs).step_by(16) {
            let mut row = 0;
            while row < count {
                // SAFETY: rows `row..row + R` and outputs `first..first + 16` exist.
                unsafe {
                    match count - row {
                        1 => tile::<1>(rows, w, out, row, first),
                        2 => tile::<2>(rows, w, out, row, first),
                        3 => tile::<3>(rows, w, out, row, first),
                        _ => tile::<STEP>(rows, w, out, row, first),
                    }
                }
                row += STEP;
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn tile<const R: usize>(
        rows: &Rows,
        w: &LinearView<'_>,
        out: &mut [f32],
        row: usize,
        first: usize,
    ) {
        let width = w.inputs;
        let low = _mm256_set1_epi32(0x00FF_00FF);
        // SAFETY: `cells` holds `count * width` bytes and `w.cells` `outputs * width`, in blocks of 64
        // outputs of which this reads 16; `width` is a multiple of 4.
        unsafe {
            let input = rows.cells.as_ptr().add(row * width);
            let block = first / BLOCK * BLOCK;
            let weights = w.cells.as_ptr().add(block * width + (first - block) * 4);
            let mut sums = [[_mm256_setzero_si256(); 2]; R];
            for k in 0..width / 4 {
                let at = weights.add(k * 4 * BLOCK).cast::<__m256i>();
                let (a, b) = (_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1)));
                let even = [
                    _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8),
                    _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8),
                ];
                let odd = [_mm256_srai_epi16(a, 8), _mm256_srai_epi16(b, 8)];
                for (r, sum) in sums.iter_mut().enumerate() {
                    let four = _mm256_set1_epi32(input.add(r * width + k * 4).cast::<i32>().read_unaligned());
                    let (e, o) =
                        (_mm256_and_si256(four, low), _mm256_and_si256(_mm256_srli_epi32(four, 8), low));
                    for ((s, even), odd) in sum.iter_mut().zip(even).zip(odd) {
                        let pair = _mm256_add_epi32(_mm256_madd_epi16(e, even), _mm256_madd_epi16(o, odd));
                        *s = _mm256_add_epi32(*s, pair);
                    }
                }
            }
            for (r, sum) in sums.iter().enumerate() {
                let zero = _mm256_set1_epi32(rows.zeros[row + r]);
                let scale = _mm256_set1_ps(rows.scales[row + r]);
                let target = out.as_mut_ptr().add((row + r) * w.outputs + first);
                for (i, s) in sum.iter().enumerate() {
                    let n = first + i * 8;
                    let columns = _mm256_loadu_si256(w.sums.as_ptr().add(n).cast());
                    let whole = _mm256_cvtepi32_ps(_mm256_sub_epi32(*s, _mm256_mullo_epi32(zero, columns)));
                    let factor = _mm256_mul_ps(scale, _mm256_loadu_ps(w.scales.as_ptr().add(n)));
                    let value =
                        _mm256_add_ps(_mm256_mul_ps(whole, factor), _mm256_loadu_ps(w.bias.as_ptr().add(n)));
                    _mm256_storeu_ps(target.add(i * 8), value);
                }
            }
        }
    }
}
