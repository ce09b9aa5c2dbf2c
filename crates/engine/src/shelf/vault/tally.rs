//! Which line counts for each id, over lines that were seen in any order.
//!
//! Comes in: [`Rows`], one for each thread that scanned. Goes out: a [`Tally`]: for each id the line with the highest version (the
//! earlier one of two with the same) and where the id first appears. The rows are dealt out by a hash of their ids, so that each share
//! is resolved in a table small enough for the processor's own memory, and no two threads share one. Never here: the file.

use super::scan::Id;
use crate::threads::both;
use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Over so many shares the rows are dealt out.
const SHARES: usize = 1 << SHARE_BITS;
const SHARE_BITS: u32 = 6;

/// So many lines that have no room in a row are remembered.
const OTHERS: usize = 1 << 16;

/// In the place of a version that has no room in a row.
const ELSEWHERE: u32 = u32::MAX;

/// Deals ids out by a product with a number that differs from process to process: of any two ids chosen without knowing it, few such
/// numbers bring them together, so nobody can write ids that all fall to one place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dealer(u64);

impl Default for Dealer {
    fn default() -> Dealer {
        Dealer(foldhash::quality::RandomState::default().hash_one(0) | 1)
    }
}

impl Dealer {
    #[inline]
    fn hash(self, id: u64) -> u64 {
        id.wrapping_mul(self.0)
    }

    /// The share of an id: the upper bits, which depend on all of it.
    #[inline]
    fn share(self, id: u64) -> usize {
        (self.hash(id) >> (u64::BITS - SHARE_BITS)) as usize
    }

    /// Its place in a table of so many bits: the next bits.
    #[inline]
    fn place(self, id: u64, bits: u32) -> usize {
        (self.hash(id) << SHARE_BITS >> (u64::BITS - bits)) as usize
    }
}

/// Where a line is: offsets are those of the raw line, blanks at its ends included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) start: u32,
    pub(super) len: u32,
    /// Which line of its stretch it is.
    pub(super) nth: u32,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    id: u64,
    spot: Spot,
    version: u32,
}

/// What one thread saw.
#[derive(Debug)]
pub(super) struct Rows {
    dealer: Dealer,
    shares: Vec<Vec<Row>>,
    /// Versions that have no room in a row, by the start of their line.
    versions: HashMap<u32, i64>,
    /// Lines whose ids are not made here.
    others: Vec<(Vec<u8>, i64, Spot)>,
}

impl Rows {
    pub(super) fn new(dealer: Dealer) -> Rows {
        Rows { dealer, shares: vec![Vec::new(); SHARES], versions: HashMap::new(), others: Vec::new() }
    }

    /// Makes room for about so many lines.
    pub(super) fn expect(&mut self, lines: usize) {
        // A quarter more, because no hash deals evenly.
        self.shares.iter_mut().for_each(|share| share.reserve(lines / SHARES * 5 / 4));
    }

    /// Takes a line whose id was made here.
    #[inline]
    pub(super) fn push(&mut self, id: u64, version: i64, spot: Spot) {
        let short = u32::try_from(version).unwrap_or(ELSEWHERE);
        if short == ELSEWHERE {
            self.versions.insert(spot.start, version);
        }
        self.shares[self.dealer.share(id)].push(Row { id, spot, version: short });
    }

    /// Takes a line of any id.
    pub(super) fn push_any(&mut self, id: Id<'_>, version: i64, spot: Spot) {
        match id {
            Id::Ours(id) => self.push(id, version, spot),
            Id::Other(id) => self.others.push((id.into_owned(), version, spot)),
        }
    }

    /// Whether there are too many lines whose ids are not made here: they take more room than the others.
    pub(super) fn is_crowded(&self) -> bool {
        self.others.len() + self.versions.len() > OTHERS
    }

    fn version(&self, row: &Row) -> i64 {
        match row.version {
            ELSEWHERE => self.versions.get(&row.spot.start).copied().unwrap_or(i64::from(ELSEWHERE)),
            version => i64::from(version),
        }
    }
}

/// The line that counts for an id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Winner {
    id: u64,
    pub(super) spot: Spot,
    /// Where the first line of the id starts.
    pub(super) first: u32,
}

/// Every id with the line that counts.
#[derive(Debug)]
pub(super) struct Tally {
    dealer: Dealer,
    shares: Vec<Vec<Winner>>,
    others: HashMap<Vec<u8>, Winner>,
}

impl Tally {
    /// Resolves what two threads saw, on two threads.
    pub(super) fn of(rows: &[Rows; 2]) -> Tally {
        let dealer = rows[0].dealer;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut table = Table::new(dealer);
            let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|share| *share < SHARES);
            std::iter::from_fn(take).map(|share| (share, table.resolve(rows, share))).collect::<Vec<_>>()
        };
        let (one, two) = both(work, work);
        let mut shares = vec![Vec::new(); SHARES];
        for (share, winners) in one.into_iter().chain(two) {
            shares[share] = winners;
        }
        Tally { dealer, shares, others: others(rows) }
    }

    /// How many ids there are.
    pub(super) fn ids(&self) -> usize {
        self.shares.iter().map(Vec::len).sum::<usize>() + self.others.len()
    }

    /// Every line that counts, in no order.
    pub(super) fn winners(&self) -> impl Iterator<Item = &Winner> {
        self.shares.iter().flatten().chain(self.others.values())
    }

    /// The line that counts for an id. One share is looked through: this is asked for a few ids, not for all.
    pub(super) fn get(&self, id: &Id<'_>) -> Option<&Winner> {
        match id {
            Id::Ours(id) => self.shares[self.dealer.share(*id)].iter().find(|one| one.id == *id),
            Id::Other(id) => self.others.get(id.as_ref()),
        }
    }
}

/// The same for ids that are not made here; they are rare.
fn others(rows: &[Rows; 2]) -> HashMap<Vec<u8>, Winner> {
    let mut known: HashMap<&[u8], (i64, Winner)> = HashMap::new();
    for (id, version, spot) in rows.iter().flat_map(|rows| &rows.others) {
        let new = (*version, Winner { id: 0, spot: *spot, first: spot.start });
        let (best, winner) = known.entry(id).or_insert(new);
        meet(winner, best, *spot, *version);
    }
    known.into_iter().map(|(id, (_, winner))| (id.to_owned(), winner)).collect()
}

/// Holds a line against the one that counted so far.
#[inline]
fn meet(winner: &mut Winner, best: &mut i64, spot: Spot, version: i64) {
    winner.first = winner.first.min(spot.start);
    if version > *best || (version == *best && spot.start < winner.spot.start) {
        winner.spot = spot;
        *best = version;
    }
}

/// A table of one share after the other: open addressing, the places of winners by the hash of their ids.
struct Table {
    dealer: Dealer,
    bits: u32,
    /// One more than the place, zero for none; a power of two of them, at least twice as many as there are winners.
    slots: Vec<u32>,
    /// The versions of the winners.
    best: Vec<i64>,
}

impl Table {
    fn new(dealer: Dealer) -> Table {
        Table { dealer, bits: 8, slots: vec![0; 1 << 8], best: Vec::new() }
    }

    fn resolve(&mut self, rows: &[Rows; 2], share: usize) -> Vec<Winner> {
        self.slots.fill(0);
        self.best.clear();
        let mut winners: Vec<Winner> = Vec::new();
        for rows in rows {
            for row in &rows.shares[share] {
                let version = rows.version(row);
                let at = self.slot(&winners, row.id);
                match self.slots[at] {
                    0 => {
                        winners.push(Winner { id: row.id, spot: row.spot, first: row.spot.start });
                        self.best.push(version);
                        self.slots[at] = winners.len() as u32;
                        if winners.len() * 2 > self.slots.len() {
                            self.grow(&winners);
                        }
                    }
                    known => {
                        let known = known as usize - 1;
                        meet(&mut winners[known], &mut self.best[known], row.spot, version);
                    }
                }
            }
        }
        winners
    }

    /// The slot of an id, or the free one where it belongs.
    #[inline]
    fn slot(&self, winners: &[Winner], id: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.dealer.place(id, self.bits);
        loop {
            match self.slots[at] {
                0 => return at,
                known if winners[known as usize - 1].id == id => return at,
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn grow(&mut self, winners: &[Winner]) {
        self.bits += 1;
        self.slots = vec![0; 1 << self.bits];
        for (n, winner) in (1..).zip(winners) {
            let at = self.slot(winners, winner.id);
            self.slots[at] = n;
        }
    }
}

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;
