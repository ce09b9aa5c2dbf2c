//! Maps by document number.
//!
//! In: numbers the index gave. Out: a map that finds them with a multiplication. Numbers count up from zero and nobody outside chooses them, so
//! there is no flood of equal ones to fear. Never here: anything a text decides.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by document number.
pub(crate) type ByNumber<T> = HashMap<u32, T, BuildHasherDefault<Spread>>;

/// Spreads a number over all bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        // The golden ratio as a fraction: neighbours land far apart, and the upper bits, which the map looks at, differ.
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_under_their_own_value_only() {
        let mut map = ByNumber::default();
        (0..10_000u32).for_each(|n| {
            map.insert(n * 3, n);
        });
        assert_eq!(map.len(), 10_000);
        assert!((0..30_000).all(|n| map.get(&n).copied() == (n % 3 == 0).then_some(n / 3)));
    }
}
