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
use std::io::{Read, Seek as _, SeekFrom};

/// A ledger that has grown this large becomes the old one.
const FILE_MAX: u64 = 512 << 10;

/// Bytes of it that are read in one go.
const AT_ONCE: usize = 16 << 10;
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
pub fn fingerprint(session: &str) -> String {
    hash::sha256(session.as_bytes())[..16].to_owned()
}

fn append(project: &Project, line: &Line) -> Result<()> {
    let file = project.local()?.path(FILE);
    // One that cannot be turned over now goes on growing until it can.
    let _ = files::turn_over(&file, &project.local()?.path(OLD_FILE), FILE_MAX);
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
    let (mut lines, mut room) = (Vec::new(), vec![0; AT_ONCE]);
    for name in [OLD_FILE, FILE] {
        let path = project.local()?.path(name);
        let Some((mut file, size)) = files::open_if_there(&path)? else { continue };
        let cannot = |e: std::io::Error| Fault::io(&path, "read", &e);
        file.seek(SeekFrom::Start(size.saturating_sub(2 * FILE_MAX))).map_err(cannot)?;
        let parsed = |line: &[u8]| lines.extend(serde_json::from_slice::<Line>(line));
        each_line_with(file.take(2 * FILE_MAX), &mut room, &wanted, parsed).map_err(cannot)?;
    }
    Ok(lines)
}

/// Calls `found` with every line that holds what is wanted, the last one even if nothing ends it. Read piece by piece into the same room, since a prompt
/// would pay for every page of a file that is read whole, and searched piece by piece: mostly no line has it.
fn each_line_with(
    mut file: impl Read,
    room: &mut Vec<u8>,
    wanted: &memmem::Finder<'_>,
    mut found: impl FnMut(&[u8]),
) -> std::io::Result<()> {
    let mut kept = 0;
    loop {
        let read = file.read(&mut room[kept..])?;
        let filled = kept + read;
        let whole = match memchr::memrchr(b'\n', &room[..filled]) {
            _ if read == 0 => filled,
            Some(at) => at + 1,
            None => 0,
        };
        let mut rest = &room[..whole];
        while !rest.is_empty()
            && let Some(at) = wanted.find(rest)
        {
            let start = memchr::memrchr(b'\n', &rest[..at]).map_or(0, |end| end + 1);
            let end = memchr::memchr(b'\n', &rest[at..]).map_or(rest.len(), |end| at + end + 1);
            found(&rest[start..end]);
            rest = &rest[end..];
        }
        if read == 0 {
            return Ok(());
        }
        room.copy_within(whole..filled, 0);
        kept = filled - whole;
        if kept == room.len() {
            room.resize(2 * kept, 0);
        }
    }
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
        let Some(_held) = files::hold(&path)? else { continue };
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_the_room_every_line_with_the_text_is_found_once(
            lines in proptest::collection::vec("[ab]{0,12}", 0..20),
            ended: bool,
            wanted in "[ab]{0,2}",
            room in 1usize..40,
        ) {
            let mut text = lines.join("\n");
            if ended && !text.is_empty() {
                text.push('\n');
            }
            let mut found = Vec::new();
            let finder = memmem::Finder::new(&wanted);
            each_line_with(text.as_bytes(), &mut vec![0; room], &finder, |line| {
                found.push(String::from_utf8_lossy(line).trim_end_matches('\n').to_owned());
            }).unwrap();
            let want: Vec<String> = text.lines().filter(|line| line.contains(&wanted)).map(str::to_owned).collect();
            prop_assert_eq!(found, want);
        }
    }
}
