//! The file of a note: YAML front matter, a blank line, the message, a line break.
//!
//! Comes in: a [`Note`], or the text of a file by whatever hand. Goes out: the file, or the note with every byte of its
//! content. Never here: the front matter of a body that itself begins with one, and a YAML error's excerpt, which would carry
//! content into messages.

use super::NoteId;
use super::note::{self, Moment, Note};
use super::scalar::{quoted, scalar};
use heirloom_core::{Code, Fault, fault::Result};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The longest front matter that is read; twenty keywords and a subject take a few hundred bytes.
const MAX_HEADER: usize = 64 << 10;

/// The file of a note.
pub fn write(note: &Note) -> String {
    let mut out = String::with_capacity(note.content.len() + 512);
    let mut line = |key: &str, value: &str| {
        out.push_str(key);
        out.push_str(value);
        out.push('\n');
    };
    line("---", "");
    line("id: ", &quoted(note.id.as_str()));
    line("subject: ", &scalar(&note.subject));
    line("keywords:", "");
    for word in &note.keywords {
        line("  - ", &scalar(word));
    }
    line("applies_to: ", &scalar(&note.applies_to.to_string()));
    line("occurred_at: ", &quoted(&note.occurred_at.stored()));
    line("content_hash: ", &quoted(&note.content_hash));
    if let Some(path) = &note.memory_path {
        line("memory_path: ", &quoted(path));
    }
    line("---", "");
    out.push('\n');
    out.push_str(&note.content);
    out.push('\n');
    out
}

/// The note in a file. Unquoted times and hashes, comments, further keys and any YAML style are fine.
pub fn read(text: &str) -> Result<Note> {
    let split = split(text)?;
    let header: Header = yaml(split.header).map_err(|error| culprit(split.header, &error))?;
    let need = |value: Option<String>, field, rule| value.ok_or_else(|| note::missing(field, rule));
    let id: NoteId = note::id(&need(header.id, "id", 1)?)?;
    let subject = need(header.subject, "subject", 2)?;
    note::subject(&subject)?;
    let keywords = header.keywords.ok_or_else(|| note::missing("keywords", 3))?;
    note::keywords(&keywords)?;
    let applies_to = note::applies_to(&need(header.applies_to, "applies_to", 4)?)?;
    let occurred_at: Moment = note::occurred_at(&need(header.occurred_at, "occurred_at", 5)?)?;
    let content = body(&split, header.content_hash.as_deref()).into_owned();
    let content_hash = header.content_hash.unwrap_or_else(|| note::content_hash(&content));
    let memory_path = header.memory_path;
    memory_path.as_deref().map_or(Ok(()), note::memory_path)?;
    Ok(Note { id, subject, keywords, applies_to, occurred_at, content_hash, content, memory_path })
}

/// Keys of a file's front matter that the format does not know, for an import that cannot take them along.
pub(super) fn further_keys(text: &str) -> Vec<String> {
    const KNOWN: [&str; 7] =
        ["id", "subject", "keywords", "applies_to", "occurred_at", "content_hash", "memory_path"];
    let all: BTreeMap<String, IgnoredAny> =
        split(text).ok().and_then(|split| yaml(split.header).ok()).unwrap_or_default();
    all.into_keys().filter(|key| !KNOWN.contains(&key.as_str())).collect()
}

/// The hash a file claims, found without reading its YAML; `None` if it is not plainly on a line of its own.
pub(super) fn claimed_hash(text: &str) -> Option<&str> {
    let header = split(text).ok()?.header;
    let value = header.lines().find_map(|line| line.strip_prefix("content_hash:"))?;
    let word = value.split_whitespace().next()?.trim_matches(['"', '\'']);
    (word.len() == 16 && word.bytes().all(|b| b.is_ascii_hexdigit())).then_some(word)
}

#[derive(Deserialize)]
struct Header {
    id: Option<String>,
    subject: Option<String>,
    keywords: Option<Vec<String>>,
    applies_to: Option<String>,
    occurred_at: Option<String>,
    content_hash: Option<String>,
    memory_path: Option<String>,
}

struct Split<'a> {
    header: &'a str,
    /// Everything behind the closing line.
    rest: &'a str,
    /// The closing line ends in CR LF: somebody's tool turned the whole file.
    crlf: bool,
}

/// Takes a file apart at its two lines of three hyphens.
fn split(text: &str) -> Result<Split<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fault = |message: &str| {
        Fault::new(Code::Damaged, message)
            .fact("field", "front_matter")
            .hint("a note begins with `---`, its fields, and `---` again")
    };
    let is_fence = |line: &str| line.trim_end_matches([' ', '\t', '\r', '\n']) == "---";
    let mut lines = text.split_inclusive('\n');
    let first =
        lines.next().filter(|line| is_fence(line)).ok_or_else(|| fault("the front matter is missing"))?;
    let mut at = first.len();
    for line in lines {
        let next = at + line.len();
        if is_fence(line) {
            return Ok(Split {
                header: &text[first.len()..at],
                rest: &text[next..],
                crlf: line.ends_with("\r\n"),
            });
        }
        if next > MAX_HEADER {
            break;
        }
        at = next;
    }
    Err(fault("the front matter has no end"))
}

/// The content behind the front matter: without the blank line before it and the line break after it.
///
/// Other writers leave out the one or the other. Where the hash says which bytes were meant, those are taken.
fn body<'a>(split: &Split<'a>, hash: Option<&str>) -> Cow<'a, str> {
    let end = if split.crlf { "\r\n" } else { "\n" };
    let rest = split.rest;
    let headless = rest.strip_prefix(end).unwrap_or(rest);
    let both = headless.strip_suffix(end).unwrap_or(headless);
    let Some(hash) = hash.filter(|hash| !note::is_hash_of(hash, both)) else { return both.into() };
    for other in [rest.strip_suffix(end).unwrap_or(rest), headless, rest] {
        if other != both && note::is_hash_of(hash, other) {
            return other.into();
        }
    }
    if split.crlf {
        let unix = both.replace("\r\n", "\n");
        if note::is_hash_of(hash, &unix) {
            return unix.into();
        }
    }
    both.into()
}

fn yaml<T: DeserializeOwned>(header: &str) -> std::result::Result<T, serde_saphyr::Error> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_events: 10_000, max_depth: 16, max_aliases: 100 },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(header, options)
}

/// Whether one field can be read when nothing else of the front matter is looked at.
macro_rules! readable {
    ($header:expr, $field:ident: $ty:ty) => {{
        #[derive(Deserialize)]
        struct Alone {
            #[allow(dead_code, reason = "only whether it can be read counts")]
            $field: Option<$ty>,
        }
        yaml::<Alone>($header).is_ok()
    }};
}

/// Which field a YAML error is about: the first that cannot be read alone. Costs more looks, but at broken files only.
fn culprit(header: &str, error: &serde_saphyr::Error) -> Fault {
    const TEXT: &str = "is not a text";
    let fault = if yaml::<BTreeMap<String, IgnoredAny>>(header).is_err() {
        Fault::new(Code::Damaged, "the front matter is not YAML")
            .fact("field", "front_matter")
            .hint("put values with special characters in quotes")
    } else if !readable!(header, id: String) {
        note::invalid("id", 1, TEXT, "write a UUID in quotes")
    } else if !readable!(header, subject: String) {
        note::invalid("subject", 2, TEXT, "write one line in quotes")
    } else if !readable!(header, keywords: Vec<String>) {
        note::invalid("keywords", 3, "is not a list of texts", "write one keyword a line, each behind `- `")
    } else if !readable!(header, applies_to: String) {
        note::invalid("applies_to", 4, TEXT, "write `global`, `file:<path>` or `area:<name>`")
    } else if !readable!(header, occurred_at: String) {
        note::invalid("occurred_at", 5, TEXT, "write it like `\"2026-01-10T09:00:00Z\"`")
    } else if !readable!(header, memory_path: String) {
        note::invalid("memory_path", 0, TEXT, "write a path such as `/memories/plan.md`")
    } else {
        note::invalid("content_hash", 6, TEXT, "write 16 hex digits in quotes")
    };
    match error.location() {
        // The header begins on the second line of the file.
        Some(place) => fault.fact("line", (place.line() + 1).to_string()),
        None => fault,
    }
}
