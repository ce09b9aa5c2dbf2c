//! Integer products with AVX-512 VNNI: 64 byte products per instruction, six rows by 64 outputs at a time.
#![allow(
    unsafe_code,
    reason = "measured: 2.3 times the texts a second of the AVX2 path; intrinsics need pointers"
)]

use super::super::weights::LinearView;
use super::Rows;

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn multiply(rows: &Rows, w: &LinearView<'_>, out: &mut [f32]) {
    super::plain::multiply(rows, w, out);
}

#[cfg(target_arch = "x86_64")]
pub(super) fn multiply(rows: &Rows, w: &LinearView<'_>, out: &mut [f32]) {
    // SAFETY: the path that leads here is only made by `Path::available`, which saw all these features on this
    // processor; `kernel::multiply` asserted the sizes that `x86::multiply` relies on.
    unsafe { x86::multiply(rows, w, out) }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::super::weights::{BLOCK, LinearView};
    use super::super::Rows;

    /// Rows per step: 24 sums, 4 weights and one broadcast fit the 32 registers.
    const STEP: usize = 6;

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
    pub(super) unsafe fn multiply(rows: &Rows, w: &LinearView<'_>, out: &mut [f32]) {
        let count = rows.scales.len();
        for first in (0..w.outputs).step_by(BLOCK) {
            let mut row = 0;
            while row < count {
                // SAFETY: rows `row..row + R` and outputs `first..first + BLOCK` exist.
                unsafe {
                    match count - row {
                        1 => tile::<1>(rows, w, out, row, first),
                        2 => tile::<2>(rows, w, out, row, first),
                        3 => tile::<3>(rows, w, out, row, first),
                        4 => tile::<4>(rows, w, out, row, first),
                        5 => tile::<5>(rows, w, out, row, first),
                        _ => tile::<STEP>(rows, w, out, row, first),
                    }
                }
                row += STEP;
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
    unsafe fn tile<const R: usize>(
        rows: &Rows,
        w: &LinearView<'_>,
        out: &mut [f32],
        row: usize,
        first: usize,
    ) {
        let width = w.inputs;
        // SAFETY: `cells` holds `count * width` bytes and `w.cells` `outputs * width`, in blocks of 64
        // outputs; `width` is a multiple of 4; loads and stores below stay inside these blocks.
        unsafe {
            let input = rows.cells.as_ptr().add(row * width);
            let weights = w.cells.as_ptr().add(first * width);
            let mut sums = [[_mm512_setzero_si512(); 4]; R];
            for k in 0..width / 4 {
                let at = weights.add(k * 4 * BLOCK).cast::<__m512i>();
                let w4 = [
                    _mm512_loadu_si512(at),
                    _mm512_loadu_si512(at.add(1)),
                    _mm512_loadu_si512(at.add(2)),
                    _mm512_loadu_si512(at.add(3)),
                ];
                for (r, sum) in sums.iter_mut().enumerate() {
                    let four = input.add(r * width + k * 4).cast::<i32>().read_unaligned();
                    let four = _mm512_set1_epi32(four);
                    for (s, w) in sum.iter_mut().zip(w4) {
                        *s = _mm512_dpbusd_epi32(*s, four, w);
                    }
                }
            }
            for (r, sum) in sums.iter().enumerate() {
                let zero = _mm512_set1_epi32(rows.zeros[row + r]);
                let scale = _mm512_set1_ps(rows.scales[row + r]);
                let target = out.as_mut_ptr().add((row + r) * w.outputs + first);
                for (i, s) in sum.iter().enumerate() {
                    let n = first + i * 16;
                    let columns = _mm512_loadu_si512(w.sums.as_ptr().add(n).cast());
                    let whole = _mm512_cvtepi32_ps(_mm512_sub_epi32(*s, _mm512_mullo_epi32(zero, columns)));
                    let factor = _mm512_mul_ps(scale, _mm512_loadu_ps(w.scales.as_ptr().add(n)));
                    let value =
                        _mm512_add_ps(_mm512_mul_ps(whole, factor), _mm512_loadu_ps(w.bias.as_ptr().add(n)));
                    _mm512_storeu_ps(target.add(i * 16), value);
                }
            }
        }
    }
}
