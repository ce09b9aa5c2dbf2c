//! Text to word pieces, as BERT's uncased tokenizer cuts it.
//!
//! In: any text. Out: numbers of word pieces, at most as many as asked for, without the special ones.
//! Words such as `[CLS]` written in the text are text: they never become special pieces. Linear in the
//! length of the text: a word of more than 100 characters is one unknown piece, as in the original.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use super::vocab::{PieceId, Vocab};

const LONGEST_WORD: usize = 100;

/// Word pieces of `text`, at most `limit`.
pub fn cut(vocab: &Vocab<'_>, unknown: PieceId, text: &str, limit: usize) -> Vec<PieceId> {
    let mut out = Vec::with_capacity(limit.min(text.len() / 4 + 4));
    if text.is_ascii() {
        ascii(vocab, unknown, text, limit, &mut out);
    } else {
        unicode(vocab, unknown, text, limit, &mut out);
    }
    out.truncate(limit);
    out
}

fn ascii(vocab: &Vocab<'_>, unknown: PieceId, text: &str, limit: usize, out: &mut Vec<PieceId>) {
    let mut word = String::with_capacity(32);
    for c in text.chars() {
        if out.len() >= limit {
            return;
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        } else if c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r') {
            // Control characters are dropped, not taken as a gap.
        } else {
            flush(vocab, unknown, &mut word, out);
            if c.is_ascii_punctuation() {
                word.push(c);
                flush(vocab, unknown, &mut word, out);
            }
        }
    }
    flush(vocab, unknown, &mut word, out);
}

fn unicode(vocab: &Vocab<'_>, unknown: PieceId, text: &str, limit: usize, out: &mut Vec<PieceId>) {
    let mut word = String::with_capacity(32);
    let lower = text.chars().filter(|c| !is_control(*c)).flat_map(char::to_lowercase);
    for c in lower.nfd().filter(|c| c.general_category() != GeneralCategory::NonspacingMark) {
        if out.len() >= limit {
            return;
        }
        if c.is_whitespace() {
            flush(vocab, unknown, &mut word, out);
        } else if is_punctuation(c) || is_ideograph(c) {
            flush(vocab, unknown, &mut word, out);
            word.push(c);
            flush(vocab, unknown, &mut word, out);
        } else {
            word.push(c);
        }
    }
    flush(vocab, unknown, &mut word, out);
}

/// Greedy longest match from the left; a word with a part that is not in the vocabulary is unknown as a whole.
fn flush(vocab: &Vocab<'_>, unknown: PieceId, word: &mut String, out: &mut Vec<PieceId>) {
    if word.is_empty() {
        return;
    }
    let mark = out.len();
    // A word can hold at most 100 characters, so the quadratic search below is bounded.
    if word.chars().nth(LONGEST_WORD).is_some() {
        out.push(unknown);
        word.clear();
        return;
    }
    let mut from = 0;
    while from < word.len() {
        let prefix = if from == 0 { "" } else { "##" };
        let mut to = word.len();
        let found = loop {
            if let Some(id) = vocab.find(prefix, &word[from..to]) {
                break Some(id);
            }
            match word[from..to].char_indices().next_back() {
                Some((at, _)) if at > 0 => to = from + at,
                _ => break None,
            }
        };
        match found {
            Some(id) => out.push(id),
            None => {
                out.truncate(mark);
                out.push(unknown);
                break;
            }
        }
        from = to;
    }
    word.clear();
}

fn is_control(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{FFFD}' => true,
        _ => matches!(
            c.general_category(),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::PrivateUse
                | GeneralCategory::Unassigned
        ),
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F
        | 0x2B740..=0x2B81F | 0x2B820..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::embed::vocab::encode;

    const WORDS: [&str; 9] = ["[UNK]", "un", "##aff", "##able", ",", "cafe", "日", "本", "[CLS]"];

    #[test]
    fn words_are_cut_greedily_from_the_left() {
        let block = encode(&WORDS).unwrap();
        let vocab = Vocab::parse(&block).unwrap();
        assert_eq!(cut(&vocab, 0, "UNaffable, café 日本", 99), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(cut(&vocab, 0, "unaffx", 99), [0]);
    }

    #[test]
    fn special_pieces_written_in_text_stay_text() {
        let block = encode(&WORDS).unwrap();
        let vocab = Vocab::parse(&block).unwrap();
        assert!(!cut(&vocab, 0, "[CLS] un", 99).contains(&8));
    }

    proptest! {
        #[test]
        fn any_text_gives_at_most_the_limit(text in ".{0,300}", limit in 0usize..20) {
            let block = encode(&WORDS).unwrap();
            let vocab = Vocab::parse(&block).unwrap();
            prop_assert!(cut(&vocab, 0, &text, limit).len() <= limit);
        }

        #[test]
        fn plain_text_is_cut_alike_on_both_ways(text in "[ -~\t\n]{0,200}") {
            let block = encode(&WORDS).unwrap();
            let vocab = Vocab::parse(&block).unwrap();
            let (mut a, mut b) = (Vec::new(), Vec::new());
            ascii(&vocab, 0, &text, 999, &mut a);
            unicode(&vocab, 0, &text, 999, &mut b);
            prop_assert_eq!(a, b);
        }
    }
}
