//! A vocabulary that needs no loading: words and their hash table as one block of bytes, read in place.
//!
//! In: a block written by [`encode`] (or by `models/distill.py`, the same layout). Out: the number of a
//! word piece. The block may come from a file, so every offset is checked; a damaged block answers "not
//! there", it never panics.
//!
//! Layout, little endian: `u32 count, u32 slots` (a power of two), `u32 offsets[count + 1]`,
//! `u16 table[slots]` (open addressing by FNV-1a, `0xFFFF` is empty), the words' bytes, zeros up to a
//! multiple of 64.

/// Number of a word piece in the vocabulary.
pub type PieceId = u16;

const EMPTY: u16 = u16::MAX;

/// A vocabulary block, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Vocab<'a> {
    slots: usize,
    offsets: &'a [u8],
    table: &'a [u8],
    words: &'a [u8],
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn hash(word: &[u8]) -> u32 {
    word.iter().fold(0x811C_9DC5, |h, b| (h ^ u32::from(*b)).wrapping_mul(0x0100_0193))
}

impl<'a> Vocab<'a> {
    /// Reads the header of a block; `None` if the sizes in it do not fit.
    pub fn parse(block: &'a [u8]) -> Option<Self> {
        let count = u32_at(block, 0)? as usize;
        let slots = u32_at(block, 4)? as usize;
        if !slots.is_power_of_two() || count >= slots || count >= usize::from(EMPTY) {
            return None;
        }
        let (offsets, rest) = block.get(8..)?.split_at_checked((count + 1) * 4)?;
        let (table, words) = rest.split_at_checked(slots * 2)?;
        Some(Self { slots, offsets, table, words })
    }

    /// How many word pieces there are.
    pub fn len(&self) -> usize {
        self.offsets.len() / 4 - 1
    }

    /// Whether there is no word piece at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a word piece.
    pub fn word(&self, id: PieceId) -> Option<&'a [u8]> {
        let at = usize::from(id) * 4;
        let (from, to) = (u32_at(self.offsets, at)?, u32_at(self.offsets, at + 4)?);
        self.words.get(from as usize..to as usize)
    }

    /// The number of a word piece, given as two parts that are read as one word (`##` and the rest).
    pub fn find(&self, prefix: &str, rest: &str) -> Option<PieceId> {
        let mut h = hash(prefix.as_bytes());
        for b in rest.bytes() {
            h = (h ^ u32::from(b)).wrapping_mul(0x0100_0193);
        }
        let mut slot = h as usize & (self.slots - 1);
        for _ in 0..self.slots {
            let id = u16::from_le_bytes(*self.table.get(slot * 2..)?.first_chunk()?);
            if id == EMPTY {
                return None;
            }
            let word = self.word(id)?;
            if word.len() == prefix.len() + rest.len()
                && word.starts_with(prefix.as_bytes())
                && word.ends_with(rest.as_bytes())
            {
                return Some(id);
            }
            slot = (slot + 1) & (self.slots - 1);
        }
        None
    }
}

/// Writes a block for `words`; `None` if there are more than a block can number.
pub fn encode(words: &[&str]) -> Option<Vec<u8>> {
    let slots = 1usize << 16;
    if words.len() >= slots - 1 {
        return None;
    }
    let mut table = vec![EMPTY; slots];
    let mut offsets = vec![0u32];
    let mut bytes = Vec::new();
    for (id, word) in words.iter().enumerate() {
        let mut slot = hash(word.as_bytes()) as usize & (slots - 1);
        while table[slot] != EMPTY {
            slot = (slot + 1) & (slots - 1);
        }
        table[slot] = u16::try_from(id).ok()?;
        bytes.extend_from_slice(word.as_bytes());
        offsets.push(u32::try_from(bytes.len()).ok()?);
    }
    let mut block = Vec::with_capacity(8 + offsets.len() * 4 + slots * 2 + bytes.len() + 64);
    block.extend(u32::try_from(words.len()).ok()?.to_le_bytes());
    block.extend((1u32 << 16).to_le_bytes());
    block.extend(offsets.iter().flat_map(|o| o.to_le_bytes()));
    block.extend(table.iter().flat_map(|t| t.to_le_bytes()));
    block.extend(bytes);
    block.resize(block.len().next_multiple_of(64), 0);
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_under_its_number_and_no_other_is() {
        let words = ["[PAD]", "the", "##ing", "ing", "zebra"];
        let block = encode(&words).unwrap();
        let vocab = Vocab::parse(&block).unwrap();
        assert_eq!(vocab.len(), 5);
        for (id, word) in words.iter().enumerate() {
            assert_eq!(vocab.find("", word), Some(id as u16));
            assert_eq!(vocab.word(id as u16), Some(word.as_bytes()));
        }
        assert_eq!(vocab.find("##", "ing"), Some(2));
        assert_eq!(vocab.find("", "zebr"), None);
    }

    #[test]
    fn a_cut_block_is_refused_or_finds_nothing() {
        let block = encode(&["alpha", "beta"]).unwrap();
        for end in [0, 3, 8, 12, 100, block.len() - 64] {
            if let Some(vocab) = Vocab::parse(&block[..end]) {
                assert_eq!(vocab.find("", "gamma"), None);
                let _ = vocab.find("", "beta");
            }
        }
    }
}
