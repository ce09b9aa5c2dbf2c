//! Where a ranking's candidates come from: the best by keywords and the nearest by vector, as far as the question admits them.
//!
//! In: what the index found for a question. Out: lists of memories that may be hits, with their cards, each read once. A list is as long as it
//! is because memories were admitted, not because others were turned away: conditions and retired memories do not make it shorter.

use std::collections::hash_map::Entry;

use crate::index::{Ahead, ByNumber, Card, IndexError, Matches, Nearest, Probe, Reader};

use super::ask::Ask;

/// Memories looked at, of either list, where conditions turn many away.
pub(super) const LOOKED_AT: usize = 4_000;

/// Memories that are usually looked at.
const USUAL: usize = 300;

/// Where candidates come from.
pub(super) struct Found<'a> {
    pub(super) reader: &'a Reader<'a>,
    pub(super) matches: &'a Matches,
    pub(super) probe: Option<&'a Probe>,
    /// What was looked for beside the keywords.
    pub(super) ahead: Option<Ahead>,
    /// Where only few memories are of the kinds that are wanted: those.
    pub(super) among: Option<Vec<u32>>,
}

impl Found<'_> {
    pub(super) fn by_keyword(&self, limit: usize) -> Vec<(u32, f32)> {
        match &self.among {
            None => self.matches.best(limit),
            Some(few) => {
                let scored = few.iter().map(|n| (*n, self.matches.score(*n))).filter(|s| s.1 > 0.0);
                first(scored.collect(), limit)
            }
        }
    }

    pub(super) fn by_vector(&self, limit: usize) -> Nearest {
        let Some(probe) = self.probe else { return Nearest::default() };
        match &self.among {
            None => self.reader.nearest(probe, limit, self.ahead.as_ref()),
            Some(few) => {
                let near = few.iter().filter_map(|n| Some((*n, self.reader.cosine(probe, *n)?)));
                Nearest { top: first(near.collect(), limit), ..self.reader.nearest(probe, 0, None) }
            }
        }
    }
}

/// The cosines between a question and documents, each worked out once: one that is not at hand costs a read.
pub(super) struct Cosines<'a> {
    reader: &'a Reader<'a>,
    pub(super) probe: Option<&'a Probe>,
    known: ByNumber<Option<f32>>,
}

impl<'a> Cosines<'a> {
    /// Those of the nearest are known.
    pub(super) fn new(found: &Found<'a>, near: &[(u32, f32)]) -> Self {
        let mut known = ByNumber::with_capacity_and_hasher(USUAL, Default::default());
        known.extend(near.iter().map(|(number, cosine)| (*number, Some(*cosine))));
        Self { reader: found.reader, probe: found.probe, known }
    }

    pub(super) fn of(&mut self, number: u32) -> Option<f32> {
        let (reader, probe) = (self.reader, self.probe?);
        *self.known.entry(number).or_insert_with(|| reader.cosine(probe, number))
    }
}

/// The best `limit`, best first.
fn first(mut all: Vec<(u32, f32)>, limit: usize) -> Vec<(u32, f32)> {
    all.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(limit);
    all
}

/// Which memories may be found, and the cards of those that were looked at.
pub(super) struct Admission<'a> {
    reader: &'a Reader<'a>,
    ask: &'a Ask,
    /// Where the card of a memory that was looked at is, among `cards`: small, so that looking for one touches little memory.
    places: ByNumber<u32>,
    /// Nothing for a memory that is not admitted.
    cards: Vec<Option<Card>>,
}

impl<'a> Admission<'a> {
    pub(super) fn new(reader: &'a Reader<'a>, ask: &'a Ask) -> Self {
        let places = ByNumber::with_capacity_and_hasher(USUAL, Default::default());
        Self { reader, ask, places, cards: Vec::with_capacity(USUAL) }
    }

    pub(super) fn card(&mut self, number: u32) -> Result<Option<&Card>, IndexError> {
        let place = self.place(number)?;
        Ok(self.cards.get(place).and_then(Option::as_ref))
    }

    /// Takes a card away. Whoever does that for every candidate asks for none again.
    pub(super) fn take(&mut self, number: u32) -> Result<Option<Card>, IndexError> {
        let place = self.place(number)?;
        Ok(self.cards.get_mut(place).and_then(Option::take))
    }

    fn place(&mut self, number: u32) -> Result<usize, IndexError> {
        match self.places.entry(number) {
            Entry::Occupied(known) => Ok(*known.get() as usize),
            Entry::Vacant(new) => {
                let card = self.reader.card(number)?.filter(|card| self.ask.admits(card));
                let fits = card.is_some()
                    && (!self.ask.conditions.need_text()
                        || self.reader.document(number)?.is_some_and(|d| self.ask.conditions.admit_text(&d)));
                let place = self.cards.len();
                self.cards.push(card.filter(|_| fits));
                new.insert(place as u32);
                Ok(place)
            }
        }
    }

    /// The first `wanted` admitted of a list, which is asked for anew, and longer, where too many of it are turned away.
    pub(super) fn best(
        &mut self,
        wanted: usize,
        mut list: impl FnMut(usize) -> Vec<(u32, f32)>,
    ) -> Result<Vec<(u32, f32)>, IndexError> {
        let mut length = wanted;
        loop {
            let all = list(length);
            let mut admitted = Vec::with_capacity(wanted.min(all.len()));
            for one in &all {
                if admitted.len() == wanted {
                    break;
                }
                if self.card(one.0)?.is_some() {
                    admitted.push(*one);
                }
            }
            if admitted.len() == wanted || all.len() < length || length >= LOOKED_AT {
                return Ok(admitted);
            }
            length = LOOKED_AT;
        }
    }
}
