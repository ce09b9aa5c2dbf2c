//! Recall: what an agent is given for a prompt, for the hook and for whoever wants to see it.
//!
//! Comes in: a prompt, the session it belongs to, how much the host takes. Goes out: the block, byte for byte what an agent gets, and the
//! memories in it. It is always an agent's answer: a person who asks sees what their agent would. The hook reads nothing beyond what it
//! gives. Never here: ranking, or the rules of the block.

use super::may_read;
use super::search::{Ranking, whole};
use super::told::{self, Hit};
use crate::call::Call;
use crate::follow::{Look, ShelfIndex};
use crate::inject::{Budget, answer_block, prompt_block, vault};
use crate::rank::query::Conditions;
use crate::recall::answer::{Asked, Recalled, answer, for_agent};
use crate::recall::ledger;
use crate::recall::prompt::{Called, for_prompt, says_too_little};
use crate::recall::title_tags::{Hit as Titled, Why};
use crate::shelf::anchors::Freshness;
use heirloom_core::settings::MatchStrategy;
use heirloom_core::{Audience, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Bytes of an index that are brought into memory while a session waits to begin; more are left to another process.
const WARMED_AT_ONCE: u64 = 16 << 20;
/// Hits ranked for each one that may be given, since some were given before or are not near enough.
const RANKED: usize = 4;
/// Most characters a prompt is answered with under `title_tags`, well below what any agent swaps for a file.
const PROMPT_MAX: usize = 6_000;
/// Most of them for the vault's answer.
const VAULT_MAX: usize = 2_000;
/// What a host takes that says nothing else, in characters.
const HOST_MAX: usize = 10_000;

/// A prompt.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Recall {
    /// Its words.
    pub prompt: String,
    /// The session, which is not given what it already has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Most characters the host takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<usize>,
}

/// What an agent is given, for whoever looks at it.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Answer {
    /// The prompt.
    pub prompt: String,
    /// What chose the hits.
    pub ranking: Ranking,
    /// The memories, best first. Under `title_tags` the vault's part of the block has no hits of its own.
    pub hits: Vec<Hit>,
    /// What the agent gets.
    pub block: String,
}

/// What a prompt is answered with.
#[derive(Debug, Default)]
pub struct Given {
    /// The block; empty if nothing fits.
    pub block: String,
    /// How many fit and were given before in this session.
    pub repeated: usize,
    /// What was given and why, a line each, without any text of a memory.
    pub because: Vec<String>,
}

/// What a prompt is answered with, how full that makes the block, and what is not in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
    /// Tokens of the block, by a generous guess.
    pub tokens: usize,
    /// Tokens that the settings allow.
    pub most_tokens: usize,
    /// Characters that the host and the ranking allow.
    pub most_chars: usize,
    /// Memories that the settings allow.
    pub most_memories: usize,
    /// What was ranked and is not in the block, best first.
    pub left_out: Vec<LeftOut>,
}

/// A memory that is not in a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// The memory.
    pub hit: Hit,
    /// Why it is not.
    pub reason: &'static str,
}

enum Chosen {
    Hybrid(Vec<Recalled>),
    Titles(Box<Called>),
}

/// Whether recall ranks over every shelf here. Without a project there are no titles to go by: turns and facts are ranked.
pub fn is_hybrid(call: &Call) -> bool {
    call.project().is_nowhere() || call.settings().retrieval.match_strategy == MatchStrategy::Hybrid
}

/// Brings the index up to date when a session begins. What goes wrong here goes wrong again at the prompt, where it is told.
pub fn prepare(call: &Call) {
    if is_hybrid(call) && call.project().root().folder().is_dir() {
        let _ = ShelfIndex::open(call, Look::Start);
    }
}

/// Looks at everything there is and brings the index up to date, for whoever serves a project for long.
pub fn follow(call: &Call) -> Result<()> {
    if is_hybrid(call) && call.project().root().folder().is_dir() {
        ShelfIndex::open(call, Look::Thorough)?;
    }
    Ok(())
}

/// Has the index ready for the first prompt. The last thing a beginning session does: whoever reads from the disk after this waits behind it.
/// Says whether all of it is in memory.
pub fn warm(call: &Call) -> bool {
    ShelfIndex::warm(call, WARMED_AT_ONCE)
}

/// What a prompt is answered with, noted where `why` finds it and where the session's next prompt knows of it.
pub fn prompt(call: &Call, ask: &Recall) -> Result<Given> {
    may_read(call, Verb::Recall)?;
    // What somebody types to an agent may be a mere yes; whoever asks for memories means it.
    let (chosen, block, repeated) = match is_hybrid(call) && says_too_little(&ask.prompt) {
        true => (Chosen::Hybrid(Vec::new()), String::new(), 0),
        false => choose(call, ask)?,
    };
    if block.is_empty() {
        return Ok(Given { repeated, ..Given::default() });
    }
    let agent = call.caller().agent().unwrap_or_default();
    let (project, session) = (call.project(), ask.session.as_deref());
    // A ledger that cannot be written costs nobody a memory.
    let _ = match &chosen {
        Chosen::Hybrid(hits) => ledger::note(project, session, agent, hits),
        Chosen::Titles(called) => ledger::note_given(project, session, agent, called.given()),
    };
    Ok(Given { block, repeated, because: because(&chosen) })
}

/// What a prompt is answered with in a clone that this account has not used: by titles and tags, which needs no index, and nothing is noted.
pub fn prompt_of_guest(call: &Call, ask: &Recall) -> Result<Given> {
    may_read(call, Verb::Recall)?;
    if says_too_little(&ask.prompt) {
        return Ok(Given::default());
    }
    let (chosen, block) = by_titles(call, ask)?;
    Ok(Given { because: if block.is_empty() { Vec::new() } else { because(&chosen) }, block, repeated: 0 })
}

/// What an agent would be given for a prompt. Nothing is noted.
pub fn recall(call: &Call, ask: &Recall) -> Result<Answer> {
    may_read(call, Verb::Recall)?;
    let (chosen, block, _) = choose(call, ask)?;
    let (ranking, hits) = match chosen {
        Chosen::Hybrid(hits) => (Ranking::Hybrid, whole(call, hits, Ranking::Hybrid)),
        Chosen::Titles(called) => (Ranking::TitleTags, of_titles(call, *called)),
    };
    Ok(Answer { prompt: ask.prompt.clone(), ranking, hits, block })
}

/// Whose scopes of the vault an agent sees, also where a person looks over its shoulder.
fn audience(call: &Call) -> Audience {
    let scopes = call.settings().vault.visible(call.caller().agent());
    Audience::of(scopes.into_iter().map(str::to_owned).collect())
}

fn choose(call: &Call, ask: &Recall) -> Result<(Chosen, String, usize)> {
    if is_hybrid(call) {
        return hybrid(call, ask, ask.most.unwrap_or(HOST_MAX));
    }
    let (chosen, block) = by_titles(call, ask)?;
    Ok((chosen, block, 0))
}

fn by_titles(call: &Call, ask: &Recall) -> Result<(Chosen, String)> {
    let most = ask.most.unwrap_or(HOST_MAX);
    let mut called = for_prompt(call, &ask.prompt)?;
    called.vault = vault::prompt_context(call, &ask.prompt, call.caller().agent(), VAULT_MAX)?;
    let block = prompt_block(call, &called, PROMPT_MAX.min(most));
    Ok((Chosen::Titles(Box::new(called)), block))
}

fn hybrid(call: &Call, ask: &Recall, most: usize) -> Result<(Chosen, String, usize)> {
    let settings = &call.settings().retrieval;
    let room = settings.max_inject;
    if !settings.enabled || room == 0 || ask.prompt.trim().is_empty() {
        return Ok((Chosen::Hybrid(Vec::new()), String::new(), 0));
    }
    let mut hits = ranked(call, ask)?;
    let mut repeated = 0;
    if let Some(session) = &ask.session {
        // A ledger that cannot be read costs a repetition, not the memories.
        let has = ledger::in_session(call.project(), session).unwrap_or_default();
        let before = hits.len();
        hits.retain(|hit| has.get(&hit.id) != Some(&hit.told_as()));
        repeated = before - hits.len();
    }
    let hits = for_agent(call, hits, room);
    let budget = Budget { chars: most, tokens: settings.max_tokens };
    let (block, shown) = answer_block(call, &hits, budget);
    let shown = shown.into_iter().cloned().collect();
    Ok((Chosen::Hybrid(shown), block, repeated))
}

/// What is ranked for a prompt, before anything is left out.
fn ranked(call: &Call, ask: &Recall) -> Result<Vec<Recalled>> {
    let asked = Asked {
        text: ask.prompt.clone(),
        conditions: Conditions::default(),
        include_retired: false,
        files: heirloom_core::text::files_named(&ask.prompt),
        limit: call.settings().retrieval.max_inject * RANKED,
        audience: audience(call),
        look: Look::Quick,
        unasked: true,
    };
    answer(call, &asked)
}

/// What an agent would be given for a prompt, and what would be left out and why. Nothing is noted.
pub fn tried(call: &Call, ask: &Recall) -> Result<Tried> {
    let answer = recall(call, ask)?;
    let settings = &call.settings().retrieval;
    let host = ask.most.unwrap_or(HOST_MAX);
    let mut tried = Tried {
        tokens: Budget::tokens_of(&answer.block),
        most_tokens: settings.max_tokens,
        most_chars: if is_hybrid(call) { host } else { PROMPT_MAX.min(host) },
        most_memories: settings.max_inject,
        left_out: Vec::new(),
        answer,
    };
    if !is_hybrid(call) || !settings.enabled || settings.max_inject == 0 || ask.prompt.trim().is_empty() {
        return Ok(tried);
    }
    let has = match &ask.session {
        Some(session) => ledger::in_session(call.project(), session).unwrap_or_default(),
        None => HashMap::new(),
    };
    let ranked = ranked(call, ask)?;
    let fresh: Vec<Recalled> =
        ranked.iter().filter(|hit| has.get(&hit.id) != Some(&hit.told_as())).cloned().collect();
    let fit = for_agent(call, fresh, settings.max_inject);
    let shown: Vec<&str> = tried.answer.hits.iter().map(|hit| hit.memory.id.as_str()).collect();
    let reason = |hit: &Recalled| {
        let gone = hit.cited.as_ref().is_some_and(|cited| cited.state == Freshness::Gone);
        match () {
            () if has.get(&hit.id) == Some(&hit.told_as()) => "this session has it already",
            () if fit.iter().any(|one| one.id == hit.id) => "does not fit into the budget",
            () if gone => "the code it cites is gone",
            () if !hit.telling => "not close enough to the prompt",
            () => "more than retrieval.max_inject allows, or its place is kept for a more trusted one",
        }
    };
    let out: Vec<Recalled> = ranked.into_iter().filter(|hit| !shown.contains(&hit.id.as_str())).collect();
    let reasons: HashMap<String, &'static str> =
        out.iter().map(|hit| (hit.id.clone(), reason(hit))).collect();
    tried.left_out = whole(call, out, Ranking::Hybrid)
        .into_iter()
        .map(|hit| LeftOut { reason: reasons.get(hit.memory.id.as_str()).copied().unwrap_or_default(), hit })
        .collect();
    Ok(tried)
}

fn because(chosen: &Chosen) -> Vec<String> {
    match chosen {
        Chosen::Hybrid(hits) => {
            hits.iter().map(|hit| format!("{} (score {:.2})", hit.id, hit.score)).collect()
        }
        Chosen::Titles(called) => {
            let records = called.records.iter().map(|hit| format!("{} (score {})", hit.path, hit.score));
            let beside = called.notes.iter().chain(&called.lessons);
            let beside = beside.map(|beside| format!("{} ({})", beside.memory.id, beside.why));
            let mut because: Vec<String> = records.chain(beside).collect();
            let of_vault = called.vault.lines().filter(|line| line.starts_with("- ")).count();
            if of_vault > 0 {
                because.push(format!("{of_vault} of the vault"));
            }
            because
        }
    }
}

/// Records by title and tags, then the notes and lessons beside them.
fn of_titles(call: &Call, called: Called) -> Vec<Hit> {
    let ids: Vec<String> = called.records.iter().map(Titled::id).collect();
    let mut memories = told::memories(call, &ids);
    let records = called.records.into_iter().filter_map(|found| {
        let memory = memories.remove(&found.id())?;
        let mut hit = Hit::of(call, memory, Some(f64::from(found.score)), words(&found.why));
        hit.cites(call, found.cited);
        Some(hit)
    });
    let beside = called.notes.into_iter().chain(called.lessons).map(|beside| {
        let mut hit = Hit::of(call, beside.memory, None, vec![(beside.why, 0.0)]);
        hit.cites(call, beside.cited);
        hit
    });
    let hits: Vec<Hit> = records.collect();
    hits.into_iter().chain(beside).collect()
}

/// Which words of a prompt gave a record its points.
fn words(why: &Why) -> Vec<(String, f64)> {
    let named = |name: String| match name.as_str() {
        "title" => format!("title {}", why.title.join(", ")),
        "tags" => format!("tag {}", why.tags.join(", ")),
        "prefix" => format!("prefix {}", why.prefix.join(", ")),
        "recent" => "updated in the last 30 days".to_owned(),
        _ => name,
    };
    why.parts().into_iter().map(|(name, points)| (named(name), points)).collect()
}
