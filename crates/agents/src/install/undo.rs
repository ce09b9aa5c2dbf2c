//! What it takes to give a file back as it was: where it was changed and what stood there.
//!
//! Comes in: a file before and after an edit of ours. Goes out: the original, if the file is still as we left it. Never here: a copy
//! of the rest of the file; settings may hold what their owner keeps in one place only.

use heirloom_core::hash;
use serde::{Deserialize, Serialize};

/// How to undo an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// SHA-256 of the file as we left it.
    after: String,
    /// How many bytes at its start were there before.
    front: usize,
    /// How many at its end.
    back: usize,
    /// What stood between them; nothing if there was no file.
    middle: Option<String>,
}

impl Undo {
    /// From a file's text before and after.
    pub fn of(before: Option<&str>, after: &str) -> Undo {
        let hash = hash::sha256(after.as_bytes());
        let Some(before) = before else { return Undo { after: hash, front: 0, back: 0, middle: None } };
        let same = |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(a, b)| a == b).count();
        let mut front = same(&mut before.bytes().zip(after.bytes()));
        while !before.is_char_boundary(front) {
            front -= 1;
        }
        let rest = before.len().min(after.len()) - front;
        let mut back = same(&mut before.bytes().rev().zip(after.bytes().rev()).take(rest));
        while !before.is_char_boundary(before.len() - back) {
            back -= 1;
        }
        Undo { after: hash, front, back, middle: Some(before[front..before.len() - back].to_owned()) }
    }

    /// Whether there was a file before.
    pub fn was_there(&self) -> bool {
        self.middle.is_some()
    }

    /// What the file held before, `Some(None)` if it was not there; `None` if the file has changed since.
    pub fn original(&self, now: &[u8]) -> Option<Option<Vec<u8>>> {
        if hash::sha256(now) != self.after {
            return None;
        }
        let Some(middle) = &self.middle else { return Some(None) };
        let end = now.len().checked_sub(self.back)?;
        Some(Some([now.get(..self.front)?, middle.as_bytes(), now.get(end..)?].concat()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_changed_file_is_not_undone_and_a_new_one_goes_away() {
        let undo = Undo::of(None, "new");
        assert_eq!(undo.original(b"new"), Some(None));
        assert_eq!(undo.original(b"newer"), None);
    }

    #[test]
    fn what_was_not_touched_is_not_kept() {
        let undo = Undo::of(Some("{\"key\": \"value\"}"), "{\"key\": \"value\", \"hooks\": {}}");
        assert!(!serde_json::to_string(&undo).unwrap().contains("value"));
    }

    proptest! {
        #[test]
        fn every_edit_is_undone_to_the_byte(before in "[aé\n{]{0,20}", after in "[aé\n{]{0,30}") {
            let undo = Undo::of(Some(&before), &after);
            prop_assert_eq!(undo.original(after.as_bytes()), Some(Some(before.into_bytes())));
        }
    }
}
