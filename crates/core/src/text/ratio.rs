//! How alike two texts are as sequences of characters: the ratio of Python's `difflib`, to the last bit.
//!
//! Comes in: two texts, in an order that matters (the longest block that starts earliest in the first one wins). Goes
//! out: `2 * matched / (len a + len b)`. The rule for popular characters ("autojunk") is part of it: in a second text of
//! 200 characters or more, a character that makes up more than a hundredth of it (plus one) cannot start a block. Never
//! here: lower-casing or trimming; the caller says what is compared.
//!
//! The full ratio costs microseconds to milliseconds, so a search over thousands of texts asks [`Probe::reaches`], which
//! first takes bounds that can only be too high: the shorter length, then the longest common subsequence, computed 64
//! characters at a time. Blocks never cross, so together they are a common subsequence and never longer than the longest.

use std::collections::HashMap;

/// From this length on, popular characters of the second text cannot start a block.
const JUNK_FROM: usize = 200;

/// `2 * matched / total`, 1 for two empty texts.
fn of(matched: usize, total: usize) -> f64 {
    if total == 0 { 1.0 } else { 2.0 * matched as f64 / total as f64 }
}

/// The ratio of two texts.
pub fn ratio(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    of(matched(&a, &b), a.len() + b.len())
}

/// The blocks both texts have in common: start in `a`, start in `b`, length; in order, next to each other joined.
pub fn blocks(a: &str, b: &str) -> Vec<(usize, usize, usize)> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut found = Vec::new();
    Matcher::new(&a, &b).each(&mut |block| found.push(block));
    found.sort_unstable();
    let mut joined: Vec<(usize, usize, usize)> = Vec::with_capacity(found.len());
    for (i, j, len) in found {
        match joined.last_mut() {
            Some(last) if last.0 + last.2 == i && last.1 + last.2 == j => last.2 += len,
            _ => joined.push((i, j, len)),
        }
    }
    joined
}

fn matched(a: &[char], b: &[char]) -> usize {
    let mut sum = 0;
    Matcher::new(a, b).each(&mut |(_, _, len)| sum += len);
    sum
}

/// Two texts with the places of every character of the second that can start a block.
struct Matcher<'a> {
    a: &'a [char],
    b: &'a [char],
    /// For each character of `a`, the range of its places in `places`; empty if it has none.
    starts: Vec<(u32, u32)>,
    places: Vec<u32>,
    /// Lengths of the runs that end in the last and in the present row, by place in `b` plus one.
    runs: [Vec<u32>; 2],
}

impl<'a> Matcher<'a> {
    fn new(a: &'a [char], b: &'a [char]) -> Matcher<'a> {
        let mut order: Vec<u32> = (0..b.len() as u32).collect();
        order.sort_unstable_by_key(|&j| (b[j as usize], j));
        let most = if b.len() >= JUNK_FROM { b.len() / 100 + 1 } else { usize::MAX };
        let mut ranges: HashMap<char, (u32, u32)> = HashMap::new();
        let mut ascii = [(0, 0); 128];
        let mut from = 0;
        for group in order.chunk_by(|&x, &y| b[x as usize] == b[y as usize]) {
            let range = (from as u32, (from + group.len()) as u32);
            from += group.len();
            if group.len() > most {
                continue;
            }
            let c = b[group[0] as usize];
            match ascii.get_mut(c as usize) {
                Some(slot) => *slot = range,
                None => {
                    ranges.insert(c, range);
                }
            }
        }
        let start = |c: &char| {
            ascii.get(*c as usize).copied().unwrap_or_else(|| ranges.get(c).copied().unwrap_or_default())
        };
        let starts = a.iter().map(start).collect();
        let runs = [vec![0; b.len() + 1], vec![0; b.len() + 1]];
        Matcher { a, b, starts, places: order, runs }
    }

    /// Tells every block: the longest one first, then the same left and right of it. The stack holds what is still to do.
    fn each(&mut self, tell: &mut dyn FnMut((usize, usize, usize))) {
        let mut todo = vec![(0, self.a.len(), 0, self.b.len())];
        while let Some((a_from, a_to, b_from, b_to)) = todo.pop() {
            let (i, j, len) = self.longest(a_from, a_to, b_from, b_to);
            if len == 0 {
                continue;
            }
            tell((i, j, len));
            if a_from < i && b_from < j {
                todo.push((a_from, i, b_from, j));
            }
            if i + len < a_to && j + len < b_to {
                todo.push((i + len, a_to, j + len, b_to));
            }
        }
    }

    /// The longest block inside both ranges, earliest in `a`, then in `b`.
    fn longest(&mut self, a_from: usize, a_to: usize, b_from: usize, b_to: usize) -> (usize, usize, usize) {
        let (mut best_i, mut best_j, mut best) = (a_from, b_from, 0u32);
        let [before, present] = &mut self.runs;
        // Which entries of a row are set, so that clearing costs what setting did.
        let mut set_before: &[u32] = &[];
        for i in a_from..a_to {
            let (from, to) = self.starts[i];
            let all = &self.places[from as usize..to as usize];
            let low = all.partition_point(|&j| (j as usize) < b_from);
            let high = low + all[low..].partition_point(|&j| (j as usize) < b_to);
            let here = &all[low..high];
            for &j in here {
                let run = before[j as usize] + 1;
                present[j as usize + 1] = run;
                if run > best {
                    best = run;
                    best_i = i + 1 - run as usize;
                    best_j = j as usize + 1 - run as usize;
                }
            }
            for &j in set_before {
                before[j as usize + 1] = 0;
            }
            set_before = here;
            std::mem::swap(before, present);
        }
        for &j in set_before {
            before[j as usize + 1] = 0;
        }
        let mut len = best as usize;
        // Popular characters cannot start a block, but they belong to one that touches them.
        while best_i > a_from && best_j > b_from && self.a[best_i - 1] == self.b[best_j - 1] {
            best_i -= 1;
            best_j -= 1;
            len += 1;
        }
        while best_i + len < a_to && best_j + len < b_to && self.a[best_i + len] == self.b[best_j + len] {
            len += 1;
        }
        (best_i, best_j, len)
    }
}

/// One text that is held against many, as the first of the two.
#[derive(Debug)]
pub struct Probe {
    chars: Vec<char>,
    words: usize,
    /// Where each character stands in the text, as bits; ASCII by its code, others by a map to a later row.
    bits: Vec<u64>,
    others: HashMap<char, usize>,
}

impl Probe {
    /// Prepares a text.
    pub fn new(text: &str) -> Probe {
        let chars: Vec<char> = text.chars().collect();
        let words = chars.len().div_ceil(64);
        let mut others = HashMap::new();
        for &c in chars.iter().filter(|c| !c.is_ascii()) {
            let next = 128 + others.len();
            others.entry(c).or_insert(next);
        }
        let mut bits = vec![0u64; (128 + others.len()) * words];
        for (i, c) in chars.iter().enumerate() {
            let row = if c.is_ascii() { *c as usize } else { others[c] };
            bits[row * words + i / 64] |= 1 << (i % 64);
        }
        Probe { chars, words, bits, others }
    }

    /// The ratio with this text first.
    pub fn ratio(&self, other: &str) -> f64 {
        let b: Vec<char> = other.chars().collect();
        of(matched(&self.chars, &b), self.chars.len() + b.len())
    }

    /// The ratio if it is at least `floor`, which is then exact; `None` costs much less.
    pub fn reaches(&self, other: &str, floor: f64) -> Option<f64> {
        let plain = other.is_ascii();
        let len = if plain { other.len() } else { other.chars().count() };
        let total = self.chars.len() + len;
        if of(self.chars.len().min(len), total) < floor {
            return None;
        }
        let common = match self.words {
            1 if plain => self.common_plain::<u64>(other, floor, total),
            2 if plain => self.common_plain::<u128>(other, floor, total),
            _ => self.common(other),
        };
        if of(common, total) < floor {
            return None;
        }
        let ratio = self.ratio(other);
        (ratio >= floor).then_some(ratio)
    }

    /// The length of the longest common subsequence: a row of the usual table per character, as differences in bits, so
    /// that an addition moves 64 columns at once (Crochemore et al. 2001; Hyyrö 2004).
    fn common(&self, other: &str) -> usize {
        let mut row = vec![u64::MAX; self.words];
        for c in other.chars() {
            let Some(at) = self.row_of(c) else { continue };
            let masks = &self.bits[at * self.words..(at + 1) * self.words];
            let mut carry = false;
            for (v, mask) in row.iter_mut().zip(masks) {
                let u = *v & mask;
                let (sum, over) = v.overflowing_add(u);
                let (sum, again) = sum.overflowing_add(u64::from(carry));
                carry = over | again;
                *v = sum | (*v - u);
            }
        }
        row.iter().map(|v| v.count_zeros() as usize).sum()
    }

    /// The same for ASCII held against a text that fits in one number. It ends as soon as the characters that are left cannot bring it
    /// to the floor; what it says then is too low, but below the floor whatever comes.
    fn common_plain<R: OneRow>(&self, other: &str, floor: f64, total: usize) -> usize {
        const STEP: usize = 16;
        let mut row = R::START;
        let mut left = other.len();
        for some in other.as_bytes().chunks(STEP) {
            for byte in some {
                row = row.next(R::mask(&self.bits, usize::from(*byte)));
            }
            left -= some.len();
            if of(row.zeros() + left, total) < floor {
                break;
            }
        }
        row.zeros()
    }

    fn row_of(&self, c: char) -> Option<usize> {
        if c.is_ascii() { Some(c as usize) } else { self.others.get(&c).copied() }
    }
}

/// A row of the table that fits in one number.
trait OneRow: Copy {
    const START: Self;
    /// The row of a character among the bits of a [`Probe`] whose rows are as wide as this number.
    fn mask(bits: &[u64], row: usize) -> Self;
    fn next(self, mask: Self) -> Self;
    /// The length so far.
    fn zeros(self) -> usize;
}

impl OneRow for u64 {
    const START: u64 = u64::MAX;

    #[inline]
    fn mask(bits: &[u64], row: usize) -> u64 {
        bits[row]
    }

    #[inline]
    fn next(self, mask: u64) -> u64 {
        let u = self & mask;
        self.wrapping_add(u) | (self - u)
    }

    fn zeros(self) -> usize {
        self.count_zeros() as usize
    }
}

impl OneRow for u128 {
    const START: u128 = u128::MAX;

    #[inline]
    fn mask(bits: &[u64], row: usize) -> u128 {
        u128::from(bits[row * 2 + 1]) << 64 | u128::from(bits[row * 2])
    }

    #[inline]
    fn next(self, mask: u128) -> u128 {
        let u = self & mask;
        self.wrapping_add(u) | (self - u)
    }

    fn zeros(self) -> usize {
        self.count_zeros() as usize
    }
}

#[cfg(test)]
#[path = "ratio_tests.rs"]
mod tests;
