//! The nearest of an owner's vectors.
//!
//! In: a question's vector. Out: the nearest documents with their cosines, and how cosines are spread. Few vectors are all compared. Of many the
//! sign bits are: those that differ least are weighed against the question itself, and only the best of these are compared in full, since a fresh
//! process pays for every row it reads.

use super::scan;
use super::vectors::{Probe, Vectors, padded};

/// Up to this many vectors every one is compared in full.
pub(super) const EXHAUSTIVE: usize = 20_000;
/// How many of the nearest by sign bits are weighed beyond that.
const SHORTLIST: usize = 1_500;
/// How many of those are compared in full.
const REFINED: usize = 400;
/// How many vectors the mean and spread are taken from.
const SAMPLE: usize = 512;
/// Vectors of the sample that lie together: a fresh process pays for every page it touches.
const RUN: usize = 16;

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

impl Vectors {
    /// The `limit` nearest documents, and how cosines are spread over the owner's documents.
    pub(crate) fn nearest(&self, probe: &Probe, limit: usize) -> Nearest {
        if !self.are_there() || probe.scale <= 0.0 {
            return Nearest::default();
        }
        if self.count as usize <= EXHAUSTIVE { self.all(probe, limit) } else { self.short(probe, limit) }
    }

    fn all(&self, probe: &Probe, limit: usize) -> Nearest {
        let mut found = Vec::with_capacity(self.count as usize);
        for extent in &self.extents {
            self.compare(probe, extent, 0, self.used(extent), |number, cosine| found.push((number, cosine)));
        }
        let (mean, spread) = spread_of(found.iter().map(|f| f.1));
        Nearest { top: best(found, limit), mean, spread }
    }

    fn short(&self, probe: &Probe, limit: usize) -> Nearest {
        let mut distances: Vec<u16> = Vec::with_capacity(self.count as usize);
        let mut starts = Vec::with_capacity(self.extents.len());
        for extent in &self.extents {
            starts.push(distances.len());
            scan::differing(self.path, self.bits(extent), &probe.bits, &mut distances);
        }
        let mut histogram = vec![0usize; padded(self.dims) + 1];
        for d in &distances {
            histogram[usize::from(*d).min(padded(self.dims))] += 1;
        }
        let wanted = SHORTLIST.max(limit);
        let mut seen = 0;
        let cut = histogram.iter().position(|n| {
            seen += n;
            seen >= wanted
        });
        let cut = cut.unwrap_or(padded(self.dims)) as u16;
        let scale = Weights::of(probe);
        let mut weighed = Vec::with_capacity(wanted * 2);
        for (extent, start) in self.extents.iter().zip(&starts) {
            let rows = self.bits(extent).chunks_exact(padded(self.dims) / 8);
            let of_extent = distances.get(*start..).unwrap_or_default();
            for (i, (distance, row)) in of_extent.iter().zip(rows).enumerate() {
                if *distance <= cut {
                    weighed.push((extent.first + i as u32, scale.weigh(row)));
                }
            }
        }
        let refined = best(weighed, REFINED.max(limit)).into_iter();
        let found = refined.filter_map(|(number, _)| Some((number, self.cosine(probe, number)?))).collect();
        let (mean, spread) = spread_of(self.sample(probe).into_iter());
        Nearest { top: best(found, limit), mean, spread }
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

/// What every byte of sign bits says about the nearness to a question.
struct Weights(Vec<[i16; 256]>);

impl Weights {
    fn of(probe: &Probe) -> Weights {
        let of_byte = |cells: &[i8; 8]| {
            let mut sums = [0i16; 256];
            for bits in 1..256usize {
                // The sum without the lowest bit is known already.
                let lowest = bits.trailing_zeros() as usize;
                sums[bits] = sums[bits & (bits - 1)] + i16::from(cells[lowest]);
            }
            sums
        };
        Weights(probe.cells.as_chunks::<8>().0.iter().map(of_byte).collect())
    }

    fn weigh(&self, row: &[u8]) -> f32 {
        row.iter().zip(&self.0).map(|(byte, sums)| i32::from(sums[usize::from(*byte)])).sum::<i32>() as f32
    }
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

fn spread_of(values: impl Iterator<Item = f32>) -> (f32, f32) {
    let (mut n, mut sum, mut squares) = (0u32, 0f64, 0f64);
    for v in values {
        n += 1;
        sum += f64::from(v);
        squares += f64::from(v) * f64::from(v);
    }
    let mean = sum / f64::from(n.max(1));
    let variance = (squares / f64::from(n.max(1)) - mean * mean).max(0.0);
    (mean as f32, variance.sqrt() as f32)
}
