//! Search: a question in words over every shelf, each by its own scoring, grouped by kind.
//!
//! Comes in: words, a kind, how many of each, who asks. Goes out: groups in the order kinds are recalled, each best first, with why
//! every hit is there. Never here: ranking one shelf against another (that is recall's), or a text the gate would refuse.

use crate::call::Call;
use crate::gate::policy::{Act, Row};
use crate::gate::scan::Class;
use crate::shelf::tiers::Tier;
use crate::shelf::vault::Question;
use crate::shelf::{Audience, Listing, Shelf as _};
use heirloom_core::{Channel, Code, Fault, Kind, Memory, ShelfName, Status, fault::Result};
use serde::Serialize;

/// Most hits of a kind, unless somebody wants another number.
pub const PER_KIND: usize = 10;

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Also what is retired or archived.
    pub include_retired: bool,
    /// Most hits of a kind.
    pub per_kind: usize,
    /// Who asks.
    pub audience: Audience,
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The memory.
    pub memory: Memory,
    /// What it is ranked by; notes are in order of time and have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What the score is made of.
    pub why: Vec<Reason>,
}

/// Part of a score.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Reason {
    /// What fits.
    pub what: String,
    /// What that counts.
    pub points: f64,
}

/// The hits of a kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The kind.
    pub kind: Kind,
    /// How many there are, shown or not.
    pub total: usize,
    /// The best of them.
    pub hits: Vec<Found>,
}

/// The memories that fit a question.
pub fn search(call: &Call, question: &str, wanted: &Wanted) -> Result<Vec<Group>> {
    if question.trim().is_empty() {
        return Err(Fault::new(Code::Usage, "there is nothing to search for")
            .hint("give some words: `heirloom search \"queue worker\"`"));
    }
    let shelf = wanted.kind.as_ref().map(Kind::shelf);
    let mut found = Vec::new();
    for name in ShelfName::ALL.into_iter().filter(|name| shelf.is_none_or(|only| only == *name)) {
        found.extend(match name {
            ShelfName::Records => records(call, question, wanted)?,
            ShelfName::Topics => lessons(call, question, wanted)?,
            ShelfName::Notes => notes(call, question, wanted)?,
            ShelfName::Vault => vault(call, question, wanted)?,
            ShelfName::Tiers => tiers(call, question, wanted)?,
        });
    }
    found.retain(|hit| wanted.audience.sees(&hit.memory));
    let mut groups: Vec<Group> = Vec::new();
    for hit in found {
        if wanted.kind.as_ref().is_some_and(|kind| *kind != hit.memory.kind) {
            continue;
        }
        let at = groups.iter().position(|group| group.kind == hit.memory.kind).unwrap_or_else(|| {
            groups.push(Group { kind: hit.memory.kind.clone(), total: 0, hits: Vec::new() });
            groups.len() - 1
        });
        groups[at].total += 1;
        if groups[at].hits.len() < wanted.per_kind {
            groups[at].hits.push(hit);
        }
    }
    groups.sort_by_key(|group| group.kind.priority());
    Ok(groups)
}

/// Reasons of names and points.
pub(crate) fn reasons(parts: Vec<(String, f64)>) -> Vec<Reason> {
    parts.into_iter().map(|(what, points)| Reason { what, points }).collect()
}

fn records(call: &Call, question: &str, wanted: &Wanted) -> Result<Vec<Found>> {
    let hits = call.records().search(question, wanted.include_retired)?;
    let found = |hit: crate::shelf::records::Hit| Found {
        memory: hit.memory,
        score: Some(hit.score),
        why: reasons(hit.parts),
    };
    Ok(hits.into_iter().map(found).collect())
}

fn lessons(call: &Call, question: &str, wanted: &Wanted) -> Result<Vec<Found>> {
    let hits = call.topics().found(question, wanted.include_retired)?;
    let found = |hit: crate::shelf::topics::Hit| Found {
        memory: hit.memory,
        score: Some(hit.score),
        why: reasons(hit.why.parts()),
    };
    Ok(hits.into_iter().map(found).collect())
}

fn notes(call: &Call, question: &str, wanted: &Wanted) -> Result<Vec<Found>> {
    let notes = call.notes();
    let mut hits = match wanted.include_retired {
        true => notes.search_all(question, usize::MAX)?,
        false => notes.search(question, usize::MAX)?,
    };
    hits.retain(|memory| !is_cut_today(call, memory));
    Ok(hits.into_iter().map(|memory| Found { memory, score: None, why: Vec::new() }).collect())
}

/// Whether a note reached its file without the gate and holds what the gate would cut out.
pub(super) fn is_cut_today(call: &Call, memory: &Memory) -> bool {
    let verdict = call.screen().verdict(&memory.body, Row::Notes, Channel::Repository.trust());
    let cut = |class: Class, act: Act| matches!(class, Class::Secret | Class::Identity) && act >= Act::Redact;
    verdict.findings.iter().any(|(finding, act)| cut(finding.class, *act))
}

/// Turns and facts of whoever asks. A database that cannot be reached is silent here, unless it was what was asked for.
fn tiers(call: &Call, question: &str, wanted: &Wanted) -> Result<Vec<Found>> {
    let tiers = match call.tiers() {
        Ok(tiers) => tiers,
        Err(fault) if wanted.kind.is_some() && fault.code == Code::Unavailable => return Err(fault),
        Err(_) => return Ok(Vec::new()),
    };
    let mut found = Vec::new();
    for tier in Tier::STORED {
        match tiers.search(question, Some(tier), wanted.per_kind) {
            Ok(hits) => found.extend(hits.into_iter().map(|hit| Found {
                memory: hit.memory.memory(),
                score: Some(hit.score),
                why: reasons(hit.why),
            })),
            Err(fault) if wanted.kind.is_some() => return Err(fault),
            Err(_) => {}
        }
    }
    Ok(found)
}

fn vault(call: &Call, question: &str, wanted: &Wanted) -> Result<Vec<Found>> {
    if !call.settings().vault.enabled {
        return Ok(Vec::new());
    }
    let status = if wanted.include_retired { None } else { Some(Status::Active) };
    let asked = Question::new(question);
    let mut hits: Vec<(f64, Memory)> = call
        .vault()
        .list(&Listing { status, kind: None })?
        .into_iter()
        .filter_map(|memory| Some((asked.score(&memory.body)?, memory)))
        .filter(|(_, memory)| call.screen().would_refuse(&memory.body, Row::Vault).is_none())
        .collect();
    // A stable sort keeps the file's order among equals.
    hits.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let why = |score: f64| vec![Reason { what: "shared words and likeness".to_owned(), points: score }];
    Ok(hits
        .into_iter()
        .map(|(score, memory)| Found { memory, score: Some(score), why: why(score) })
        .collect())
}
