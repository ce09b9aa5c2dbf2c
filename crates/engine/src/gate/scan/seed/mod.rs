//! `gate.profile: seed`: the literal pattern lists of the systems this one grew from, with their
//! order and texts, and nothing else. In: text. Out: what those systems would have said. None of the
//! measured rules is used here, and none of these is used by the measured rules.

pub mod guard;
pub mod levels;
pub mod words;
