//! Unpacking what zlib packed: only as much as is asked for, never more than a limit.
//!
//! Comes in: bytes from a stranger. Goes out: the first bytes of what they stand for. Never here: a checksum (nothing that is read this way
//! is believed because it is whole), a table larger than the alphabet, a panic.

/// Codes are at most this long.
const LONGEST: usize = 15;

/// The extra lengths and distances that a symbol stands for: where it begins, and how many more bits say where exactly.
const LENGTHS: [(u16, u8); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];

/// The order in which a block tells the lengths of the codes for lengths.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The first `wanted` bytes, or all if there are fewer; `None` if the input is no zlib stream or ends too early.
pub(super) fn inflate(packed: &[u8], wanted: usize) -> Option<Vec<u8>> {
    let (head, body) = packed.split_at_checked(2)?;
    // Deflate, without a dictionary that would have to be known beforehand.
    if head[0] & 0x0f != 8 || head[1] & 0x20 != 0 || (u16::from(head[0]) << 8 | u16::from(head[1])) % 31 != 0
    {
        return None;
    }
    let mut bits = Bits { bytes: body, at: 0, held: 0, count: 0 };
    let mut out = Vec::with_capacity(wanted.min(1 << 16));
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out, wanted)?,
            1 => block(&mut bits, &mut out, wanted, &fixed(), &Code::new(&[5; 30]))?,
            2 => {
                let (literals, distances) = described(&mut bits)?;
                block(&mut bits, &mut out, wanted, &literals, &distances)?;
            }
            _ => return None,
        }
        if last || out.len() >= wanted {
            out.truncate(wanted);
            return Some(out);
        }
    }
}

/// Bits from the least one upwards.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    held: u32,
    count: u32,
}

impl Bits<'_> {
    fn take(&mut self, wanted: u32) -> Option<u32> {
        while self.count < wanted {
            self.held |= u32::from(*self.bytes.get(self.at)?) << self.count;
            self.at += 1;
            self.count += 8;
        }
        let value = self.held & ((1 << wanted) - 1);
        self.held >>= wanted;
        self.count -= wanted;
        Some(value)
    }
}

/// A code: how many words of each length there are, and what they stand for in order.
struct Code {
    counts: [u16; LONGEST + 1],
    symbols: Vec<u16>,
}

impl Code {
    fn new(lengths: &[u8]) -> Code {
        let mut counts = [0u16; LONGEST + 1];
        for length in lengths.iter().filter(|length| **length > 0) {
            counts[usize::from(*length) & LONGEST] += 1;
        }
        let mut symbols = Vec::with_capacity(lengths.len());
        for length in 1..=LONGEST as u8 {
            symbols
                .extend((0u16..).zip(lengths).filter(|(_, own)| **own == length).map(|(symbol, _)| symbol));
        }
        Code { counts, symbols }
    }

    fn read(&self, bits: &mut Bits<'_>) -> Option<u16> {
        // Words of one length follow each other, and those of the next length follow these with a zero behind them.
        let (mut word, mut first, mut index) = (0i32, 0i32, 0i32);
        for count in &self.counts[1..] {
            word |= bits.take(1)? as i32;
            let count = i32::from(*count);
            if word - first < count {
                return self.symbols.get(usize::try_from(index + word - first).ok()?).copied();
            }
            index += count;
            first = (first + count) << 1;
            word <<= 1;
        }
        None
    }
}

fn fixed() -> Code {
    let mut lengths = [8u8; 288];
    lengths[144..256].fill(9);
    lengths[256..280].fill(7);
    Code::new(&lengths)
}

fn described(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    let literals = bits.take(5)? as usize + 257;
    let distances = bits.take(5)? as usize + 1;
    let told = bits.take(4)? as usize + 4;
    let mut lengths = [0u8; 19];
    for place in ORDER.iter().take(told) {
        lengths[*place] = bits.take(3)? as u8;
    }
    let code = Code::new(&lengths);
    let mut all: Vec<u8> = Vec::with_capacity(literals + distances);
    while all.len() < literals + distances {
        let (value, times) = match code.read(bits)? {
            symbol @ 0..=15 => (symbol as u8, 1),
            16 => (*all.last()?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            _ => (0, 11 + bits.take(7)?),
        };
        all.extend(std::iter::repeat_n(value, times as usize));
    }
    if all.len() > literals + distances {
        return None;
    }
    let (literals, distances) = all.split_at_checked(literals)?;
    Some((Code::new(literals), Code::new(distances)))
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>, wanted: usize) -> Option<()> {
    // Whole bytes from here on; at most the rest of one byte was held.
    bits.take(bits.count % 8)?;
    let length = bits.take(16)?;
    let check = bits.take(16)?;
    if length != !check & 0xffff {
        return None;
    }
    for _ in 0..length {
        if out.len() >= wanted {
            return Some(());
        }
        out.push(bits.take(8)? as u8);
    }
    Some(())
}

fn block(
    bits: &mut Bits<'_>,
    out: &mut Vec<u8>,
    wanted: usize,
    literals: &Code,
    distances: &Code,
) -> Option<()> {
    while out.len() < wanted {
        let symbol = literals.read(bits)?;
        if symbol < 256 {
            out.push(symbol as u8);
            continue;
        }
        if symbol == 256 {
            return Some(());
        }
        let (length, more) = *LENGTHS.get(usize::from(symbol) - 257)?;
        let length = usize::from(length) + bits.take(u32::from(more))? as usize;
        let symbol = u32::from(distances.read(bits)?);
        // Two symbols for each power of two, after the first four.
        let distance = match symbol {
            0..=3 => symbol + 1,
            4..=29 => {
                let more = symbol / 2 - 1;
                ((2 + symbol % 2) << more) + 1 + bits.take(more)?
            }
            _ => return None,
        };
        let from = out.len().checked_sub(distance as usize)?;
        // What is copied may begin within what was copied just now.
        for at in from..from + length {
            out.push(*out.get(at)?);
        }
    }
    Some(())
}
