//! Activity: how much was stored and how much was given to agents, day by day.
//!
//! Comes in: what is known from the last look. Goes out: figures for each day. Only what was added to an audit since is read, so that whoever keeps
//! an [`Activity`] pays for a long history once. Never here: an id or a text of a memory.

use super::{may_read, sees_tiers};
use crate::call::Call;
use crate::files;
use crate::hook::trace;
use crate::recall::ledger;
use crate::shelf::tiers::Action;
use heirloom_core::{Code, Fault, Verb, fault::Result, json};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};

/// Lines of the user's own audit that are read in one go.
const AT_ONCE: usize = 2_000;
/// Runs of hooks that are counted.
const RUNS: usize = 5_000;

/// What happened on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Day {
    /// Memories stored or changed.
    pub stored: u32,
    /// Memories given to agents.
    pub given: u32,
}

/// What happened, by date (`2026-01-10`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Activity {
    /// The days on which anything happened.
    pub days: BTreeMap<String, Day>,
    /// Runs of hooks that failed, of the latest ones.
    pub failed_hooks: u32,
    #[serde(skip)]
    stored: BTreeMap<String, u32>,
    #[serde(skip)]
    bytes: u64,
    #[serde(skip)]
    own: u64,
}

/// Brings the figures up to date.
pub fn follow(call: &Call, known: &mut Activity) -> Result<()> {
    may_read(call, Verb::Audit)?;
    project(call, known)?;
    if sees_tiers(call, Verb::Audit)
        && let Ok(tiers) = call.tiers()
        && tiers.are_there()
    {
        loop {
            let lines = tiers.store().audit(tiers.who(), known.own, AT_ONCE)?;
            let Some(last) = lines.last() else { break };
            known.own = last.seq;
            for line in lines.iter().filter(|line| line.action == Action::MemoryWrite) {
                let count = u32::try_from(line.metadata.memory_ids.len()).unwrap_or(u32::MAX);
                *known.stored.entry(day(&line.at)).or_default() += count;
            }
        }
    }
    let mut days: BTreeMap<String, Day> =
        known.stored.iter().map(|(day, stored)| (day.clone(), Day { stored: *stored, given: 0 })).collect();
    for line in ledger::lines(call.project())? {
        let count = u32::try_from(line.given.len()).unwrap_or(u32::MAX);
        days.entry(day(&line.at)).or_default().given += count;
    }
    known.days = days;
    let runs = trace::last(call.project(), RUNS).unwrap_or_default();
    let failed = runs.iter().take_while(|run| run.ended == trace::Ended::Failed).count();
    known.failed_hooks = u32::try_from(failed).unwrap_or(u32::MAX);
    Ok(())
}

/// Reads what the project's audit has more than before. One that is shorter was rewritten and is read anew.
fn project(call: &Call, known: &mut Activity) -> Result<()> {
    if !call.project().has_local() {
        return Ok(());
    }
    let Some((mut file, size)) = files::open_if_there(&call.audit_path()?)? else { return Ok(()) };
    if size < known.bytes {
        *known = Activity::default();
    }
    let cannot = |e: std::io::Error| Fault::new(Code::Io, format!("the audit cannot be read: {e}"));
    file.seek(SeekFrom::Start(known.bytes)).map_err(cannot)?;
    let mut text = Vec::new();
    file.take(size - known.bytes).read_to_end(&mut text).map_err(cannot)?;
    // A line that is being written counts the next time.
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    known.bytes += whole as u64;
    for line in text[..whole].split(|byte| *byte == b'\n') {
        let Ok(line) = json::parse(line) else { continue };
        let text = |key: &str| line.get(key).and_then(|value| value.as_str()).unwrap_or_default();
        if text("action") == "memory_write" && text("verdict") != "refuse" {
            *known.stored.entry(day(text("at"))).or_default() += 1;
        }
    }
    Ok(())
}

fn day(at: &str) -> String {
    at.get(..10).unwrap_or_default().to_owned()
}
