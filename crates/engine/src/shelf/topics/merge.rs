//! Merging: two branches that each changed the same topic file, archive or index.
//!
//! Comes in: the three versions git has. Goes out: one file without conflict marks. Entries are merged one by one: what either side
//! added is there, what one side took out and the other left alone is gone, what both changed differently is there twice, the second
//! under a name of its own. Never here: a lost entry, or a choice between two texts.

use super::archive;
use super::index;
use super::lesson::Lesson;
use super::marks::Dated;
use super::names::{self, Register};
use super::page::Page;
use super::stock;
use std::collections::HashMap;

/// What an entry is known by across versions: subtopic (in archives), date, name.
type Key = (String, jiff::civil::Date, String);

struct Side {
    page: Page,
    keys: Vec<Key>,
    by_key: HashMap<Key, usize>,
}

impl Side {
    fn read(text: &str) -> Side {
        let page = Page::read(text.to_owned());
        let mut registers: HashMap<String, Register> = HashMap::new();
        let mut keys: Vec<Key> = Vec::with_capacity(page.spots().len());
        for at in (0..page.spots().len()).rev() {
            let heading = &page.spots()[at].heading;
            let (tag, _) = archive::untagged(&page.plain(at));
            let subtopic = tag.subtopic.as_ref().map_or_else(String::new, |_| stock::subtopic_of(&tag));
            let slug = registers.entry(subtopic.clone()).or_default().take(heading.date, &natural(heading));
            keys.push((subtopic, heading.date, slug));
        }
        keys.reverse();
        let by_key = keys.iter().cloned().enumerate().map(|(at, key)| (key, at)).collect();
        Side { page, keys, by_key }
    }

    fn text_of(&self, key: &Key) -> Option<String> {
        self.by_key.get(key).map(|at| self.page.plain(*at))
    }
}

fn natural(heading: &Dated) -> String {
    heading.anchor.clone().unwrap_or_else(|| names::slug_of(&heading.title))
}

fn texts(all: [&[u8]; 3]) -> Option<[&str; 3]> {
    let [base, ours, theirs] = all.map(|bytes| std::str::from_utf8(bytes).ok());
    Some([base?, ours?, theirs?])
}

/// What is no text has no entries: both sides are kept as they are, between marks that `verify` finds.
fn side_by_side(ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let line: &[u8] = b"\n";
    [b"<<<<<<< ours\n", ours, line, b"=======\n", theirs, line, b">>>>>>> theirs\n"].concat()
}

/// Merges any memory file of this shelf: the index as an index, everything else as entries.
pub fn merge_file(name: &str, base: &[u8], ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let has_entries = |bytes: &&[u8]| {
        std::str::from_utf8(bytes)
            .is_ok_and(|text| text.lines().any(|line| super::marks::dated(line).is_some()))
    };
    let is_index =
        name.rsplit('/').next() == Some("index.md") && ![base, ours, theirs].iter().any(has_entries);
    if is_index { merge_index(base, ours, theirs) } else { merge_topic(base, ours, theirs) }
}

/// Merges a topic file or an archive.
pub fn merge_topic(base: &[u8], ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    if ours == theirs || base == theirs {
        return ours.to_vec();
    }
    if base == ours {
        return theirs.to_vec();
    }
    let Some([base, mut ours, mut theirs]) = texts([base, ours, theirs]).map(|all| all.map(Side::read))
    else {
        return side_by_side(ours, theirs);
    };
    // The side that changed the text around the entries lends its text; the other one only brings entries.
    if ours.page.foreign() == base.page.foreign() && theirs.page.foreign() != base.page.foreign() {
        std::mem::swap(&mut ours, &mut theirs);
    }
    let mut page = ours.page.clone();
    let mut out: Vec<usize> = Vec::new();
    let mut replaced: Vec<(usize, String)> = Vec::new();
    let mut added: Vec<(Key, String)> = Vec::new();
    for (at, key) in ours.keys.iter().enumerate() {
        let (mine, old, other) = (ours.page.plain(at), base.text_of(key), theirs.text_of(key));
        match (old, other) {
            (Some(old), None) if old == mine => out.push(at),
            (Some(old), Some(other)) if old == mine && other != mine => replaced.push((at, other)),
            (old, Some(other)) if other != mine && old.as_ref() != Some(&other) => {
                added.push((key.clone(), other))
            }
            _ => {}
        }
    }
    // From the bottom of their file up: of one day the upper one must end on top.
    for key in theirs.keys.iter().rev().filter(|key| !ours.by_key.contains_key(*key)) {
        let (old, other) = (base.text_of(key), theirs.text_of(key).unwrap_or_default());
        if old.as_ref() != Some(&other) {
            added.push((key.clone(), other));
        }
    }
    page = page.replaced_all(replaced).without(&out);
    let mut registers: HashMap<String, Register> = HashMap::new();
    for (subtopic, date, slug) in &ours.keys {
        registers.entry(subtopic.clone()).or_default().take(*date, slug);
    }
    for (subtopic, date, slug) in theirs.keys.iter().filter(|key| !ours.by_key.contains_key(*key)) {
        registers.entry(subtopic.clone()).or_default().take(*date, slug);
    }
    let mut entries = Vec::with_capacity(added.len());
    for (key, text) in added {
        let text = if ours.by_key.contains_key(&key) {
            let slug = registers.entry(key.0.clone()).or_default().take(key.1, &key.2);
            renamed(&text, &slug)
        } else {
            text
        };
        entries.push((key.1, text));
    }
    page.insert_all(entries);
    let lines = new_lines(&base.page.foreign(), &ours.page.foreign(), &theirs.page.foreign());
    with_lines(page.text(), &lines).into_bytes()
}

/// The entry under another name; nothing but its heading changes.
fn renamed(plain: &str, slug: &str) -> String {
    let (first, rest) = plain.split_once('\n').unwrap_or((plain, ""));
    let Some(heading) = super::marks::dated(first) else { return plain.to_owned() };
    let written = Lesson::new(heading.date, &heading.title).write(slug);
    let line = written.lines().next().unwrap_or(first);
    format!("{line}\n{rest}")
}

/// Lines that one side added and the other does not have.
fn new_lines(base: &str, ours: &str, theirs: &str) -> Vec<String> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for text in [base, ours] {
        let mut here: HashMap<&str, usize> = HashMap::new();
        for line in text.lines() {
            *here.entry(line).or_default() += 1;
        }
        for (line, count) in here {
            let most = known.entry(line).or_default();
            *most = (*most).max(count);
        }
    }
    let mut out = Vec::new();
    for line in theirs.lines().filter(|line| !line.trim().is_empty()) {
        match known.get_mut(line).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => out.push(line.to_owned()),
        }
    }
    out
}

fn with_lines(text: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return text.to_owned();
    }
    format!("{}\n\n{}\n", text.trim_end_matches(['\n', '\r']), lines.join("\n"))
}

/// Merges an index.
pub fn merge_index(base: &[u8], ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let Some([base, ours, theirs]) = texts([base, ours, theirs]) else { return side_by_side(ours, theirs) };
    type Known = HashMap<(String, String), String>;
    let read = |text: &str| -> Known {
        index::lines(text).into_iter().map(|(t, s, words)| ((t, s), words)).collect()
    };
    let (old, mine, other) = (read(base), read(ours), read(theirs));
    let mut put = index::Lines::new();
    for (topic, subtopic, words) in index::lines(theirs) {
        let key = (topic, subtopic);
        match mine.get(&key) {
            None if old.get(&key) == Some(&words) => {}
            None => drop(put.entry(key).or_insert((words, false))),
            Some(kept) if old.get(&key) == Some(kept) => drop(put.insert(key, (words, true))),
            Some(_) => {}
        }
    }
    let gone = |(key, words): &(&(String, String), &String)| {
        old.get(*key) == Some(*words) && !other.contains_key(*key)
    };
    let gone = mine.iter().filter(gone).map(|(key, _)| key.clone()).collect();
    let out = index::without_all(&index::with_all(ours, &put), &gone);
    // Lines of the index proper are dealt with above; the rest is other people's text.
    let rest = |text: &str| -> String {
        let own =
            |line: &&str| index::lines(&format!("### x\n{line}")).is_empty() && !line.starts_with("### ");
        text.lines().filter(own).collect::<Vec<_>>().join("\n")
    };
    let lines = new_lines(&rest(base), &rest(ours), &rest(theirs));
    with_lines(&out, &lines).into_bytes()
}
