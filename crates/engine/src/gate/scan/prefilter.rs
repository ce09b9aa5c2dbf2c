//! One pass over a text for all keywords of all rules. In: bytes. Out: keyword hits in text order.
//! The index over the first three bytes of each keyword is a static table: starting costs nothing,
//! and the work per byte is bounded by the longest slot.

use super::rules::{FILTER, FOURTH, KEYWORDS, SHORT, STARTS, Use};

const INDEX_BITS: u32 = FILTER.len().trailing_zeros() + 6;
const FOURTH_BITS: u32 = FOURTH.len().trailing_zeros() + 6;

/// A keyword at a place.
#[derive(Clone, Copy)]
pub(super) struct Hit {
    pub start: usize,
    pub end: usize,
    pub uses: &'static [Use],
}

/// Calls `each` for every keyword in `text`, ASCII letters folded, in order of the start.
pub(super) fn hits(text: &[u8], mut each: impl FnMut(Hit)) {
    if text.len() < 3 {
        return;
    }
    let mut window = u32::from(text[0].to_ascii_lowercase()) << 8 | u32::from(text[1].to_ascii_lowercase());
    for (start, &third) in text[2..].iter().enumerate() {
        window = (window << 8 | u32::from(third.to_ascii_lowercase())) & 0x00FF_FFFF;
        let at = (window.wrapping_mul(0x9E37_79B1) >> (32 - INDEX_BITS)) as usize;
        if FILTER[at >> 6] >> (at & 63) & 1 == 0 {
            continue;
        }
        if let Some(fourth) = text.get(start + 3) {
            let four = window << 8 | u32::from(fourth.to_ascii_lowercase());
            let of_four = (four.wrapping_mul(0x85EB_CA6B) >> (32 - FOURTH_BITS)) as usize;
            // Keywords of three bytes are few and have a filter of their own.
            if FOURTH[of_four >> 6] >> (of_four & 63) & 1 == 0 && SHORT[at >> 6] >> (at & 63) & 1 == 0 {
                continue;
            }
        }
        for keyword in &KEYWORDS[STARTS[at] as usize..STARTS[at + 1] as usize] {
            let end = start + keyword.text.len();
            // The last byte differs most often among keywords that begin alike.
            let last = keyword.text[keyword.text.len() - 1];
            if end <= text.len()
                && text[end - 1].to_ascii_lowercase() == last
                && text[start..end].eq_ignore_ascii_case(keyword.text)
            {
                each(Hit { start, end, uses: keyword.uses });
            }
        }
    }
}
