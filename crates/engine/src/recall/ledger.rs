//! The ledger: what agents were given, when, and why; in `<root>/.local/ledger.jsonl`.
//!
//! Comes in: what is about to be injected into a session, and when a host cleared or compacted its context. Goes out: which memories the session
//! already has, and for `why` the last time a memory was given. A line holds ids, versions and points, never a memory's text. Two
//! files of bounded size take turns. Never here: a failure that costs an agent its memories; whoever cannot read the ledger repeats.

use super::answer::Recalled;
use crate::files::{self, Mode};
use crate::project::Project;
use heirloom_core::fault::{Fault, Result};
use heirloom_core::{hash, time};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

/// A ledger that has grown this large becomes the old one.
const FILE_MAX: u64 = 512 << 10;

/// Bytes of it that are read in one go.
const AT_ONCE: usize = 32 << 10;
const FILE: &str = "ledger.jsonl";
const OLD_FILE: &str = "ledger.1.jsonl";

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When, RFC 3339.
    pub at: String,
    /// Whose session it was, as a short fingerprint of its name.
    pub session: String,
    /// The agent.
    #[serde(default)]
    pub agent: String,
    /// The host lost what it was given before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cleared: bool,
    /// What was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Given>,
}

/// A memory that was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Given {
    /// Its id.
    pub id: String,
    /// Its version then, and whether it was marked as stale.
    pub version: String,
    /// Its score then.
    pub score: f64,
    /// What the score was made of.
    pub why: Vec<(String, f64)>,
}

/// A session by its fingerprint: names of sessions are the host's business.
fn fingerprint(session: &str) -> String {
    hash::sha256(session.as_bytes())[..16].to_owned()
}

fn append(project: &Project, line: &Line) -> Result<()> {
    let file = project.local()?.path(FILE);
    if std::fs::metadata(&file).is_ok_and(|meta| meta.len() > FILE_MAX) {
        // Two processes may do this at once; the second finds the file small again or gone.
        let _ = std::fs::rename(&file, project.local()?.path(OLD_FILE));
    }
    // Text keys and plain values always serialise.
    files::append_line(&file, &serde_json::to_string(line).unwrap_or_default(), Mode::Private)
}

/// Notes what a session is given; a host that names no session has one without a name.
pub fn note(project: &Project, session: Option<&str>, agent: &str, hits: &[Recalled]) -> Result<()> {
    let given = hits.iter().map(|hit| Given {
        id: hit.id.clone(),
        version: hit.told_as(),
        score: (hit.score * 1e4).round() / 1e4,
        why: hit.why.iter().map(|(name, points)| (name.clone(), (points * 1e4).round() / 1e4)).collect(),
    });
    note_given(project, session, agent, given.collect())
}

/// The same for what was not chosen by the hybrid ranking: each with the reason it was given for.
pub fn note_given(project: &Project, session: Option<&str>, agent: &str, given: Vec<Given>) -> Result<()> {
    if given.is_empty() {
        return Ok(());
    }
    append(
        project,
        &Line {
            at: time::format(project.world().now),
            session: fingerprint(session.unwrap_or_default()),
            agent: agent.to_owned(),
            cleared: false,
            given,
        },
    )
}

/// Notes that a session's context was cleared or compacted: everything may be given again.
pub fn clear(project: &Project, session: &str, agent: &str) -> Result<()> {
    if !project.has_local() || !project.local()?.path(FILE).exists() {
        return Ok(());
    }
    append(
        project,
        &Line {
            at: time::format(project.world().now),
            session: fingerprint(session),
            agent: agent.to_owned(),
            cleared: true,
            given: Vec::new(),
        },
    )
}

/// All lines, oldest first.
pub fn lines(project: &Project) -> Result<Vec<Line>> {
    lines_with(project, "")
}

/// The lines that hold a text somewhere, oldest first: only those are parsed.
fn lines_with(project: &Project, part: &str) -> Result<Vec<Line>> {
    if !project.has_local() {
        return Ok(Vec::new());
    }
    let wanted = memmem::Finder::new(part);
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    for name in [OLD_FILE, FILE] {
        let path = project.local()?.path(name);
        let Some((mut file, size)) = files::open_if_there(&path)? else { continue };
        let cannot = |e: std::io::Error| Fault::io(&path, "read", &e);
        file.seek(SeekFrom::Start(size.saturating_sub(2 * FILE_MAX))).map_err(cannot)?;
        // Line by line: a prompt would pay for every page of a file that is read whole.
        let mut rest = BufReader::with_capacity(AT_ONCE, file.take(2 * FILE_MAX));
        while rest.read_until(b'\n', &mut line).map_err(cannot)? > 0 {
            if wanted.find(&line).is_some() {
                lines.extend(serde_json::from_slice::<Line>(&line));
            }
            line.clear();
        }
    }
    Ok(lines)
}

/// What a session was given and still has, by id, with the version it has.
pub fn in_session(project: &Project, session: &str) -> Result<HashMap<String, String>> {
    let session = fingerprint(session);
    let mut has = HashMap::new();
    for line in lines_with(project, &session)?.into_iter().filter(|line| line.session == session) {
        if line.cleared {
            has.clear();
        }
        has.extend(line.given.into_iter().map(|given| (given.id, given.version)));
    }
    Ok(has)
}

/// The last time a memory was given to somebody.
pub fn last_given(project: &Project, id: &str) -> Result<Option<(Line, Given)>> {
    let found = lines(project)?.into_iter().rev().find_map(|line| {
        let given = line.given.iter().find(|given| given.id == id)?.clone();
        Some((line, given))
    });
    Ok(found)
}

/// Drops every mention of an id, for `forget`.
pub fn forget(project: &Project, id: &str) -> Result<()> {
    for name in [OLD_FILE, FILE] {
        let path = project.local()?.path(name);
        let Some(text) = files::read_text(&path, 4 * FILE_MAX).ok().flatten() else { continue };
        let mut kept = String::new();
        for line in text.lines() {
            let Ok(mut line) = serde_json::from_str::<Line>(line) else { continue };
            line.given.retain(|given| given.id != id);
            if line.cleared || !line.given.is_empty() {
                kept.push_str(&serde_json::to_string(&line).unwrap_or_default());
                kept.push('\n');
            }
        }
        if kept != text {
            files::write(&path, kept.as_bytes(), Mode::Private)?;
        }
    }
    Ok(())
}
