//! Ids that were forgotten, as `provenance.jsonl` knows them: marks by which an id is known again, and from which none can be read.
//!
//! Comes in: the lines that say "forgotten". Goes out: whether an id is one of them. An id is made from a title, and a title may hold a name and a
//! number, so it is not written down: each line has a salt of its own and the hash of salt and id. Three digits of the id's own hash stand
//! beside it, so that a file full of marks costs nobody a hash of each. Lines of an earlier version name their id; they count, and the next
//! `forget` rewrites them. Never here: whether a text that came back is wanted.

use heirloom_core::hash;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// What stands in the place of an id.
pub(super) const MARKED: &str = "#";
const SALT: &str = "salt";
const NEAR: &str = "near";
/// Digits of a mark.
const DIGITS: usize = 32;

/// The forgotten ids of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgets {
    plain: HashSet<String>,
    /// Salt and mark, by the digits that stand beside them.
    marked: HashMap<String, Vec<(String, String)>>,
    /// What all of it is known by.
    lines: Vec<String>,
}

impl Forgets {
    /// Takes a line that says so: its id, and everything else it says.
    pub(super) fn take(&mut self, id: String, more: &Map<String, Value>) {
        self.lines.push(id.clone());
        let text = |key: &str| more.get(key).and_then(Value::as_str).map(str::to_owned);
        match (id.strip_prefix(MARKED), text(SALT), text(NEAR)) {
            (Some(mark), Some(salt), Some(near)) => {
                self.marked.entry(near).or_default().push((salt, mark.to_owned()));
            }
            _ => {
                self.plain.insert(id);
            }
        }
    }

    /// Whether an id was forgotten.
    pub fn contains(&self, id: &str) -> bool {
        if self.plain.contains(id) {
            return true;
        }
        // Hashing costs; without marks nobody pays for it.
        if self.marked.is_empty() {
            return false;
        }
        let near = self.marked.get(&near(id)).map(Vec::as_slice).unwrap_or_default();
        near.iter().any(|(salt, known)| mark(salt, id) == *known)
    }

    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.marked.is_empty()
    }

    /// What this list is known by: another one is another list.
    pub fn fingerprint(&self) -> String {
        let mut lines = self.lines.clone();
        lines.sort_unstable();
        lines.dedup();
        hash::sha256(format!("{lines:?}").as_bytes())
    }
}

/// What a line says in the place of an id, and what it says beside that.
pub(super) fn marked(id: &str, salt: &str) -> (String, Map<String, Value>) {
    let more = Map::from_iter([(SALT.to_owned(), json!(salt)), (NEAR.to_owned(), json!(near(id)))]);
    (format!("{MARKED}{}", mark(salt, id)), more)
}

/// Whether a line with this id and these further facts is about an id.
pub(super) fn is_about(said: &str, more: &Value, id: &str) -> bool {
    match (said.strip_prefix(MARKED), more.get(SALT).and_then(Value::as_str)) {
        (Some(known), Some(salt)) => mark(salt, id) == known,
        _ => said == id,
    }
}

/// Whether a line of `provenance.jsonl` is such a mark and nothing more: whatever stands in it was made here and tells nothing.
pub(crate) fn is_forgotten_mark(line: &str) -> bool {
    let Ok(Value::Object(said)) = serde_json::from_str::<Value>(line) else { return false };
    let text = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default();
    let hex = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
    };
    said.len() == 5
        && text("did") == "forgotten"
        && heirloom_core::time::parse(text("at")).is_some()
        && text("id").strip_prefix(MARKED).is_some_and(|mark| hex(mark, DIGITS))
        && hex(text(SALT), DIGITS)
        && hex(text(NEAR), 3)
}

fn mark(salt: &str, id: &str) -> String {
    hash::keyed(salt.as_bytes(), id.as_bytes())[..DIGITS].to_owned()
}

fn near(id: &str) -> String {
    hash::sha256(id.as_bytes())[..3].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_known_by_its_mark_and_no_two_marks_of_it_are_alike() {
        let id = "decision:call-anna-example-on-0151-2345678";
        let mut known = Forgets::default();
        assert!(known.is_empty() && !known.contains(id));
        let (first, more) = marked(id, "salt-1");
        let (second, _) = marked(id, "salt-2");
        assert_ne!(first, second);
        known.take(first, &more);
        assert!(known.contains(id) && !known.contains("decision:other"));
        assert!(!format!("{known:?}").contains("anna"));
        let line = json!({ "id": marked(id, "s").0, "at": "2026-01-01T00:00:00Z", "did": "forgotten",
            "salt": "84867aa5bd8d8e7ddc08656f9f077b3d", "near": near(id) });
        assert!(is_forgotten_mark(&line.to_string()));
        for (key, value) in [("salt", "hunter2"), ("did", "renamed"), ("more", "x"), ("at", "password")] {
            let mut other = line.clone();
            other[key] = json!(value);
            assert!(!is_forgotten_mark(&other.to_string()), "{key}");
        }
        // A line of an earlier version.
        known.take("note:plain".to_owned(), &Map::new());
        assert!(known.contains("note:plain"));
    }

    #[test]
    fn a_text_that_only_looks_like_a_mark_is_an_id_like_any_other() {
        let mut known = Forgets::default();
        known.take("#decision".to_owned(), &Map::new());
        assert!(known.contains("#decision") && !known.contains("decision"));
    }
}
