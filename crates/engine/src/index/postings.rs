//! Postings: which documents hold a term, and how strongly, as blobs of one chunk each.
//!
//! A chunk is 65,536 documents of one owner. A blob is `u16` numbers within the chunk in
//! rising order, then as many 8-bit impacts. An impact is the saturated BM25F weight: what
//! does not depend on the question, so a question only multiplies and adds. A chunk with many postings is cut into
//! pieces, each a blob of its own. Blobs come from a file: a blob that does not add up reads as empty.

use super::document::Document;
use super::terms;

/// Documents of a chunk, as a power of two.
pub(crate) const CHUNK_BITS: u32 = 16;
/// Postings of a piece. Four full ones fit on a page of the database; a longer row would leave most of a page of its own empty.
pub(crate) const PIECE: usize = 320;
/// Pieces of a chunk, as a power of two. Every piece but the last was full once, and numbers are never given twice, so there are at most 205.
const PIECES_BITS: u32 = 8;

/// The number a piece of a chunk is stored under.
pub(crate) fn piece_of(chunk: u32, piece: u32) -> u32 {
    chunk << PIECES_BITS | piece
}

/// The chunk that a piece belongs to.
pub(crate) fn chunk_of(piece: u32) -> u32 {
    piece >> PIECES_BITS
}

/// How fast repetition saturates, and how much length counts (Robertson's k1 and b).
const K1: f32 = 1.2;
const B: f32 = 0.75;
const TITLE: f32 = 1.6;
const TAG: f32 = 1.3;

/// A read-only view of a blob, or of some of its postings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells<'a> {
    numbers: &'a [[u8; 2]],
    impacts: &'a [u8],
}

impl<'a> Cells<'a> {
    pub(crate) fn read(blob: &'a [u8]) -> Self {
        let (numbers, impacts) = blob.split_at(blob.len() / 3 * 2);
        let (numbers, _) = numbers.as_chunks::<2>();
        if numbers.len() == impacts.len() {
            Self { numbers, impacts }
        } else {
            Self { numbers: &[], impacts: &[] }
        }
    }

    /// Cells whose numbers and impacts lie apart.
    pub(crate) fn of(numbers: &'a [[u8; 2]], impacts: &'a [u8]) -> Self {
        Self { numbers, impacts }
    }

    /// The numbers as they are stored.
    pub(crate) fn numbers(&self) -> &'a [[u8; 2]] {
        self.numbers
    }

    /// The impacts.
    pub(crate) fn impacts(&self) -> &'a [u8] {
        self.impacts
    }

    pub(crate) fn len(&self) -> usize {
        self.impacts.len()
    }

    /// The impact of one number.
    pub(crate) fn find(&self, number: u16) -> Option<u8> {
        let at = self.numbers.binary_search_by_key(&number, |n| u16::from_le_bytes(*n)).ok()?;
        self.impacts.get(at).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u16, u8)> + use<'a> {
        let numbers = self.numbers.iter().map(|n| u16::from_le_bytes(*n));
        numbers.zip(self.impacts.iter().copied())
    }

    /// The lowest number.
    pub(crate) fn first(&self) -> Option<u16> {
        self.numbers.first().map(|n| u16::from_le_bytes(*n))
    }

    /// The largest impact, 0 if there is none.
    pub(crate) fn most(&self) -> u8 {
        self.impacts.iter().fold(0, |most, impact| most.max(*impact))
    }

    /// What stands from one number to another, both included.
    pub(crate) fn between(&self, low: u16, high: u16) -> Self {
        let start = self.numbers.partition_point(|n| u16::from_le_bytes(*n) < low);
        let (numbers, impacts) = (&self.numbers[start..], &self.impacts[start..]);
        let end = numbers.partition_point(|n| u16::from_le_bytes(*n) <= high);
        Self { numbers: &numbers[..end], impacts: &impacts[..end] }
    }

    /// Takes off and gives what stands at the front up to a number.
    pub(crate) fn take_through(&mut self, last: u16) -> Self {
        let is_in = |n: &[u8; 2]| u16::from_le_bytes(*n) <= last;
        // Steps that double find the end of a short stretch at the front of a long list.
        let mut step = 8;
        while self.numbers.get(step).is_some_and(is_in) {
            step *= 2;
        }
        let within = self.numbers.get(step / 2..).unwrap_or_default();
        let within = within.get(..step / 2 + 1).unwrap_or(within);
        let end = match step {
            8 => self.numbers.iter().take(8).position(|n| !is_in(n)).unwrap_or(8.min(self.numbers.len())),
            _ => step / 2 + within.partition_point(is_in),
        };
        let ((numbers, more), (impacts, after)) = (self.numbers.split_at(end), self.impacts.split_at(end));
        *self = Self { numbers: more, impacts: after };
        Self { numbers, impacts }
    }
}

/// Writes a blob; `cells` must rise by number.
pub(crate) fn write(cells: impl ExactSizeIterator<Item = (u16, u8)>) -> Vec<u8> {
    let mut blob = Vec::new();
    write_to(cells, &mut blob);
    blob
}

/// [`write`] in the place of what `blob` held.
pub(crate) fn write_to(cells: impl ExactSizeIterator<Item = (u16, u8)>, blob: &mut Vec<u8>) {
    blob.clear();
    blob.resize(cells.len() * 3, 0);
    let (numbers, impacts) = blob.split_at_mut(cells.len() * 2);
    for ((number, impact), (n, i)) in numbers.as_chunks_mut().0.iter_mut().zip(impacts).zip(cells) {
        (*number, *impact) = (n.to_le_bytes(), i);
    }
}

/// The terms of one document with their weighted counts, and how many terms there are in all.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bag {
    /// The terms' letters, one after the other.
    letters: String,
    /// End of each term in `letters` and its count, in the order of the terms.
    ends: Vec<(u32, f32)>,
    pub(crate) length: u32,
}

impl Bag {
    /// Calls `found` with every text of a document, what its terms weigh, and whether they count in its length.
    pub(crate) fn each_text<'d>(document: &'d Document, mut found: impl FnMut(&'d str, f32, bool)) {
        found(&document.title, TITLE, true);
        document.tags.iter().for_each(|tag| found(tag, TAG, false));
        found(&document.speaker, 1.0, true);
        document.said().for_each(|text| found(text, 1.0, true));
    }

    /// Calls `found` with every term of a document and its weight, and says how many terms there are.
    fn each_of(document: &Document, mut found: impl FnMut(&str, f32)) -> u32 {
        let mut length = 0f32;
        Self::each_text(document, |text, field, measured| {
            terms::each(text, |term, weight| {
                found(term, field * weight);
                length += if measured { weight } else { 0.0 };
            });
        });
        length as u32
    }

    pub(crate) fn of(document: &Document) -> Self {
        let mut letters = String::with_capacity(document.body.len() + document.title.len());
        let mut found: Vec<(u64, u32, u32, f32)> = Vec::with_capacity(64);
        let length = Self::each_of(document, |term, count| {
            let start = letters.len() as u32;
            letters.push_str(term);
            found.push((head(term.as_bytes()), start, letters.len() as u32, count));
        });
        let term = |f: &(u64, u32, u32, f32)| &letters[f.1 as usize..f.2 as usize];
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| term(a).cmp(term(b))));
        let mut bag = Self {
            letters: String::with_capacity(letters.len()),
            ends: Vec::with_capacity(found.len()),
            length,
        };
        for same in found.chunk_by(|a, b| a.0 == b.0 && term(a) == term(b)) {
            bag.letters.push_str(same.first().map_or("", term));
            bag.ends.push((bag.letters.len() as u32, same.iter().map(|f| f.3).sum()));
        }
        bag
    }

    /// Every term with its count, in order.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&str, f32)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|e| e.0));
        starts
            .zip(&self.ends)
            .map(|(start, (end, count))| (&self.letters[start as usize..*end as usize], *count))
    }

    /// Terms, counts and length as bytes, for a document that waits to be folded in.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.length.to_le_bytes().to_vec();
        for (term, count) in self.counts() {
            // Terms are at most 256 bytes, counts are kept in quarters.
            out.push(u8::try_from(term.len()).unwrap_or(u8::MAX));
            out.push((count * 4.0).round().clamp(1.0, 255.0) as u8);
            out.extend_from_slice(&term.as_bytes()[..term.len().min(255)]);
        }
        out
    }

    /// Reads what [`Bag::to_bytes`] wrote: the length, then every term with its count.
    pub(crate) fn each_in(bytes: &[u8], mut found: impl FnMut(&str, f32, u32)) {
        Self::each_bytes_in(bytes, |term, count, length| {
            if let Ok(term) = std::str::from_utf8(term) {
                found(term, count, length);
            }
        });
    }

    /// [`Bag::each_in`] without looking whether the terms are text, for whoever compares them with text.
    pub(crate) fn each_bytes_in(bytes: &[u8], mut found: impl FnMut(&[u8], f32, u32)) {
        let Some((length, mut rest)) = bytes.split_first_chunk() else { return };
        let length = u32::from_le_bytes(*length);
        while let [size, count, after @ ..] = rest {
            let Some((term, next)) = after.split_at_checked(usize::from(*size)) else { return };
            found(term, f32::from(*count) / 4.0, length);
            rest = next;
        }
    }
}

/// The first eight bytes as a number that sorts as they do: comparing it settles most comparisons of terms.
pub(crate) fn head(term: &[u8]) -> u64 {
    let four = |bytes: &[u8; 4]| u64::from(u32::from_be_bytes(*bytes));
    match (term.first_chunk::<8>(), term.first_chunk::<4>(), term.last_chunk::<4>()) {
        (Some(eight), _, _) => u64::from_be_bytes(*eight),
        // The last four without those that the first four have.
        (None, Some(first), Some(last)) => {
            four(first) << 32 | (four(last) << (8 * (8 - term.len()))) & 0xFFFF_FFFF
        }
        _ => term.iter().zip([56, 48, 40]).fold(0, |head, (byte, at)| head | u64::from(*byte) << at),
    }
}

/// What a document's length makes of its counts: 1 at the average.
pub(crate) fn norm(length: u32, average: f32) -> f32 {
    1.0 - B + B * length as f32 / average.max(1.0)
}

/// The saturated weight of a term that counts `count` in a document of `length` terms, 0 to 1.
pub(crate) fn saturated(count: f32, length: u32, average: f32) -> f32 {
    count / (count + K1 * norm(length, average))
}

/// [`saturated`] as an 8-bit impact.
pub(crate) fn impact(count: f32, length: u32, average: f32) -> u8 {
    impact_at(count, norm(length, average))
}

/// [`impact`] where the norm of the document is known.
pub(crate) fn impact_at(count: f32, norm: f32) -> u8 {
    // Between 0 and 255.5, so the cut is a rounding.
    ((count / (count + K1 * norm) * 255.0 + 0.5) as u8).max(1)
}

/// The count that an impact stands for: [`saturated`] turned round.
pub(crate) fn count_of(impact: u8, length: u32, average: f32) -> f32 {
    let share = (f32::from(impact) / 255.0).min(0.99);
    share / (1.0 - share) * K1 * norm(length, average)
}

/// How much a term tells that `having` of `all` documents hold: its inverse document frequency (IDF), as BM25 has it.
pub(crate) fn rarity(all: f32, having: f32) -> f32 {
    (1.0 + (all - having + 0.5).max(0.0) / (having + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_blob_reads_back_what_was_written(cells in proptest::collection::btree_map(any::<u16>(), any::<u8>(), 0..200)) {
            let cells: Vec<(u16, u8)> = cells.into_iter().collect();
            let blob = write(cells.iter().copied());
            prop_assert_eq!(Cells::read(&blob).iter().collect::<Vec<_>>(), cells);
        }

        #[test]
        fn the_front_of_a_list_is_what_does_not_pass_a_number(cells in proptest::collection::btree_map(any::<u16>(), any::<u8>(), 0..200), last in any::<u16>()) {
            let cells: Vec<(u16, u8)> = cells.into_iter().collect();
            let blob = write(cells.iter().copied());
            let mut rest = Cells::read(&blob);
            let front = rest.take_through(last);
            let (want, left): (Vec<_>, Vec<_>) = cells.into_iter().partition(|c| c.0 <= last);
            prop_assert_eq!(front.most(), want.iter().map(|c| c.1).max().unwrap_or(0));
            prop_assert_eq!(front.iter().collect::<Vec<_>>(), want);
            prop_assert_eq!(rest.first(), left.first().map(|c| c.0));
            prop_assert_eq!(rest.iter().collect::<Vec<_>>(), left);
        }

        #[test]
        fn heads_sort_as_what_they_begin(a in "[a-c]{0,10}", b in "[a-c]{0,10}") {
            let front = |term: &str| term.as_bytes()[..term.len().min(8)].to_vec();
            prop_assert_eq!(head(a.as_bytes()).cmp(&head(b.as_bytes())), front(&a).cmp(&front(&b)));
        }

        #[test]
        fn any_bytes_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let cells = Cells::read(&bytes);
            prop_assert_eq!(cells.iter().count(), cells.len());
            Bag::each_in(&bytes, |term, count, _| assert!(term.len() <= 255 && count >= 0.0));
        }

        #[test]
        fn more_of_a_term_never_weighs_less_and_a_longer_text_never_more(count in 0.25f32..40.0, length in 1u32..5000, average in 1f32..500.0) {
            prop_assert!(impact(count + 1.0, length, average) >= impact(count, length, average));
            prop_assert!(impact(count, length + 50, average) <= impact(count, length, average));
        }
    }

    #[test]
    fn a_waiting_bag_reads_back_its_terms() {
        let document = Document {
            title: "Use Postgres".into(),
            body: "postgres for the queue".into(),
            ..Document::default()
        };
        let bag = Bag::of(&document);
        let mut got = Vec::new();
        Bag::each_in(&bag.to_bytes(), |t, c, l| got.push((t.to_owned(), c, l)));
        // "for" and "the" are stops; four terms are left, postgres twice.
        assert_eq!(bag.length, 4);
        assert_eq!(got.iter().map(|g| g.0.as_str()).collect::<Vec<_>>(), ["postgr", "queue", "us"]);
        assert!(got[0].1 > got[1].1);
    }
}
