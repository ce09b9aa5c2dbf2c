//! Search: words over every shelf, by the ranking the settings name; one shape of answer whichever runs.
//!
//! Comes in: words and filters. Goes out: hits, each the whole memory with its score, why, and the part that answers; page by page for doors that
//! cap what they give. Never here: the rankings themselves; a hit that is not for the caller.

use super::cursor::Seen;
use super::list::known_kind;
use super::told::{self, Hit};
use super::{asked, may_read, recall, sees_tiers};
use crate::call::Call;
use crate::follow::{Look, described};
use crate::index::{Card, Status as Kept};
use crate::rank::query::{self, Conditions};
use crate::recall::answer::{Asked, Recalled, answer, listed};
use crate::recall::search as by_shelf;
use crate::recall::tiers::LeftOut;
use crate::shelf::provenance;
use crate::shelf::tiers::{Found as OfTiers, Tier};
use heirloom_core::{Code, Fault, Kind, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// The scope of a person's turns and facts, as filters name it.
const USER: &str = "user";

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// The words. What came together in one of them belongs together.
    pub words: Vec<String>,
    /// Only this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Also what is retired or archived.
    pub include_retired: bool,
    /// At most so many; under `title_tags` so many of each kind.
    pub limit: usize,
    /// Only turns (`episodic`), facts (`semantic`), or both (`all`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Of turns and facts: only those of this conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The block of turns and facts that a model would be given, instead.
    pub context: bool,
}

impl Default for Search {
    fn default() -> Search {
        Search {
            words: Vec::new(),
            kind: None,
            include_retired: false,
            limit: by_shelf::PER_KIND,
            tier: None,
            session: None,
            context: false,
        }
    }
}

/// Which ranking ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ranking {
    /// One ranking over every shelf.
    Hybrid,
    /// Each shelf by its own scoring, kind after kind.
    TitleTags,
    /// Turns and facts alone.
    Tiers,
    /// Filters alone: newest first.
    Newest,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Found {
    /// What put the hits in order.
    pub ranking: Ranking,
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The block a model would be given, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// The cursor of the next page, where hits come page by page and there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// How many there are of a kind, shown or not, where that is known.
    #[serde(skip)]
    pub totals: Vec<(Kind, usize)>,
    /// Where nothing was found: the filters that no memory meets, as they were typed.
    #[serde(skip)]
    pub unmet: Vec<String>,
}

impl Found {
    fn of(ranking: Ranking, hits: Vec<Hit>) -> Found {
        Found { ranking, hits, context: None, next: None, totals: Vec::new(), unmet: Vec::new() }
    }
}

/// What a model would be given of turns and facts.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Context {
    /// The lines.
    pub text: String,
    /// Their tokens.
    pub tokens: usize,
    /// What was found and not taken.
    pub left_out: Vec<LeftOut>,
    /// The lines as they are fenced.
    pub block: String,
}

/// The memories that fit.
pub fn search(call: &Call, ask: &Search) -> Result<Found> {
    may_read(call, Verb::Search)?;
    let empty = ask.words.iter().all(|word| word.trim().is_empty());
    if ask.context || ask.tier.is_some() {
        asked(call, Verb::Search, ShelfName::Tiers, Owner::Nobody)?;
        return if empty { Err(nothing_asked()) } else { of_tiers(call, ask) };
    }
    if empty && ask.kind.is_none() {
        return Err(nothing_asked());
    }
    let typed = line(ask);
    let (text, conditions) = query::checked(&typed, call.project().world().now.as_second())?;
    for kind in &conditions.kinds {
        known_kind(call, kind)?;
    }
    // Filters alone list what meets them whichever ranking there is; and a shelf knows no beginnings of words, the index does.
    let by_index = text.is_empty() || !conditions.prefixes.is_empty();
    let begun = conditions.begun.is_some();
    let mut found = match recall::is_hybrid(call) || by_index {
        true => ranked(call, (text, conditions), ask)?,
        false => of_shelves(call, ask, &text, &conditions)?,
    };
    if found.hits.is_empty() && found.ranking == Ranking::TitleTags && begun {
        // No shelf has such a word; one may begin so.
        found = ranked(call, query::read(&typed, call.project().world().now.as_second()), ask)?;
    }
    if found.hits.is_empty() {
        found.unmet = unmet(call, &typed, ask)?;
    }
    Ok(found)
}

/// How many hits pages of one question reach.
pub const REACH: usize = 1_000;

/// A page of at most `ask.limit` hits, whatever the ranking, behind what the cursor says was given. `takes` is asked about each but the first and may
/// end the page early. What is added or removed between two pages moves nothing else: a page leaves out what the pages before held.
pub fn page(
    call: &Call,
    ask: &Search,
    cursor: Option<&str>,
    mut takes: impl FnMut(&Hit) -> bool,
) -> Result<Found> {
    let plain = Search { limit: 0, ..ask.clone() };
    let asked = serde_json::to_string(&plain).unwrap_or_default();
    let mut seen = Seen::read(cursor, &asked)?;
    // The places that trusted memories take depend on how many are asked for, so that a longer answer is not a shorter one and something behind it.
    let limit = seen.len().saturating_add(ask.limit).min(REACH).saturating_add(1);
    let mut found = search(call, &Search { limit, ..ask.clone() })?;
    if ask.context {
        return Ok(found);
    }
    let room = ask.limit.min(REACH.saturating_sub(seen.len()));
    let mut hits =
        std::mem::take(&mut found.hits).into_iter().filter(|hit| !seen.has(hit.memory.id.as_str()));
    let mut more = false;
    for hit in hits.by_ref() {
        if found.hits.len() >= room || !(takes(&hit) || found.hits.is_empty()) {
            more = true;
            break;
        }
        found.hits.push(hit);
    }
    drop(hits);
    found.hits.iter().for_each(|hit| seen.add(hit.memory.id.as_str()));
    found.next = (more && seen.len() < REACH && !found.hits.is_empty()).then(|| seen.write(&asked));
    Ok(found)
}

fn ranked(call: &Call, asked: (String, Conditions), ask: &Search) -> Result<Found> {
    let (ranking, hits) = met(call, asked, ask, Look::Thorough, ask.kind.is_some())?;
    Ok(Found::of(ranking, whole(call, hits, ranking)))
}

/// The filters of a line that no memory meets by themselves.
fn unmet(call: &Call, line: &str, ask: &Search) -> Result<Vec<String>> {
    let now = call.project().world().now.as_second();
    let one = Search { limit: 1, ..ask.clone() };
    let mut unmet = Vec::new();
    for filter in query::filters(line, now) {
        if met(call, query::read(&filter, now), &one, Look::Quick, false)?.1.is_empty() {
            unmet.push(filter);
        }
    }
    Ok(unmet)
}

/// The fault for a search that says neither what nor where.
pub fn nothing_asked() -> Fault {
    Fault::new(Code::Usage, "there is nothing to search for")
        .hint("give words or filters: `heirloom search \"queue worker\" kind:decision`; at a terminal, `heirloom search` alone lets you choose")
}

/// The words as one line: those that came together as a phrase.
fn line(ask: &Search) -> String {
    let quoted = |word: &String| match word.contains(char::is_whitespace) && !word.contains('"') {
        true if ask.words.len() > 1 => format!("\"{word}\""),
        _ => word.clone(),
    };
    ask.words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// What a line of search words finds, as the index has it; with filters alone, what meets them, newest first. For whoever types and sees the
/// list narrow.
pub fn narrowed(call: &Call, line: &str, ask: &Search, look: Look) -> Result<(Ranking, Vec<Recalled>)> {
    super::may_read(call, Verb::Search)?;
    let everything = line.trim().is_empty() || ask.kind.is_some();
    met(call, query::read(line, call.project().world().now.as_second()), ask, look, everything)
}

/// The whole memories that a line finds, for somebody who is still typing it: by the index as it is, and with an empty line the newest of everything.
pub fn typed(call: &Call, line: &str, ask: &Search) -> Result<Found> {
    may_read(call, Verb::Search)?;
    let (ranking, hits) = narrowed(call, line, ask, Look::Quick)?;
    Ok(Found::of(ranking, whole(call, hits, ranking)))
}

/// What meets what was read; `everything` if neither words nor filters are needed.
fn met(
    call: &Call,
    (text, mut conditions): (String, Conditions),
    ask: &Search,
    look: Look,
    everything: bool,
) -> Result<(Ranking, Vec<Recalled>)> {
    // Marks without a word or a filter between them ask for nothing; an empty line asks for everything.
    if text.trim().is_empty() && conditions.is_empty() && !everything {
        return Ok((Ranking::Newest, Vec::new()));
    }
    if let Some(kind) = &ask.kind {
        conditions.kinds = vec![known_kind(call, kind)?.name().to_owned()];
    }
    let filters_only = text.trim().is_empty() && conditions.prefixes.is_empty();
    let question = Asked {
        text,
        include_retired: ask.include_retired || conditions.status == Some(Kept::Retired),
        conditions,
        files: Vec::new(),
        limit: ask.limit,
        audience: call.caller().sees().clone(),
        look,
        unasked: false,
    };
    let (ranking, mut hits) = match filters_only {
        true => (Ranking::Newest, listed(call, &question)?),
        false => (Ranking::Hybrid, answer(call, &question)?),
    };
    let tiers = sees_tiers(call, Verb::Search);
    hits.retain(|hit| {
        (filters_only || hit.near) && (tiers || Kind::named(&hit.kind).shelf() != ShelfName::Tiers)
    });
    for hit in &mut hits {
        hit.title = told::fit_text(call, &hit.title);
        hit.body = told::fit_text(call, &hit.body);
    }
    Ok((ranking, hits))
}

/// The whole memories of these hits.
pub(super) fn whole(call: &Call, found: Vec<Recalled>, ranking: Ranking) -> Vec<Hit> {
    let ids: Vec<String> = found.iter().map(|hit| hit.id.clone()).collect();
    let mut memories = told::memories(call, &ids);
    let hit = |hit: Recalled| {
        let score = (ranking != Ranking::Newest).then_some(hit.score);
        let mut told = Hit::of(call, memories.remove(&hit.id)?, score, hit.why);
        told.cut(&hit.terms);
        told.behind = hit.behind;
        told.cites(call, hit.cited);
        told.untitled = hit.title.is_empty();
        Some(told)
    };
    found.into_iter().filter_map(hit).collect()
}

/// Hits of a kind looked at where filters may turn many away.
const LOOKED_AT: usize = 1_000;

/// Each shelf by its own scoring, kind after kind. Filters mean what they mean in the other ranking.
fn of_shelves(call: &Call, ask: &Search, text: &str, conditions: &Conditions) -> Result<Found> {
    let wanted = by_shelf::Wanted {
        kind: ask.kind.as_deref().map(|name| known_kind(call, name)).transpose()?,
        include_retired: ask.include_retired || conditions.status == Some(Kept::Retired),
        per_kind: if conditions.is_empty() { ask.limit } else { LOOKED_AT },
        audience: call.caller().sees().clone(),
    };
    // A shelf gives points of its own for a name of work.
    let contexts = conditions.contexts.iter().map(|name| format!("context:{name}"));
    let words: Vec<String> = std::iter::once(text.to_owned()).chain(contexts).collect();
    let mut groups = by_shelf::search(call, words.join(" ").trim(), &wanted)?;
    if !conditions.is_empty() {
        let forgotten = provenance::forgotten(call.project().root())?;
        for group in &mut groups {
            group.hits.retain(|found| {
                let mut document = described::document(call, &forgotten, &found.memory);
                if found.memory.kind.shelf() == ShelfName::Tiers {
                    USER.clone_into(&mut document.scope);
                }
                conditions.admit(&Card::of(&document)) && conditions.admit_text(&document)
            });
            group.total = group.hits.len();
            group.hits.truncate(ask.limit);
        }
        groups.retain(|group| group.total > 0);
    }
    let totals = groups.iter().map(|group| (group.kind.clone(), group.total)).collect();
    let tiers = sees_tiers(call, Verb::Search);
    let shown = |kind: &Kind| tiers || kind.shelf() != ShelfName::Tiers;
    let groups = groups.into_iter().filter(|group| shown(&group.kind));
    let hits = groups.flat_map(|group| group.hits).map(|found| {
        let why = found.why.into_iter().map(|reason| (reason.what, reason.points)).collect();
        Hit::of(call, found.memory, found.score, why)
    });
    Ok(Found { totals, ..Found::of(Ranking::TitleTags, hits.collect()) })
}

/// The best of all conversations, among which those of one are looked for.
const OF_SESSION: usize = 1_000;

/// Turns and facts that answer a question, and the block a model would be given of them.
fn of_tiers(call: &Call, ask: &Search) -> Result<Found> {
    let tiers = call.tiers()?;
    let question = ask.words.join(" ");
    let told = |found: &OfTiers| Hit::of(call, found.memory.memory(), Some(found.score), found.why.clone());
    let found = |hits: Vec<Hit>, context| Found { context, ..Found::of(Ranking::Tiers, hits) };
    if ask.context {
        let context = tiers.context(&question, &tiers.limits())?;
        let hits = context.facts.iter().chain(&context.episodes).map(told).collect();
        let shown = Context {
            text: told::fit_text(call, &context.text()),
            tokens: context.tokens,
            block: told::fit_text(call, &crate::inject::tiers_block(call, &context)),
            left_out: context.left_out,
        };
        return Ok(found(hits, Some(shown)));
    }
    let tier = ask.tier.as_deref().and_then(Tier::named);
    let Some(session) = &ask.session else {
        return Ok(found(tiers.search(&question, tier, ask.limit)?.iter().map(told).collect(), None));
    };
    let mut of_session = tiers.search(&question, tier, ask.limit.max(OF_SESSION))?;
    of_session.retain(|one| one.memory.session.as_deref() == Some(session.as_str()));
    of_session.truncate(ask.limit);
    Ok(found(of_session.iter().map(told).collect(), None))
}
