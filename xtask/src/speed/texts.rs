//! Made-up memories and questions, the same in every run.
//!
//! A memory has a title of 6 words, 3 tags and a body of 40, words by Zipf's law, one in twelve of the body a rare identifier. A question has
//! eight words: drawn as the texts draw theirs, or without the most frequent ones, as a question has few words that every text has.

use super::said;
use heirloom_engine::index::embed::builtin::Builtin;
use heirloom_engine::index::{Document, Trust};

/// The moment everything happens at.
pub(super) const NOW: i64 = 1_794_700_000;

/// The share of the vocabulary, by the logarithm of the rank, that questions of telling words leave out: 141 of 60,000.
pub(super) const TELLING: f64 = 0.45;

/// A small fixed generator.
pub(super) struct Draw(pub(super) u64);

impl Draw {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// 60,000 words: those of the model's vocabulary, short ones first, then joined pairs of them.
pub(super) fn words() -> Result<Vec<String>, String> {
    let model = Builtin::open().map_err(said)?;
    let (vocab, _) = model.vocab();
    let mut whole: Vec<String> = (1996..vocab.len() as u16)
        .filter_map(|i| String::from_utf8(vocab.word(i)?.to_vec()).ok())
        .filter(|w| w.len() > 2 && w.bytes().all(|b| b.is_ascii_lowercase()))
        .collect();
    whole.sort_by_key(String::len);
    let mut draw = Draw(7);
    let mut all = whole.clone();
    while all.len() < 60_000 {
        let mut pick = || &whole[draw.next() as usize % whole.len()];
        all.push(format!("{}{}", pick(), pick()));
    }
    Ok(all)
}

/// A word by Zipf's law; `from` leaves out the most frequent ones.
fn word<'w>(words: &'w [String], draw: &mut Draw, from: f64) -> &'w str {
    let rank = ((words.len() as f64).ln() * (from + (1.0 - from) * draw.unit())).exp() as usize;
    &words[rank.saturating_sub(1).min(words.len() - 1)]
}

/// Where the memories begin.
pub(super) const FIRST: u64 = 20_261_115;

/// A prompt that has to do with the first memory, and by its words with many others.
pub(super) fn prompt(words: &[String]) -> String {
    let first = memory(0, words, &mut Draw(FIRST));
    let part: Vec<&str> = first.body.split(' ').take(5).collect();
    format!("why did we settle on {} and what has it to do with {} ?", first.title, part.join(" "))
}

/// Questions of so many words.
pub(super) fn questions(words: &[String], from: f64, count: usize, long: usize) -> Vec<Vec<&str>> {
    let mut draw = Draw(99);
    (0..count).map(|_| (0..long).map(|_| word(words, &mut draw, from)).collect()).collect()
}

/// A memory. It is a lesson: lessons have no file of their own, so that a million of them need no million files.
pub(super) fn memory(number: usize, words: &[String], draw: &mut Draw) -> Document {
    let mut text = |count: usize| {
        let part = |draw: &mut Draw| match count > 6 && draw.next().is_multiple_of(12) {
            true => format!("id_{:x}", draw.next() % 0xFFFF_FFFF),
            false => word(words, draw, 0.0).to_owned(),
        };
        (0..count).map(|_| part(draw)).collect::<Vec<_>>()
    };
    Document {
        id: format!("lesson:{number}"),
        kind: "lesson".into(),
        title: text(6).join(" "),
        tags: text(3),
        body: text(40).join(" "),
        trust: Trust::High,
        occurred_at: NOW - (number as i64 % 400) * 86_400,
        confidence: 1.0,
        scope: "project".into(),
        ..Document::default()
    }
}
