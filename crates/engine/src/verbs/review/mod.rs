//! Review: what waits for a person, from every shelf, and what happens when a person says yes.
//!
//! Comes in: the inbox, the shelves, the trust book. Goes out: a list; an acceptance bound to exact bytes. Never here: deciding that somebody
//! is a person (the door does that), or doing what is only proposed.

mod count;
mod draft;

pub(crate) use count::count;
pub(super) use draft::shelf_of;
pub(crate) use draft::waits_under;
pub use draft::{Field, Known, Shown, accept_draft, reject, shown};

use crate::call::Call;
use crate::gate::Entry;
use crate::gate::policy::Row;
use crate::shelf::anchors::{self, Anchored, Freshness};
use crate::shelf::door::change::{Decided, Decision};
use crate::shelf::tiers::{Relation, turned_around};
use crate::shelf::vault::Doubt;
use crate::shelf::{Listing, Problem, Shelf as _};
use heirloom_core::settings::SHARED;
use heirloom_core::text::{overlap, word_set};
use heirloom_core::{Code, Kind, Memory, MemoryId, Scope, ShelfName, Status, Trust, Verb, fault::Result};
use serde::Serialize;
use std::collections::HashMap;

/// What waits.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub struct Pending {
    /// Drafts that are not stored yet.
    pub drafts: Vec<Shown>,
    /// Stored memories that would steer every session and that nobody has accepted: constraints, preferences, canon, shared registers.
    pub saved_by_agents: Vec<Memory>,
    /// Files that hold what the gate refuses, ids that came back after they were forgotten, and notes that do not validate.
    pub problems: Vec<Problem>,
    /// Lines of the vault that a person should look at.
    pub doubts: Vec<Doubt>,
    /// Memories that are as they were before a later change: another branch, an old copy. Nobody's word counts for them until a person gives it again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub older: Vec<MemoryId>,
    /// Memories whose cited code changed or is gone; the latter are not given to agents.
    pub stale: Vec<Anchored>,
}

impl Pending {
    /// How much waits.
    pub fn len(&self) -> usize {
        self.drafts.len()
            + self.saved_by_agents.len()
            + self.problems.len()
            + self.doubts.len()
            + self.stale.len()
            + usize::from(!self.older.is_empty())
    }

    /// Whether nothing does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Everything that waits for a person.
pub fn pending(call: &Call) -> Result<Pending> {
    let mut waiting = Pending { doubts: call.vault().doubts()?, stale: stale(call)?, ..Pending::default() };
    for inbox in call.inboxes()? {
        let items = inbox.list(call.project().world().now)?;
        waiting.drafts.extend(items.into_iter().map(|item| shown(call, item)));
        waiting.problems.extend(inbox.broken()?.into_iter().map(|broken| Problem {
            file: broken.file.display().to_string(),
            line: None,
            code: Code::Damaged.name(),
            message: format!("the draft `{}` {}; it cannot be accepted", broken.key, broken.why),
            fix: format!("`heirloom review reject {}` discards it", broken.key),
        }));
    }
    waiting.problems.extend(call.notes().passed_over()?);
    for shelf in call.shelves() {
        if shelf.name() == ShelfName::Tiers {
            // Nothing reaches the tiers around the gate, so whatever of them needs a yes is a draft; walking a long audit chain is
            // `verify`'s work.
            continue;
        }
        // What the gate refuses is listed as such, without its text, and is not there to be accepted.
        let held_back = |memory: &Memory| {
            let text = format!("{}\n{}", memory.title, memory.body);
            call.screen().would_refuse(&text, row_of(memory)).is_some()
        };
        let active = shelf.list(&Listing::active())?;
        for memory in &active {
            if call.with_book(|book| book.is_superseded(memory.id.as_str(), &memory.content_hash))? {
                waiting.older.push(memory.id.clone());
            }
        }
        let wanted = |m: &Memory| m.trust < Trust::High && steers(m) && !held_back(m);
        waiting.saved_by_agents.extend(active.into_iter().filter(wanted));
        let held = |p: &Problem| {
            p.code == Code::GateRefused.name()
                || p.code == Code::AntiResurrection.name()
                || p.message.contains("was forgotten")
        };
        waiting.problems.extend(shelf.verify()?.into_iter().filter(held));
    }
    Ok(waiting)
}

/// Active memories whose cited code is not what it was.
fn stale(call: &Call) -> Result<Vec<Anchored>> {
    let mut found = anchors::all(call)?;
    found.retain(|one| one.state >= Freshness::Changed);
    let active = |one: &Anchored| {
        let id = MemoryId::parse(&one.id)?;
        let memory = call.shelf_of(&id).ok()?.get(&id).ok()??;
        (memory.status == Status::Active).then_some(())
    };
    found.retain(|one| active(one).is_some());
    // What is held back comes first.
    found.sort_by_key(|one| std::cmp::Reverse(one.state));
    Ok(found)
}

/// Whether a memory is given to every session once it is believed.
fn steers(memory: &Memory) -> bool {
    match memory.kind {
        Kind::Constraint | Kind::Preference | Kind::Canon => true,
        Kind::Register => memory.scope == Scope::Agent(SHARED.to_owned()),
        _ => false,
    }
}

fn row_of(memory: &Memory) -> Row {
    if memory.kind.shelf() == ShelfName::Vault { Row::Vault } else { Row::Records }
}

/// What a person might want to tidy up. Nothing here is done by itself.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub struct Suggestions {
    /// Pairs of one shelf that may be one memory, best first.
    pub near_duplicates: Vec<Alike>,
    /// What could go.
    pub proposed_deletions: Vec<Proposed>,
}

/// Two memories that may be one.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Alike {
    /// The earlier one.
    pub a: MemoryId,
    /// The later one.
    pub b: MemoryId,
    /// How alike they are, 0 to 1.
    pub score: f64,
    /// Whether they say the opposite.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub opposite: bool,
}

/// A memory that could go.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Proposed {
    /// Which one.
    pub id: MemoryId,
    /// Why.
    pub reason: String,
}

/// From which likeness two memories of the vault are shown as near-duplicates, unless somebody asks for another floor.
pub const VAULT_FLOOR: f64 = 0.5;
/// The same for lessons and notes, which share more words by nature.
const TEXT_FLOOR: f64 = 0.8;
/// Lessons or notes that are compared, newest first: every pair costs.
const COMPARED: usize = 500;
/// Texts with fewer words say too little to be compared.
const WORDS_MIN: usize = 5;

/// What could be tidied up.
pub fn suggestions(call: &Call) -> Result<Suggestions> {
    let vault = call.vault();
    let (mut ids, mut texts) = (HashMap::new(), HashMap::new());
    for memory in vault.list(&Listing::active())? {
        texts.insert(memory.id.name().to_owned(), memory.body);
        ids.insert(memory.id.name().to_owned(), memory.id);
    }
    let mut found = Suggestions::default();
    for pair in vault.consolidation_candidates(None, VAULT_FLOOR)? {
        if let (Some(a), Some(b)) = (ids.get(&pair.a), ids.get(&pair.b)) {
            let text = |id: &MemoryId| texts.get(id.name()).map_or("", String::as_str);
            let opposite = turned_around(text(a), text(b));
            found.near_duplicates.push(Alike { a: a.clone(), b: b.clone(), score: pair.score, opposite });
        }
    }
    for proposal in vault.propose_deletions(None)? {
        if let Some(id) = ids.get(&proposal.id) {
            found.proposed_deletions.push(Proposed { id: id.clone(), reason: proposal.reason });
        }
    }
    found.near_duplicates.extend(alike(call.records().list(&Listing::active())?));
    found.near_duplicates.extend(alike(call.topics().list(&Listing::active())?));
    found.near_duplicates.extend(alike(call.notes().list(&Listing::active())?));
    found.near_duplicates.extend(facts(call)?);
    // What cannot both be true comes before what is only said twice.
    found.near_duplicates.sort_by_key(|pair| !pair.opposite);
    Ok(found)
}

/// Pairs of facts, as far as the caller may look at any.
fn facts(call: &Call) -> Result<Vec<Alike>> {
    if !super::sees_tiers(call, Verb::Review) {
        return Ok(Vec::new());
    }
    // A database that cannot be reached keeps nobody from looking at files.
    let Ok(tiers) = call.tiers() else { return Ok(Vec::new()) };
    let pairs = tiers.pairs().unwrap_or_default().into_iter();
    Ok(pairs
        .map(|(a, b, relation, score)| Alike {
            a: a.memory().id,
            b: b.memory().id,
            score,
            opposite: relation == Relation::Contradiction,
        })
        .collect())
}

/// Pairs of texts that share most of their words.
fn alike(mut memories: Vec<Memory>) -> Vec<Alike> {
    fn when(memory: &Memory) -> Option<&String> {
        memory.occurred_at.as_ref().or(memory.updated_at.as_ref()).or(memory.created_at.as_ref())
    }
    memories.sort_by(|a, b| when(b).cmp(&when(a)));
    memories.truncate(COMPARED);
    memories.reverse();
    let lower: Vec<String> =
        memories.iter().map(|m| format!("{} {}", m.title, m.body).to_lowercase()).collect();
    let words: Vec<Vec<&str>> = lower.iter().map(|text| word_set(text)).collect();
    let mut pairs = Vec::new();
    for (i, first) in words.iter().enumerate() {
        for (j, second) in words.iter().enumerate().skip(i + 1) {
            let (few, many) = (first.len().min(second.len()), first.len().max(second.len()));
            // A short text inside a long one is a quotation, not a duplicate.
            if few < WORDS_MIN || few * 2 < many {
                continue;
            }
            let score = overlap(first, second);
            if score >= TEXT_FLOOR && memories[i].kind == memories[j].kind {
                let opposite = turned_around(&memories[i].title, &memories[j].title);
                pairs.push(Alike { a: memories[i].id.clone(), b: memories[j].id.clone(), score, opposite });
            }
        }
    }
    pairs.sort_by(|x, y| y.score.total_cmp(&x.score));
    pairs
}

/// A person accepts a stored memory, exactly as it is.
pub fn accept(call: &Call, memory: &Memory) -> Result<()> {
    call.permit(Verb::Accept, memory.kind.shelf(), memory.id.as_str())?;
    let entry =
        Entry { channel: call.standing(memory.id.as_str(), &memory.content_hash)?.channel, confirmed: true };
    // What cannot be audited is not accepted.
    let (shelf, id, hash) = (memory.kind.shelf(), memory.id.as_str(), memory.content_hash.as_str());
    let lock = call.lock()?;
    let decision = Decision { decided: Decided::Accepted, shelf, id, entry, draft: None, hash };
    let intent = call.decides(&lock, &decision)?;
    let edition = match memory.kind.shelf() {
        ShelfName::Vault => call.vault().passes(&memory.body),
        _ => None,
    };
    call.accept_looked_at(memory.id.as_str(), &memory.content_hash, edition)?;
    intent.done();
    Ok(())
}
