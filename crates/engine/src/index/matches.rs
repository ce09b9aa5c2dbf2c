//! Keyword matches of one question: scores of the documents that hold any of its terms.
//!
//! In: postings. Out: the best documents, the score of any one, and what each term added. The best are found without scoring all
//! ([`super::top`]). Removed documents score nothing.

use std::cell::OnceCell;
use std::ops::Range;

use super::postings::{self, CHUNK_BITS, Cells, rarity};
use super::top::{self, Dead, List, Top};

/// Up to this many documents all scores are kept once one is asked for: ranking asks for those of neighbours, too.
const KEPT: u32 = 1 << 14;

/// One term's postings, as read for a question.
#[derive(Clone, Debug, PartialEq)]
struct Postings {
    term: String,
    /// What the question gives the term.
    weight: f32,
    /// First number of every chunk that has the term, and where its postings are.
    chunks: Vec<(u32, Range<usize>)>,
    /// Documents that wait to be folded in, in order.
    waiting: Vec<(u32, u8)>,
}

/// The postings of a question's terms, while they are read.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    lists: Vec<Postings>,
    /// The numbers of all postings, one after the other, and their impacts.
    numbers: Vec<[u8; 2]>,
    impacts: Vec<u8>,
    dead: Dead,
    /// Whether a term has this shape: nearly all terms of waiting documents are told apart by it alone.
    shapes: [bool; SHAPES],
}

/// Shapes a term may have: by its length, its first and its last letter.
const SHAPES: usize = 1 << 11;

fn shape(term: &[u8]) -> usize {
    let (Some(first), Some(last)) = (term.first(), term.last()) else { return 0 };
    (usize::from(*first) * 67 + usize::from(*last) * 29 + term.len() * 11) % SHAPES
}

/// Room made for postings before they come: those of a question to a hundred thousand documents.
const ROOM: usize = 5_000;

impl Lists {
    pub(crate) fn of(terms: &[(String, f32)]) -> Self {
        let list = |(term, weight): &(String, f32)| Postings {
            term: term.clone(),
            weight: *weight,
            chunks: Vec::new(),
            waiting: Vec::new(),
        };
        let mut shapes = [false; SHAPES];
        terms.iter().for_each(|(term, _)| shapes[shape(term.as_bytes())] = true);
        let (numbers, impacts) = (Vec::with_capacity(ROOM), Vec::with_capacity(ROOM));
        Self { lists: terms.iter().map(list).collect(), numbers, impacts, dead: Dead::default(), shapes }
    }

    /// Takes a piece of a chunk of the term that stands at `at`; chunks and their pieces come in order.
    pub(crate) fn piece(&mut self, at: usize, first: u32, blob: &[u8]) {
        let Some(list) = self.lists.get_mut(at) else { return };
        let (start, cells) = (self.impacts.len(), Cells::read(blob));
        self.numbers.extend_from_slice(cells.numbers());
        self.impacts.extend_from_slice(cells.impacts());
        let end = self.impacts.len();
        match list.chunks.last_mut().filter(|chunk| chunk.0 == first) {
            Some((_, place)) => place.end = end,
            None => list.chunks.push((first, start..end)),
        }
    }

    /// Takes a posting of a document that is not folded in; documents come in order.
    pub(crate) fn waits(&mut self, term: &[u8], number: u32, impact: impl FnOnce() -> u8) {
        if self.shapes[shape(term)]
            && let Some(list) = self.lists.iter_mut().find(|list| list.term.as_bytes() == term)
        {
            list.waiting.push((number, impact()));
        }
    }

    /// Takes note of a document that is gone.
    pub(crate) fn dead(&mut self, number: u32) {
        self.dead.add(number);
    }

    /// The terms that no document holds, or held, with their weights.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = (&str, f32)> {
        let unknown = self.lists.iter().filter(|list| list.chunks.is_empty() && list.waiting.is_empty());
        unknown.map(|list| (list.term.as_str(), list.weight))
    }

    fn cells<'l>(&'l self, list: &'l Postings) -> impl Iterator<Item = (u32, Cells<'l>)> {
        list.chunks.iter().map(|(first, at)| (*first, self.at(at)))
    }

    fn at(&self, place: &Range<usize>) -> Cells<'_> {
        match (self.numbers.get(place.clone()), self.impacts.get(place.clone())) {
            (Some(numbers), Some(impacts)) => Cells::of(numbers, impacts),
            _ => Cells::of(&[], &[]),
        }
    }

    fn count(&self, list: &Postings) -> usize {
        self.cells(list).map(|(_, cells)| cells.len()).sum::<usize>() + list.waiting.len()
    }

    /// The impact in one document.
    fn impact(&self, list: &Postings, number: u32) -> Option<u8> {
        if let Ok(at) = list.waiting.binary_search_by_key(&number, |waiting| waiting.0) {
            return list.waiting.get(at).map(|waiting| waiting.1);
        }
        let at = list.chunks.binary_search_by_key(&(number & !0xFFFF), |chunk| chunk.0).ok()?;
        self.at(&list.chunks.get(at)?.1).find((number & 0xFFFF) as u16)
    }

    /// Calls `found` with length and impact of every member that holds the term. Members mostly lie together, so of each chunk only
    /// the stretch between the first and the last of them is looked at.
    fn each_of(&self, list: &Postings, members: &[(u32, u32)], mut found: impl FnMut(u32, u8)) {
        for same in members.chunk_by(|a, b| a.0 >> CHUNK_BITS == b.0 >> CHUNK_BITS) {
            let [(low, _), ..] = same else { continue };
            let high = same.last().map_or(*low, |m| m.0);
            let chunk = list.chunks.binary_search_by_key(&(low & !0xFFFF), |chunk| chunk.0).ok();
            if let Some((_, place)) = chunk.and_then(|at| list.chunks.get(at)) {
                let stretch = self.at(place).between((low & 0xFFFF) as u16, (high & 0xFFFF) as u16);
                for (number, length) in same.iter().take(if stretch.len() == 0 { 0 } else { same.len() }) {
                    stretch.find((number & 0xFFFF) as u16).into_iter().for_each(|i| found(*length, i));
                }
            }
            let from = list.waiting.partition_point(|waiting| waiting.0 < *low);
            for (number, impact) in list.waiting.iter().skip(from).take_while(|w| w.0 <= high) {
                if let Ok(at) = same.binary_search_by_key(number, |m| m.0) {
                    same.get(at).into_iter().for_each(|m| found(m.1, *impact));
                }
            }
        }
    }
}

/// Scores of all matching documents.
#[derive(Debug)]
pub(crate) struct Matches {
    lists: Lists,
    /// Rarity of each term times what the question gives it.
    pub(crate) factors: Vec<f32>,
    /// The factors as whole numbers: what an impact of one counts.
    units: Vec<u32>,
    /// What a score is for each one of a sum.
    worth: f32,
    next: u32,
    average: f32,
    kept: OnceCell<Vec<u32>>,
}

impl Matches {
    pub(crate) fn new(lists: Lists, next: u32, docs: u32, average: f32) -> Self {
        let factor = |list: &Postings| list.weight * rarity(docs as f32, lists.count(list) as f32);
        let factors: Vec<f32> = lists.lists.iter().map(factor).collect();
        let high = factors.iter().fold(0f32, |high, factor| high.max(*factor));
        // The sum over all terms stays below half of what the number can hold.
        let most = (u32::MAX / 2 / 255 / factors.len().max(1) as u32).clamp(1, 1 << 16) as f32;
        let units =
            factors.iter().map(|factor| ((factor / high * most) as u32).clamp(1, most as u32)).collect();
        let worth = high / most / 255.0;
        Self { lists, factors, units, worth, next, average, kept: OnceCell::new() }
    }

    fn scored(&self, sum: u32) -> f32 {
        sum as f32 * self.worth
    }

    /// The score of a document, 0 if it holds none of the terms.
    pub(crate) fn score(&self, number: u32) -> f32 {
        if self.next <= KEPT {
            let kept = self.kept.get_or_init(|| self.all());
            return kept.get(number as usize).map_or(0.0, |sum| self.scored(*sum));
        }
        if self.lists.dead.has(number) {
            return 0.0;
        }
        let of_list = |(list, unit): (&Postings, &u32)| {
            self.lists.impact(list, number).map_or(0, |impact| unit * u32::from(impact))
        };
        self.scored(self.lists.lists.iter().zip(&self.units).map(of_list).fold(0, u32::saturating_add))
    }

    /// The sums of all documents.
    fn all(&self) -> Vec<u32> {
        let mut sums = vec![0u32; self.next as usize];
        let mut add = |number: u32, more: u32| {
            if let Some(sum) = sums.get_mut(number as usize).filter(|_| !self.lists.dead.has(number)) {
                *sum = sum.saturating_add(more);
            }
        };
        for (list, unit) in self.lists.lists.iter().zip(&self.units) {
            for (first, cells) in self.lists.cells(list) {
                cells.iter().for_each(|(number, impact)| {
                    add(first + u32::from(number), unit * u32::from(impact));
                });
            }
            list.waiting.iter().for_each(|(number, impact)| add(*number, unit * u32::from(*impact)));
        }
        sums
    }

    /// The `limit` best documents, best first.
    pub(crate) fn best(&self, limit: usize) -> Vec<(u32, f32)> {
        if limit == 0 {
            return Vec::new();
        }
        let lists = self.lists.lists.iter().zip(&self.units);
        let lists: Vec<List<'_>> = lists
            .map(|(list, unit)| List { unit: *unit, chunks: self.lists.cells(list).collect() })
            .collect();
        let mut best = Top::new(limit);
        top::gather(&lists, &self.lists.dead, &mut best);
        let mut waiting: Vec<(u32, u32)> = Vec::new();
        for (list, unit) in self.lists.lists.iter().zip(&self.units) {
            waiting.extend(list.waiting.iter().map(|(number, impact)| (*number, unit * u32::from(*impact))));
        }
        waiting.sort_unstable();
        for same in waiting.chunk_by(|a, b| a.0 == b.0) {
            let number = same.first().map_or(0, |w| w.0);
            if !self.lists.dead.has(number) {
                best.offer(number, same.iter().map(|w| w.1).fold(0, u32::saturating_add));
            }
        }
        best.into_sorted().into_iter().map(|(number, sum)| (number, self.scored(sum))).collect()
    }

    /// The terms with how rare they are and how many documents hold them.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&str, f32, usize)> {
        let lists = self.lists.lists.iter().zip(&self.factors);
        lists.map(|(list, factor)| (list.term.as_str(), *factor, self.lists.count(list)))
    }

    /// What each term adds to a document's score; terms it does not hold are left out.
    pub(crate) fn shares(&self, number: u32) -> Vec<(&str, f32)> {
        let lists = self.lists.lists.iter().zip(&self.factors);
        let share = |(list, factor): (&'_ Postings, &f32)| {
            Some(factor * f32::from(self.lists.impact(list, number)?) / 255.0)
        };
        lists.filter_map(|(list, factor)| Some((list.term.as_str(), share((list, factor))?))).collect()
    }

    /// The score that documents of one group would have as one text; `members` are numbers and lengths, in the order of the numbers.
    pub(crate) fn together(&self, members: &[(u32, u32)], average: f32) -> f32 {
        let length: u32 = members.iter().map(|m| m.1).sum();
        let of_term = |list: &Postings| {
            let mut count = 0.0;
            self.lists.each_of(list, members, |length, impact| {
                count += postings::count_of(impact, length, self.average);
            });
            if count > 0.0 { postings::saturated(count, length, average) } else { 0.0 }
        };
        self.lists.lists.iter().zip(&self.factors).map(|(list, factor)| factor * of_term(list)).sum()
    }
}

#[cfg(test)]
#[path = "matches_tests.rs"]
mod tests;
