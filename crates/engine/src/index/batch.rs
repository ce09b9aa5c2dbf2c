//! The postings of a large batch, built in one go.
//!
//! In: documents. Out: for every term, in the order of the table, where it stands and how often. Nothing is
//! sorted document by document: each word is looked up in one table of words, which knows the term it gives, counts are added in place,
//! and only the different terms are put in order at the end. Linear in the text, apart from that last step.

use std::cmp::Ordering;
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
    /// The terms in order.
    order: Vec<Slot>,
    /// End of each term's places, in the same order.
    ends: Vec<u32>,
    places: Vec<Place>,
}

/// Postings in the order in which their words were met.
#[derive(Default)]
struct Met {
    /// Number of the term and weighted count.
    found: Vec<(u32, f32)>,
    /// The terms so far, by number.
    terms: Vec<Newest>,
}

/// The newest document that has a term.
struct Newest {
    document: u32,
    /// Where its count is, so that a word met again adds to it.
    at: u32,
    /// Documents so far.
    count: u32,
}

impl Met {
    fn add(&mut self, id: u32, document: u32, count: f32) {
        let at = self.found.len() as u32;
        match self.terms.get_mut(id as usize) {
            Some(newest) if newest.document == document => {
                if let Some((_, sum)) = self.found.get_mut(newest.at as usize) {
                    *sum += count;
                }
                return;
            }
            Some(newest) => *newest = Newest { document, at, count: newest.count + 1 },
            // Numbers are given in turn.
            None => self.terms.push(Newest { document, at, count: 1 }),
        }
        self.found.push((id, count));
    }
}

/// Stands in the place of a term's number for a word that gives no term.
const NO_TERM: u32 = u32::MAX;

impl Batch {
    pub(super) fn of(documents: &[&Document]) -> Self {
        let mut names = Names::new(documents.len() * 4);
        // Words as they stand in the texts, and the number of the term each gives: folding and stemming are done once for each.
        let (mut words, mut of_word) = (Names::new(documents.len()), Vec::new());
        let mut met = Met::default();
        met.found.reserve(documents.len() * 48);
        let mut buffer = String::new();
        let mut lengths = Vec::with_capacity(documents.len());
        // Where each document's postings end.
        let mut until = Vec::with_capacity(documents.len());
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
            until.push(met.found.len());
        }
        // Sorted by counting, in the order of the terms: documents stay in theirs, and all is read one after the other from then on.
        let order = names.in_order();
        let mut ends = Vec::with_capacity(order.len());
        let mut sum = 0;
        let mut next = vec![0u32; met.terms.len()];
        for id in order.iter().map(|slot| slot.id() as usize) {
            next[id] = sum;
            sum += met.terms[id].count;
            ends.push(sum);
        }
        let mut places = vec![Place::default(); met.found.len()];
        let mut start = 0;
        for (end, document) in until.into_iter().zip(0u32..) {
            for (id, count) in &met.found[start..end] {
                let at = &mut next[*id as usize];
                places[*at as usize] = Place { document, count: *count };
                *at += 1;
            }
            start = end;
        }
        Self { lengths, names, order, ends, places }
    }

    /// Calls `found` with every term and its places, in the order of the terms, until it fails.
    pub(super) fn each_term<E>(
        &self,
        mut found: impl FnMut(&str, &[Place]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut start = 0;
        for (slot, end) in self.order.iter().zip(&self.ends) {
            let places = &self.places[start as usize..*end as usize];
            start = *end;
            self.names.with(slot, |term| found(term, places))?;
        }
        Ok(())
    }
}

/// Terms by number, found by an open-addressing table.
struct Names {
    /// A power of two in size.
    slots: Vec<Slot>,
    count: u32,
    /// Letters of the terms that slots do not show whole, and the end of each of them.
    letters: String,
    ends: Vec<u32>,
    /// Seeded, so that texts cannot be made to collide.
    state: foldhash::fast::RandomState,
}

/// The first sixteen letters of a term, so that nearly all are told apart without looking elsewhere.
#[derive(Clone, Copy, Default)]
struct Slot {
    head: [u64; 2],
    /// Its number plus one; zero is free.
    number: u32,
    /// Which of the long terms it is.
    long: u32,
}

impl Slot {
    fn id(&self) -> u32 {
        self.number.saturating_sub(1)
    }
}

/// The first sixteen bytes as numbers that sort as they do.
fn head(term: &str) -> [u64; 2] {
    let term = term.as_bytes();
    let second = match (term.get(8..16), term.last_chunk()) {
        (Some(eight), _) => postings::head(eight),
        // Fewer than sixteen: the last eight without those that the first eight have.
        (None, Some(last)) => {
            u64::from_be_bytes(*last).checked_shl(8 * (16 - term.len() as u32)).unwrap_or(0)
        }
        (None, None) => 0,
    };
    [postings::head(term), second]
}

/// Whether a term with this head has no more letters than it shows: a term has no zero byte.
fn is_whole(head: [u64; 2]) -> bool {
    head[1] & 0xFF == 0
}

impl Names {
    /// With room for so many before the table grows.
    fn new(room: usize) -> Self {
        Self {
            slots: vec![Slot::default(); (room * 4 / 3 + 64).next_power_of_two()],
            count: 0,
            letters: String::new(),
            ends: Vec::new(),
            state: foldhash::fast::RandomState::default(),
        }
    }

    fn long(&self, long: u32) -> &str {
        let start = long.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.letters[start as usize..self.ends[long as usize] as usize]
    }

    /// Calls `asked` with the term of a slot.
    fn with<T>(&self, slot: &Slot, asked: impl FnOnce(&str) -> T) -> T {
        if !is_whole(slot.head) {
            return asked(self.long(slot.long));
        }
        let mut bytes = [0; 16];
        let (front, back) = bytes.split_at_mut(8);
        front.copy_from_slice(&slot.head[0].to_be_bytes());
        back.copy_from_slice(&slot.head[1].to_be_bytes());
        let count = bytes.iter().position(|b| *b == 0).unwrap_or(16);
        // The bytes are those of a term, all of them.
        asked(std::str::from_utf8(&bytes[..count]).unwrap_or_default())
    }

    fn hash(&self, head: [u64; 2], term: &str) -> usize {
        // Long terms that begin alike must not fall together.
        let hash =
            if is_whole(head) { self.state.hash_one(head) } else { self.state.hash_one(term.as_bytes()) };
        hash as usize
    }

    /// The number of a term; a new one gets the next.
    fn id(&mut self, term: &str) -> u32 {
        let head = head(term);
        let mask = self.slots.len() - 1;
        let mut at = self.hash(head, term) & mask;
        loop {
            let slot = self.slots[at];
            if slot.number == 0 {
                break;
            }
            if slot.head == head && (is_whole(head) || self.long(slot.long) == term) {
                return slot.id();
            }
            at = (at + 1) & mask;
        }
        self.count += 1;
        self.slots[at] = Slot { head, number: self.count, long: self.ends.len() as u32 };
        if !is_whole(head) {
            self.letters.push_str(term);
            self.ends.push(self.letters.len() as u32);
        }
        if self.count as usize * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.count - 1
    }

    fn grow(&mut self) {
        let mut slots = vec![Slot::default(); self.slots.len() * 2];
        let mask = slots.len() - 1;
        for slot in self.slots.iter().filter(|slot| slot.number > 0) {
            let mut at = self.with(slot, |term| self.hash(slot.head, term)) & mask;
            while slots[at].number != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = *slot;
        }
        self.slots = slots;
    }

    /// All terms in order.
    fn in_order(&self) -> Vec<Slot> {
        let mut all: Vec<Slot> = Vec::with_capacity(self.count as usize);
        all.extend(self.slots.iter().filter(|slot| slot.number > 0));
        all.sort_unstable_by(|a, b| {
            let longer =
                || if is_whole(a.head) { Ordering::Equal } else { self.long(a.long).cmp(self.long(b.long)) };
            a.head.cmp(&b.head).then_with(longer)
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_batch_counts_what_each_document_counts(bodies in proptest::collection::vec("[a-e ]{0,30}( \\w{1,9}){0,5}( abcdefghijklmno[a-c]{0,3}[ä-ü]{0,3}){0,3}", 0..40)) {
            let documents: Vec<Document> = bodies.iter().map(|b| Document { body: b.clone(), ..Document::default() }).collect();
            let all: Vec<&Document> = documents.iter().collect();
            let mut want: BTreeMap<String, Vec<(u32, f32)>> = BTreeMap::new();
            for (number, document) in documents.iter().enumerate() {
                for (term, count) in Bag::of(document).counts() {
                    want.entry(term.to_owned()).or_default().push((number as u32, count));
                }
            }
            let batch = Batch::of(&all);
            let mut got: Vec<(String, Vec<(u32, f32)>)> = Vec::new();
            let every = batch.each_term(|term, places| {
                got.push((term.to_owned(), places.iter().map(|p| (p.document, p.count)).collect()));
                Ok::<(), ()>(())
            });
            prop_assert_eq!(every, Ok(()));
            prop_assert_eq!(got, want.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(batch.lengths, documents.iter().map(|d| Bag::of(d).length).collect::<Vec<_>>());
        }
    }
}
