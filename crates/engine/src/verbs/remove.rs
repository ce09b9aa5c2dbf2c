//! Forget, clear, compact, redact: what cannot be taken back.
//!
//! Comes in: one memory, a topic, or a tier, each first looked at and then removed. Goes out: what is gone, and what could not be reached. Every
//! one of them needs a person, or a token that a person gave the scope `delete`; a refusal is audited. Never here: asking whether somebody
//! is sure. That is the door's; a yes makes nobody a person.

pub use super::about::Draft;
use super::names::{self, Enough};
use super::{about, commit, seen};
use crate::call::Call;
use crate::follow::ShelfIndex;
use crate::hook::trace;
use crate::recall::ledger;
use crate::shelf::door::change::{Decided, Decision};
pub use crate::shelf::tiers::Stored;
use crate::shelf::tiers::Tier;
use crate::shelf::vault::Compacted;
use crate::shelf::{Forgotten, Problem, unknown};
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// Stands for a user's turns and facts where no single one is named.
const TOPIC: &str = "fact:*";

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forget {
    /// An id, a name, or words that a user's turns and facts are about.
    pub name: String,
    /// Take the words as a topic, whatever else they might name.
    #[serde(default)]
    pub topic: bool,
    /// A part of a name is enough, because what it stands for is shown and confirmed before anything goes.
    #[serde(default)]
    pub shown_first: bool,
}

/// What `forget` would remove.
#[derive(Debug, Clone, PartialEq)]
pub enum Doomed {
    /// One memory.
    One {
        /// Which one.
        id: MemoryId,
        /// The memory, if it is still there; of one that is gone only traces are left.
        memory: Option<Box<Memory>>,
    },
    /// Everything about a topic, or about somebody.
    Topic {
        /// The words.
        topic: String,
        /// The user's turns and facts they were found in.
        memories: Vec<Stored>,
        /// The memories of the project they were found in, from every shelf.
        others: Vec<Memory>,
        /// The drafts they were found in, which wait for a yes.
        waiting: Vec<Draft>,
    },
}

/// A memory that is gone.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Gone {
    /// Which one, and where its text was.
    #[serde(flatten)]
    pub forgotten: Forgotten,
    /// Places this machine cannot reach, a line each.
    pub unreached: Vec<String>,
}

/// What is gone of a user's turns and facts.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Cleared {
    /// Always `forgotten`.
    #[schemars(extend("enum" = ["forgotten"]))]
    pub status: &'static str,
    /// How many.
    pub count: usize,
    /// Which ones.
    pub ids: Vec<String>,
    /// Places this machine cannot reach, a line each.
    pub unreached: Vec<String>,
    /// Paths whose earlier versions git still holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub in_git: Vec<String>,
}

impl Default for Cleared {
    fn default() -> Cleared {
        Cleared { status: "forgotten", count: 0, ids: Vec::new(), unreached: Vec::new(), in_git: Vec::new() }
    }
}

/// Everything about a topic that was shown and is to go. What nobody was shown stays.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForgetTopic {
    /// The words.
    pub topic: String,
    /// The ids of the user's turns and facts.
    #[serde(default)]
    pub memories: Vec<String>,
    /// The ids of the project's memories.
    #[serde(default)]
    pub others: Vec<String>,
    /// The keys of drafts that wait.
    #[serde(default)]
    pub drafts: Vec<String>,
    /// Also where that means rewriting tables that others use.
    #[serde(default)]
    pub shred: bool,
}

/// What `scan --store` found, cut out and left.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
pub struct Redacted {
    /// What the gate would refuse.
    pub held: Vec<Problem>,
    /// Files that changed.
    pub fixed: Vec<String>,
    /// What is still there.
    pub left: Vec<Problem>,
}

/// Whether this caller may do what cannot be taken back. Asked before anything is shown, and by every verb here again.
pub fn permitted(call: &Call, verb: Verb, about: &str) -> Result<()> {
    let shelf = match (verb, MemoryId::parse(about)) {
        (_, Some(id)) => id.kind().shelf(),
        (Verb::Clear | Verb::Resurrect, None) => ShelfName::Tiers,
        _ => ShelfName::Records,
    };
    call.permit(verb, shelf, about)
}

/// What a request would remove.
pub fn doomed(call: &Call, ask: &Forget) -> Result<Doomed> {
    permitted(call, Verb::Forget, "")?;
    names::given(&ask.name)?;
    // A program is shown nothing, whatever it says.
    let shown_first = ask.shown_first && call.caller().is_person();
    let enough = if shown_first { Enough::to_change(call) } else { Enough::Whole };
    let (mut named, mut unclear) = (None, None);
    if !ask.topic {
        match names::find(call, &ask.name, enough) {
            Ok(id) if id.as_str() == ask.name || id.name() == ask.name || ask.name.contains(':') => {
                let memory = seen(call, &id).ok().map(Box::new);
                return Ok(Doomed::One { id, memory });
            }
            Ok(id) => named = Some(id),
            Err(fault) if fault.code == Code::NotFound => {}
            Err(fault) if fault.code == Code::Ambiguous && shown_first => unclear = Some(fault),
            Err(fault) => return Err(fault),
        }
    }
    // Words that are no whole id may be somebody's name: then everything that speaks of them is meant, wherever it lies.
    // A yes that was given before anything was shown is for what it names, not for whatever speaks of it.
    let looks = shown_first || ask.topic;
    let mut others = if looks { about::memories(call, &ask.name)? } else { Vec::new() };
    if let Some(id) = &named
        && !others.iter().any(|memory| memory.id == *id)
    {
        others.extend(seen(call, id).ok());
    }
    let memories = match permitted(call, Verb::Forget, TOPIC).and_then(|()| call.tiers()) {
        Ok(tiers) => tiers.about_topic(&ask.name)?,
        // What somebody's name stands in is forgotten everywhere or nowhere.
        Err(fault) if fault.code == Code::Unavailable && named.is_none() => return Err(fault),
        // Whoever is not signed in can still forget what the project holds.
        Err(_) if !others.is_empty() || named.is_some() => Vec::new(),
        Err(fault) => return Err(fault),
    };
    let waiting = if looks { about::drafts(call, &ask.name)? } else { Vec::new() };
    let none = memories.is_empty() && waiting.is_empty();
    if let (Some(id), true, true) = (named, none, others.len() <= 1) {
        let memory = seen(call, &id).ok().map(Box::new);
        return Ok(Doomed::One { id, memory });
    }
    if let (Some(fault), true, true) = (unclear, none, others.is_empty()) {
        return Err(fault);
    }
    if none && others.is_empty() {
        return Err(Fault::new(
            Code::NotFound,
            format!("there is no memory `{}`, and nothing of yours is about it", ask.name),
        )
        .fact("id", ask.name.as_str())
        .hint("`heirloom list` shows all memories"));
    }
    Ok(Doomed::Topic { topic: ask.name.clone(), memories, others, waiting })
}

/// Removes drafts for good; unlike a rejection it cannot be taken back. Returns the ids they would have had.
fn forget_drafts(call: &Call, keys: &[String]) -> Result<Vec<String>> {
    permitted(call, Verb::Forget, "")?;
    let now = call.project().world().now;
    let mut gone = Vec::new();
    for inbox in call.inboxes()? {
        for item in inbox.list(now)?.into_iter().filter(|item| keys.contains(&item.key)) {
            let id = item.waiting.id.clone();
            if item.waiting.shelf == ShelfName::Tiers.name() {
                permitted(call, Verb::Forget, TOPIC)?;
                call.tiers()?.drops(&id)?;
                inbox.remove(&item)?;
            } else {
                let lock = call.lock()?;
                let (shelf, entry) = (ShelfName::Records, call.entry());
                let decision =
                    Decision { decided: Decided::Rejected, shelf, id: &id, entry, draft: None, hash: "" };
                let intent = call.decides(&lock, &decision)?;
                inbox.remove(&item)?;
                intent.done();
                // A change that waits is about a memory that has a life of its own.
                if !is_there(call, &id) {
                    call.forget_trust(&id)?;
                    call.forget_in_audit(&id)?;
                }
            }
            gone.push(id);
        }
    }
    Ok(gone)
}

fn is_there(call: &Call, id: &str) -> bool {
    MemoryId::parse(id).is_some_and(|id| seen(call, &id).is_ok())
}

/// Removes every trace of a memory. With `shred` also where that means rewriting tables that others use.
pub fn forget(call: &Call, id: &MemoryId, shred: bool) -> Result<Gone> {
    let gone = forget_one(call, id, shred)?;
    // A commit's message stays for good, and an id is made from a title.
    commit::commit(call, "memory: forget");
    Ok(gone)
}

fn forget_one(call: &Call, id: &MemoryId, shred: bool) -> Result<Gone> {
    permitted(call, Verb::Forget, id.as_str())?;
    let shelf = call.shelf_of(id)?;
    // What is not this caller's to see is not there for them; of what is gone already, traces may be left.
    if shelf.get(id)?.is_some_and(|memory| !call.caller().sees().sees(&memory)) {
        return Err(unknown(id.as_str()));
    }
    let gone = shelf
        .forget(id, call.entry())
        .map_err(|fault| if fault.code == Code::NotFound { unknown(id.as_str()) } else { fault })?;
    let mut unreached = Vec::new();
    if shred && id.kind().shelf() == ShelfName::Tiers {
        unreached = call.tiers()?.scrub(true)?;
    }
    derived(call, [gone.id.as_str()])?;
    super::once::forget(call, &[id.as_str(), gone.id.as_str()])?;
    [id, &gone.id].into_iter().try_for_each(|id| call.forget_in_audit(id.as_str()))?;
    Ok(Gone { forgotten: gone, unreached })
}

/// Removes what was found about a topic: turns and facts, the project's memories, drafts. Whoever may not remove all of it removes nothing.
pub fn forget_topic(call: &Call, ask: &ForgetTopic) -> Result<Cleared> {
    let others: Vec<MemoryId> =
        ask.others.iter().map(|id| MemoryId::parse(id).ok_or_else(|| unknown(id))).collect::<Result<_>>()?;
    permitted(call, Verb::Forget, "")?;
    if !ask.memories.is_empty() {
        permitted(call, Verb::Forget, TOPIC)?;
    }
    others.iter().try_for_each(|id| permitted(call, Verb::Forget, id.as_str()))?;
    let mut gone = match ask.memories.is_empty() {
        true => Cleared::default(),
        false => {
            let ids = call.tiers()?.forget_topic(&ask.topic, &ask.memories)?;
            cleared(call, ids, ask.shred)?
        }
    };
    gone.ids.extend(forget_drafts(call, &ask.drafts)?);
    for id in &others {
        let Gone { forgotten, unreached } = forget_one(call, id, ask.shred)?;
        gone.ids.push(forgotten.id.to_string());
        gone.unreached.extend(unreached);
        gone.in_git.extend(forgotten.in_git);
    }
    gone.count = gone.ids.len();
    commit::commit(call, "memory: forget");
    Ok(gone)
}

/// Which of a user's memories are to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clear {
    /// `episodic`, `semantic` or `all`.
    pub tier: String,
    /// Also where that means rewriting tables that others use.
    #[serde(default)]
    pub shred: bool,
}

impl Clear {
    fn tier(&self) -> Result<Option<Tier>> {
        match (self.tier.as_str(), Tier::named(&self.tier)) {
            ("all", _) => Ok(None),
            (_, Some(tier)) if tier != Tier::Working => Ok(Some(tier)),
            _ => Err(Fault::new(Code::Usage, format!("there is no tier `{}`", self.tier))
                .hint("use episodic, semantic or all")),
        }
    }
}

/// What [`clear`] would remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clearing {
    /// Whose memories.
    pub user: String,
    /// What they are.
    pub what: &'static str,
    /// How many.
    pub count: u64,
    /// Whether it is everything.
    pub everything: bool,
}

/// What would be removed, for whoever asks before it is.
pub fn clearing(call: &Call, ask: &Clear) -> Result<Clearing> {
    let tier = ask.tier()?;
    permitted(call, Verb::Clear, &ask.tier)?;
    let tiers = call.tiers()?;
    let counts = tiers.store().counts(tiers.who())?;
    let (what, count) = match tier {
        Some(Tier::Episodic) => ("episodes", counts.episodes),
        Some(_) => ("facts", counts.facts + counts.superseded),
        None => ("episodes and facts", counts.episodes + counts.facts + counts.superseded + counts.retired),
    };
    Ok(Clearing { user: tiers.who().user().to_owned(), what, count, everything: tier.is_none() })
}

/// Removes every turn or every fact of a user, or both.
pub fn clear(call: &Call, ask: &Clear) -> Result<Cleared> {
    let tier = ask.tier()?;
    permitted(call, Verb::Clear, &ask.tier)?;
    let gone = call.tiers()?.clear(tier)?;
    cleared(call, gone, ask.shred)
}

pub(super) fn cleared(call: &Call, gone: Vec<String>, shred: bool) -> Result<Cleared> {
    let unreached = call.tiers()?.scrub(shred)?;
    derived(call, gone.iter().map(String::as_str))?;
    super::once::forget(call, &gone.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok(Cleared { count: gone.len(), ids: gone, unreached, ..Cleared::default() })
}

/// What is derived from the shelves must not remember what they forgot. A project without a memory has nothing derived.
fn derived<'a>(call: &Call, gone: impl IntoIterator<Item = &'a str>) -> Result<()> {
    if !call.project().has_local() {
        return Ok(());
    }
    let gone: Vec<&str> = gone.into_iter().collect();
    ShelfIndex::forget(call, &gone)?;
    gone.iter().try_for_each(|id| {
        ledger::forget(call.project(), id)?;
        trace::forget(call.project(), id)
    })
}

/// What to do with the vault.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compact {
    /// Only say how much would go.
    #[serde(default)]
    pub dry_run: bool,
}

/// What became of the vault.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Compaction {
    /// Nothing yet.
    Would {
        /// Always true.
        #[schemars(extend("const" = true))]
        dry_run: bool,
        /// Lines there are.
        lines: usize,
        /// Lines that no longer count.
        would_go: usize,
    },
    /// It was rewritten.
    Done(Compacted),
}

/// Drops the vault's lines that no longer count.
pub fn compact(call: &Call, ask: &Compact) -> Result<Compaction> {
    if ask.dry_run {
        super::may_read(call, Verb::Status)?;
        let stats = call.vault().stats()?;
        let (lines, would_go) = (stats.raw_lines, stats.compactable_lines);
        return Ok(Compaction::Would { dry_run: true, lines, would_go });
    }
    permitted(call, Verb::Compact, "vault")?;
    let compacted = call.vault().compact(call.entry())?;
    commit::commit(call, "memory: compact the vault");
    Ok(Compaction::Done(compacted))
}

/// What to do with what the gate would refuse.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redact {
    /// Cut it out; without it, only name it.
    #[serde(default)]
    pub fix: bool,
}

/// Looks for what the gate would refuse in every shelf; with `fix`, cuts it out.
pub fn redact(call: &Call, ask: &Redact) -> Result<Redacted> {
    super::may_read(call, Verb::Scan)?;
    call.project().expect_memory()?;
    let held = call.refused_content()?;
    if !ask.fix || held.is_empty() {
        return Ok(Redacted { left: held.clone(), held, fixed: Vec::new() });
    }
    permitted(call, Verb::Redact, "")?;
    let fixed = call.redact_stored(call.entry())?;
    commit::commit(call, "memory: redact");
    Ok(Redacted { held, fixed, left: call.refused_content()? })
}
