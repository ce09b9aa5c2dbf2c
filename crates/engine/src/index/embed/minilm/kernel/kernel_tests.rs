use proptest::prelude::*;

use super::super::convert::packed;
use super::*;

fn noise(seed: u64, count: usize, size: f32) -> Vec<f32> {
    let mut state = seed | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 40) as f32 / 8_388_608.0 - 1.0) * size
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn products_agree_to_the_last_bit_on_every_path(seed in 1u64.., rows in 1usize..15) {
        let (inputs, outputs) = (64, 128);
        let cells: Vec<i8> = noise(seed, inputs * outputs, 127.0).iter().map(|x| *x as i8).collect();
        let sums: Vec<i32> = cells.chunks(inputs).map(|r| r.iter().map(|c| i32::from(*c)).sum()).collect();
        let (scales, bias) = (noise(seed + 2, outputs, 0.01), noise(seed + 4, outputs, 1.0));
        let packed = packed(&cells, inputs);
        let view = LinearView { inputs, outputs, cells: &packed, scales: &scales, sums: &sums, bias: &bias };
        let mut quantised = Rows::default();
        quantised.fill(Path::PLAIN, &noise(seed + 6, rows * inputs, 3.0), inputs);
        let mut want = Vec::new();
        multiply(Path::PLAIN, &quantised, &view, &mut want);
        for path in Path::available() {
            let mut got = Vec::new();
            multiply(path, &quantised, &view, &mut got);
            prop_assert_eq!(&got, &want);
        }
    }

    #[test]
    fn a_row_cut_to_bytes_comes_back_within_half_a_step(seed in 1u64.., size in 0.01f32..50.0) {
        let row = noise(seed, 64, size);
        for path in Path::available() {
            let mut cells = [0u8; 64];
            let (scale, zero) = float::quantise(path, &row, &mut cells);
            for (x, c) in row.iter().zip(cells) {
                prop_assert!(((i32::from(c) - zero) as f32 * scale - x).abs() <= scale * 1.01);
            }
        }
    }

    #[test]
    fn gelu_is_within_a_millionth_of_the_exact_one(x in -12f32..12.0) {
        let exact = f64::from(x) * 0.5 * (1.0 + libm_erf(f64::from(x) / std::f64::consts::SQRT_2));
        for path in Path::available() {
            let mut row = [x; 16];
            gelu(path, &mut row);
            prop_assert!((f64::from(row[0]) - exact).abs() < 2e-6, "{} {}", row[0], exact);
        }
    }
}

/// erf by its series, good enough for |x| < 9 in double precision only near zero, so the tail is set to one.
fn libm_erf(x: f64) -> f64 {
    if x.abs() > 3.5 {
        return 1f64.copysign(x);
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..120 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

#[test]
fn attention_of_equal_keys_is_the_mean_of_the_values() {
    let width = 64;
    for path in Path::available() {
        for length in [1usize, 3, 16, 17, 40] {
            let mut qkv = vec![0.5f32; length * 3 * width];
            for (i, row) in qkv.chunks_exact_mut(3 * width).enumerate() {
                row[2 * width..].fill(i as f32);
            }
            let mut out = vec![0f32; length * width];
            attend(path, &qkv, &mut out, width, &mut Attention::default());
            let mean = (length - 1) as f32 / 2.0;
            assert!(out.iter().all(|x| (x - mean).abs() < 1e-4), "{path:?} {length}");
        }
    }
}
