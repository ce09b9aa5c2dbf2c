//! `<root>/provenance.jsonl`: what the shelves' own formats have no field for, a line each, committed with them.
//!
//! Comes in: an id and something to say about it (retired and why, redacted, imported from, forgotten). Goes out: the lines about
//! an id, oldest first. The file merges by union, so lines may repeat and come in any order; readers sort by time. Never here:
//! a memory's text. Whoever writes a reason has it redacted first.

use crate::budget;
use crate::call::Call;
use crate::files::{self, Lock, Mode, Prepared, Root};
use crate::gate::trust::Standing;
use crate::shelf::forgets::{self, Forgets};
use heirloom_core::{MemoryId, fault::Result, json};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::path::PathBuf;

const LIMIT: u64 = 64 << 20;

/// So many ids are looked for in a line before it is taken apart.
const FEW: usize = 256;

/// What a line says of a memory that is gone on purpose.
const FORGOTTEN: &str = "forgotten";

/// What was done to a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The memory.
    pub id: String,
    /// SHA-256 of the stored bytes it is about; empty if none are left.
    pub hash: String,
    /// When, as stored.
    pub at: String,
    /// `retired`, `restored`, `redacted`, `imported`, `forgotten`, …
    pub did: String,
    /// Everything else there is to say.
    pub more: Map<String, Value>,
}

impl Line {
    /// A text among the further facts.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.more.get(key).and_then(Value::as_str)
    }

    fn to_json(&self) -> String {
        let mut line = json!({ "id": self.id, "at": self.at, "did": self.did });
        if let Value::Object(fields) = &mut line {
            if !self.hash.is_empty() {
                fields.insert("hash".into(), json!(self.hash));
            }
            fields.extend(self.more.clone());
        }
        line.to_string()
    }

    fn from_json(bytes: &[u8]) -> Option<Line> {
        let Ok(Value::Object(mut fields)) = json::parse(bytes) else { return None };
        let mut take = |key: &str| match fields.shift_remove(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let (id, at, did) = (take("id")?, take("at")?, take("did")?);
        Some(Line { id, at, did, hash: take("hash").unwrap_or_default(), more: fields })
    }
}

fn path(root: &Root) -> PathBuf {
    root.join(&["provenance.jsonl"])
}

fn bytes(root: &Root) -> Result<Vec<u8>> {
    Ok(files::read_if_there(&path(root), budget::limit(LIMIT, budget::LINES))?.unwrap_or_default())
}

/// Adds lines.
pub fn append(root: &Root, _lock: &Lock, lines: &[Line]) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let text: Vec<String> = lines.iter().map(Line::to_json).collect();
    files::append_lines(&path(root), text.iter().map(String::as_str), Mode::Shared)
}

/// All lines that can be read, oldest first, each once.
pub fn read(root: &Root) -> Result<Vec<Line>> {
    let bytes = bytes(root)?;
    let mut seen = HashSet::new();
    let mut lines: Vec<Line> = bytes
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty() && seen.insert(*line))
        .filter_map(Line::from_json)
        .collect();
    lines.sort_by(|a, b| a.at.cmp(&b.at));
    Ok(lines)
}

/// The lines about an id, oldest first.
pub fn about(root: &Root, id: &str) -> Result<Vec<Line>> {
    Ok(read(root)?.into_iter().filter(|line| line.id == id).collect())
}

/// Whether any line may say that this was done.
pub fn says(root: &Root, did: &str) -> Result<bool> {
    let bytes = bytes(root)?;
    Ok(memchr::memmem::find(&bytes, did.as_bytes()).is_some())
}

/// The lines that say this was done, oldest first, each once; of those only the ones that name one of these ids, if there are any.
pub fn saying(root: &Root, did: &str, ids: Option<&[&str]>) -> Result<Vec<Line>> {
    let bytes = bytes(root)?;
    let says_so = memchr::memmem::Finder::new(did);
    if says_so.find(&bytes).is_none() {
        return Ok(Vec::new());
    }
    // A file may hold very many lines, and a prompt asks about a few memories: only lines that hold an id are taken apart.
    // Looking for very many at once costs more than taking lines apart.
    let few = ids.filter(|ids| ids.len() <= FEW);
    let named = few.map(aho_corasick::AhoCorasick::new).and_then(std::result::Result::ok);
    let ids: Option<HashSet<&str>> = ids.map(|ids| ids.iter().copied().collect());
    let mut seen = HashSet::new();
    let mut lines: Vec<Line> = bytes
        .split(|b| *b == b'\n')
        .filter(|line| {
            says_so.find(line).is_some() && named.as_ref().is_none_or(|named| named.is_match(*line))
        })
        .filter(|line| seen.insert(*line))
        .filter_map(Line::from_json)
        .filter(|line| line.did == did && ids.as_ref().is_none_or(|ids| ids.contains(line.id.as_str())))
        .collect();
    lines.sort_by(|a, b| a.at.cmp(&b.at));
    Ok(lines)
}

/// The ids that somebody had forgotten: text that comes back under them is not recalled.
pub fn forgotten(root: &Root) -> Result<Forgets> {
    let bytes = bytes(root)?;
    let mut found = Forgets::default();
    // Every prompt asks for this, and few lines say it: only those that hold the word are taken apart.
    if memchr::memmem::find(&bytes, FORGOTTEN.as_bytes()).is_none() {
        return Ok(found);
    }
    let says_so = memchr::memmem::Finder::new(FORGOTTEN);
    let lines = bytes.split(|b| *b == b'\n').filter(|line| says_so.find(line).is_some());
    for line in lines.filter_map(Line::from_json).filter(|line| line.did == FORGOTTEN) {
        found.take(line.id, &line.more);
    }
    Ok(found)
}

/// Whether a text under a forgotten id came from elsewhere. `forget` drops the id from the trust book, so whatever has an entry was
/// written or accepted here afterwards, on purpose.
pub fn came_back(call: &Call, id: &str, hash: &str) -> bool {
    call.standing(id, hash).map_or(true, |standing| standing == Standing::STRANGER)
}

/// Takes every line about an id out, and about the ids it had before, and leaves one by which only somebody who knows the id can tell that it was
/// forgotten. `salt` makes salts nobody can have guessed. The file is on disk beside its place when this returns, so that a full disk is met
/// before anything is gone; `None` if it says so already.
pub fn forgetting(
    root: &Root,
    lock: &Lock,
    id: &str,
    earlier: &[MemoryId],
    at: &str,
    salt: &str,
) -> Result<Option<Prepared>> {
    forgetting_all(root, lock, id, earlier, &[], at, salt)
}

/// The same, with further names under which the memory must not come back.
pub fn forgetting_all(
    root: &Root,
    _lock: &Lock,
    id: &str,
    earlier: &[MemoryId],
    also: &[MemoryId],
    at: &str,
    salt: &str,
) -> Result<Option<Prepared>> {
    let bytes = files::read_if_there(&path(root), LIMIT)?.unwrap_or_default();
    let mut text: Vec<u8> = Vec::with_capacity(bytes.len() + 256);
    let mut said = false;
    let mut left: Vec<&str> = also.iter().map(MemoryId::as_str).filter(|name| *name != id).collect();
    for (n, line) in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()).enumerate() {
        let known = json::parse(line).unwrap_or(Value::Null);
        let of = known.get("id").and_then(Value::as_str).unwrap_or_default();
        let about = |id: &str| forgets::is_about(of, &known, id);
        let is_marker = known.get("did").and_then(Value::as_str) == Some(FORGOTTEN);
        if is_marker && of.starts_with(forgets::MARKED) && (about(id) || left.iter().any(|name| about(name)))
        {
            said |= about(id);
            left.retain(|name| !about(name));
        } else if about(id) || earlier.iter().any(|one| about(one.as_str())) {
            continue;
        } else if is_marker && !of.starts_with(forgets::MARKED) {
            // An earlier version wrote the id itself.
            let when = known.get("at").and_then(Value::as_str).unwrap_or(at);
            text.extend_from_slice(marker(of, when, &format!("{salt}-{n}")).as_bytes());
            text.push(b'\n');
            continue;
        }
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    if !said {
        text.extend_from_slice(marker(id, at, salt).as_bytes());
        text.push(b'\n');
    }
    for (n, name) in left.into_iter().enumerate() {
        text.extend_from_slice(marker(name, at, &format!("{salt}-also-{n}")).as_bytes());
        text.push(b'\n');
    }
    if text == bytes { Ok(None) } else { Prepared::new(&path(root), &text, Mode::Shared).map(Some) }
}

/// A line that says an id was forgotten, without it.
fn marker(id: &str, at: &str, salt: &str) -> String {
    let salt = &heirloom_core::hash::sha256(salt.as_bytes())[..32];
    let (id, more) = forgets::marked(id, salt);
    Line { id, hash: String::new(), at: at.to_owned(), did: FORGOTTEN.to_owned(), more }.to_json()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::LOCK_LIMIT;

    fn line(id: &str, at: &str, did: &str) -> Line {
        let more = Map::from_iter([("reason".to_owned(), json!("because"))]);
        Line { id: id.into(), hash: "h".into(), at: at.into(), did: did.into(), more }
    }

    #[test]
    fn lines_of_a_merge_are_read_once_and_in_order_and_broken_ones_cost_themselves() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let lock = Lock::acquire(&folder.path().join("lock"), LOCK_LIMIT).unwrap();
        let (late, early) =
            (line("note:a", "2026-02-01T00:00:00Z", "retired"), line("note:b", "2026-01-01T00:00:00Z", "x"));
        append(&root, &lock, &[late.clone(), early.clone(), late.clone()]).unwrap();
        files::append_line(&path(&root), "{broken", Mode::Shared).unwrap();
        assert_eq!(read(&root).unwrap(), [early, late.clone()]);
        assert_eq!(about(&root, "note:a").unwrap().len(), 1);
        assert_eq!(late.text("reason"), Some("because"));
    }

    #[test]
    fn forgetting_leaves_only_that_it_was_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let lock = Lock::acquire(&folder.path().join("lock"), LOCK_LIMIT).unwrap();
        let other = line("note:b", "2026-01-01T00:00:00Z", "retired");
        append(&root, &lock, &[line("note:a", "2026-01-01T00:00:00Z", "retired"), other.clone()]).unwrap();
        for at in ["2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"] {
            let again = forgetting(&root, &lock, "note:a", &[], at, at).unwrap();
            again.map_or(Ok(()), Prepared::commit).unwrap();
        }
        let lines = read(&root).unwrap();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0], other);
        let known = forgotten(&root).unwrap();
        assert!(known.contains("note:a") && !known.contains("note:b"));
        assert!(!std::fs::read_to_string(path(&root)).unwrap().contains("note:a"));
    }

    #[test]
    fn markers_that_name_their_id_are_rewritten_and_still_count() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let lock = Lock::acquire(&folder.path().join("lock"), LOCK_LIMIT).unwrap();
        let old = Line {
            did: FORGOTTEN.into(),
            more: Map::new(),
            ..line("decision:anna", "2026-01-01T00:00:00Z", "x")
        };
        append(&root, &lock, &[old]).unwrap();
        assert!(forgotten(&root).unwrap().contains("decision:anna"));
        forgetting(&root, &lock, "note:b", &[], "2026-03-01T00:00:00Z", "s")
            .unwrap()
            .unwrap()
            .commit()
            .unwrap();
        let known = forgotten(&root).unwrap();
        assert!(known.contains("decision:anna") && known.contains("note:b"));
        assert!(!std::fs::read_to_string(path(&root)).unwrap().contains("anna"));
    }
}
