//! Slips of the pen: which known term an unknown one may have been meant as.
//!
//! In: a term nobody has and the terms there are. Out: the nearest few. One slip is a letter too many, too
//! few, another one, or two swapped; terms of eight letters and more may have two.

/// Shortest term that is mended.
const SHORTEST: usize = 4;
/// Most terms given back.
const MOST: usize = 3;

/// Whether a term is one that slips are looked for in: letters only, not too short.
pub(crate) fn may_slip(term: &str) -> bool {
    (SHORTEST..=32).contains(&term.len()) && term.bytes().all(|b| b.is_ascii_lowercase())
}

/// The terms fewest slips away from `term`, at most three, in order.
pub(crate) fn nearest(term: &str, words: Vec<String>) -> Vec<String> {
    let allowed = if term.len() >= 8 { 2 } else { 1 };
    let mut found: Vec<(usize, String)> = words
        .into_iter()
        .filter(|w| w.len().abs_diff(term.len()) <= allowed && w.bytes().all(|b| b.is_ascii_lowercase()))
        .filter_map(|w| Some((slips(term.as_bytes(), w.as_bytes(), allowed)?, w)))
        .collect();
    found.sort_unstable();
    found.dedup();
    let best = found.first().map(|f| f.0);
    found.into_iter().filter(|f| Some(f.0) == best).map(|f| f.1).take(MOST).collect()
}

/// How many slips apart two words are, if no more than `allowed`.
fn slips(a: &[u8], b: &[u8], allowed: usize) -> Option<usize> {
    // Three rows of the edit table are enough for swaps; words are at most 34 letters.
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<_>>(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        rows[2][0] = i;
        for j in 1..=b.len() {
            let differ = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[1][j - 1] + differ).min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = best;
        }
        rows.rotate_left(1);
    }
    let distance = rows[1][b.len()];
    (distance <= allowed).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_mended_to_the_nearest_word() {
        let words = ["postgr", "postpon", "poster", "migrat"].map(String::from).to_vec();
        assert_eq!(nearest("postgrs", words.clone()), ["postgr"]);
        assert_eq!(nearest("migart", words.clone()), ["migrat"]);
        assert!(nearest("kubernet", words).is_empty());
    }

    #[test]
    fn swapped_letters_are_one_slip_and_short_words_none() {
        assert_eq!(slips(b"recieve", b"receive", 2), Some(1));
        assert_eq!(slips(b"abcd", b"wxyz", 2), None);
        assert!(!may_slip("cat") && !may_slip("v2.0") && may_slip("cats"));
    }
}
