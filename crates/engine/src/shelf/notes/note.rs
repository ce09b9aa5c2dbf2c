//! A note and its seven rules.
//!
//! Comes in: field values from a file or a draft. Goes out: a [`Note`], or a refusal that names the field. Never here: YAML or
//! files. Lengths count characters, times are instants, and what a rule does not forbid is kept as it is.

use super::{NoteId, place};
use heirloom_core::{Code, Fault, Scope, fault::Result, hash};
use jiff::Timestamp;

/// The longest subject.
pub(super) const SUBJECT_MAX: usize = 200;
/// The most keywords.
pub(super) const KEYWORDS_MAX: usize = 20;
/// The longest keyword.
pub(super) const KEYWORD_MAX: usize = 50;
/// The shortest content.
pub(super) const CONTENT_MIN: usize = 10;

/// An assistant message worth keeping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its name.
    pub id: NoteId,
    /// One line.
    pub subject: String,
    /// What it is about.
    pub keywords: Vec<String>,
    /// Where it holds.
    pub applies_to: Scope,
    /// When the message was said.
    pub occurred_at: Moment,
    /// The first 16 hex digits of the content's SHA-256, as stored.
    pub content_hash: String,
    /// The message, word for word.
    pub content: String,
    /// The path it goes by in the memory tool, if it is a file there: `/memories/…`.
    pub memory_path: Option<String>,
}

impl Note {
    /// The name by which the message is known again. A file is no message: it goes by its id alone.
    pub(super) fn name(&self) -> Option<NoteId> {
        self.memory_path.is_none().then(|| NoteId::of(self.occurred_at.at(), &self.content_hash))
    }
}

/// An instant with the spelling it came in.
#[derive(Debug, Clone)]
pub struct Moment {
    text: String,
    at: Timestamp,
}

impl Moment {
    /// Reads an ISO 8601 date and time. Without a zone it is UTC; a date alone is no time.
    pub fn parse(text: &str) -> Option<Moment> {
        // Only plain ISO is meant: no space for the `T`, no zone names in brackets.
        let plain = text.bytes().all(|b| b.is_ascii_digit() || b"-:.,+TtZz".contains(&b));
        let at = (plain && text.contains(['T', 't'])).then(|| heirloom_core::time::parse(text)).flatten()?;
        Some(Moment { text: text.to_owned(), at })
    }

    /// The moment of an instant, in UTC.
    pub fn of(at: Timestamp) -> Moment {
        Moment { text: at.to_string(), at }
    }

    /// The instant, by which moments compare.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// As it is stored: the spelling it came in if that was RFC 3339 in UTC, else the same instant written so.
    pub fn stored(&self) -> String {
        let bytes = self.text.as_bytes();
        let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        let canonical = marks.iter().all(|&(at, mark)| bytes.get(at) == Some(&mark));
        if canonical && self.text.ends_with('Z') && !self.text.contains(',') {
            self.text.clone()
        } else {
            self.at.to_string()
        }
    }
}

impl PartialEq for Moment {
    fn eq(&self, other: &Moment) -> bool {
        self.at == other.at
    }
}

impl Eq for Moment {}

/// The first 16 hex digits of a content's SHA-256.
pub fn content_hash(content: &str) -> String {
    hash::sha256(content.as_bytes())[..16].to_owned()
}

/// A refusal that names the field and the rule.
pub(super) fn invalid(field: &'static str, rule: u8, message: &str, hint: &str) -> Fault {
    Fault::new(Code::Validation, format!("`{field}` {message}"))
        .fact("field", field)
        .fact("rule", rule.to_string())
        .hint(hint)
}

/// Rule 1.
pub(super) fn id(text: &str) -> Result<NoteId> {
    NoteId::parse(text).ok_or_else(|| {
        invalid("id", 1, "is not a UUID", "write a UUID with hyphens, such as the one in the file's name")
    })
}

/// Rule 2.
pub(super) fn subject(text: &str) -> Result<()> {
    let fits = !text.is_empty() && fits(text, SUBJECT_MAX);
    let hint = "write one line of 1 to 200 characters";
    if fits { Ok(()) } else { Err(invalid("subject", 2, "is empty or longer than 200 characters", hint)) }
}

/// Rule 3.
pub(super) fn keywords(words: &[String]) -> Result<()> {
    if words.is_empty() || words.len() > KEYWORDS_MAX {
        return Err(invalid("keywords", 3, "needs 1 to 20 items", "give 1 to 20 keywords"));
    }
    if words.iter().any(|word| word.is_empty() || !fits(word, KEYWORD_MAX)) {
        return Err(invalid(
            "keywords",
            3,
            "has an empty item or one longer than 50 characters",
            "keep each keyword between 1 and 50 characters",
        ));
    }
    Ok(())
}

/// Rule 4.
pub(super) fn applies_to(text: &str) -> Result<Scope> {
    Scope::in_project(text).ok_or_else(|| {
        invalid("applies_to", 4, "is not a scope", "write `global`, `file:<path>` or `area:<name>`")
    })
}

/// Rule 5.
pub(super) fn occurred_at(text: &str) -> Result<Moment> {
    Moment::parse(text).ok_or_else(|| {
        invalid("occurred_at", 5, "is not an ISO 8601 date and time", "write it like `2026-01-10T09:00:00Z`")
    })
}

/// Rule 6, which reading does not insist on: an edited body is still worth reading, and `verify` says so.
pub(super) fn is_hash_of(hash: &str, content: &str) -> bool {
    hash == content_hash(content)
}

/// Rule 7.
pub(super) fn content(text: &str) -> Result<()> {
    if text.chars().nth(CONTENT_MIN - 1).is_some() {
        return Ok(());
    }
    Err(invalid("content", 7, "is shorter than 10 characters", "a note holds a message worth keeping"))
}

/// The path of a file of the memory tool, in its plain form.
pub(super) fn memory_path(path: &str) -> Result<()> {
    match place::file(path) {
        Ok(plain) if plain == path => Ok(()),
        _ => Err(invalid(
            "memory_path",
            0,
            "is not the path of a file",
            "write a path such as `/memories/plan.md`",
        )),
    }
}

/// A field that is not there.
pub(super) fn missing(field: &'static str, rule: u8) -> Fault {
    invalid(field, rule, "is missing", "every note has id, subject, keywords, applies_to and occurred_at")
}

fn fits(text: &str, max: usize) -> bool {
    text.char_indices().nth(max).is_none()
}
