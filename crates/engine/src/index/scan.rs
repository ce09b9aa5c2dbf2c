//! Comparing one query with many vectors: 8-bit dot products and counts of differing bits.
//!
//! In: rows of bytes as they lie in the vector file. Out: one number per row. Three paths, as in the forward
//! pass; the sums are whole numbers, so the paths agree to the last bit.
#![allow(unsafe_code, reason = "8-bit dot products need intrinsics, which need pointers")]

use super::embed::minilm::Path;

/// Dot products of `query` with rows of offset bytes (a stored byte is the number plus 128).
pub(crate) fn dots(path: Path, rows: &[u8], query: &[i8], out: &mut Vec<i32>) {
    let width = query.len();
    out.clear();
    if width == 0 || !width.is_multiple_of(64) {
        return;
    }
    // The stored offset adds 128 times the sum of the query to every product.
    let offset = 128 * query.iter().map(|q| i32::from(*q)).sum::<i32>();
    #[cfg(target_arch = "x86_64")]
    match path {
        // SAFETY: `Path::available` saw the features; `x86` reads whole rows of a multiple of 64 bytes.
        Path::Vnni => {
            return out
                .extend(rows.chunks_exact(width).map(|row| unsafe { x86::dot_wide(row, query) } - offset));
        }
        // SAFETY: as above.
        Path::Avx2 => {
            return out
                .extend(rows.chunks_exact(width).map(|row| unsafe { x86::dot_middle(row, query) } - offset));
        }
        Path::Plain => {}
    }
    let _ = path;
    let plain = |row: &[u8]| row.iter().zip(query).map(|(r, q)| i32::from(*r) * i32::from(*q)).sum::<i32>();
    out.extend(rows.chunks_exact(width).map(|row| plain(row) - offset));
}

/// How many bits of each row differ from `query`.
pub(crate) fn differing(path: Path, rows: &[u8], query: &[u8], out: &mut Vec<u16>) {
    #[cfg(target_arch = "x86_64")]
    match path {
        // SAFETY: `Path::available` saw AVX-512, and every processor that has it has these.
        Path::Vnni => return unsafe { x86::differing_wide(rows, query, out) },
        // SAFETY: every processor with AVX2 counts bits in hardware.
        Path::Avx2 => return unsafe { x86::differing_middle(rows, query, out) },
        Path::Plain => {}
    }
    let _ = path;
    count_bits(rows, query, out);
}

#[inline(always)]
fn count_bits(rows: &[u8], query: &[u8], out: &mut Vec<u16>) {
    let (words, _) = query.as_chunks::<8>();
    match words {
        // The built-in model's width, spelled out because the compiler then unrolls it.
        [a, b, c, d] => {
            let query = [a, b, c, d].map(|w| u64::from_le_bytes(*w));
            out.extend(rows.as_chunks::<32>().0.iter().map(|row| {
                let (row, _) = row.as_chunks::<8>();
                let one = |i: usize| (u64::from_le_bytes(row[i]) ^ query[i]).count_ones();
                (one(0) + one(1) + one(2) + one(3)) as u16
            }));
        }
        _ => out.extend(rows.chunks_exact(query.len().max(1)).map(|row| {
            let (row, _) = row.as_chunks::<8>();
            row.iter()
                .zip(words)
                .map(|(r, q)| (u64::from_le_bytes(*r) ^ u64::from_le_bytes(*q)).count_ones())
                .sum::<u32>() as u16
        })),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
    pub(super) unsafe fn dot_wide(row: &[u8], query: &[i8]) -> i32 {
        let mut sums = [_mm512_setzero_si512(); 2];
        for at in (0..query.len()).step_by(64) {
            // SAFETY: both slices have the same length, a multiple of 64.
            let (r, q) = unsafe {
                (
                    _mm512_loadu_si512(row.as_ptr().add(at).cast()),
                    _mm512_loadu_si512(query.as_ptr().add(at).cast()),
                )
            };
            let sum = &mut sums[at / 64 % 2];
            *sum = _mm512_dpbusd_epi32(*sum, r, q);
        }
        _mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1]))
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn dot_middle(row: &[u8], query: &[i8]) -> i32 {
        let mut sum = _mm256_setzero_si256();
        for at in (0..query.len()).step_by(16) {
            // SAFETY: both slices have the same length, a multiple of 64.
            let (r, q) = unsafe {
                (_mm_loadu_si128(row.as_ptr().add(at).cast()), _mm_loadu_si128(query.as_ptr().add(at).cast()))
            };
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_cvtepu8_epi16(r), _mm256_cvtepi8_epi16(q)));
        }
        let half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        let half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0b00_00_11_10));
        _mm_cvtsi128_si32(_mm_add_epi32(half, _mm_shuffle_epi32(half, 0b01)))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,popcnt")]
    pub(super) unsafe fn differing_wide(rows: &[u8], query: &[u8], out: &mut Vec<u16>) {
        super::count_bits(rows, query, out);
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) unsafe fn differing_middle(rows: &[u8], query: &[u8], out: &mut Vec<u16>) {
        super::count_bits(rows, query, out);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn every_path_gives_the_same_whole_numbers(
            query in proptest::collection::vec(any::<i8>(), 128),
            rows in proptest::collection::vec(any::<u8>(), 128 * 3),
        ) {
            let bits: Vec<u8> = query[..16].iter().map(|b| b.cast_unsigned()).collect();
            let want: Vec<i32> = rows.chunks(128).map(|r| r.iter().zip(&query).map(|(a, b)| (i32::from(*a) - 128) * i32::from(*b)).sum()).collect();
            let counts: Vec<u16> = rows.chunks(16).map(|r| r.iter().zip(&bits).map(|(a, b)| (a ^ b).count_ones() as u16).sum()).collect();
            for path in Path::available() {
                let (mut got, mut differ) = (Vec::new(), Vec::new());
                dots(path, &rows, &query, &mut got);
                differing(path, &rows, &bits, &mut differ);
                prop_assert_eq!(&got, &want);
                prop_assert_eq!(&differ, &counts);
            }
        }
    }
}
