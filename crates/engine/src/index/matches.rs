//! Keyword matches of one question: scores of all documents that hold any of its terms.
//!
//! In: postings. Out: a score per document, the best of them, and what each term added. A question costs one
//! multiplication and addition per posting; removed documents are set to zero before anyone looks.

use super::postings::{self, Cells, rarity};

/// Scores looked at together.
const BLOCK: usize = 64;

/// One term's postings, as read for a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Postings {
    pub(crate) term: String,
    /// What the question gives the term.
    pub(crate) weight: f32,
    /// First number and blob of every chunk that has the term.
    pub(crate) chunks: Vec<(u32, Vec<u8>)>,
    /// Documents that wait to be folded in.
    pub(crate) waiting: Vec<(u32, u8)>,
}

impl Postings {
    pub(crate) fn new(term: &str, weight: f32) -> Self {
        Self { term: term.to_owned(), weight, chunks: Vec::new(), waiting: Vec::new() }
    }

    fn count(&self) -> usize {
        self.chunks.iter().map(|(_, blob)| Cells::read(blob).len()).sum::<usize>() + self.waiting.len()
    }

    /// The impact in one document.
    fn impact(&self, number: u32) -> Option<u8> {
        if let Some((_, impact)) = self.waiting.iter().find(|(n, _)| *n == number) {
            return Some(*impact);
        }
        let (first, blob) = self.chunks.iter().find(|(first, _)| *first == number & !0xFFFF)?;
        Cells::read(blob).find((number - first) as u16)
    }
}

/// Scores of all matching documents.
#[derive(Debug)]
pub(crate) struct Matches {
    lists: Vec<Postings>,
    /// Rarity of each term times what the question gives it.
    pub(crate) factors: Vec<f32>,
    scores: Vec<f32>,
    average: f32,
}

impl Matches {
    pub(crate) fn new(lists: Vec<Postings>, next: u32, docs: u32, average: f32) -> Self {
        let factors: Vec<f32> =
            lists.iter().map(|l| l.weight * rarity(docs as f32, l.count() as f32)).collect();
        let mut scores = vec![0f32; next as usize];
        for (list, factor) in lists.iter().zip(&factors) {
            let unit = factor / 255.0;
            for (first, blob) in &list.chunks {
                let Some(chunk) = scores.get_mut(*first as usize..) else { continue };
                for (number, impact) in Cells::read(blob).iter() {
                    if let Some(score) = chunk.get_mut(usize::from(number)) {
                        *score += unit * f32::from(impact);
                    }
                }
            }
            for (number, impact) in &list.waiting {
                if let Some(score) = scores.get_mut(*number as usize) {
                    *score += unit * f32::from(*impact);
                }
            }
        }
        Self { lists, factors, scores, average }
    }

    pub(crate) fn remove(&mut self, number: u32) {
        if let Some(score) = self.scores.get_mut(number as usize) {
            *score = 0.0;
        }
    }

    /// The score of a document, 0 if it holds none of the terms.
    pub(crate) fn score(&self, number: u32) -> f32 {
        self.scores.get(number as usize).copied().unwrap_or(0.0)
    }

    /// The `limit` best documents, best first.
    pub(crate) fn best(&self, limit: usize) -> Vec<(u32, f32)> {
        if limit == 0 {
            return Vec::new();
        }
        let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        let mut found: Vec<(u32, f32)> = Vec::with_capacity(limit * 4);
        let mut bar = 0f32;
        for (block, scores) in self.scores.chunks(BLOCK).enumerate() {
            // Scores are never negative, so their bits sort as they do; whole blocks without a hit are the rule.
            if scores.iter().fold(0, |most, score| score.to_bits().max(most)) <= bar.to_bits() {
                continue;
            }
            for (number, score) in (block * BLOCK..).zip(scores) {
                if *score > bar {
                    found.push((number as u32, *score));
                    // Whenever the list is four times too long, keep the best and raise the bar.
                    if found.len() >= limit * 4 {
                        found.select_nth_unstable_by(limit - 1, order);
                        found.truncate(limit);
                        bar = found.iter().fold(f32::INFINITY, |m, f| m.min(f.1));
                    }
                }
            }
        }
        found.sort_unstable_by(order);
        found.truncate(limit);
        found
    }

    /// The terms with how rare they are and how many documents hold them.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&str, f32, usize)> {
        self.lists.iter().zip(&self.factors).map(|(l, f)| (l.term.as_str(), *f, l.count()))
    }

    /// What each term adds to a document's score; terms it does not hold are left out.
    pub(crate) fn shares(&self, number: u32) -> Vec<(&str, f32)> {
        let share = |(list, factor): (&'_ Postings, &f32)| Some((list.impact(number)?, *factor));
        self.lists
            .iter()
            .zip(&self.factors)
            .filter_map(|(l, f)| {
                share((l, f)).map(|(impact, factor)| (l.term.as_str(), factor * f32::from(impact) / 255.0))
            })
            .collect()
    }

    /// The score that documents of one group would have as one text; `members` are numbers and lengths.
    pub(crate) fn together(&self, members: &[(u32, u32)], average: f32) -> f32 {
        let length: u32 = members.iter().map(|m| m.1).sum();
        let of_term = |list: &Postings| {
            let count: f32 = members
                .iter()
                .filter_map(|(number, length)| {
                    Some(postings::count_of(list.impact(*number)?, *length, self.average))
                })
                .sum();
            if count > 0.0 { postings::saturated(count, length, average) } else { 0.0 }
        };
        self.lists.iter().zip(&self.factors).map(|(list, factor)| factor * of_term(list)).sum()
    }
}
