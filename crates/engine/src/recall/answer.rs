//! `hybrid` recall: one ranking over every shelf, for prompts, `recall` and `search` alike.
//!
//! Comes in: a question with its conditions and who asks. Goes out: memories of all shelves, best first, each with every factor of its score.
//! Whatever is shown was looked at after its file last changed. Never here: how an answer is shown, or how much of it.

use crate::budget;
use crate::call::Call;
use crate::follow::{Look, ShelfIndex, described, fault};
use crate::index::embed::Embedder;
use crate::index::{Card, Document, IndexError, Status as Kept, Trust as Level};
use crate::rank::query::Conditions;
use crate::rank::{Ask, Compared, Explain, Weights, block, is_mixed, put_behind, rank, seated};
use crate::shelf::anchors::{self, Anchored, Freshness};
use crate::shelf::tiers::{Found, LifeStatus};
use crate::shelf::{Audience, Shelf as _, provenance, topics};
use heirloom_core::{Channel, Code, Kind, Memory, MemoryId, Scope, ShelfName, Trust, fault::Result};
use serde::Serialize;

/// Hits looked at beyond those wanted, since some may not be for whoever asks.
const SPARE: usize = 16;

/// What a memory loses whose cited code changed: about as much as a file in play would have brought it.
const STALE: f64 = 0.3;

/// Said of what somebody else wrote and a person accepted.
const ACCEPTED: &str = "accepted";
/// Said of a turn that quotes something from outside.
const FROM_OUTSIDE: &str = "from external content";

/// What is asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The question or prompt.
    pub text: String,
    /// What a hit must meet.
    pub conditions: Conditions,
    /// Whether retired memories may be found.
    pub include_retired: bool,
    /// Files in play, from the project folder.
    pub files: Vec<String>,
    /// How many are wanted at most.
    pub limit: usize,
    /// Who asks.
    pub audience: Audience,
    /// How closely to look for changed files.
    pub look: Look,
    /// Whether it is for somebody who did not ask, such as an agent with a prompt: then only what is telling comes.
    pub unasked: bool,
}

/// A memory that was recalled, as the index has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recalled {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// One line; empty where the shelf has none.
    pub title: String,
    /// The text.
    pub body: String,
    /// Labels.
    pub tags: Vec<String>,
    /// Where it holds.
    pub scope: String,
    /// Where it came from.
    pub source: String,
    /// How far to believe it.
    pub trust: Trust,
    /// What else must be said of where it came from: that a person accepted it, that it quotes something from outside.
    #[serde(skip)]
    pub marks: Vec<&'static str>,
    /// Whether it is out of use.
    pub retired: bool,
    /// The file it lives in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Changes whenever the stored bytes do.
    pub version: String,
    /// The sum of its factors.
    pub score: f64,
    /// What the score is made of.
    pub why: Vec<(String, f64)>,
    /// The question's words it holds, stemmed, with what each adds.
    pub terms: Vec<(String, f32)>,
    /// The memory it stands behind because that one says the same and is trusted more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
    /// The code it cites and whether that is still what it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cited: Option<Anchored>,
    /// Whether it has anything to do with the question: words in common, here or beside it, or a meaning not too far away.
    #[serde(skip)]
    pub near: bool,
    /// Whether it is near enough to the question to be given to an agent unasked.
    #[serde(skip)]
    pub telling: bool,
}

impl Recalled {
    /// What a session that is given this has: its version, and whether it was told that the cited code changed.
    pub fn told_as(&self) -> String {
        match &self.cited {
            Some(cited) if cited.state >= Freshness::Changed => {
                format!("{} {}", self.version, cited.state.name())
            }
            _ => self.version.clone(),
        }
    }
}

/// The memories a question calls for.
pub fn answer(call: &Call, asked: &Asked) -> Result<Vec<Recalled>> {
    let _span = tracing::debug_span!("recall", look = ?asked.look, limit = asked.limit).entered();
    let mut found = match project(call, asked, asked.look) {
        // What a hook cannot read is left out, and noted where it was met.
        Err(_) if budget::gaps() > 0 => Vec::new(),
        found => found?,
    };
    found.extend(tiers(call, asked)?);
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
    if asked.unasked {
        topics_first(&mut found, &asked.text);
    }
    // First who stands behind whom: where there is room for one, it is the trusted one of its variants.
    let found = seated(behind(found), asked.limit, |hit| Level::from(hit.trust), |hit| hit.telling);
    // Of what a prompt calls for only a few are shown, and those are looked up once they are chosen.
    Ok(if asked.unasked { found } else { as_stored(call, found) })
}

/// Among the lessons that a prompt calls for, those in a topic it names come first, however old they are. Each place of a lesson in the
/// order stays a lesson's.
fn topics_first(found: &mut [Recalled], question: &str) {
    let is_lesson = |hit: &Recalled| hit.telling && Kind::named(&hit.kind).shelf() == ShelfName::Topics;
    let places: Vec<usize> = (0..found.len()).filter(|&at| is_lesson(&found[at])).collect();
    let (named, others): (Vec<usize>, Vec<usize>) =
        places.iter().partition(|&&at| topics::names_topic(question, &found[at].tags));
    if named.is_empty() || others.is_empty() {
        return;
    }
    let lessons: Vec<Recalled> = named.iter().chain(&others).map(|&at| found[at].clone()).collect();
    for (at, lesson) in places.into_iter().zip(lessons) {
        found[at] = lesson;
    }
}

/// Hits as their files have them and as the trust book knows those very bytes. An index lies where everybody who can write into the project
/// can change it, so nothing of it is shown: it only says what to look for. A hit whose file is gone, or says something that must not be
/// recalled, goes.
pub fn as_stored(call: &Call, hits: Vec<Recalled>) -> Vec<Recalled> {
    let of_project = |hit: &Recalled| Kind::named(&hit.kind).shelf() != ShelfName::Tiers;
    if !hits.iter().any(of_project) {
        return hits;
    }
    let Ok(forgotten) = provenance::forgotten(call.project().root()) else { return Vec::new() };
    // The vault is one file: it is read once for all of its hits.
    let names = hits.iter().filter_map(|hit| MemoryId::parse(&hit.id));
    let names: Vec<String> =
        names.filter(|id| id.kind().shelf() == ShelfName::Vault).map(|id| id.name().to_owned()).collect();
    let vault = if names.is_empty() { Vec::new() } else { call.vault().several(&names).unwrap_or_default() };
    let stored = |hit: &Recalled| -> Option<Memory> {
        let id = MemoryId::parse(&hit.id)?;
        if id.kind().shelf() == ShelfName::Vault {
            return vault.iter().find(|memory| memory.id == id).cloned();
        }
        call.shelf_of(&id).ok()?.get(&id).ok()?.filter(|memory| memory.id == id)
    };
    let seen = |mut hit: Recalled| {
        if !of_project(&hit) {
            return Some(hit);
        }
        let memory = stored(&hit)?;
        let document = described::document(call, &forgotten, &memory);
        let retired = document.status == Kept::Retired;
        if document.status == Kept::Held || (retired && !hit.retired) {
            return None;
        }
        let standing = call.standing(memory.id.as_str(), &memory.content_hash).ok()?;
        let accepted = standing.accepted && standing.channel != Channel::Person;
        hit.marks = if accepted { vec![ACCEPTED] } else { Vec::new() };
        hit.trust = memory.trust;
        hit.retired = retired;
        hit.kind = document.kind;
        hit.title = document.title;
        hit.body = document.body;
        hit.tags = document.tags;
        hit.scope = document.scope;
        hit.source = document.source;
        hit.file = document.file;
        hit.version = document.version;
        Some(hit)
    };
    hits.into_iter().filter_map(seen).collect()
}

/// Puts what says the same as a trusted memory right behind it, whatever shelf either is on.
fn behind(found: Vec<Recalled>) -> Vec<Recalled> {
    if !is_mixed(found.iter().map(|hit| Level::from(hit.trust))) {
        return found;
    }
    let texts: Vec<Compared> = found
        .iter()
        .map(|hit| Compared::of(Level::from(hit.trust), &hit.title, &hit.body, &hit.terms))
        .collect();
    let ids: Vec<String> = found.iter().map(|hit| hit.id.clone()).collect();
    put_behind(found, &texts, |hit, high| hit.behind = Some(ids[high].clone()))
}

/// The memories that meet the conditions, whatever they are about, newest first.
pub fn listed(call: &Call, asked: &Asked) -> Result<Vec<Recalled>> {
    let mut found = Vec::new();
    if call.project().root().folder().is_dir() {
        let mut index = ShelfIndex::open(call, asked.look)?;
        let (reader, _) = index.reader()?;
        let ask = ask(call, asked);
        for number in reader.newest().map_err(|e| fault(&e))? {
            let Some(card) = reader.card(number).map_err(|e| fault(&e))?.filter(|card| ask.admits(card))
            else {
                continue;
            };
            let document = reader.document(number).map_err(|e| fault(&e))?;
            let fits = |document: &Document| {
                (!asked.conditions.need_text() || asked.conditions.admit_text(document))
                    && asked.audience.sees_in(&Kind::named(&document.kind), &scope_of(&document.scope))
            };
            let Some(document) = document.filter(fits) else { continue };
            found.push((card.occurred_at, recalled(document, 0.0, &Explain::default())));
            if found.len() == asked.limit {
                break;
            }
        }
    }
    let wanted =
        |kind: &str| asked.conditions.kinds.is_empty() || asked.conditions.kinds.iter().any(|k| k == kind);
    if let Some(tiers) =
        call.tiers().ok().filter(|tiers| tiers.are_there() && (wanted("episode") || wanted("fact")))
    {
        // Tiers that cannot be reached are silent here; `list --tier` says why.
        let newest = tiers.newest(None, None, None, asked.limit.saturating_mul(4)).unwrap_or_default();
        for memory in
            newest.into_iter().filter(|memory| asked.include_retired || memory.status == LifeStatus::Active)
        {
            let at = memory.occurred_at.as_second();
            let found_one = Found { memory, score: 0.0, why: Vec::new(), explain: Explain::default() };
            found.extend(of_tiers(found_one, asked).map(|hit| (at, hit)));
        }
    }
    found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.id.cmp(&other.id)));
    found.truncate(asked.limit);
    let mut found: Vec<Recalled> = found.into_iter().map(|(_, hit)| hit).collect();
    mark_stale(call, &mut found);
    found.iter_mut().for_each(|hit| (hit.score, hit.near) = (0.0, true));
    Ok(as_stored(call, found))
}

fn ask(call: &Call, asked: &Asked) -> Ask {
    Ask {
        text: asked.text.clone(),
        now: call.project().world().now.as_second(),
        files: asked.files.clone(),
        scopes: Vec::new(),
        limit: asked.limit.saturating_add(SPARE),
        conditions: asked.conditions.clone(),
        include_retired: asked.include_retired,
    }
}

fn scope_of(text: &str) -> Scope {
    match text.strip_prefix("agent:") {
        Some(name) => Scope::Agent(name.to_owned()),
        None => Scope::Global,
    }
}

/// Those of an answer that an agent is given at a prompt, as their files and the trust book have them: what is near enough and cites nothing
/// that is gone, and low trust at most by half while high trust waits.
pub fn for_agent(call: &Call, answer: Vec<Recalled>, room: usize) -> Vec<Recalled> {
    // Chosen a second time, because the first choice went by what the index says of trust.
    chosen(as_stored(call, chosen(answer, room)), room)
}

fn chosen(answer: Vec<Recalled>, room: usize) -> Vec<Recalled> {
    let gone = |hit: &Recalled| hit.cited.as_ref().is_some_and(|cited| cited.state == Freshness::Gone);
    let telling: Vec<Recalled> = answer.into_iter().filter(|hit| hit.telling && !gone(hit)).collect();
    block(&telling, room, |hit| Level::from(hit.trust)).into_iter().cloned().collect()
}

fn project(call: &Call, asked: &Asked, look: Look) -> Result<Vec<Recalled>> {
    // A project without a memory folder has nothing to recall, and asking must not make one.
    if !call.project().root().folder().is_dir() {
        return Ok(Vec::new());
    }
    let glanced = match look {
        Look::Quick => ShelfIndex::glance(call).and_then(|mut index| {
            let found = ranked(call, asked, look, &mut index).ok()?;
            let counts = index.held_still();
            if index.is_glance() {
                call.keep(index);
            }
            counts.then_some(found)
        }),
        Look::Start | Look::Thorough => None,
    };
    let found = match glanced {
        Some(found) => found,
        None => ranked(call, asked, look, &mut ShelfIndex::open(call, look)?)?,
    };
    let Some(found) = found else { return project(call, asked, Look::Thorough) };
    let mut found: Vec<Recalled> = found
        .into_iter()
        .filter(|hit| asked.audience.sees_in(&Kind::named(&hit.kind), &scope_of(&hit.scope)))
        .collect();
    mark_stale(call, &mut found);
    Ok(found)
}

/// What an index says; `None` if a file is no longer what was indexed.
fn ranked(call: &Call, asked: &Asked, look: Look, index: &mut ShelfIndex) -> Result<Option<Vec<Recalled>>> {
    let found = {
        let (reader, model) = index.reader()?;
        let ask = ask(call, asked);
        let model = model.map(|model| model as &dyn Embedder);
        let hits = match rank(&reader, model, &ask, &Weights::default()) {
            // An endpoint that does not answer costs the vectors, not the memories.
            Err(IndexError::Embed(_)) => rank(&reader, None, &ask, &Weights::default()),
            ranked => ranked,
        };
        let hits = hits.map_err(|e| fault(&e))?;
        let mut found = Vec::with_capacity(hits.len());
        for hit in hits.into_iter().filter(|hit| !asked.unasked || hit.why.is_telling()) {
            let Some(document) = reader.document(hit.number).map_err(|e| fault(&e))? else { continue };
            found.push(recalled(document, f64::from(hit.score), &hit.why));
        }
        found
    };
    // A file that was written in place changes nothing about its folder: what is about to be shown is looked at once more.
    let shown = found.iter().take(asked.limit).map(|hit| (hit.kind.as_str(), hit.file.as_str()));
    let current = look != Look::Quick || index.are_current(call, shown)?;
    Ok(current.then_some(found))
}

/// Looks at the code that hits cite, in the working tree as it is now. Citations that cannot be read cost nobody a memory.
fn mark_stale(call: &Call, found: &mut [Recalled]) {
    let ids: Vec<&str> = found.iter().map(|hit| hit.id.as_str()).collect();
    let Ok(mut cited) = anchors::check_ids(call, &ids) else { return };
    for hit in found {
        hit.cited = cited.remove(&hit.id);
        if hit.cited.as_ref().is_some_and(|cited| cited.state >= Freshness::Changed) {
            hit.score -= STALE;
            hit.why.push(("stale".to_owned(), -STALE));
        }
    }
}

fn recalled(document: Document, score: f64, why: &Explain) -> Recalled {
    let factors = why.factors.named().into_iter().filter(|(_, points)| *points != 0.0);
    Recalled {
        trust: match document.trust {
            Level::High => Trust::High,
            Level::Medium => Trust::Medium,
            Level::Low => Trust::Low,
        },
        marks: Vec::new(),
        retired: document.status != Kept::Active,
        score,
        why: factors.map(|(name, points)| (name.to_owned(), f64::from(points))).collect(),
        terms: why.terms.clone(),
        behind: why.behind.clone(),
        cited: None,
        near: why.is_near(),
        telling: why.is_telling(),
        id: document.id,
        kind: document.kind,
        title: document.title,
        body: document.body,
        tags: document.tags,
        scope: document.scope,
        source: document.source,
        file: document.file,
        version: document.version,
    }
}

/// Turns and facts of whoever asks. Tiers that cannot be reached are silent here; `search --tier` says why.
fn tiers(call: &Call, asked: &Asked) -> Result<Vec<Recalled>> {
    let wanted =
        |kind: &str| asked.conditions.kinds.is_empty() || asked.conditions.kinds.iter().any(|k| k == kind);
    if !(wanted("episode") || wanted("fact")) {
        return Ok(Vec::new());
    }
    let kinds = &asked.conditions.kinds;
    let only = !kinds.is_empty() && kinds.iter().all(|kind| kind == "episode" || kind == "fact");
    let found = match call.tiers() {
        Ok(tiers) if !tiers.are_there() => return Ok(Vec::new()),
        Ok(tiers) => tiers.recall(&asked.text, asked.limit),
        Err(fault) => Err(fault),
    };
    let found = match found {
        Ok(found) => found,
        // Whoever asks for nothing else would take silence for an answer.
        Err(fault) if only && fault.code == Code::Unavailable => return Err(fault),
        Err(_) => return Ok(Vec::new()),
    };
    Ok(found.into_iter().filter_map(|found| of_tiers(found, asked)).collect())
}

fn of_tiers(found: Found, asked: &Asked) -> Option<Recalled> {
    let Found { memory, score, why, explain } = found;
    let document = crate::shelf::tiers::document(&memory);
    let card = Card::of(&document);
    if !asked.conditions.admit(&card)
        || (asked.conditions.need_text() && !asked.conditions.admit_text(&document))
    {
        return None;
    }
    let mut hit = recalled(document, score, &explain);
    // Accepted or not, it came from where it came from.
    hit.source = memory.channel.source().name().to_owned();
    if memory.accepted && memory.channel.trust() < Trust::High {
        hit.marks.push(ACCEPTED);
    }
    if memory.from_external_content {
        hit.marks.push(FROM_OUTSIDE);
    }
    hit.version = memory.hash().get(..16).unwrap_or_default().to_owned();
    hit.why = why;
    Some(hit)
}

/// The memory behind a hit, as its shelf has it now.
pub fn memory(call: &Call, hit: &Recalled) -> Result<Option<Memory>> {
    let Some(id) = MemoryId::parse(&hit.id) else { return Ok(None) };
    if id.kind().shelf() == ShelfName::Tiers {
        return call.tiers()?.get(&id);
    }
    call.shelf_of(&id)?.get(&id)
}
