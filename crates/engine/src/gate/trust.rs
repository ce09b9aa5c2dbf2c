//! The trust book: through which channel each stored text came, kept in the user's data folder.
//!
//! Comes in: id, content hash and channel of every write, and a person's acceptances. Goes out: lines by which [`Book`] finds the trust
//! of a text, with its id and content hash. Text without an entry is the repository's. Never here: anything read from the repository
//! itself, so nothing in it can raise its own trust; a changed byte changes the hash and the entry no longer counts.

use super::book::LIMIT;
use super::edition::Edition;
use crate::files::{self, Mode};
use heirloom_core::{Channel, Source, Trust, fault::Result, json, time};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub use super::book::Book;

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

/// Where a project's book is.
pub fn path(project_data: &Path) -> PathBuf {
    project_data.join("trust.jsonl")
}

/// Notes a write.
pub fn note(book: &Path, now: Timestamp, id: &str, hash: &str, standing: Standing) -> Result<()> {
    note_whole(book, now, &Noted { id, hash, standing, body: None, edition: None })
}

/// What is noted of a write.
#[derive(Debug, Clone, Copy)]
pub struct Noted<'a> {
    /// The memory.
    pub id: &'a str,
    /// SHA-256 of its bytes.
    pub hash: &'a str,
    /// How it arrived.
    pub standing: Standing,
    /// What it says is known by, whatever name it has ([`body_of`]).
    pub body: Option<&'a str>,
    /// The edition of the rules under which it was looked at and nothing in it refused.
    pub edition: Option<Edition>,
}

/// Notes a write with everything there is to note.
pub fn note_whole(book: &Path, now: Timestamp, noted: &Noted<'_>) -> Result<()> {
    let mut what = json!({ "channel": noted.standing.channel.row().name });
    if noted.standing.accepted {
        what["accepted"] = Value::Bool(true);
    }
    // Only of what an agent wrote somebody will ask whether it is the same text under another name.
    if let Some(body) = noted.body.filter(|_| noted.standing.trust() == Trust::Low) {
        what["body"] = json!(body);
    }
    append(book, now, noted.id, noted.hash, what, noted.edition)
}

/// Texts that are shorter say too little to be known again.
const SHORT: usize = 24;

/// What a text is known by under whatever name: white space, case and what nobody sees make no other text.
pub fn body_of(text: &str) -> Option<String> {
    let seen = heirloom_core::text::strip_invisible(text);
    let plain: String = seen.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    (plain.len() >= SHORT).then(|| heirloom_core::hash::sha256(plain.as_bytes())[..24].to_owned())
}

/// Notes that a person accepted exactly these bytes, and the edition of the rules that refuses nothing in them.
pub fn accept(book: &Path, now: Timestamp, id: &str, hash: &str, edition: Option<Edition>) -> Result<()> {
    append(book, now, id, hash, json!({ "accepted": true }), edition)?;
    // The audit does not know yet that it happened.
    files::step::reached("vouched");
    Ok(())
}

/// Notes that these bytes are no longer what their owner wants: found again, they are the repository's until somebody grants them anew.
pub fn supersede(book: &Path, now: Timestamp, id: &str, hash: &str) -> Result<()> {
    append(book, now, id, hash, json!({ "superseded": true }), None)
}

/// The order of the fields is the one [`Book`] reads quickly.
fn append(
    book: &Path,
    now: Timestamp,
    id: &str,
    hash: &str,
    what: Value,
    edition: Option<Edition>,
) -> Result<()> {
    let mut line = json!({ "id": id, "hash": hash, "at": time::format(now) });
    if let (Value::Object(line), Value::Object(what)) = (&mut line, what) {
        line.extend(what);
        line.extend(edition.map(|edition| ("rules".to_owned(), Value::String(edition.to_string()))));
    }
    files::append_line(book, &line.to_string(), Mode::Private)
}

/// Takes an acceptance of exactly these bytes back; through which channel they came stays known. The book is rewritten whole.
pub fn unaccept(book: &Path, id: &str, hash: &str) -> Result<()> {
    let Some(_held) = files::hold(book)? else { return Ok(()) };
    let Some(bytes) = files::read_if_there(book, LIMIT)? else { return Ok(()) };
    let mut text = Vec::with_capacity(bytes.len());
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let mut said = json::parse(line).ok().filter(|said| {
            let is = |key: &str, value: &str| said.get(key).and_then(Value::as_str) == Some(value);
            is("id", id) && is("hash", hash) && said.get("accepted") == Some(&Value::Bool(true))
        });
        if let Some(Value::Object(fields)) = &mut said {
            fields.shift_remove("accepted");
            if !fields.contains_key("channel") {
                continue;
            }
        }
        match said {
            Some(said) => text.extend_from_slice(said.to_string().as_bytes()),
            None => text.extend_from_slice(line),
        }
        text.push(b'\n');
    }
    files::write(book, &text, Mode::Private)
}

/// Drops every line about an id, for `forget`. The book is rewritten whole.
pub fn forget(book: &Path, id: &str) -> Result<()> {
    drop_lines_about(book, LIMIT, id)
}

/// Rewrites a file of JSON lines without those about an id. Nobody appends meanwhile: a line that came between the reading and the writing would
/// be lost.
pub(crate) fn drop_lines_about(file: &Path, limit: u64, id: &str) -> Result<()> {
    let Some(_held) = files::hold(file)? else { return Ok(()) };
    let Some(bytes) = files::read_if_there(file, limit)? else { return Ok(()) };
    let about =
        |line: &[u8]| json::parse(line).is_ok_and(|v| v.get("id").and_then(Value::as_str) == Some(id));
    let kept: Vec<&[u8]> = bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty() && !about(l)).collect();
    let mut text = kept.join(&b'\n');
    if !text.is_empty() {
        text.push(b'\n');
    }
    if text.len() == bytes.len() { Ok(()) } else { files::write(file, &text, Mode::Private) }
}
