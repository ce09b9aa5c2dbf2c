//! The trail: why a memory was given, what hooks did last, what the audit holds.
//!
//! Comes in: what to look for. Goes out: lines without any text of a memory. Never here: writing any of it.

use super::cursor::{self, Spot};
use super::names::{self, Enough};
use super::{may_read, told::Reason};
use crate::call::Call;
use crate::gate::audit as chain;
use crate::hook::trace;
use crate::recall::ledger;
use crate::recall::search::reasons;
use crate::settings::audited::own_chain;
use crate::shelf::{tiers, unknown};
use heirloom_core::{Code, Fault, Verb, fault::Result, time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::hook::trace::{Ended, Run};
pub use crate::shelf::tiers::Line;

/// How far back runs of one hook are looked for.
const LOOKED_AT: usize = 5_000;

/// The last time a memory was given to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Why {
    /// The memory.
    pub id: String,
    /// When.
    pub at: String,
    /// To whom.
    pub agent: String,
    /// The version it had.
    pub version: String,
    /// The score it had.
    pub score: f64,
    /// What the score was made of.
    pub why: Vec<Reason>,
}

/// Which memory is asked about.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskWhy {
    /// Its id, or a name that fits only one.
    pub id: String,
}

/// When and why a memory was last given to an agent. One that is gone since is still told of, by its whole id.
pub fn why(call: &Call, ask: &AskWhy) -> Result<Why> {
    may_read(call, Verb::Why)?;
    let id = match names::find(call, &ask.id, Enough::Part) {
        Ok(id) => {
            let memory = call.shelf_of(&id)?.get(&id)?;
            if memory.is_some_and(|memory| !call.caller().sees().sees(&memory)) {
                return Err(unknown(id.as_str()));
            }
            id.to_string()
        }
        Err(fault) if fault.code == Code::NotFound => ask.id.clone(),
        Err(fault) => return Err(fault),
    };
    let Some((line, given)) = ledger::last_given(call.project(), &id)? else {
        return Err(Fault::new(Code::NotFound, format!("`{id}` was not given to any agent lately"))
            .hint("`heirloom recall <prompt> --explain` shows what an agent would get for a prompt"));
    };
    Ok(Why {
        id,
        at: line.at,
        agent: line.agent,
        version: given.version,
        score: given.score,
        why: reasons(given.why),
    })
}

/// Which runs of hooks are asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Last {
    /// Only this hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// How many, the newest.
    pub limit: usize,
}

/// What hooks did last, newest first.
pub fn last(call: &Call, ask: &Last) -> Result<Vec<Run>> {
    may_read(call, Verb::Last)?;
    let count = if ask.hook.is_some() { LOOKED_AT } else { ask.limit };
    let mut runs = trace::last(call.project(), count)?;
    runs.retain(|run| ask.hook.as_ref().is_none_or(|hook| run.hook == *hook));
    runs.truncate(ask.limit);
    Ok(runs)
}

/// A page of what hooks did.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Runs {
    /// Newest first.
    pub runs: Vec<Run>,
    /// The cursor of older ones, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The same page by page. A cursor says behind which moment to go on, so that runs that came since move nothing.
pub fn last_page(call: &Call, ask: &Last, cursor: Option<&str>) -> Result<Runs> {
    let asked = serde_json::to_string(&("runs", &ask.hook)).unwrap_or_default();
    let spot = cursor.map(|cursor| cursor::read(Some(cursor), &asked)).transpose()?;
    let moment = |run: &Run| {
        let micros = time::parse(&run.at).map_or(0, |at| at.as_microsecond());
        usize::try_from(micros).unwrap_or_default()
    };
    let mut runs = last(call, &Last { hook: ask.hook.clone(), limit: LOOKED_AT })?;
    if let Some(Spot { item, at }) = spot {
        let mut same = 0;
        runs.retain(|run| {
            same += usize::from(moment(run) == item);
            moment(run) < item || (moment(run) == item && same > at)
        });
    }
    let more = runs.len() > ask.limit;
    runs.truncate(ask.limit);
    let next = runs.last().filter(|_| more).map(|last| {
        let item = moment(last);
        let before = spot.filter(|spot| spot.item == item).map_or(0, |spot| spot.at);
        let at = before + runs.iter().filter(|run| moment(run) == item).count();
        cursor::write(Spot { item, at }, &asked)
    });
    Ok(Runs { runs, next })
}

/// Which lines of the audit are asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// Only about this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Only with this verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Only this event, of the user's own chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// How many, the newest.
    pub limit: usize,
}

/// Lines of the project's audit, oldest first.
pub fn audit(call: &Call, ask: &Audit) -> Result<Vec<Value>> {
    may_read(call, Verb::Audit)?;
    Ok(wanted(call, call.audit_entries()?, ask))
}

/// A page of an audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lines<T> {
    /// Oldest first.
    pub lines: Vec<T>,
    /// The cursor of older ones, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl<T> Lines<T> {
    /// The newest `limit` of these lines; the page before it begins before the number of its first line.
    fn newest(mut lines: Vec<T>, limit: usize, number: impl Fn(&T) -> u64, asked: &str) -> Lines<T> {
        let older = lines.len().saturating_sub(limit);
        lines.drain(..older);
        let first = lines.first().filter(|_| older > 0).and_then(|line| usize::try_from(number(line)).ok());
        let next = first.map(|item| cursor::write(Spot { item, at: 0 }, asked));
        Lines { lines, next }
    }
}

/// The number before which a page of an audit ends.
fn before(cursor: Option<&str>, asked: &str) -> Result<u64> {
    Ok(match cursor {
        None => u64::MAX,
        Some(cursor) => cursor::read(Some(cursor), asked)?.item as u64,
    })
}

fn number(line: &Value) -> u64 {
    line.get("seq").and_then(Value::as_u64).unwrap_or_default()
}

/// The project's audit page by page: the newest lines first, oldest first within a page.
pub fn audit_page(call: &Call, ask: &Audit, cursor: Option<&str>) -> Result<Lines<Value>> {
    let asked = serde_json::to_string(&("project", &ask.id, &ask.verdict)).unwrap_or_default();
    let before = before(cursor, &asked)?;
    let every = Audit { limit: usize::MAX, ..ask.clone() };
    let mut lines = audit(call, &every)?;
    lines.retain(|line| number(line) < before);
    Ok(Lines::newest(lines, ask.limit, number, &asked))
}

/// The same of the user's own audit of turns and facts.
pub fn own_audit_page(call: &Call, ask: &Audit, cursor: Option<&str>) -> Result<Lines<tiers::Line>> {
    may_read(call, Verb::Audit)?;
    let asked = serde_json::to_string(&("own", &ask.id, &ask.event)).unwrap_or_default();
    let before = before(cursor, &asked)?;
    let wanted = |line: &tiers::Line| line.seq < before && of_own(ask, line);
    let lines = call.tiers()?.audit(ask.limit.saturating_add(1), wanted)?;
    Ok(Lines::newest(lines, ask.limit, |line| line.seq, &asked))
}

fn of_own(ask: &Audit, line: &tiers::Line) -> bool {
    ask.id.as_ref().is_none_or(|id| line.metadata.memory_ids.contains(id))
        && ask.event.as_ref().is_none_or(|action| line.action.name() == *action)
}

/// Lines of the user's own audit of settings, approvals and the PIN, oldest first. Those of a project that has an audit are in there.
pub fn settings_audit(call: &Call, ask: &Audit) -> Result<Vec<Value>> {
    may_read(call, Verb::Audit)?;
    Ok(wanted(call, chain::entries(&own_chain(&call.project().world().data))?, ask))
}

/// Notes in that audit that a door turned somebody away whose token is nobody's.
pub fn turned_away(call: &Call, times: u64) -> Result<()> {
    crate::settings::audited::turned_away(call, times)
}

fn wanted(call: &Call, mut lines: Vec<Value>, ask: &Audit) -> Vec<Value> {
    let is = |line: &Value, key: &str, wanted: &Option<String>| {
        wanted.as_ref().is_none_or(|text| line.get(key).and_then(Value::as_str) == Some(text))
    };
    let about = |line: &Value| ask.id.as_ref().is_none_or(|id| call.is_about(line, id));
    lines.retain(|line| about(line) && is(line, "verdict", &ask.verdict));
    lines.drain(..lines.len().saturating_sub(ask.limit));
    lines
}

/// Lines of the user's own audit of turns and facts, oldest first.
pub fn own_audit(call: &Call, ask: &Audit) -> Result<Vec<tiers::Line>> {
    may_read(call, Verb::Audit)?;
    call.tiers()?.audit(ask.limit, |line| of_own(ask, line))
}

/// That the audit is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Whole {
    /// Always true; a chain that is not whole is a fault.
    #[schemars(extend("const" = true))]
    pub whole: bool,
    /// How many lines were walked.
    pub entries: u64,
    /// Where the ids of earlier lines were replaced by keyed hashes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<chain::Checkpoint>,
    /// Why the project's chain was not walked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// Walks the hash chains: was anything altered, removed or moved? The project's chain and the user's own are one question to whoever asks it.
pub fn verify_audit(call: &Call) -> Result<Whole> {
    may_read(call, Verb::Audit)?;
    let own = match call.tiers().map_or(Ok(0), |tiers| tiers.verify_audit()) {
        // The project's chain is still there to be walked; the door says what was left out.
        Err(fault) if fault.code == Code::Unavailable && call.project().expect_memory().is_ok() => 0,
        own => own?,
    };
    let settings = chain::verify(&own_chain(&call.project().world().data))?.entries;
    // Nothing is not the same as nothing wrong.
    let (walked, left_out) = match call.project().expect_memory() {
        Ok(()) => (chain::verify(&call.audit_path()?)?, None),
        Err(none) if own + settings > 0 => (chain::Walked::default(), Some(none.message)),
        Err(none) => return Err(none),
    };
    let entries = walked.entries + own + settings;
    Ok(Whole { whole: true, entries, checkpoints: walked.checkpoints, left_out })
}
