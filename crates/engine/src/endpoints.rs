//! What is known of the servers the user named: which failed, since when, and when they are asked again.
//!
//! Comes in: an address, the time, why a call failed. Goes out: a note in the user's data folder, for `doctor` and for the next call. A server that
//! fails is left alone for a while, longer each time. Never here: a call; a key or a text in a note.

use crate::files::{self, Mode};
use heirloom_core::{hash, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The longest note that is read.
const NOTE_MAX: u64 = 16 << 10;

/// How long a server is left alone after its first failure and at most, in seconds.
const FIRST_PAUSE: i64 = 30;
const LONGEST_PAUSE: i64 = 600;

/// What is known of a server that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Trouble {
    /// When it first failed since it last answered.
    pub since: String,
    /// When it last did.
    pub at: String,
    /// How often.
    pub failures: u32,
    /// Why, the last time.
    pub reason: String,
    /// When it is asked again, in seconds since 1970.
    pub again: i64,
}

impl Trouble {
    /// Whether the server is left alone now.
    pub fn rests(&self, now: Timestamp) -> bool {
        self.again > now.as_second()
    }
}

fn note(data: &Path, url: &str) -> PathBuf {
    data.join(format!("endpoint-{}.json", &hash::sha256(url.as_bytes())[..12]))
}

/// What is wrong with a server, if something is.
pub fn trouble(data: &Path, url: &str) -> Option<Trouble> {
    let text = files::read_text(&note(data, url), NOTE_MAX).ok().flatten()?;
    serde_json::from_str(&text).ok()
}

/// Notes that a server failed. A note that cannot be written costs a wait at the next prompt, nothing else.
pub fn failed(data: &Path, url: &str, reason: &str, now: Timestamp) {
    let before = trouble(data, url);
    let failures = before.as_ref().map_or(0, |known| known.failures).saturating_add(1);
    let pause = (FIRST_PAUSE << failures.saturating_sub(1).min(10)).min(LONGEST_PAUSE);
    let at = time::format(now);
    let trouble = Trouble {
        since: before.map_or_else(|| at.clone(), |known| known.since),
        at,
        failures,
        reason: reason.chars().take(200).collect(),
        again: now.as_second() + pause,
    };
    let _ = files::make_folder(data, Mode::Private);
    let text = serde_json::to_string(&trouble).unwrap_or_default();
    let _ = files::write(&note(data, url), text.as_bytes(), Mode::Private);
}

/// Notes that a server answered.
pub fn answered(data: &Path, url: &str) {
    let _ = files::remove(&note(data, url));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_goes_on_failing_is_left_alone_longer_each_time_and_forgiven_at_once() {
        let data = tempfile::tempdir().unwrap();
        let now = time::parse("2026-03-01T12:00:00Z").unwrap();
        let pauses: Vec<i64> = (0..7)
            .map(|_| {
                failed(data.path(), "https://a.example", "no answer", now);
                trouble(data.path(), "https://a.example").unwrap().again - now.as_second()
            })
            .collect();
        assert_eq!(pauses, [30, 60, 120, 240, 480, 600, 600]);
        assert!(trouble(data.path(), "https://a.example").unwrap().rests(now));
        assert_eq!(trouble(data.path(), "https://b.example"), None);
        answered(data.path(), "https://a.example");
        assert_eq!(trouble(data.path(), "https://a.example"), None);
    }
}
