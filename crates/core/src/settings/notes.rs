//! Settings of the notes shelf.
//!
//! Comes in: resolved values by name. Goes out: [`Notes`]. Never here: the rules of the note format, which no setting bends.

use super::typed::Reader;

/// How assistant messages become notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notes {
    /// On: a stop keeps the assistant's longer messages.
    pub capture: bool,
    /// Most notes one stop keeps; the newest count.
    pub max_per_capture: usize,
    /// Messages longer than this are not captured.
    pub max_chars: usize,
    /// Most keywords derived from a message.
    pub max_keywords: usize,
}

impl Notes {
    pub(super) fn from_values(v: &Reader<'_>) -> Notes {
        let number = |name| v.count(name).unwrap_or_default() as usize;
        Notes {
            capture: v.on("notes.capture"),
            max_per_capture: number("notes.max_per_capture"),
            max_chars: number("notes.max_chars"),
            max_keywords: number("notes.max_keywords"),
        }
    }
}
