//! The best documents of a question, without scoring those that cannot be among them (MaxScore).
//!
//! In: postings of the question's terms. Out: exactly what scoring every document and sorting would give. Documents are gone through in
//! windows of numbers. The largest impact of each term in a window bounds what the window can hold: terms that together cannot lift a document
//! over the worst of the best so far are not gone through but only looked up, for documents that the other terms brought near
//! enough. What the best must have at least is known before the first window, from the rarest terms alone. Sums are whole numbers, so that the
//! order of adding cannot matter. Nothing is allocated per document.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::postings::Cells;

/// Documents of a window at most: their sums stay in near caches.
const WIDE: usize = 1 << 14;
/// Documents of a window where postings are many: tighter bounds skip more than the windows cost.
const NARROW: usize = 1 << 12;
/// Postings of a chunk from which its windows are narrow.
const MANY: usize = 1 << 14;
/// Postings of a term that are gone through rather than looked up in, for each posting of those that lead.
const LOOK: usize = 8;
/// Lists looked at for what the best must have at least, and their postings at most: a glance, or nothing is won by it.
const GLANCES: usize = 2;
const GLANCE: usize = 1 << 11;

/// One term's postings.
pub(super) struct List<'a> {
    /// What an impact of one counts; so small that the sums of all terms fit.
    pub(super) unit: u32,
    /// First number and cells of every chunk that has the term, in order.
    pub(super) chunks: Vec<(u32, Cells<'a>)>,
}

/// Removed documents whose postings are still there.
#[derive(Clone, Debug, Default)]
pub(super) struct Dead(Vec<u64>);

impl Dead {
    pub(super) fn add(&mut self, number: u32) {
        let word = (number / 64) as usize;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, number: u32) -> bool {
        self.0.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

/// The best so far: the worst of them on top.
pub(super) struct Top {
    limit: usize,
    heap: BinaryHeap<Reverse<(u32, Reverse<u32>)>>,
}

impl Top {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::with_capacity(limit.min(1 << 12)) }
    }

    /// What a document must have more than, unless its number is lower than that of the worst.
    fn bar(&self) -> u32 {
        if self.heap.len() < self.limit { 0 } else { self.heap.peek().map_or(0, |Reverse((sum, _))| *sum) }
    }

    pub(super) fn offer(&mut self, number: u32, sum: u32) {
        let new = (sum, Reverse(number));
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(new));
        } else if let Some(mut worst) = self.heap.peek_mut().filter(|worst| worst.0 < new) {
            *worst = Reverse(new);
        }
    }

    /// Numbers and sums, best first; of equals the lower number first.
    pub(super) fn into_sorted(self) -> Vec<(u32, u32)> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse((sum, Reverse(number)))| (number, sum)).collect()
    }
}

/// A term's postings within a window, and the most it can add there.
struct Part<'a> {
    cells: Cells<'a>,
    unit: u32,
    most: u32,
}

/// What at least as many documents as are asked for have, by one of the rarest terms alone; 0 if that is not known.
fn surely(lists: &[List<'_>], dead: &Dead, limit: usize) -> u32 {
    let count = |list: &List<'_>| list.chunks.iter().map(|(_, cells)| cells.len()).sum::<usize>();
    let mut rarest: Vec<&List<'_>> =
        lists.iter().filter(|list| (limit..=GLANCE).contains(&count(list))).collect();
    rarest.sort_unstable_by_key(|list| Reverse(list.unit));
    let of_list = |list: &List<'_>| {
        let mut having = [0u32; 256];
        for (first, cells) in &list.chunks {
            for (number, impact) in cells.iter() {
                let lives = dead.is_empty() || !dead.has(first + u32::from(number));
                having[usize::from(impact)] += u32::from(lives);
            }
        }
        let mut left = limit;
        for (impact, having) in (0u32..256).zip(having).rev() {
            match left.checked_sub(having as usize) {
                Some(more) if more > 0 => left = more,
                _ => return list.unit * impact,
            }
        }
        0
    };
    rarest.into_iter().take(GLANCES).map(of_list).max().unwrap_or(0)
}

/// Offers every document that can be among the best.
pub(super) fn gather(lists: &[List<'_>], dead: &Dead, top: &mut Top) {
    let mut firsts: Vec<u32> = lists.iter().flat_map(|list| list.chunks.iter().map(|c| c.0)).collect();
    firsts.sort_unstable();
    firsts.dedup();
    let surely = surely(lists, dead, top.limit);
    let mut sums = vec![0u32; WIDE];
    let Some(sums) = sums.first_chunk_mut::<WIDE>() else { return };
    let mut at = vec![0usize; lists.len()];
    let mut lanes: Vec<(u32, Cells<'_>)> = Vec::with_capacity(lists.len());
    let mut parts: Vec<Part<'_>> = Vec::with_capacity(lists.len());
    let mut before: Vec<u32> = Vec::with_capacity(lists.len());
    for first in firsts {
        lanes.clear();
        for (list, at) in lists.iter().zip(&mut at) {
            if let Some((_, cells)) = list.chunks.get(*at).filter(|chunk| chunk.0 == first) {
                lanes.push((list.unit, *cells));
                *at += 1;
            }
        }
        let many = lanes.iter().map(|(_, cells)| cells.len()).sum::<usize>() >= MANY;
        let wide = if many { NARROW } else { WIDE };
        while let Some(next) = lanes.iter().filter_map(|(_, cells)| cells.first()).min() {
            let last = next | (wide as u16 - 1);
            parts.clear();
            for (unit, cells) in &mut lanes {
                let here = cells.take_through(last);
                if here.len() > 0 {
                    parts.push(Part { cells: here, unit: *unit, most: *unit * u32::from(here.most()) });
                }
            }
            // Whoever is among the best has a lower number than everybody here, and so comes first among equals.
            let bar = top.bar().max(surely.saturating_sub(1));
            window(first, bar, &mut parts, &mut before, sums, dead, top);
        }
    }
}

/// Offers the documents of one window that have more than `bar`. Leaves `sums` empty, as it found them.
fn window(
    first: u32,
    bar: u32,
    parts: &mut [Part<'_>],
    before: &mut Vec<u32>,
    sums: &mut [u32; WIDE],
    dead: &Dead,
    top: &mut Top,
) {
    parts.sort_unstable_by_key(|part| part.most);
    // What all terms before one can add together.
    before.clear();
    let mut most = 0;
    for part in parts.iter() {
        before.push(most);
        most = part.most.saturating_add(most);
    }
    if most <= bar {
        return;
    }
    let lead = before.iter().rposition(|before| *before <= bar).unwrap_or(0);
    let (weak, leading) = parts.split_at_mut(lead);
    // Of the weak ones the long are looked up in, which costs as much as going through a few dozen postings; the others are gone through.
    let long = leading.iter().map(|part| part.cells.len()).sum::<usize>() * LOOK;
    let mut looked = 0;
    for at in 0..weak.len() {
        if weak[at].cells.len() > long {
            weak.swap(looked, at);
            looked += 1;
        }
    }
    let (looked, through) = weak.split_at(looked);
    before.clear();
    let mut rest = 0u32;
    for part in looked {
        before.push(rest);
        rest = rest.saturating_add(part.most);
    }
    let slot = |number: u16| usize::from(number) % WIDE;
    for part in leading.iter() {
        for (number, impact) in part.cells.iter() {
            let sum = &mut sums[slot(number)];
            *sum = sum.wrapping_add(part.unit * u32::from(impact));
        }
    }
    for part in through {
        for (number, impact) in part.cells.iter() {
            // A document that no leading term has cannot be among the best.
            let sum = &mut sums[slot(number)];
            let more = part.unit * u32::from(impact);
            *sum = sum.wrapping_add(if *sum == 0 { 0 } else { more });
        }
    }
    let mut floor = bar;
    for part in leading.iter() {
        for (number, _) in part.cells.iter() {
            // Zero: another term's postings had this document before.
            let mut sum = std::mem::take(&mut sums[slot(number)]);
            if sum == 0 || sum.saturating_add(rest) <= floor {
                continue;
            }
            for (part, before) in looked.iter().zip(before.iter()).rev() {
                let more = part.cells.find(number).map_or(0, |impact| part.unit * u32::from(impact));
                sum = sum.saturating_add(more);
                if sum.saturating_add(*before) <= floor {
                    break;
                }
            }
            let number = first + u32::from(number);
            if sum > floor && !dead.has(number) {
                top.offer(number, sum);
                // An equal of this window may still have the lower number.
                floor = bar.max(top.bar().saturating_sub(1));
            }
        }
    }
}
