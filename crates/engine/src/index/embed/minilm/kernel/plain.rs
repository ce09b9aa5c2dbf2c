//! Integer products without special instructions: what every processor can do, and the yardstick for the others.

use super::super::weights::{BLOCK, LinearView};
use super::{Rows, scaled};

pub(super) fn multiply(rows: &Rows, w: &LinearView<'_>, out: &mut [f32]) {
    let width = w.inputs;
    // One block of weights as 16-bit numbers, one line of 64 outputs per input: a byte product fits 16 bits,
    // so even the oldest vector instructions can do a line at a time.
    let mut lines = vec![[0i16; BLOCK]; width];
    for (block, cells) in w.cells.chunks_exact(width * BLOCK).enumerate() {
        for (four, group) in lines.chunks_exact_mut(4).zip(cells.chunks_exact(4 * BLOCK)) {
            for (n, weights) in group.chunks_exact(4).enumerate() {
                for (line, weight) in four.iter_mut().zip(weights) {
                    line[n] = i16::from(*weight);
                }
            }
        }
        let first = block * BLOCK;
        for (row, bytes) in rows.cells.chunks_exact(width).enumerate() {
            let mut sums = [0i32; BLOCK];
            for (byte, line) in bytes.iter().zip(&lines) {
                let factor = i16::from(*byte);
                for (sum, weight) in sums.iter_mut().zip(line) {
                    *sum += i32::from(factor * weight);
                }
            }
            let target = &mut out[row * w.outputs + first..][..BLOCK];
            for (i, (t, sum)) in target.iter_mut().zip(sums).enumerate() {
                let n = first + i;
                *t = scaled(sum, rows.zeros[row], w.sums[n], rows.scales[row], w.scales[n], w.bias[n]);
            }
        }
    }
}
