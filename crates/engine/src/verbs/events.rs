//! What happened since: the newest lines of the audits, as whoever follows them is told.
//!
//! Comes in: where somebody stopped reading. Goes out: what was done to which memories after that, and where it stands now. Both chains are asked by
//! their numbers, so that nothing is missed between two looks. Never here: a text of a memory, or what is not for the caller.

use super::{may_read, sees_tiers};
use crate::call::Call;
use crate::shelf::tiers::Action;
use heirloom_core::{MemoryId, Verb, fault::Result};
use serde::Serialize;
use serde_json::Value;

/// Lines that are told of at once; the rest comes with the next look.
const AT_ONCE: usize = 200;

/// Where somebody stopped reading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Since {
    own: u64,
    project: u64,
    /// The length of the project's audit, by which an unchanged one is known without reading it.
    bytes: u64,
}

/// Something that happened to a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Happened {
    /// `project`, or `own` for turns and facts.
    pub chain: &'static str,
    /// Its number in that chain.
    pub seq: u64,
    /// When.
    pub at: String,
    /// What was done.
    pub action: String,
    /// Which kind of memory.
    pub kind: String,
    /// Which memory.
    pub id: String,
}

/// By what it is known whether anything changed. Looking at turns and facts is in their audit too, but it changes nothing: two stamps with nothing
/// but looks between them are equal.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stamp {
    /// How far the user's own audit was read.
    read: u64,
    /// The last line of it that is no look.
    own: u64,
    bytes: u64,
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Stamp) -> bool {
        (self.own, self.bytes) == (other.own, other.bytes)
    }
}

impl Eq for Stamp {}

/// The stamp of now, from the one before; only what was added since is read.
pub fn stamp(call: &Call, before: Option<Stamp>) -> Result<Stamp> {
    may_read(call, Verb::Audit)?;
    let mut now = Stamp { bytes: size(call), ..before.unwrap_or_default() };
    let Some(tiers) = followed(call) else { return Ok(now) };
    if before.is_none() {
        now.read = tiers.sealed_end()?;
        now.own = now.read;
        return Ok(now);
    }
    loop {
        let lines = tiers.store().audit(tiers.who(), now.read, AT_ONCE)?;
        let Some(last) = lines.last() else { return Ok(now) };
        now.read = last.seq;
        if let Some(change) = lines.iter().rev().find(|line| line.action != Action::MemoryRead) {
            now.own = change.seq;
        }
    }
}

/// Where the audits stand now.
pub fn now(call: &Call) -> Result<Since> {
    may_read(call, Verb::Audit)?;
    let mut since = Since::default();
    if let Some(tiers) = followed(call) {
        since.own = tiers.sealed_end()?;
    }
    since.bytes = size(call);
    since.project = call.audit_entries()?.last().map_or(0, seq);
    Ok(since)
}

/// What happened since, and where the audits stand now.
pub fn since(call: &Call, before: &Since) -> Result<(Since, Vec<Happened>)> {
    may_read(call, Verb::Audit)?;
    let mut now = before.clone();
    let mut happened = Vec::new();
    if let Some(tiers) = followed(call) {
        for line in tiers.store().audit(tiers.who(), before.own, AT_ONCE)? {
            now.own = line.seq;
            for id in &line.metadata.memory_ids {
                happened.extend(told("own", line.seq, &line.at, &line.action.name(), id));
            }
        }
    }
    let bytes = size(call);
    if bytes != before.bytes {
        let lines = call.audit_entries()?;
        let mut new = lines.iter().filter(|line| seq(line) > before.project);
        for line in new.by_ref().take(AT_ONCE) {
            now.project = seq(line);
            let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
            // What was refused changed nothing; an intent whose outcome follows is told of once.
            if !matches!(text("verdict"), "refuse" | "intent") && visible(call, text("id")) {
                happened.extend(told("project", seq(line), text("at"), text("action"), text("id")));
            }
        }
        // What is left is looked for again, though the audit may not grow until then.
        if new.next().is_none() {
            now.bytes = bytes;
        }
    }
    Ok((now, happened))
}

fn followed(call: &Call) -> Option<crate::shelf::tiers::Tiers<'_>> {
    sees_tiers(call, Verb::Audit).then(|| call.tiers().ok()).flatten()
}

fn told(chain: &'static str, seq: u64, at: &str, action: &str, id: &str) -> Option<Happened> {
    let kind = MemoryId::parse(id)?.kind();
    Some(Happened {
        chain,
        seq,
        at: at.to_owned(),
        action: action.to_owned(),
        kind: kind.name().to_owned(),
        id: id.to_owned(),
    })
}

fn seq(line: &Value) -> u64 {
    line.get("seq").and_then(Value::as_u64).unwrap_or_default()
}

fn size(call: &Call) -> u64 {
    let path = if call.project().has_local() { call.audit_path().ok() } else { None };
    path.and_then(|path| std::fs::metadata(path).ok()).map_or(0, |found| found.len())
}

/// Whether the caller may know of a memory; one that is gone is nobody's secret.
fn visible(call: &Call, id: &str) -> bool {
    let memory = MemoryId::parse(id).and_then(|id| call.shelf_of(&id).ok()?.get(&id).ok()?);
    memory.is_none_or(|memory| call.caller().sees().sees(&memory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::add::{Add, New, NewRecord, add};
    use crate::verbs::remember::NewFact;
    use crate::verbs::search::{Search, typed};
    use crate::verbs::tests::Desk;

    #[test]
    fn looking_at_turns_and_facts_is_no_change_and_storing_one_is() {
        let desk = Desk::new();
        let call = desk.person();
        let fact = |text: &str| Add::of(New::Fact(NewFact { text: text.into(), ..NewFact::default() }));
        add(&call, &fact("I work at Acme")).unwrap().done().unwrap();
        let first = stamp(&desk.person(), None).unwrap();
        let newest = typed(&desk.person(), "", &Search::default()).unwrap();
        assert!(!newest.hits.is_empty());
        let second = stamp(&desk.person(), Some(first)).unwrap();
        assert_eq!(first, second);
        assert!(second.read > first.read, "looking is in the audit");
        add(&desk.person(), &fact("I like green tea")).unwrap().done().unwrap();
        let third = stamp(&desk.person(), Some(second)).unwrap();
        assert_ne!(second, third);
        typed(&desk.person(), "tea", &Search::default()).unwrap();
        assert_eq!(stamp(&desk.person(), Some(third)).unwrap(), third);
        let record = NewRecord {
            category: "decision".into(),
            text: "Use one queue because it is simple".into(),
            ..NewRecord::default()
        };
        add(&desk.person(), &Add::of(New::Record(record))).unwrap().done().unwrap();
        assert_ne!(stamp(&desk.person(), Some(third)).unwrap(), third);
    }
}
