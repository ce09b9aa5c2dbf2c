//! Sessions: what each one was given, and what was kept of it.
//!
//! Comes in: nothing, or a session's short name. Goes out: sessions, newest first; of one, every memory it was given with what became of it since.
//! The ledger has ids and versions only, so what is shown is the memory of now, marked where it is no longer what the session was told. A session is
//! named by a fingerprint, since the names that hosts give are their own business. Never here: a memory that is not for the caller.

use super::told::{self, Reason};
use super::{may_read, sees_tiers};
use crate::call::Call;
use crate::recall::ledger;
use crate::recall::search::reasons;
use crate::shelf::tiers::{Tier, Wanted};
use heirloom_core::{Code, Fault, Memory, Verb, fault::Result};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The newest turns that are looked at.
const TURNS: usize = 2_000;

/// A session in one line.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Session {
    /// Its short name.
    pub id: String,
    /// The agent, where it is known.
    pub agent: String,
    /// When something of it was first noted.
    pub began: String,
    /// And last.
    pub ended: String,
    /// How many memories it was given.
    pub given: usize,
    /// How many of its turns were kept.
    pub kept: usize,
}

/// A memory that a session was given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Given {
    /// When.
    pub at: String,
    /// To whom.
    pub agent: String,
    /// The session.
    pub session: String,
    /// Which one.
    pub id: String,
    /// The score it had.
    pub score: f64,
    /// What the score was made of.
    pub why: Vec<Reason>,
    /// The memory as it is now; nothing if it is gone.
    pub memory: Option<Memory>,
    /// Whether it is no longer what the session was told.
    pub changed: bool,
}

/// A session with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    /// The session.
    pub session: Session,
    /// What it was given, oldest first.
    pub given: Vec<Given>,
    /// Its turns that were kept, oldest first.
    pub kept: Vec<Memory>,
}

/// The sessions there are traces of, newest first.
pub fn list(call: &Call) -> Result<Vec<Session>> {
    may_read(call, Verb::Last)?;
    let mut all: BTreeMap<String, Session> = BTreeMap::new();
    for line in ledger::lines(call.project())? {
        let session = all.entry(line.session.clone()).or_default();
        seen(session, &line.session, &line.at);
        if !line.agent.is_empty() {
            session.agent = line.agent;
        }
        session.given += line.given.len();
    }
    for turn in turns(call)? {
        let Some((id, at)) = of_turn(&turn) else { continue };
        let session = all.entry(id.clone()).or_default();
        seen(session, &id, &at);
        session.kept += 1;
    }
    let mut all: Vec<Session> = all.into_values().collect();
    all.sort_by(|a, b| b.ended.cmp(&a.ended));
    Ok(all)
}

/// One session.
pub fn show(call: &Call, id: &str) -> Result<Told> {
    let session = list(call)?.into_iter().find(|session| session.id == id).ok_or_else(|| {
        Fault::new(Code::NotFound, "this session is not known").hint("`heirloom last` shows what hooks did")
    })?;
    let lines = ledger::lines(call.project())?.into_iter().filter(|line| line.session == id).collect();
    let given = given(call, lines);
    let mut kept: Vec<Memory> =
        turns(call)?.into_iter().filter(|turn| of_turn(turn).is_some_and(|(one, _)| one == id)).collect();
    kept.reverse();
    Ok(Told { session, given, kept: told::fit_all(call, kept) })
}

/// What agents were given last, newest first, from this moment on.
pub fn lately(call: &Call, since: &str, limit: usize) -> Result<Vec<Given>> {
    may_read(call, Verb::Last)?;
    let mut lines = ledger::lines(call.project())?;
    lines.retain(|line| line.at.as_str() >= since && !line.given.is_empty());
    lines.reverse();
    lines.truncate(limit);
    let mut given = given(call, lines);
    given.truncate(limit);
    Ok(given)
}

/// What these lines tell of, with the memories as they are now.
fn given(call: &Call, lines: Vec<ledger::Line>) -> Vec<Given> {
    let ids: Vec<String> = lines.iter().flat_map(|line| &line.given).map(|given| given.id.clone()).collect();
    let memories: HashMap<String, Memory> =
        told::memories(call, &ids).into_iter().map(|(id, memory)| (id, told::fit(call, memory).0)).collect();
    let mut given = Vec::new();
    for line in lines {
        for one in line.given {
            let memory = memories.get(&one.id).cloned();
            // What was marked as stale carries a word behind its version.
            let version = one.version.split(' ').next().unwrap_or_default();
            let is_it = |now: &Memory| now.content_hash.starts_with(version);
            let changed = !version.is_empty() && memory.as_ref().is_some_and(|now| !is_it(now));
            given.push(Given {
                at: line.at.clone(),
                agent: line.agent.clone(),
                session: line.session.clone(),
                id: one.id,
                score: one.score,
                why: reasons(one.why),
                memory,
                changed,
            });
        }
    }
    given
}

fn seen(session: &mut Session, id: &str, at: &str) {
    id.clone_into(&mut session.id);
    if session.began.is_empty() || at < session.began.as_str() {
        at.clone_into(&mut session.began);
    }
    if at > session.ended.as_str() {
        at.clone_into(&mut session.ended);
    }
}

/// The newest turns, newest first.
fn turns(call: &Call) -> Result<Vec<Memory>> {
    if !sees_tiers(call, Verb::List) {
        return Ok(Vec::new());
    }
    let Ok(tiers) = call.tiers() else { return Ok(Vec::new()) };
    if !tiers.are_there() {
        return Ok(Vec::new());
    }
    let wanted = Wanted { tier: Some(Tier::Episodic), limit: TURNS, ..Wanted::default() };
    Ok(tiers.newest_page(wanted, |_| true)?.memories.iter().map(|stored| stored.memory()).collect())
}

/// The session of a turn, by its short name, and when it was said.
fn of_turn(turn: &Memory) -> Option<(String, String)> {
    let session = turn.fields.get("session")?.as_str().filter(|session| !session.is_empty())?;
    Some((ledger::fingerprint(session), turn.occurred_at.clone()?))
}
