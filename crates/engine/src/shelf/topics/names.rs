//! Names: topics, subtopics, and the ids of lessons.
//!
//! Comes in: what people type, or an id. Goes out: names that are safe as file names, and ids that stay the same when an entry
//! moves to the archive. Never here: a path.

use super::marks::Dated;
use heirloom_core::{Code, Fault, Kind, MemoryId, fault::Result, hash, text};
use jiff::civil::Date;
use std::collections::{HashMap, HashSet};

/// The longest topic or subtopic name, in bytes.
const NAME_MAX: usize = 80;

/// The folder of pruned and retired entries.
pub(super) const ARCHIVE: &str = "archive";

/// The subtopic of an archived entry that does not say where it came from.
pub(super) const UNSORTED: &str = "unsorted";

/// Names a topic cannot have, because the shelf uses them itself.
const NO_TOPICS: [&str; 2] = [ARCHIVE, "index"];

/// A topic's name as it is stored: lower case, words joined by hyphens.
pub(super) fn topic(given: &str) -> Result<String> {
    let name = name("topic", given)?;
    if NO_TOPICS.contains(&name.as_str()) {
        return Err(bad("topic", format!("`{name}` cannot be a topic; the shelf uses that name itself")));
    }
    Ok(name)
}

/// A subtopic's name as it is stored.
pub(super) fn subtopic(given: &str) -> Result<String> {
    name("subtopic", given)
}

fn name(field: &'static str, given: &str) -> Result<String> {
    let given = given.strip_suffix(".md").unwrap_or(given);
    if given.contains(['/', '\\', '\0']) || given.trim().starts_with('.') {
        return Err(bad(field, format!("a {field} is one plain name, without slashes or a leading dot")));
    }
    let mut name = String::new();
    for c in given.trim().chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() || matches!(c, '_' | '.') {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = name.trim_end_matches(['-', '.']).to_owned();
    if name.is_empty() || name.len() > NAME_MAX {
        return Err(bad(
            field,
            format!("a {field} needs a name of 1 to {NAME_MAX} bytes with a letter or digit"),
        ));
    }
    Ok(name)
}

fn bad(field: &'static str, message: String) -> Fault {
    Fault::new(Code::Validation, message).fact("field", field).hint(format!("choose another {field} name"))
}

/// Whether a folder or file that somebody made by hand counts: anything visible that an id can carry.
pub(super) fn is_readable(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(char::is_control)
}

/// The part of an id that a title gives. Titles without a Latin letter or digit get one from their hash.
pub(super) fn slug_of(title: &str) -> String {
    let slug = text::slug(title);
    if slug.is_empty() { format!("t-{}", &hash::sha256(title.as_bytes())[..8]) } else { slug }
}

/// An id, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) topic: String,
    pub(super) subtopic: String,
    pub(super) date: Date,
    pub(super) slug: String,
}

impl Name {
    pub(super) fn parse(id: &MemoryId) -> Option<Name> {
        if id.kind() != Kind::Lesson {
            return None;
        }
        let (file, entry) = id.name().rsplit_once('#')?;
        let (topic, subtopic) = file.split_once('/')?;
        let (date, slug) = (entry.get(..10)?, entry.get(10..)?.strip_prefix('-')?);
        let plain =
            is_readable(topic) && is_readable(subtopic) && !subtopic.contains('/') && topic != ARCHIVE;
        plain.then_some(())?;
        Some(Name {
            topic: topic.to_owned(),
            subtopic: subtopic.to_owned(),
            date: super::marks::date(date)?,
            slug: slug.to_owned(),
        })
    }
}

/// The id of an entry.
pub(super) fn id(topic: &str, subtopic: &str, date: Date, slug: &str) -> MemoryId {
    MemoryId::new(&Kind::Lesson, &format!("{topic}/{subtopic}#{date}-{slug}"))
}

/// Gives every entry of a subtopic a name of its own: the first of a day keeps its slug, twins count up.
#[derive(Debug, Default)]
pub(super) struct Register {
    taken: HashSet<(Date, String)>,
    next: HashMap<(Date, String), usize>,
}

impl Register {
    /// Names for headings in the order of their age; anchors come first, as they were given on purpose.
    pub(super) fn assign(&mut self, headings: &[&Dated]) -> Vec<String> {
        let mut names: Vec<Option<String>> = headings
            .iter()
            .map(|h| h.anchor.clone().filter(|name| self.taken.insert((h.date, name.clone()))))
            .collect();
        for (name, heading) in names.iter_mut().zip(headings) {
            if name.is_none() {
                let wanted = heading.anchor.clone().unwrap_or_else(|| slug_of(&heading.title));
                *name = Some(self.take(heading.date, &wanted));
            }
        }
        names.into_iter().flatten().collect()
    }

    /// The wanted name, or the next free one after it.
    pub(super) fn take(&mut self, date: Date, wanted: &str) -> String {
        if self.taken.insert((date, wanted.to_owned())) {
            return wanted.to_owned();
        }
        let mut n = self.next.get(&(date, wanted.to_owned())).copied().unwrap_or(2);
        loop {
            let name = format!("{wanted}-{n}");
            n += 1;
            if self.taken.insert((date, name.clone())) {
                self.next.insert((date, wanted.to_owned()), n);
                return name;
            }
        }
    }
}
