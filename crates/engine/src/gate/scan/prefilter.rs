//! One pass over a text for all keywords of all rules. In: bytes. Out: keyword hits in text order.
//! The index over the first three bytes of each keyword and a filter over the first four are static tables: starting costs
//! nothing, and the work per byte is bounded by the longest slot.

use super::rules::{FOURTH, KEYWORDS, SHORT, STARTS, Use};

const INDEX_BITS: u32 = SHORT.len().trailing_zeros() + 6;
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
    let [a, b, c, rest @ ..] = text else { return };
    let mut window = u32::from_be_bytes([0, *a, *b, *c].map(|byte| byte.to_ascii_lowercase()));
    for (start, &fourth) in rest.iter().enumerate() {
        window = window << 8 | u32::from(fourth.to_ascii_lowercase());
        let four = (window.wrapping_mul(0x85EB_CA6B) >> (32 - FOURTH_BITS)) as usize;
        let at = slot(window >> 8);
        // Ordinary words begin like keywords often enough; the fourth byte tells most of them apart. Keywords of three bytes are few and have a
        // filter of their own. One branch for both: this is where every byte of every text passes.
        let may = FOURTH[four >> 6] >> (four & 63) | SHORT[at >> 6] >> (at & 63);
        if may & 1 != 0 {
            keywords_at(text, start, at, &mut each);
        }
    }
    // The last three bytes have no fourth.
    keywords_at(text, text.len() - 3, slot(window & 0x00FF_FFFF), &mut each);
}

fn slot(three: u32) -> usize {
    (three.wrapping_mul(0x9E37_79B1) >> (32 - INDEX_BITS)) as usize
}

fn keywords_at(text: &[u8], start: usize, at: usize, each: &mut impl FnMut(Hit)) {
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
