//! The postings of a large batch, built in one go.
//!
//! In: documents. Out: for every term, in the order of the table, where it stands and how often. Nothing is
//! sorted document by document: each word is looked up in one table of words, which knows the term it gives, counts are added in place,
//! and only the different terms are put in order at the end. Linear in the text, apart from that last step.

use std::hash::BuildHasher;

use super::document::Document;
use super::postings::{self, Bag};
use super::terms::{self, Run};

/// Where a term stands: document of the batch and weighted count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) document: u32,
    pub(super) count: f32,
}

/// Postings of a batch.
pub(super) struct Batch {
    /// Terms of each document in all.
    pub(super) lengths: Vec<u32>,
    names: Names,
    /// Ids of the terms, in the order of the terms.
    order: Vec<u32>,
    /// End of each term's places.
    ends: Vec<u32>,
    places: Vec<Place>,
}

/// Postings in the order in which their words were met.
#[derive(Default)]
struct Met {
    found: Vec<(u32, Place)>,
    /// For each term where its newest place is, so that a word met again in the same document adds to it.
    newest: Vec<u32>,
}

impl Met {
    fn add(&mut self, id: u32, document: u32, count: f32) {
        if id as usize == self.newest.len() {
            self.newest.push(u32::MAX);
        }
        let Some(last) = self.newest.get_mut(id as usize) else { return };
        match self.found.get_mut(*last as usize) {
            Some((_, place)) if place.document == document => place.count += count,
            _ => {
                *last = self.found.len() as u32;
                self.found.push((id, Place { document, count }));
            }
        }
    }
}

/// Stands in the place of a term's number for a word that gives no term.
const NO_TERM: u32 = u32::MAX;

impl Batch {
    pub(super) fn of(documents: &[&Document]) -> Self {
        let mut names = Names::new();
        // Words as they stand in the texts, and the number of the term each gives: folding and stemming are done once for each.
        let (mut words, mut of_word) = (Names::new(), Vec::new());
        let mut met = Met::default();
        met.found.reserve(documents.len() * 48);
        let mut buffer = String::new();
        let mut lengths = Vec::with_capacity(documents.len());
        for (document, number) in documents.iter().zip(0u32..) {
            let mut length = 0f32;
            Bag::each_text(document, |text, field, measured| {
                let share = f32::from(u8::from(measured));
                terms::each_run(text, |run| {
                    if let Run::Plain(word) = run {
                        let word = words.id(word) as usize;
                        if word == of_word.len() {
                            let mut id = NO_TERM;
                            terms::of_run(run, &mut buffer, &mut |term, _| id = names.id(term));
                            of_word.push(id);
                        }
                        let id = of_word.get(word).copied().unwrap_or(NO_TERM);
                        if id != NO_TERM {
                            met.add(id, number, field);
                            length += share;
                        }
                        return;
                    }
                    terms::of_run(run, &mut buffer, &mut |term, weight| {
                        met.add(names.id(term), number, field * weight);
                        length += share * weight;
                    });
                });
            });
            lengths.push(length as u32);
        }
        let found = met.found;
        // Counting sort by term: documents stay in their order.
        let mut ends = vec![0u32; names.len()];
        for (id, _) in &found {
            ends[*id as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            (*end, sum) = (sum, sum + *end);
        }
        let mut places = vec![Place::default(); found.len()];
        for (id, place) in found {
            let at = &mut ends[id as usize];
            places[*at as usize] = place;
            *at += 1;
        }
        let mut order: Vec<(u64, u32)> =
            (0..names.len() as u32).map(|id| (postings::head(names.term(id)), id)).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| names.term(a.1).cmp(names.term(b.1))));
        let order = order.into_iter().map(|o| o.1).collect();
        Self { lengths, names, order, ends, places }
    }

    /// Every term with its places, in the order of the terms.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&str, &[Place])> {
        self.order.iter().map(|id| {
            let start = id.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
            (self.names.term(*id), &self.places[start as usize..self.ends[*id as usize] as usize])
        })
    }
}

/// Terms by number: letters in one string, found by an open-addressing table.
struct Names {
    letters: String,
    ends: Vec<u32>,
    /// Upper half of the hash and number of the term plus one; zero is free. A power of two in size.
    slots: Vec<(u32, u32)>,
    /// Seeded, so that texts cannot be made to collide.
    state: foldhash::fast::RandomState,
}

impl Names {
    fn new() -> Self {
        Self {
            letters: String::new(),
            ends: Vec::new(),
            slots: vec![(0, 0); 1 << 12],
            state: foldhash::fast::RandomState::default(),
        }
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn term(&self, id: u32) -> &str {
        let start = id.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.letters[start as usize..self.ends[id as usize] as usize]
    }

    /// The number of a term; a new one gets the next.
    fn id(&mut self, term: &str) -> u32 {
        let hash = self.state.hash_one(term.as_bytes());
        let (tag, mask) = ((hash >> 32) as u32, self.slots.len() - 1);
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                (_, 0) => break,
                (t, id) if t == tag && self.term(id - 1) == term => return id - 1,
                _ => at = (at + 1) & mask,
            }
        }
        self.letters.push_str(term);
        self.ends.push(self.letters.len() as u32);
        self.slots[at] = (tag, self.ends.len() as u32);
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        self.ends.len() as u32 - 1
    }

    fn grow(&mut self) {
        let mut slots = vec![(0, 0); self.slots.len() * 2];
        let mask = slots.len() - 1;
        for id in 0..self.ends.len() as u32 {
            let hash = self.state.hash_one(self.term(id).as_bytes());
            let mut at = hash as usize & mask;
            while slots[at].1 != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = ((hash >> 32) as u32, id + 1);
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_batch_counts_what_each_document_counts(bodies in proptest::collection::vec("[a-e ]{0,30}( \\w{1,9}){0,5}", 0..40)) {
            let documents: Vec<Document> = bodies.iter().map(|b| Document { body: b.clone(), ..Document::default() }).collect();
            let all: Vec<&Document> = documents.iter().collect();
            let mut want: BTreeMap<String, Vec<(u32, f32)>> = BTreeMap::new();
            for (number, document) in documents.iter().enumerate() {
                for (term, count) in Bag::of(document).counts() {
                    want.entry(term.to_owned()).or_default().push((number as u32, count));
                }
            }
            let batch = Batch::of(&all);
            let got: Vec<(String, Vec<(u32, f32)>)> =
                batch.terms().map(|(t, p)| (t.to_owned(), p.iter().map(|p| (p.document, p.count)).collect())).collect();
            prop_assert_eq!(got, want.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(batch.lengths, documents.iter().map(|d| Bag::of(d).length).collect::<Vec<_>>());
        }
    }
}
