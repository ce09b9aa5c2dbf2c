//! What is remembered of a session between two stops: what was reported, and the last answer.
//!
//! Comes in: the session's name. Goes out: marks per kind, and the answer to a stop that arrives twice. It lies in the
//! user's data folder, not in the project, so that no repository can say what was already reported. Never here: text the
//! redactor has not seen.

use crate::capture::triage::{Marks, Turn};
use crate::files::{self, Lock, Mode};
use heirloom_core::{fault::Result, hash};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Within so many seconds the same stop gets the same answer.
const SAME_SECONDS: i64 = 10;
/// A held stop counts as answered by the next one for so long.
const HELD_SECONDS: i64 = 3600;
/// Sessions that nobody has touched for so long are forgotten.
const KEPT_DAYS: u32 = 1;
/// A hook would rather let a stop pass than keep a person waiting.
const PATIENCE: Duration = Duration::from_secs(2);
const MAX_STATE: u64 = 1 << 20;
/// So many reported sentences are remembered; a longer session may hear the first of them again.
const SAID_MAX: usize = 1_000;

/// A stop, as hosts that fire it twice repeat it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Key {
    pub(super) size: u64,
    /// Hash of the last message.
    pub(super) message: String,
}

impl Key {
    /// Whether this is the same stop for another process: the host may have written more of its transcript in between.
    fn is_like(&self, other: &Key) -> bool {
        self == other || (!self.message.is_empty() && self.message == other.message)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Answer {
    key: Key,
    /// Unix seconds.
    at: i64,
    /// What was said; nothing if the stop was let through.
    text: Option<String>,
}

/// Up to where a kind was reported.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Mark {
    to: u64,
    /// Hash of the message the host gave beside the transcript; it may reach the transcript later.
    message: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// Hash of the transcript's path: offsets mean nothing in another file.
    transcript: String,
    reported: BTreeMap<String, Mark>,
    last: Option<Answer>,
    /// A stop was held up and not answered yet.
    held: Option<Held>,
    /// Hashes of what was reported: the same words are reported once.
    said: Vec<String>,
}

/// A stop that was held up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Held {
    /// Unix seconds.
    at: i64,
    /// How far the audit had grown.
    pub(super) audited: u64,
    /// How far the transcript had grown.
    #[serde(default)]
    pub(super) size: u64,
}

/// A session, held by this process alone until it is dropped.
#[derive(Debug)]
pub(super) struct Session {
    path: PathBuf,
    now: Timestamp,
    state: State,
    _lock: Lock,
}

impl Session {
    /// Opens what is known of a session. `folder` is the user's folder for the project.
    pub(super) fn open(folder: &Path, name: &str, transcript: &Path, now: Timestamp) -> Result<Session> {
        let folder = folder.join("stops");
        files::make_folder(&folder, Mode::Private)?;
        let lock = Lock::acquire(&folder.join("lock"), PATIENCE)?;
        let path = file(&folder, name);
        let known = files::read_if_there(&path, MAX_STATE).ok().flatten();
        let mut state: State =
            known.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let transcript = hash::sha256(transcript.as_os_str().as_encoded_bytes());
        if state.transcript != transcript {
            state = State { transcript, ..State::default() };
        }
        sweep(&folder, now);
        Ok(Session { path, now, state, _lock: lock })
    }

    /// The answer this very stop got a moment ago: `Some(None)` if it was let through.
    pub(super) fn same(&self, key: &Key) -> Option<Option<String>> {
        self.recent().filter(|last| last.key == *key).map(|last| last.text.clone())
    }

    /// Whether another process was just asked about this stop: a plugin and the settings may both have hooks.
    pub(super) fn was_just_asked(&self, key: &Key) -> bool {
        // Looking twice at a stop that was let through does no harm; asking twice does.
        self.recent().is_some_and(|last| last.key == *key || (last.text.is_some() && last.key.is_like(key)))
    }

    fn recent(&self) -> Option<&Answer> {
        let near = |last: &&Answer| (self.now.as_second() - last.at).abs() < SAME_SECONDS;
        self.state.last.as_ref().filter(near)
    }

    /// Notes that this stop is held up. `audited` and `size` say how far the audit and the transcript have grown.
    pub(super) fn held(&mut self, audited: u64, size: u64) {
        self.state.held = Some(Held { at: self.now.as_second(), audited, size });
        self.save();
    }

    /// The hold that the next stop answers. It is asked for once.
    pub(super) fn take_hold(&mut self) -> Option<Held> {
        let held = self.state.held.take()?;
        self.save();
        ((self.now.as_second() - held.at) < HELD_SECONDS).then_some(held)
    }

    /// Whether all of these sentences were reported before in this session.
    pub(super) fn has_reported(&self, sentences: &[String]) -> bool {
        !sentences.is_empty()
            && sentences.iter().all(|sentence| self.state.said.contains(&sentence_hash(sentence)))
    }

    /// Remembers that these sentences were reported.
    pub(super) fn reports(&mut self, sentences: impl Iterator<Item = String>) {
        for hash in sentences.map(|sentence| sentence_hash(&sentence)) {
            if !self.state.said.contains(&hash) {
                self.state.said.push(hash);
            }
        }
        let more = self.state.said.len().saturating_sub(SAID_MAX);
        self.state.said.drain(..more);
    }

    /// What earlier blocks reported, in terms of these turns. A transcript that became shorter is a new one.
    pub(super) fn marks(&self, turns: &[Turn], size: u64) -> Marks {
        let mut marks = Marks::new();
        for (kind, mark) in self.state.reported.iter().filter(|(_, mark)| mark.to <= size) {
            let late = turns
                .iter()
                .filter(|turn| turn.start >= mark.to && mark.message.is_some())
                .find(|turn| Some(message_hash(&turn.texts.join("\n"))) == mark.message);
            marks.insert(kind.clone(), late.map_or(mark.to, |turn| turn.start + 1));
        }
        marks
    }

    /// Remembers an answer and what it reported.
    pub(super) fn answered(
        &mut self,
        key: Key,
        text: Option<&str>,
        reported: &[&str],
        message: Option<&str>,
    ) {
        for kind in reported {
            let mark = Mark { to: key.size, message: message.map(message_hash) };
            self.state.reported.insert((*kind).to_owned(), mark);
        }
        self.state.last = Some(Answer { key, at: self.now.as_second(), text: text.map(str::to_owned) });
        self.save();
    }

    fn save(&self) {
        // Losing this costs a repeated suggestion, which is no reason to hold up anybody's stop.
        if let Ok(bytes) = serde_json::to_vec(&self.state) {
            let _ = files::write_passing(&self.path, &bytes);
        }
    }
}

fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{}.json", &hash::sha256(name.as_bytes())[..24]))
}

/// Forgets a session that ended, and those that nobody has touched for a day. `folder` is the user's folder for the project; nothing is made.
pub(super) fn end(folder: &Path, name: Option<&str>, now: Timestamp) {
    let folder = folder.join("stops");
    if let Some(name) = name {
        let _ = std::fs::remove_file(file(&folder, name));
    }
    sweep(&folder, now);
}

/// A message's hash; white space at its ends is the host's business.
pub(super) fn message_hash(message: &str) -> String {
    hash::sha256(message.trim().as_bytes())[..32].to_owned()
}

/// The hash of a sentence; how it is set off and spelt in capitals is no part of it.
fn sentence_hash(sentence: &str) -> String {
    let plain: String =
        sentence.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    hash::sha256(plain.as_bytes())[..32].to_owned()
}

fn sweep(folder: &Path, now: Timestamp) {
    let oldest = heirloom_core::time::days_before(now, KEPT_DAYS);
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name() != "lock") {
        let touched = entry.metadata().and_then(|meta| meta.modified()).ok();
        if touched.and_then(|time| Timestamp::try_from(time).ok()).is_some_and(|at| at < oldest) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
