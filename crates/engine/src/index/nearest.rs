//! The nearest of an owner's vectors.
//!
//! In: a question's vector. Out: the nearest documents with their cosines, and how cosines are spread. Few vectors are all compared. Of many the
//! sign bits are: those that differ least are weighed against the question itself, and only the best of these are compared in full, since a fresh
//! process pays for every row it reads.

use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use super::simd;
use super::vectors::{Extent, Probe, Vectors, padded};
use crate::threads;

/// Up to this many vectors every one is compared in full.
pub(super) const EXHAUSTIVE: usize = 6_000;

/// How many of so many vectors, the nearest by sign bits, are weighed beyond that.
fn weighed_of(count: usize) -> usize {
    (count / 40).clamp(400, 1_500)
}

/// How many of those are compared in full.
fn refined_of(count: usize) -> usize {
    (count / 250).clamp(120, 240)
}

/// How many vectors the mean and spread are taken from.
const SAMPLE: usize = 512;
/// Vectors of the sample that lie together: a fresh process pays for every page it touches.
const RUN: usize = 16;

/// Rows of sign bits looked at in one go: few enough to stay near the processor.
const ROWS: usize = 2_048;
/// Rows of sign bits that a thread takes at a time.
const PIECE: usize = 8 * ROWS;
/// From so many vectors on, a second thread looks at them beside whatever else there is to do. To a fresh process with 100,000 it cost
/// 0.8 ms more than it saved.
const MANY: usize = 400_000;

/// What a search among an owner's vectors found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Nearest {
    /// Document numbers and cosines, best first.
    pub(crate) top: Vec<(u32, f32)>,
    /// Mean cosine of the owner's vectors.
    pub(crate) mean: f32,
    /// Standard deviation of these cosines.
    pub(crate) spread: f32,
}

/// What was looked for beside other work, for up to so many nearest.
#[derive(Clone, Debug)]
pub(crate) struct Ahead {
    limit: usize,
    weighed: Vec<(u32, f32)>,
}

impl Vectors {
    /// The `limit` nearest documents, and how cosines are spread over the owner's documents; `ahead` is what was looked for beside other work.
    pub(crate) fn nearest(&self, probe: &Probe, limit: usize, ahead: Option<&Ahead>) -> Nearest {
        if !self.are_there() || probe.scale <= 0.0 {
            return Nearest::default();
        }
        // Somebody may ask for more than there is; room is made for what there is.
        let count = self.count as usize;
        let limit = limit.min(count);
        if count <= EXHAUSTIVE {
            return self.all(probe, limit);
        }
        match ahead.filter(|ahead| ahead.limit >= limit) {
            Some(ahead) => self.short(probe, limit, ahead.weighed.clone()),
            None => self.short(
                probe,
                limit,
                self.weighed(probe, weighed_of(count).max(limit), count >= MANY, || ()).1,
            ),
        }
    }

    /// Does `meanwhile`, and beside it looks for what [`nearest`](Self::nearest) needs, where there are so many vectors that it is worth it.
    pub(crate) fn beside<T>(
        &self,
        probe: &Probe,
        limit: usize,
        meanwhile: impl FnOnce() -> T,
    ) -> (T, Option<Ahead>) {
        let count = self.count as usize;
        if count < MANY || !self.are_there() || probe.scale <= 0.0 {
            return (meanwhile(), None);
        }
        let limit = limit.min(count);
        let (done, weighed) = self.weighed(probe, weighed_of(count).max(limit), true, meanwhile);
        (done, Some(Ahead { limit, weighed }))
    }

    fn all(&self, probe: &Probe, limit: usize) -> Nearest {
        let (mut near, mut spread) = (Near::new(limit), Spread::default());
        for extent in &self.extents {
            self.compare(probe, extent, 0, self.used(extent), |number, cosine| {
                spread.add(cosine);
                near.add(number, cosine);
            });
        }
        let (mean, spread) = spread.of_all();
        Nearest { top: best(near.found, limit), mean, spread }
    }

    fn short(&self, probe: &Probe, limit: usize, weighed: Vec<(u32, f32)>) -> Nearest {
        let refined = best(weighed, refined_of(self.count as usize).max(limit)).into_iter();
        let found = refined.filter_map(|(number, _)| Some((number, self.cosine(probe, number)?))).collect();
        let mut spread = Spread::default();
        self.sample(probe).into_iter().for_each(|cosine| spread.add(cosine));
        let (mean, spread) = spread.of_all();
        Nearest { top: best(found, limit), mean, spread }
    }

    /// The vectors whose sign bits differ least, at least so many, each with what its bits weigh. With `two` a second thread takes its share while
    /// this one does `meanwhile`; which of them looked at what does not show.
    fn weighed<T>(
        &self,
        probe: &Probe,
        wanted: usize,
        two: bool,
        meanwhile: impl FnOnce() -> T,
    ) -> (T, Vec<(u32, f32)>) {
        let pieces: Vec<(&Extent, usize)> = self
            .extents
            .iter()
            .flat_map(|extent| (0..self.used(extent)).step_by(PIECE).map(move |from| (extent, from)))
            .collect();
        let (next, near) = (AtomicUsize::new(0), AtomicU16::new(u16::MAX));
        let look = || {
            let mut list = Shortlist::new(padded(self.dims), wanted, &near);
            let mut distances = Vec::with_capacity(ROWS);
            let mut read = Vec::new();
            while let Some((extent, from)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                let to = self.used(extent).min(from + PIECE);
                for at in (*from..to).step_by(ROWS) {
                    let rows = self.bits(extent, at, ROWS.min(to - at), &mut read);
                    distances.clear();
                    simd::differing(self.path, rows, &probe.bits, &mut distances);
                    list.add(extent.first + at as u32, &distances, rows, |row| {
                        simd::weigh(self.path, row, &probe.cells) as f32
                    });
                }
            }
            list
        };
        let (done, lists) = if two {
            let (other, (done, own)) = threads::both(look, || (meanwhile(), look()));
            (done, vec![other, own])
        } else {
            (meanwhile(), vec![look()])
        };
        let mut counts = vec![0; padded(self.dims) + 1];
        for list in &lists {
            counts.iter_mut().zip(&list.counts).for_each(|(all, some)| *all += some);
        }
        let cut = cut(&counts, wanted);
        let near = lists.into_iter().flat_map(|list| list.near).filter(|one| one.0 <= cut);
        (done, near.map(|(_, number, weight)| (number, weight)).collect())
    }

    /// Cosines of vectors from all over, in runs that lie together.
    fn sample(&self, probe: &Probe) -> Vec<f32> {
        let all: usize = self.extents.iter().map(|extent| self.used(extent)).sum();
        let step = (all / SAMPLE).max(1);
        let mut sample = Vec::with_capacity(SAMPLE + RUN);
        let mut start = 0;
        for extent in &self.extents {
            let used = self.used(extent);
            // Runs are counted over all extents; one that begins in the extent before goes on here.
            let mut run = start / RUN;
            while run * RUN < start + used {
                if run.is_multiple_of(step) {
                    let from = (run * RUN).max(start) - start;
                    let to = ((run + 1) * RUN - start).min(used);
                    self.compare(probe, extent, from, to - from, |_, cosine| sample.push(cosine));
                }
                run += 1;
            }
            start += used;
        }
        sample
    }
}

/// The nearest by sign bits of the vectors seen so far. The more were seen, the nearer one must be, so whoever is let in is at least as near as the
/// last of all that are wanted in the end.
struct Shortlist<'c> {
    /// How many vectors there are at each distance up to the cut.
    counts: Vec<usize>,
    /// The distance up to which somebody saw as many as wanted.
    cut: &'c AtomicU16,
    near: Vec<(u16, u32, f32)>,
    /// Places that may be let in.
    within: Vec<u16>,
    wanted: usize,
}

/// Distances of which the least is looked at first.
const TOGETHER: usize = 32;

impl Shortlist<'_> {
    fn new(width: usize, wanted: usize, cut: &AtomicU16) -> Shortlist<'_> {
        let (near, within) = (Vec::with_capacity(wanted * 3), Vec::with_capacity(ROWS));
        Shortlist { counts: vec![0; width + 1], cut, near, within, wanted }
    }

    fn add(&mut self, first: u32, distances: &[u16], rows: &[u8], weigh: impl Fn(&[u8]) -> f32) {
        // Whoever is beyond the cut is not even counted: it only ever comes nearer.
        let before = self.cut.load(Ordering::Relaxed);
        self.within.clear();
        for (at, some) in (0..).step_by(TOGETHER).zip(distances.chunks(TOGETHER)) {
            if some.iter().fold(u16::MAX, |least, distance| least.min(*distance)) <= before {
                let near = (at..).zip(some).filter(|(_, distance)| **distance <= before);
                self.within.extend(near.map(|(place, _)| place));
            }
        }
        let distance = |place: &u16| distances[usize::from(*place)];
        self.within.iter().for_each(|place| self.counts[usize::from(distance(place))] += 1);
        let cut = cut(&self.counts, self.wanted).min(before);
        self.cut.fetch_min(cut, Ordering::Relaxed);
        let width = rows.len() / distances.len().max(1);
        for place in self.within.iter().filter(|place| distance(place) <= cut) {
            let row = &rows[usize::from(*place) * width..(usize::from(*place) + 1) * width];
            self.near.push((distance(place), first + u32::from(*place), weigh(row)));
        }
        if self.near.len() > self.wanted * 2 {
            self.near.retain(|one| one.0 <= cut);
        }
    }
}

/// The distance up to which there are as many as wanted.
fn cut(counts: &[usize], wanted: usize) -> u16 {
    let mut seen = 0;
    let cut = counts.iter().position(|n| {
        seen += n;
        seen >= wanted
    });
    cut.unwrap_or(counts.len()) as u16
}

fn best(mut found: Vec<(u32, f32)>, limit: usize) -> Vec<(u32, f32)> {
    let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if found.len() > limit && limit > 0 {
        found.select_nth_unstable_by(limit - 1, order);
        found.truncate(limit);
    }
    found.sort_unstable_by(order);
    found.truncate(limit);
    found
}

/// The nearest of the vectors seen so far, and some more. Nearly all of many vectors are turned away by one comparison.
struct Near {
    found: Vec<(u32, f32)>,
    limit: usize,
    /// The cosine of the last of the nearest, once there are enough.
    least: f32,
}

impl Near {
    fn new(limit: usize) -> Near {
        Near { found: Vec::with_capacity(limit * 2), limit, least: f32::NEG_INFINITY }
    }

    /// Vectors come in the order of their numbers, so of equal ones those that were here first stay.
    fn add(&mut self, number: u32, cosine: f32) {
        if cosine > self.least && self.limit > 0 {
            self.found.push((number, cosine));
            if self.found.len() == self.limit * 2 {
                self.found = best(std::mem::take(&mut self.found), self.limit);
                self.found.reserve(self.limit);
                self.least = self.found.last().map_or(self.least, |last| last.1);
            }
        }
    }
}

/// How values are spread.
#[derive(Default)]
struct Spread {
    count: u32,
    sum: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, value: f32) {
        self.count += 1;
        self.sum += f64::from(value);
        self.squares += f64::from(value) * f64::from(value);
    }

    /// Mean and standard deviation.
    fn of_all(&self) -> (f32, f32) {
        let mean = self.sum / f64::from(self.count.max(1));
        let variance = (self.squares / f64::from(self.count.max(1)) - mean * mean).max(0.0);
        (mean as f32, variance.sqrt() as f32)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::vectors::{Access, Slot, extent_bytes, put};
    use super::*;

    proptest! {
        #[test]
        fn turning_vectors_away_loses_none_of_the_nearest(
            cosines in proptest::collection::vec((-9i8..9).prop_map(|n| f32::from(n) / 9.0), 0..300),
            limit in 0usize..40,
        ) {
            let all: Vec<(u32, f32)> = (0..).zip(cosines).collect();
            let mut near = Near::new(limit);
            all.iter().for_each(|(number, cosine)| near.add(*number, *cosine));
            prop_assert_eq!(best(near.found, limit), best(all, limit));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn the_shortlist_holds_whoever_differs_least_however_it_is_made(
            vectors in proptest::collection::vec(proptest::collection::vec(-1f32..1.0, 64), 1..400),
            question in proptest::collection::vec(-1f32..1.0, 64),
            wanted in 1usize..60,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("vectors");
            let file = std::fs::File::options().create_new(true).read(true).write(true).open(&path).unwrap();
            let slots: Vec<Slot> = vectors.iter().map(|v| Slot::of(v)).collect();
            let (mut extents, mut at) = (Vec::new(), 0);
            for (n, some) in slots.chunks(100).enumerate() {
                let extent = Extent { first: n as u32 * 100, room: 100, at };
                at += extent_bytes(100, 64).next_multiple_of(4096);
                file.set_len(at).unwrap();
                put(&file, &extent, extent.first, some.iter()).unwrap();
                extents.push(extent);
            }
            let probe = Probe::of(&question);
            let bits = |v: &[f32]| Probe::of(v).bits;
            let distance = |v: &[f32]| bits(v).iter().zip(&probe.bits).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
            let distances: Vec<u32> = vectors.iter().map(|v| distance(v)).collect();
            let mut sorted = distances.clone();
            sorted.sort_unstable();
            let cut = sorted.get(wanted - 1).copied().unwrap_or(u32::MAX);
            let near: Vec<u32> = (0..).zip(&distances).filter(|(_, d)| **d <= cut).map(|(n, _)| n).collect();
            for access in [Access::Once, Access::Often] {
                // More documents than there are vectors, so that single rows are read.
                let mut there = Vectors::open(&path, extents.clone(), 64, u32::MAX, access);
                there.count = vectors.len() as u32;
                for two in [false, true] {
                    let mut found: Vec<u32> = there.weighed(&probe, wanted, two, || ()).1.into_iter().map(|one| one.0).collect();
                    found.sort_unstable();
                    prop_assert_eq!(&found, &near);
                }
            }
        }
    }
}
