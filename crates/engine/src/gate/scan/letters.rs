//! Whether letters read like words. In: bytes. Out: how unlikely each letter is after the one
//! before it. A plain table of letter pairs; it knows no language and no list of words.

use super::rules::LETTERS;

/// Mean surprise per letter pair in sixteenths-ish units: words lie near 5, random letters near 9.
pub(super) fn surprise(letters: &[u8]) -> f32 {
    if letters.len() < 2 {
        return 0.0;
    }
    let index = |b: u8| (b.to_ascii_lowercase() - b'a') as usize;
    let sum: u32 =
        letters.windows(2).map(|pair| u32::from(LETTERS[index(pair[0]) * 26 + index(pair[1])])).sum();
    sum as f32 / (letters.len() - 1) as f32
}

/// How many bytes of `text` lie in runs of letters that read like words. Runs end where the case
/// changes from lower to upper, as in `camelCase`.
pub(super) fn wordy(text: &[u8]) -> usize {
    let mut total = 0;
    let mut at = 0;
    while at < text.len() {
        if !text[at].is_ascii_alphabetic() {
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        while at < text.len()
            && text[at].is_ascii_alphabetic()
            && !(text[at].is_ascii_uppercase() && text[at - 1].is_ascii_lowercase())
        {
            at += 1;
        }
        let run = &text[start..at];
        let limit = match run.len() {
            0..=2 => continue,
            3 => 5.6,
            4 => 6.2,
            5..=6 => 6.8,
            _ => 7.2,
        };
        // `ABCdef` is two runs for a reader: the case pattern of a word is Xxxx, xxxx or XXXX.
        let cased = run[1..].windows(2).all(|p| p[0].is_ascii_uppercase() == p[1].is_ascii_uppercase());
        if cased && surprise(run) <= limit {
            total += run.len();
        }
    }
    total
}
