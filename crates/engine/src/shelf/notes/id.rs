//! A note's id: a random UUID of version 4.
//!
//! Comes in: text, or random bytes. Goes out: a [`NoteId`], which is always safe as a file name. What makes two messages one note is their
//! instant and their content hash, never their ids; [`NoteId::of`] turns both into the name by which a message is known again, which
//! is also the id that version 0.1 gave. Never here: rolling the dice.

use heirloom_core::{Kind, MemoryId, hash};
use jiff::Timestamp;
use std::fmt;

/// A UUID in the usual form with hyphens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteId(String);

impl NoteId {
    /// Reads an id: version 1 to 8 of the standard variant, in either case, kept as it is written.
    pub fn parse(text: &str) -> Option<NoteId> {
        let shaped = text.len() == 36
            && text.bytes().enumerate().all(|(at, b)| match at {
                8 | 13 | 18 | 23 => b == b'-',
                14 => (b'1'..=b'8').contains(&b),
                19 => matches!(b, b'8' | b'9' | b'a' | b'b' | b'A' | b'B'),
                _ => b.is_ascii_hexdigit(),
            });
        shaped.then(|| NoteId(text.to_owned()))
    }

    /// A new id from a seed that nobody else has.
    pub fn random(seed: &[u8]) -> NoteId {
        NoteId::from_bits(&hash::sha256(seed))
    }

    /// The name of a message: the same wherever and whenever it is captured. Version 0.1 used it as the note's id.
    pub fn of(occurred_at: Timestamp, content_hash: &str) -> NoteId {
        let seed = format!("{}\0{content_hash}", occurred_at.as_nanosecond());
        NoteId::from_bits(&hash::sha256(seed.as_bytes()))
    }

    /// The name of a message of which nobody knows when it was said.
    pub fn of_content(content_hash: &str) -> NoteId {
        NoteId::from_bits(&hash::sha256(format!("at any time\0{content_hash}").as_bytes()))
    }

    /// The first 122 of these bits, given as hex digits, in the form of version 4.
    fn from_bits(bits: &str) -> NoteId {
        let variant = match bits.as_bytes()[16] {
            b @ b'0'..=b'9' => b - b'0',
            b => b - b'a' + 10,
        };
        let variant = ["8", "9", "a", "b"][usize::from(variant % 4)];
        NoteId(format!(
            "{}-{}-4{}-{variant}{}-{}",
            &bits[..8],
            &bits[8..12],
            &bits[13..16],
            &bits[17..20],
            &bits[20..32]
        ))
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        format!("{}.md", self.0)
    }

    /// The id that every door uses.
    pub fn memory_id(&self) -> MemoryId {
        MemoryId::new(&Kind::Note, &self.0)
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether both name the same note; case does not matter in a UUID.
    pub fn same(&self, other: &NoteId) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl fmt::Display for NoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
