//! What single shelves can be asked: briefs and topics of lessons, lists of notes, the vault's blocks and figures.
//!
//! Comes in: a question in a shelf's own terms. Goes out: memories of that shelf, blocks ready to be given, figures. A caller names scopes
//! of the vault only among those it sees. Never here: writing, except that reading a topic is counted.

use super::{may_read, told};
use crate::call::Call;
use crate::inject::Brief;
use crate::shelf::notes::{Filter as NoteFilter, Session};
use crate::shelf::vault::Filter;
use crate::shelf::{Listing, Shelf as _};
use heirloom_core::settings::distance;
use heirloom_core::{Code, Fault, Memory, Status, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

pub use crate::shelf::vault::Stats;

/// Memories, in an order the question gives.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
pub struct Memories {
    /// The memories.
    pub memories: Vec<Memory>,
}

impl Memories {
    fn of(call: &Call, memories: Vec<Memory>) -> Memories {
        Memories { memories: told::fit_all(call, memories) }
    }
}

/// The two or three lessons a task should start with.
pub fn brief(call: &Call, task: &str) -> Result<Brief> {
    may_read(call, Verb::Brief)?;
    call.topics().brief(task)
}

/// The lessons of a topic, newest first; counts that they were read.
pub fn load_lessons(call: &Call, place: &str) -> Result<Memories> {
    may_read(call, Verb::Show)?;
    let (topic, subtopic) = match place.split_once('/') {
        Some((topic, subtopic)) => (topic, Some(subtopic)),
        None => (place, None),
    };
    let lessons = call.topics().load(topic, subtopic)?;
    if lessons.is_empty() {
        return Err(Fault::new(Code::NotFound, format!("no lessons under `{place}`"))
            .hint("`heirloom lesson topics` lists the topics"));
    }
    Ok(Memories::of(call, lessons))
}

/// A topic and how much is in it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
pub struct Topic {
    /// Where it is: `git/rebase`.
    pub topic: String,
    /// Lessons in use.
    pub active: usize,
    /// Lessons kept for the record.
    pub archived: usize,
    /// How often they were read here.
    pub loads: u64,
    /// The day of the newest.
    pub newest: Option<String>,
}

/// The topics there are.
pub fn lesson_topics(call: &Call) -> Result<Vec<Topic>> {
    may_read(call, Verb::List)?;
    let shelf = call.topics();
    let uses = shelf.uses()?;
    let mut topics: BTreeMap<String, Topic> = BTreeMap::new();
    for lesson in shelf.list(&Listing::everything())? {
        let place = lesson.id.name().rsplit_once('#').map_or("", |(place, _)| place);
        let topic = topics
            .entry(place.to_owned())
            .or_insert_with(|| Topic { topic: place.to_owned(), ..Topic::default() });
        match lesson.status {
            Status::Active => topic.active += 1,
            _ => topic.archived += 1,
        }
        topic.loads += uses.get(lesson.id.as_str()).map_or(0, |uses| uses.count);
        let day = lesson.occurred_at.as_deref().and_then(|at| at.get(..10)).map(str::to_owned);
        topic.newest = topic.newest.take().max(day);
    }
    Ok(topics.into_values().collect())
}

/// Which notes are listed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ListNotes {
    /// Only this scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Only with this keyword.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyword: Option<String>,
    /// How many of the newest are left out.
    pub offset: usize,
    /// At most so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Notes in use, newest first.
pub fn list_notes(call: &Call, ask: &ListNotes) -> Result<Memories> {
    may_read(call, Verb::List)?;
    let ask = ask.clone();
    let filter = NoteFilter { scope: ask.scope, keyword: ask.keyword, offset: ask.offset, limit: ask.limit };
    Ok(Memories::of(call, call.notes().list_by(&filter)?))
}

/// How keywords of notes in use are spelled that differ from this one in capitals alone: keywords are compared exactly.
pub fn other_spellings(call: &Call, keyword: &str) -> Result<Vec<String>> {
    may_read(call, Verb::List)?;
    let lower = keyword.to_lowercase();
    let all = Memories::of(call, call.notes().list_by(&NoteFilter::default())?).memories;
    let same = all
        .into_iter()
        .flat_map(|note| note.tags)
        .filter(|word| word.to_lowercase() == lower && word != keyword);
    Ok(same.collect::<std::collections::BTreeSet<_>>().into_iter().collect())
}

/// What somebody works on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotesInPlay {
    /// Files, from the project folder or absolute.
    #[serde(default)]
    pub files: Vec<String>,
    /// A part of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<String>,
    /// At most so many.
    pub limit: usize,
}

/// What a session that works on these files should see.
pub fn notes_in_play(call: &Call, ask: &NotesInPlay) -> Result<Memories> {
    may_read(call, Verb::List)?;
    let session = Session { files: ask.files.clone(), area: ask.area.clone() };
    Ok(Memories::of(call, call.notes().for_session(&session, ask.limit)?))
}

/// What every session is given of the vault.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Snapshot {
    /// Whom it is for.
    pub agent: Option<String>,
    /// The scopes it sees.
    pub scopes: Vec<String>,
    /// What it is given; empty if there is nothing.
    pub block: String,
}

/// Whether the caller's agent is one that anybody knows: the user's settings name it, or the door has it among its hosts. A name that was mistyped
/// would look like an agent that is given little.
pub fn expect_agent(call: &Call, hosts: &[&str]) -> Result<()> {
    let vault = &call.settings().vault;
    let Some(name) = call.caller().agent() else { return Ok(()) };
    if vault.agents.contains_key(name) || hosts.contains(&name) {
        return Ok(());
    }
    let mut known: Vec<&str> = vault.agents.keys().map(String::as_str).chain(hosts.iter().copied()).collect();
    known.sort_by_key(|one| (distance(one, name), *one));
    known.dedup();
    let hint = if vault.scopes.iter().any(|scope| scope == name) {
        format!(
            "`{name}` is a scope; `heirloom config set --user agents.{name}.scope {name}` makes an agent of it"
        )
    } else {
        let near = known.iter().take(SUGGESTED).map(|one| format!("`{one}`"));
        let near = near.collect::<Vec<_>>().join(", ");
        format!(
            "known agents: {near}; `heirloom config set --user agents.{name}.scope {name}` makes a new one"
        )
    };
    Err(Fault::new(Code::Usage, format!("there is no agent `{name}`")).fact("agent", name).hint(hint))
}

/// Most names that are suggested.
const SUGGESTED: usize = 8;

/// What every session is given of the vault: canon and current registers, within so many characters. `hosts` are agents that nobody has to name.
pub fn snapshot(call: &Call, max_chars: Option<usize>, hosts: &[&str]) -> Result<Snapshot> {
    may_read(call, Verb::Snapshot)?;
    expect_agent(call, hosts)?;
    let vault = call.vault();
    let agent = call.caller().agent();
    let reader = vault.reader(agent);
    let block = vault.snapshot(&reader, max_chars)?;
    Ok(Snapshot { agent: agent.map(str::to_owned), scopes: reader.scopes, block })
}

/// The vault's block for a question.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct VaultBlock {
    /// Whom it is for.
    pub agent: Option<String>,
    /// The question; empty if there was none.
    pub query: String,
    /// What it is given; empty if nothing fits.
    pub block: String,
}

/// The block that answers a question, or without one the newest memories. A question without a word is answered by nothing.
pub fn vault_context(call: &Call, query: Option<&str>, max_chars: Option<usize>) -> Result<VaultBlock> {
    may_read(call, Verb::Recall)?;
    let vault = call.vault();
    let agent = call.caller().agent();
    let most = call.settings().vault.max_items;
    let block = match query {
        Some(query) if query.trim().is_empty() => String::new(),
        _ => vault.context(&vault.reader(agent), query, most, max_chars)?,
    };
    let query = query.unwrap_or_default().to_owned();
    Ok(VaultBlock { agent: agent.map(str::to_owned), query, block })
}

/// The vault's figures.
pub fn vault_stats(call: &Call) -> Result<Stats> {
    may_read(call, Verb::Status)?;
    call.vault().stats()
}

/// The scopes a question is about: those it names, as far as the caller sees them, else all that the caller sees; `None` is every one.
fn scopes(call: &Call, named: &[String]) -> Option<Vec<String>> {
    match (call.caller().sees().scopes(), named.is_empty()) {
        (None, true) => None,
        (None, false) => Some(named.to_vec()),
        (Some(seen), true) => Some(seen.to_vec()),
        (Some(seen), false) => Some(named.iter().filter(|scope| seen.contains(scope)).cloned().collect()),
    }
}

fn borrowed(scopes: &Option<Vec<String>>) -> Option<Vec<&str>> {
    scopes.as_ref().map(|scopes| scopes.iter().map(String::as_str).collect())
}

/// Memories in use by the name their lines have.
fn by_name(call: &Call) -> Result<HashMap<String, Memory>> {
    let active = call.vault().list(&Listing::active())?;
    Ok(active.into_iter().map(|memory| (memory.id.name().to_owned(), memory)).collect())
}

/// Which memories of the vault are wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecallVault {
    /// Only this category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// With at least one of these tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Only these scopes.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// At most so many.
    pub limit: usize,
}

/// The newest memories filed as asked.
pub fn recall_vault(call: &Call, ask: &RecallVault) -> Result<Memories> {
    may_read(call, Verb::List)?;
    let scopes = scopes(call, &ask.scopes);
    let scopes = borrowed(&scopes);
    let tags: Vec<&str> = ask.tags.iter().map(String::as_str).collect();
    let filter = Filter { scopes: scopes.as_deref(), category: ask.category.as_deref(), tags: &tags };
    let records = call.vault().recall(&filter, ask.limit)?;
    let mut names = by_name(call)?;
    let memories = records.iter().filter_map(|record| names.remove(record.id.as_ref()));
    Ok(Memories::of(call, memories.collect()))
}

/// Two memories that may be one.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Alike {
    /// How alike they are, 0 to 1.
    pub score: f64,
    /// The id of the earlier one.
    #[schemars(with = "heirloom_core::MemoryId")]
    pub a: String,
    /// The id of the later one.
    #[schemars(with = "heirloom_core::MemoryId")]
    pub b: String,
    /// What both say, without what the gate would refuse.
    pub texts: [String; 2],
}

/// Pairs of the vault that may be one memory, best first.
pub fn vault_pairs(call: &Call, floor: f64, named: &[String]) -> Result<Vec<Alike>> {
    may_read(call, Verb::List)?;
    let scopes = scopes(call, named);
    let pairs = call.vault().consolidation_candidates(borrowed(&scopes).as_deref(), floor)?;
    let names = by_name(call)?;
    Ok(pairs
        .into_iter()
        .filter_map(|pair| {
            let (a, b) = (names.get(&pair.a)?, names.get(&pair.b)?);
            let texts = [a, b].map(|memory| call.screen().redacted(&memory.body));
            Some(Alike { score: pair.score, a: a.id.to_string(), b: b.id.to_string(), texts })
        })
        .collect())
}

/// A memory that could go.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Proposed {
    /// Its id.
    #[schemars(with = "heirloom_core::MemoryId")]
    pub id: String,
    /// Why it could go.
    pub reason: String,
    /// What it says, without what the gate would refuse.
    pub text: String,
}

/// What could go from the vault, with reasons. Nothing is removed.
pub fn vault_proposals(call: &Call, named: &[String]) -> Result<Vec<Proposed>> {
    may_read(call, Verb::List)?;
    let scopes = scopes(call, named);
    let proposals = call.vault().propose_deletions(borrowed(&scopes).as_deref())?;
    let names = by_name(call)?;
    Ok(proposals
        .into_iter()
        .filter_map(|one| {
            let memory = names.get(&one.id)?;
            // The shelf names the other memory as its lines do.
            let other = one.reason.split('`').nth(1).and_then(|name| names.get(name));
            let reason = match other {
                Some(other) => one.reason.replacen(other.id.name(), other.id.as_str(), 1),
                None => one.reason,
            };
            Some(Proposed { id: memory.id.to_string(), reason, text: call.screen().redacted(&memory.body) })
        })
        .collect())
}
