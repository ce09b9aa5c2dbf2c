//! The floating-point parts: attention, softmax, GELU, layer norm, cutting to 8 bits.
//!
//! Written once, without intrinsics, over fixed-width groups of lanes, and compiled for each path; the
//! compiler turns the lanes into the registers of that path.
#![allow(
    unsafe_code,
    reason = "calling a function compiled for more features needs the features checked first"
)]
#![allow(clippy::needless_range_loop, reason = "lanes by number are what the compiler turns into registers")]

use super::super::weights::HEAD;
#[cfg(target_arch = "x86_64")]
use super::Instructions;
use super::Path;

/// Lanes handled together: one 512-bit register.
const LANES: usize = 16;
/// Rows of attention handled together.
const TEAM: usize = 4;

/// Multiply-add as the path has it: fused in hardware, or two plain steps (a fused one in software is slow).
trait Fused {
    fn fma(a: f32, b: f32, c: f32) -> f32;
}

struct Hardware;
struct Steps;

impl Fused for Hardware {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl Fused for Steps {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

/// Compiles one generic function for the three paths and picks by [`Path`].
macro_rules! by_path {
    ($(#[$doc:meta])* $name:ident => $body:ident ( $($arg:ident : $ty:ty),* ) $(-> $ret:ty)?) => {
        $(#[$doc])*
        pub(in super::super) fn $name(path: Path, $($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")]
                fn wide($($arg: $ty),*) $(-> $ret)? { $body::<Hardware>($($arg),*) }
                #[target_feature(enable = "avx2,fma")]
                fn middle($($arg: $ty),*) $(-> $ret)? { $body::<Hardware>($($arg),*) }
                match path.instructions() {
                    // SAFETY: `Path::available` only offers paths whose features this processor has.
                    Instructions::Vnni => return unsafe { wide($($arg),*) },
                    // SAFETY: as above.
                    Instructions::Avx2 => return unsafe { middle($($arg),*) },
                    Instructions::Plain => {}
                }
            }
            let _ = path;
            $body::<Steps>($($arg),*)
        }
    };
}

by_path! {
    /// Cuts one row to bytes; gives its scale and the byte that stands for zero.
    quantise => quantise_with(from: &[f32], to: &mut [u8]) -> (f32, i32)
}
by_path! {
    /// Layer norm of every row of `x`, in place.
    norm => norm_with(x: &mut [f32], gain: &[f32], bias: &[f32])
}
by_path! {
    /// `x = norm(x + y)`, row by row.
    add_norm => add_norm_with(x: &mut [f32], y: &[f32], gain: &[f32], bias: &[f32])
}
by_path! {
    /// The exact (erf) GELU of every number, in place.
    gelu => gelu_with(x: &mut [f32])
}
by_path! {
    /// Multi-head attention of one text: `qkv` has rows of three times the width of a row of `out`.
    attend => attend_with(qkv: &[f32], out: &mut [f32], width: usize, room: &mut Attention)
}

#[inline(always)]
fn quantise_with<F: Fused>(from: &[f32], to: &mut [u8]) -> (f32, i32) {
    let (mut low, mut high) = ([0f32; LANES], [0f32; LANES]);
    for group in from.chunks_exact(LANES) {
        for i in 0..LANES {
            low[i] = if group[i] < low[i] { group[i] } else { low[i] };
            high[i] = if group[i] > high[i] { group[i] } else { high[i] };
        }
    }
    let low = low.iter().fold(0f32, |a, b| a.min(*b));
    let high = high.iter().fold(0f32, |a, b| a.max(*b));
    let scale = ((high - low) / 255.0).max(1e-20);
    let inverse = scale.recip();
    let zero = (-low * inverse).round_ties_even().clamp(0.0, 255.0);
    // Adding 1.5 * 2^23 leaves the rounded number in the low bits of the sum.
    let shift = 12_582_912.0 + zero;
    for (value, cell) in from.iter().zip(to.iter_mut()) {
        let number = F::fma(*value, inverse, shift).to_bits().cast_signed() - 0x4B40_0000;
        *cell = number.clamp(0, 255) as u8;
    }
    (scale, zero as i32)
}

#[inline(always)]
fn sum_lanes(lanes: [f32; LANES]) -> f32 {
    let mut half = [0f32; LANES / 2];
    for i in 0..LANES / 2 {
        half[i] = lanes[i] + lanes[i + LANES / 2];
    }
    half.iter().sum()
}

#[inline(always)]
fn norm_row<F: Fused>(row: &mut [f32], gain: &[f32], bias: &[f32]) {
    let mut lanes = [0f32; LANES];
    for group in row.chunks_exact(LANES) {
        for i in 0..LANES {
            lanes[i] += group[i];
        }
    }
    let inverse = (row.len() as f32).recip();
    let mean = sum_lanes(lanes) * inverse;
    let mut lanes = [0f32; LANES];
    for group in row.chunks_exact(LANES) {
        for i in 0..LANES {
            let d = group[i] - mean;
            lanes[i] = F::fma(d, d, lanes[i]);
        }
    }
    let scale = (sum_lanes(lanes) * inverse + 1e-12).sqrt().recip();
    for ((x, g), b) in row.iter_mut().zip(gain).zip(bias) {
        *x = F::fma((*x - mean) * scale, *g, *b);
    }
}

#[inline(always)]
fn norm_with<F: Fused>(x: &mut [f32], gain: &[f32], bias: &[f32]) {
    for row in x.chunks_exact_mut(gain.len()) {
        norm_row::<F>(row, gain, bias);
    }
}

#[inline(always)]
fn add_norm_with<F: Fused>(x: &mut [f32], y: &[f32], gain: &[f32], bias: &[f32]) {
    for (row, other) in x.chunks_exact_mut(gain.len()).zip(y.chunks_exact(gain.len())) {
        for (a, b) in row.iter_mut().zip(other) {
            *a += b;
        }
        norm_row::<F>(row, gain, bias);
    }
}

/// e^x by range reduction and a polynomial, relative error below 3e-7 for the range softmax and erf need.
#[inline(always)]
fn exp<F: Fused>(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = F::fma(x, std::f32::consts::LOG2_E, 12_582_912.0);
    let whole = shifted - 12_582_912.0;
    let rest = F::fma(whole, -0.693_359_4, x);
    let rest = F::fma(whole, 2.121_944_4e-4, rest);
    let mut p = 1.987_569_2e-4;
    for c in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5] {
        p = F::fma(p, rest, c);
    }
    let p = F::fma(p * rest, rest, rest + 1.0);
    let exponent = shifted.to_bits().wrapping_sub(0x4B40_0000).wrapping_add(127) << 23;
    p * f32::from_bits(exponent)
}

#[inline(always)]
fn gelu_with<F: Fused>(x: &mut [f32]) {
    // erf by Abramowitz and Stegun 7.1.26, error below 1.5e-7.
    for v in x.iter_mut() {
        let z = v.abs() * std::f32::consts::FRAC_1_SQRT_2;
        let t = F::fma(0.327_591_1, z, 1.0).recip();
        let mut p = 1.061_405_4;
        for c in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
            p = F::fma(p, t, c);
        }
        let z2 = if z > 9.0 { 81.0 } else { z * z };
        let erf = 1.0 - p * t * exp::<F>(-z2);
        *v = 0.5 * *v * (1.0 + erf.copysign(*v));
    }
}

/// Room for attention, reused from call to call.
#[derive(Debug, Default)]
pub(in super::super) struct Attention {
    /// Keys of one head, turned: one row per dimension.
    keys: Vec<f32>,
    /// Scores of a team of rows.
    scores: Vec<f32>,
}

#[inline(always)]
fn attend_with<F: Fused>(qkv: &[f32], out: &mut [f32], width: usize, room: &mut Attention) {
    let stride = 3 * width;
    let length = qkv.len() / stride;
    let padded = length.next_multiple_of(LANES);
    room.keys.clear();
    room.keys.resize(HEAD * padded, 0.0);
    room.scores.clear();
    room.scores.resize(TEAM * padded, 0.0);
    let factor = (HEAD as f32).sqrt().recip();
    for head in (0..width).step_by(HEAD) {
        for (j, row) in qkv.chunks_exact(stride).enumerate() {
            for (d, k) in row[width + head..][..HEAD].iter().enumerate() {
                room.keys[d * padded + j] = *k;
            }
        }
        for first in (0..length).step_by(TEAM) {
            let team = TEAM.min(length - first);
            let mut queries = [[0f32; HEAD]; TEAM];
            for (r, q) in queries.iter_mut().enumerate().take(team) {
                q.copy_from_slice(&qkv[(first + r) * stride + head..][..HEAD]);
                q.iter_mut().for_each(|x| *x *= factor);
            }
            for group in (0..padded).step_by(LANES) {
                let mut sums = [[0f32; LANES]; TEAM];
                for d in 0..HEAD {
                    let keys: &[f32; LANES] = match room.keys[d * padded + group..].first_chunk() {
                        Some(keys) => keys,
                        None => continue,
                    };
                    for r in 0..TEAM {
                        for i in 0..LANES {
                            sums[r][i] = F::fma(queries[r][d], keys[i], sums[r][i]);
                        }
                    }
                }
                for (r, sum) in sums.iter().enumerate() {
                    room.scores[r * padded + group..][..LANES].copy_from_slice(sum);
                }
            }
            let mut inverses = [0f32; TEAM];
            for (r, row) in room.scores.chunks_exact_mut(padded).enumerate() {
                inverses[r] = soften::<F>(row, length);
            }
            let mut sums = [[0f32; HEAD]; TEAM];
            for j in 0..length {
                let values: &[f32; HEAD] = match qkv[j * stride + 2 * width + head..].first_chunk() {
                    Some(values) => values,
                    None => continue,
                };
                for r in 0..TEAM {
                    let p = room.scores[r * padded + j];
                    for i in 0..HEAD {
                        sums[r][i] = F::fma(p, values[i], sums[r][i]);
                    }
                }
            }
            for r in 0..team {
                let target = &mut out[(first + r) * width + head..][..HEAD];
                for (t, s) in target.iter_mut().zip(sums[r]) {
                    *t = s * inverses[r];
                }
            }
        }
    }
}

/// Turns scores into unnormalised weights; gives the inverse of their sum. What lies past `length` becomes 0.
#[inline(always)]
fn soften<F: Fused>(row: &mut [f32], length: usize) -> f32 {
    row[length..].fill(f32::NEG_INFINITY);
    let mut high = [f32::NEG_INFINITY; LANES];
    for group in row.chunks_exact(LANES) {
        for i in 0..LANES {
            high[i] = if group[i] > high[i] { group[i] } else { high[i] };
        }
    }
    let high = high.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
    let mut lanes = [0f32; LANES];
    for group in row.chunks_exact_mut(LANES) {
        for i in 0..LANES {
            group[i] = exp::<F>(group[i] - high);
            lanes[i] += group[i];
        }
    }
    // A padded place contributed e^-87, far below what a single-precision sum can see.
    sum_lanes(lanes).recip()
}
