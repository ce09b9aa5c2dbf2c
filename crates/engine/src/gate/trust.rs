//! The trust book: through which channel each stored text came, kept in the user's data folder.
//!
//! Comes in: id, content hash and channel of every write, and a person's acceptances. Goes out: the trust of a text, found by id
//! and content hash. Text without an entry is the repository's. Never here: anything read from the repository itself, so nothing
//! in it can raise its own trust; a changed byte changes the hash and the entry no longer counts.

use crate::files::{self, Mode};
use heirloom_core::{Channel, Source, Trust, fault::Result, json, time};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const LIMIT: u64 = 256 << 20;

/// What the book says about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The channel it came through.
    pub channel: Channel,
    /// Whether a person accepted exactly these bytes.
    pub accepted: bool,
}

impl Standing {
    /// Text nobody here wrote or accepted.
    pub const STRANGER: Standing = Standing { channel: Channel::Repository, accepted: false };

    /// How far to believe it.
    pub fn trust(self) -> Trust {
        if self.accepted { Trust::High } else { self.channel.trust() }
    }

    /// Where it came from.
    pub fn source(self) -> Source {
        self.channel.source()
    }
}

/// The book of one project.
#[derive(Debug, Default)]
pub struct Book {
    /// By id; of each id the few texts it ever had, by hash.
    entries: HashMap<String, Vec<(String, Standing)>>,
}

/// A line of the book, as far as trust is concerned.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    hash: Cow<'a, str>,
    #[serde(borrow)]
    channel: Option<Cow<'a, str>>,
    accepted: Option<bool>,
}

/// Where a project's book is.
pub fn path(project_data: &Path) -> PathBuf {
    project_data.join("trust.jsonl")
}

/// Notes a write.
pub fn note(book: &Path, now: Timestamp, id: &str, hash: &str, standing: Standing) -> Result<()> {
    let mut what = json!({ "channel": standing.channel.row().name });
    if standing.accepted {
        what["accepted"] = Value::Bool(true);
    }
    append(book, now, id, hash, what)
}

/// Notes that a person accepted exactly these bytes.
pub fn accept(book: &Path, now: Timestamp, id: &str, hash: &str) -> Result<()> {
    append(book, now, id, hash, json!({ "accepted": true }))
}

fn append(book: &Path, now: Timestamp, id: &str, hash: &str, what: Value) -> Result<()> {
    let mut line = json!({ "id": id, "hash": hash, "at": time::format(now) });
    if let (Value::Object(line), Value::Object(what)) = (&mut line, what) {
        line.extend(what);
    }
    files::append_line(book, &line.to_string(), Mode::Private)
}

impl Book {
    /// Reads the book; a line that cannot be read costs only itself.
    pub fn read(book: &Path) -> Result<Book> {
        let mut known = Book::default();
        let bytes = files::read_if_there(book, LIMIT)?.unwrap_or_default();
        for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else { continue };
            let standing = known.place(&line.id, &line.hash);
            if let Some(channel) = line.channel.as_deref().and_then(Channel::named) {
                standing.channel = channel;
            }
            standing.accepted |= line.accepted == Some(true);
        }
        Ok(known)
    }

    fn place(&mut self, id: &str, hash: &str) -> &mut Standing {
        let texts = self.entries.entry(id.to_owned()).or_default();
        let at = texts.iter().position(|(known, _)| known == hash).unwrap_or_else(|| {
            texts.push((hash.to_owned(), Standing::STRANGER));
            texts.len() - 1
        });
        &mut texts[at].1
    }

    /// Takes in what was noted since the book was read.
    pub fn learn(&mut self, id: &str, hash: &str, standing: Standing) {
        let known = self.place(id, hash);
        known.channel = standing.channel;
        known.accepted |= standing.accepted;
    }

    /// What is known of a text.
    pub fn standing(&self, id: &str, hash: &str) -> Standing {
        let texts = self.entries.get(id).map(Vec::as_slice).unwrap_or_default();
        texts.iter().find(|(known, _)| known == hash).map_or(Standing::STRANGER, |(_, standing)| *standing)
    }
}

impl Book {
    /// Whether a person stands behind any text of this id.
    pub fn is_vouched(&self, id: &str) -> bool {
        let texts = self.entries.get(id).map(Vec::as_slice).unwrap_or_default();
        texts.iter().any(|(_, standing)| standing.trust() == Trust::High)
    }
}

/// Drops every line about an id, for `forget`. The book is rewritten whole.
pub fn forget(book: &Path, id: &str) -> Result<()> {
    let Some(bytes) = files::read_if_there(book, LIMIT)? else { return Ok(()) };
    let about =
        |line: &[u8]| json::parse(line).is_ok_and(|v| v.get("id").and_then(Value::as_str) == Some(id));
    let kept: Vec<&[u8]> = bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty() && !about(l)).collect();
    let mut text = kept.join(&b'\n');
    if !text.is_empty() {
        text.push(b'\n');
    }
    if text.len() == bytes.len() { Ok(()) } else { files::write(book, &text, Mode::Private) }
}
