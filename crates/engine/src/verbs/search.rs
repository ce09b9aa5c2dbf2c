//! Search: words over every shelf, by the ranking the settings name; one shape of answer whichever runs.
//!
//! Comes in: words and filters. Goes out: hits, each the whole memory with its score, why, and the part that answers. Never here: the
//! rankings themselves; a hit that is not for the caller.

use super::list::known_kind;
use super::told::{self, Hit};
use super::{asked, may_read, recall, sees_tiers};
use crate::call::Call;
use crate::follow::Look;
use crate::index::Status as Kept;
use crate::rank::query;
use crate::recall::answer::{Asked, Recalled, answer, listed};
use crate::recall::search as by_shelf;
use crate::recall::tiers::LeftOut;
use crate::shelf::tiers::{Found as OfTiers, Tier};
use heirloom_core::{Code, Fault, Kind, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

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
            context: false,
        }
    }
}

/// Which ranking ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// What put the hits in order.
    pub ranking: Ranking,
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The block a model would be given, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// How many there are of a kind, shown or not, where that is known.
    #[serde(skip)]
    pub totals: Vec<(Kind, usize)>,
}

/// What a model would be given of turns and facts.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    if recall::is_hybrid(call) || empty {
        let (ranking, hits) = narrowed(call, &line(ask), ask, Look::Thorough)?;
        return Ok(Found { ranking, hits: whole(call, hits, ranking), context: None, totals: Vec::new() });
    }
    of_shelves(call, ask)
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
    let (text, mut conditions) = query::read(line, call.project().world().now.as_second());
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

/// Each shelf by its own scoring, kind after kind.
fn of_shelves(call: &Call, ask: &Search) -> Result<Found> {
    let wanted = by_shelf::Wanted {
        kind: ask.kind.as_deref().map(|name| known_kind(call, name)).transpose()?,
        include_retired: ask.include_retired,
        per_kind: ask.limit,
        audience: call.caller().sees().clone(),
    };
    let groups = by_shelf::search(call, &ask.words.join(" "), &wanted)?;
    let totals = groups.iter().map(|group| (group.kind.clone(), group.total)).collect();
    let tiers = sees_tiers(call, Verb::Search);
    let shown = |kind: &Kind| tiers || kind.shelf() != ShelfName::Tiers;
    let groups = groups.into_iter().filter(|group| shown(&group.kind));
    let hits = groups.flat_map(|group| group.hits).map(|found| {
        let why = found.why.into_iter().map(|reason| (reason.what, reason.points)).collect();
        Hit::of(call, found.memory, found.score, why)
    });
    Ok(Found { ranking: Ranking::TitleTags, hits: hits.collect(), context: None, totals })
}

/// Turns and facts that answer a question, and the block a model would be given of them.
fn of_tiers(call: &Call, ask: &Search) -> Result<Found> {
    let tiers = call.tiers()?;
    let question = ask.words.join(" ");
    let told = |found: &OfTiers| Hit::of(call, found.memory.memory(), Some(found.score), found.why.clone());
    let found =
        |hits: Vec<Hit>, context| Found { ranking: Ranking::Tiers, hits, context, totals: Vec::new() };
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
    Ok(found(tiers.search(&question, tier, ask.limit)?.iter().map(told).collect(), None))
}
