//! Comparing one query with many vectors: 8-bit dot products, counts of differing bits, and what set bits weigh.
//!
//! In: rows of bytes as they lie in the vector file. Out: one number per row. Three paths, as in the forward
//! pass; the sums are whole numbers, so the paths agree to the last bit.
#![allow(unsafe_code, reason = "8-bit dot products need intrinsics, which need pointers")]

#[cfg(target_arch = "x86_64")]
use super::embed::minilm::Instructions;
use super::embed::minilm::Path;

/// What the stored offset adds to every product with `query`.
pub(crate) fn offset(query: &[i8]) -> i32 {
    128 * query.iter().map(|q| i32::from(*q)).sum::<i32>()
}

/// Calls `found` with the dot product of `query`, whose [`offset`] is given, and every row of offset bytes (a stored byte is the number plus 128).
pub(crate) fn dots(path: Path, rows: &[u8], query: &[i8], offset: i32, mut found: impl FnMut(i32)) {
    let width = query.len();
    if width == 0 || !width.is_multiple_of(64) {
        return;
    }
    for row in rows.chunks_exact(width) {
        let dot = match path.instructions() {
            // SAFETY: `Path::available` saw the features; `x86` reads whole rows of a multiple of 64 bytes.
            #[cfg(target_arch = "x86_64")]
            Instructions::Vnni => unsafe { x86::dot_wide(row, query) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { x86::dot_middle(row, query) },
            _ => row.iter().zip(query).map(|(r, q)| i32::from(*r) * i32::from(*q)).sum(),
        };
        found(dot - offset);
    }
}

/// The sum of the numbers of `query` whose bits are set in a row.
pub(crate) fn weigh(path: Path, row: &[u8], query: &[i8]) -> i32 {
    if row.len() * 8 != query.len() || !query.len().is_multiple_of(64) {
        return 0;
    }
    match path.instructions() {
        // SAFETY: `Path::available` saw the features; there are eight numbers for every byte, and bytes by eights.
        #[cfg(target_arch = "x86_64")]
        Instructions::Vnni => unsafe { x86::weigh_wide(row, query) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => unsafe { x86::weigh_middle(row, query) },
        _ => {
            let of_byte = |(byte, eight): (&u8, &[i8; 8])| {
                let bit = |(n, q): (usize, &i8)| i32::from(*q) & -i32::from(byte >> n & 1);
                eight.iter().enumerate().map(bit).sum::<i32>()
            };
            row.iter().zip(query.as_chunks().0).map(of_byte).sum()
        }
    }
}

/// How many bits of each row differ from `query`.
pub(crate) fn differing(path: Path, rows: &[u8], query: &[u8], out: &mut Vec<u16>) {
    #[cfg(target_arch = "x86_64")]
    match path.instructions() {
        Instructions::Vnni => match query.try_into() {
            // SAFETY: the feature that `Path::available` did not ask for was seen here.
            Ok(query) if is_x86_feature_detected!("avx512vpopcntdq") => {
                return unsafe { x86::differing_in_hardware(rows, query, out) };
            }
            // SAFETY: `Path::available` saw AVX-512 and that bits are counted in hardware.
            _ => return unsafe { x86::differing_wide(rows, query, out) },
        },
        // SAFETY: `Path::available` saw AVX2 and that bits are counted in hardware.
        Instructions::Avx2 => return unsafe { x86::differing_middle(rows, query, out) },
        Instructions::Plain => {}
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

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
    pub(super) unsafe fn weigh_wide(row: &[u8], query: &[i8]) -> i32 {
        let mut sum = _mm512_setzero_si512();
        for (bits, at) in row.as_chunks().0.iter().zip((0..).step_by(64)) {
            // SAFETY: there are 64 numbers for every eight bytes.
            let q = unsafe { _mm512_loadu_si512(query.as_ptr().add(at).cast()) };
            let ones = _mm512_maskz_set1_epi8(u64::from_le_bytes(*bits), 1);
            sum = _mm512_dpbusd_epi32(sum, ones, q);
        }
        _mm512_reduce_add_epi32(sum)
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn weigh_middle(row: &[u8], query: &[i8]) -> i32 {
        // Every byte of the row eight times, and of each of the eight another bit.
        let (low, high) = (0x0101_0101_0101_0101, 0x0303_0303_0303_0303);
        let spread = _mm256_setr_epi64x(0, low, 0x0202_0202_0202_0202, high);
        let each = _mm256_set1_epi64x(0x8040_2010_0804_0201u64.cast_signed());
        let (ones, pairs) = (_mm256_set1_epi8(1), _mm256_set1_epi16(1));
        let mut sum = _mm256_setzero_si256();
        for (bits, at) in row.as_chunks().0.iter().zip((0..).step_by(32)) {
            // SAFETY: there are 32 numbers for every four bytes.
            let q = unsafe { _mm256_loadu_si256(query.as_ptr().add(at).cast()) };
            let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(i32::from_le_bytes(*bits)), spread);
            let set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, each), each);
            let twos = _mm256_maddubs_epi16(ones, _mm256_and_si256(set, q));
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(twos, pairs));
        }
        added_up(sum)
    }

    #[target_feature(enable = "avx2")]
    fn added_up(sum: __m256i) -> i32 {
        let half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        let half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0b00_00_11_10));
        _mm_cvtsi128_si32(_mm_add_epi32(half, _mm_shuffle_epi32(half, 0b01)))
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
        added_up(sum)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,popcnt")]
    pub(super) unsafe fn differing_wide(rows: &[u8], query: &[u8], out: &mut Vec<u16>) {
        super::count_bits(rows, query, out);
    }

    /// The built-in model's width, eight rows at a time.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,popcnt")]
    pub(super) unsafe fn differing_in_hardware(rows: &[u8], query: &[u8; 32], out: &mut Vec<u16>) {
        // SAFETY: a load of as many bytes as the query has.
        let query_twice = _mm512_broadcast_i64x4(unsafe { _mm256_loadu_si256(query.as_ptr().cast()) });
        let (ones, pairs) = (_mm256_set1_epi8(1), _mm256_set1_epi16(1));
        let (eights, rest) = rows.as_chunks::<256>();
        out.reserve(rows.len() / 32);
        for eight in eights {
            // Two rows as eight counts of a byte each.
            let two = |at: usize| {
                // SAFETY: `at` is at most 192.
                let rows = unsafe { _mm512_loadu_si512(eight.as_ptr().add(at).cast()) };
                _mm512_cvtepi64_epi8(_mm512_popcnt_epi64(_mm512_xor_si512(rows, query_twice)))
            };
            let low = _mm_unpacklo_epi64(two(0), two(64));
            let high = _mm_unpacklo_epi64(two(128), two(192));
            let twos = _mm256_maddubs_epi16(_mm256_set_m128i(high, low), ones);
            let sums = _mm256_cvtepi32_epi16(_mm256_madd_epi16(twos, pairs));
            let mut counts = [0u16; 8];
            // SAFETY: a store of as many bytes as there are.
            unsafe { _mm_storeu_si128(counts.as_mut_ptr().cast(), sums) };
            out.extend_from_slice(&counts);
        }
        super::count_bits(rest, query, out);
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
        fn every_path_counts_the_same_bits_of_rows_as_wide_as_the_built_in_model(
            query in proptest::array::uniform32(any::<u8>()),
            rows in proptest::collection::vec(proptest::array::uniform32(any::<u8>()), 0..40),
        ) {
            let count = |row: &[u8; 32]| row.iter().zip(&query).map(|(a, b)| (a ^ b).count_ones() as u16).sum::<u16>();
            let counts: Vec<u16> = rows.iter().map(count).collect();
            for path in Path::available() {
                let mut differ = Vec::new();
                differing(path, rows.as_flattened(), &query, &mut differ);
                prop_assert_eq!(&differ, &counts);
            }
        }

        #[test]
        fn every_path_gives_the_same_whole_numbers(
            query in proptest::collection::vec(any::<i8>(), 128),
            rows in proptest::collection::vec(any::<u8>(), 128 * 3),
        ) {
            let bits: Vec<u8> = query[..16].iter().map(|b| b.cast_unsigned()).collect();
            let want: Vec<i32> = rows.chunks(128).map(|r| r.iter().zip(&query).map(|(a, b)| (i32::from(*a) - 128) * i32::from(*b)).sum()).collect();
            let counts: Vec<u16> = rows.chunks(16).map(|r| r.iter().zip(&bits).map(|(a, b)| (a ^ b).count_ones() as u16).sum()).collect();
            let set = |row: &[u8], n: usize| row[n / 8] >> (n % 8) & 1 == 1;
            let weights: Vec<i32> = rows.chunks(16).map(|r| (0..128).filter(|n| set(r, *n)).map(|n| i32::from(query[n])).sum()).collect();
            for path in Path::available() {
                let (mut got, mut differ) = (Vec::new(), Vec::new());
                dots(path, &rows, &query, offset(&query), |dot| got.push(dot));
                differing(path, &rows, &bits, &mut differ);
                prop_assert_eq!(&got, &want);
                prop_assert_eq!(&differ, &counts);
                prop_assert_eq!(&rows.chunks(16).map(|row| weigh(path, row, &query)).collect::<Vec<_>>(), &weights);
            }
        }
    }
}
