//! The `hybrid` ranking: keywords lead, vectors and context add, every factor can be read out.
//!
//! In: a question and a snapshot of the index. Out: hits, best first, with the points of every factor. The
//! score is a plain sum, so that nothing is hidden in a formula. How much the vector counts is decided
//! question by question: by how far it agrees with the keywords on what both can judge. A model that says
//! nothing about these texts therefore changes nothing; one whose worth was measured counts a little even
//! where it disagrees, since that is where the question's words are not those of the answer.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::index::embed::{Detail, Embedder, Embedding, Nearness, Worth};
use crate::index::{Card, IndexError, LateProbe, Matches, Nearest, Probe, Reader, Trust, of_question};

use super::ask::Ask;
use super::candidates::{Admission, Cosines, Found, LOOKED_AT};
use super::explain::{Explain, Factors};
use super::kin::{About, Name};
use super::order;
use super::points::Points;
use super::seats;
use super::weights::{Manner, Weights, is_dialogue};

/// Candidates taken by keywords and by vector.
pub(crate) const BY_KEYWORD: usize = 160;
pub(crate) const BY_VECTOR: usize = 100;
/// Best keyword matches whose neighbours become candidates too.
pub(super) const WITH_NEIGHBOURS: usize = 60;
/// Groups whose members are read, and members read of each.
pub(super) const GROUPS: usize = 64;
pub(super) const MEMBERS: u32 = 128;
/// Candidates that late interaction looks at.
pub(super) const RERANKED: usize = 100;
/// Keyword matches by which the vector is judged.
pub(super) const JUDGES: usize = 20;
/// Documents at which a deviation counts half.
pub(super) const FEW: f32 = 20.0;
/// Words a prefix may stand for.
const PREFIXED: usize = 32;
/// What a mended word counts beside one that was written.
const MENDED: f32 = 0.7;
/// What a word counts of which only the beginning was typed.
const BEGUN: f32 = 0.5;

/// Up to so many memories, names that answer a word of the question are looked for; more have words enough of their own.
pub(crate) const RELATED_AMONG: usize = 1_000;
/// A word that more memories hold points at none of them.
pub(crate) const HELD_BY_FEW: usize = 20;
/// Letters from which a word that was mended tells what a question is about.
const SURE: usize = 6;

/// One hit.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Number of the document in the reader it came from.
    pub number: u32,
    /// Score: the sum of its factors.
    pub score: f32,
    /// Trust, which decides how many may stand in a block.
    pub trust: Trust,
    /// Why it is there.
    pub why: Explain,
}

/// A candidate on its way to becoming a hit.
pub(super) struct Candidate {
    pub(super) card: Card,
    /// Own keyword score and what the neighbours add to it.
    pub(super) keyword: (f32, f32),
    pub(super) cosine: Option<f32>,
    /// Standardised vector score with the neighbours' share.
    pub(super) vector: f32,
    /// How far the model's vectors count for this kind.
    pub(super) share: f32,
    pub(super) factors: Factors,
    /// The sum of the factors, once they are known.
    pub(super) sum: f32,
}

/// The best first.
pub(super) fn by_sum(a: &Candidate, b: &Candidate) -> Ordering {
    b.sum.total_cmp(&a.sum).then(a.card.number.cmp(&b.card.number))
}

/// Ranks an owner's memories for a question.
pub fn rank(
    reader: &Reader<'_>,
    embedder: Option<&dyn Embedder>,
    ask: &Ask,
    weights: &Weights,
) -> Result<Vec<Hit>, IndexError> {
    let among = reader.all_of(&ask.conditions.kinds, LOOKED_AT)?;
    if among.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let question = match embedder {
        Some(e) if reader.with_vectors() => {
            let detail = if e.has_pieces() { Detail::Pieces } else { Detail::Pooled };
            e.embed(&[&ask.text], detail)?.pop()
        }
        _ => None,
    };
    let probe = question.as_ref().map(|q| Probe::of(&q.vector));
    let worth = embedder.map(Embedder::worth).unwrap_or_default();
    let wide = probe.as_ref().filter(|_| among.is_none());
    let (matches, ahead) = reader.beside(wide, BY_VECTOR.max(ask.limit), || keywords(reader, ask));
    let matches = matches?;
    let lists = Found { reader, matches: &matches, probe: probe.as_ref(), ahead, among };
    let own = of_question(&ask.text);
    let about = About::of(own.iter().map(|(term, _)| term.as_str()));
    let kin = related(reader, &about, &own, &matches)?;
    let mut candidates = gather(&lists, worth, ask, weights, kin.own.keys())?;
    score(&mut candidates, ask, weights);
    for c in candidates.iter_mut().filter(|c| !is_dialogue(&c.card.kind)) {
        c.factors.related =
            weights.related * share(kin.of(c.card.number).0.count_ones() as usize, about.len());
        c.sum += c.factors.related;
    }
    candidates.sort_unstable_by(by_sum);
    if let Some(question) = &question {
        rerank(reader, &mut candidates, &matches, question, ask, weights)?;
    }
    let best = candidates.iter().fold(0f32, |most, c| most.max(c.keyword.0));
    let candidates = seats::seated(
        candidates,
        ask.limit.max(1),
        |c| c.card.trust,
        |c| best > 0.0 && c.keyword.0 >= seats::SHARE * best,
    );
    // A word nobody wrote tells nothing apart; it counts like one that a single memory holds.
    let only = crate::index::rarity(reader.len() as f32, 1.0);
    let worth =
        |(_, rarity, count): &(&str, f32, usize)| if *count == 0 { rarity.min(only) } else { *rarity };
    // Behind the question's own words stand those that unknown ones were taken for; a short one is too easily another word.
    let counts = |at: usize, term: &str| if at < own.len() { about.counts(at) } else { term.len() >= SURE };
    let counted =
        || matches.terms().enumerate().filter(|(at, term)| counts(*at, term.0)).map(|(_, term)| term);
    let all: f32 = counted().take(about.len()).map(|term| worth(&term)).sum();
    let asking = embedder.and_then(Embedder::asking).filter(|_| probe.is_some());
    let nearness = asking.map(|asking| asking.nearness).or_else(|| Some(embedder?.nearness()));
    let nearness = nearness.unwrap_or_default().among(reader.len());
    // What a model that knows one language says of another one is noise.
    let nearness = if about.foreign { Nearness::SILENT } else { nearness };
    let asking = asking.map(|asking| Probe::of(asking.vector));
    let hits = candidates.into_iter().map(|c| {
        let shares = matches.shares(c.card.number);
        let met = |term: &(&str, f32, usize)| shares.iter().any(|(t, _)| *t == term.0);
        let held = || counted().filter(met);
        let sum: f32 = held().map(|term| worth(&term)).sum();
        let by_few = held().filter(|(_, _, count)| *count <= HELD_BY_FEW).count();
        let (related, proper) = kin.of(c.card.number);
        let near = c.cosine.map(|cosine| {
            cosine - asking.as_ref().and_then(|asking| reader.cosine(asking, c.card.number)).unwrap_or(0.0)
        });
        Hit {
            number: c.card.number,
            score: c.sum,
            trust: c.card.trust,
            why: Explain {
                factors: c.factors,
                covered: if all > 0.0 { (sum / all).min(1.0) } else { 0.0 },
                held: held().count(),
                shared: share(by_few, about.len()),
                related: share(related.count_ones() as usize, about.len()),
                named: proper != 0,
                nearness,
                near,
                terms: shares.into_iter().map(|(t, s)| (t.to_owned(), s)).collect(),
                cosine: c.cosine,
                behind: None,
            },
        }
    });
    let hits = order::behind_the_trusted(reader, hits.collect())?;
    tracing::debug!(documents = reader.len(), vectors = reader.with_vectors(), hits = hits.len(), "ranked");
    Ok(hits)
}

fn share(some: usize, all: usize) -> f32 {
    some as f32 / all.max(1) as f32
}

/// Memories that answer words of a question by another name.
#[derive(Default)]
struct Kin {
    /// Names, and what holds them.
    names: Vec<Name>,
    matches: Option<Matches>,
    /// The words that each memory holds itself do not count again.
    own: HashMap<u32, u64>,
}

impl Kin {
    /// The words of the question that a memory answers by another name, bit by bit, and those where a proper name does.
    fn of(&self, number: u32) -> (u64, u64) {
        let Some(matches) = self.matches.as_ref().filter(|matches| matches.score(number) > 0.0) else {
            return (0, 0);
        };
        let held = matches.shares(number);
        let holds = |name: &&Name| held.iter().any(|(held, _)| *held == name.term);
        let answered = self.names.iter().filter(holds);
        let (words, proper) =
            answered.fold((0, 0), |(words, proper), name| (words | name.words, proper | name.proper));
        let own = self.own.get(&number).copied().unwrap_or(0);
        (words & !own, proper & !own)
    }
}

fn related(
    reader: &Reader<'_>,
    about: &About,
    asked: &[(String, f32)],
    matches: &Matches,
) -> Result<Kin, IndexError> {
    if reader.len() > RELATED_AMONG {
        return Ok(Kin::default());
    }
    let terms: Vec<&str> = asked.iter().map(|(term, _)| term.as_str()).collect();
    let names = about.kin(&terms);
    if names.is_empty() {
        return Ok(Kin::default());
    }
    let looked_for: Vec<(String, f32)> = names.iter().map(|name| (name.term.to_owned(), 1.0)).collect();
    let found = reader.keywords(&looked_for)?;
    let mut own = HashMap::new();
    for (number, _) in found.best(RELATED_AMONG) {
        let shares = matches.shares(number);
        let held = |mask: u64, (at, term): (usize, &&str)| {
            if shares.iter().any(|(t, _)| t == term) { mask | 1 << at } else { mask }
        };
        own.insert(number, terms.iter().enumerate().fold(0, held));
    }
    Ok(Kin { names, matches: Some(found), own })
}

/// What holds the question's terms; a word nobody wrote is taken for the nearest one somebody did.
fn keywords(reader: &Reader<'_>, ask: &Ask) -> Result<Matches, IndexError> {
    let mut terms = of_question(&ask.text);
    let lists = reader.lists(&terms)?;
    let mut mended = Vec::new();
    for (term, weight) in lists.unknown() {
        mended.extend(reader.meant(term)?.into_iter().map(|t| (t, weight * MENDED)));
    }
    for prefix in &ask.conditions.prefixes {
        mended.extend(reader.starting_with(prefix, PREFIXED)?.into_iter().map(|t| (t, 1.0)));
    }
    if let Some(begun) = &ask.conditions.begun {
        mended.extend(reader.starting_with(begun, PREFIXED)?.into_iter().map(|t| (t, BEGUN)));
    }
    mended.retain(|(term, _)| !terms.iter().any(|(t, _)| t == term));
    if mended.is_empty() {
        return Ok(reader.matches(lists));
    }
    for (term, weight) in mended {
        if !terms.iter().any(|(t, _)| *t == term) {
            terms.push((term, weight));
        }
    }
    reader.keywords(&terms)
}

pub(super) fn manner<'w>(weights: &'w Weights, card: &Card) -> &'w Manner {
    if is_dialogue(&card.kind) { &weights.dialogue } else { &weights.document }
}

/// Collects candidates with their keyword, neighbour, vector and group scores.
fn gather<'k>(
    lists: &Found<'_>,
    worth: Worth,
    ask: &Ask,
    weights: &Weights,
    related: impl Iterator<Item = &'k u32>,
) -> Result<Vec<Candidate>, IndexError> {
    let Found { reader, matches, .. } = *lists;
    let mut admission = Admission::new(reader, ask);
    let most = BY_KEYWORD.max(ask.limit);
    let by_keyword = admission.best(most, |limit| lists.by_keyword(limit))?;
    let mut nearest = Nearest::default();
    let near = admission.best(BY_VECTOR.max(ask.limit), |limit| {
        nearest = lists.by_vector(limit);
        std::mem::take(&mut nearest.top)
    })?;
    let mut numbers: Vec<u32> = by_keyword.iter().chain(&near).map(|c| c.0).chain(related.copied()).collect();
    let mut groups: HashMap<i64, Vec<crate::index::Member>> = HashMap::new();
    let mut crowded = false;
    for (i, (number, _)) in by_keyword.iter().enumerate() {
        let Some(card) = admission.card(*number)? else { continue };
        crowded |= card.trust != Trust::High;
        if card.group != 0 && groups.len() < GROUPS && !groups.contains_key(&card.group) {
            groups.insert(card.group, reader.members(card.group, card.position, MEMBERS)?);
        }
        if i < WITH_NEIGHBOURS
            && is_dialogue(&card.kind)
            && let Some(members) = groups.get(&card.group)
        {
            numbers
                .extend(members.iter().filter(|m| m.position.abs_diff(card.position) == 1).map(|m| m.number));
        }
    }
    if crowded {
        numbers.extend(seats::beyond(reader, matches, &by_keyword, most)?);
    }
    numbers.sort_unstable();
    numbers.dedup();

    // Among few documents a deviation says little: it counts by how many there are to deviate from.
    let many = reader.len() as f32 / (reader.len() as f32 + FEW);
    let deviation = |cosine: f32| {
        if nearest.spread > 1e-6 { many * (cosine - nearest.mean) / nearest.spread } else { 0.0 }
    };
    let mut cosines = Cosines::new(lists, &near);
    let agreement = agreement(&mut cosines, &by_keyword, deviation).max(worth.floor);
    let mut candidates = Vec::with_capacity(numbers.len());
    for number in numbers {
        let Some(card) = admission.take(number)? else { continue };
        let manner = manner(weights, &card);
        let share = if is_dialogue(&card.kind) { worth.dialogue } else { worth.document };
        let cosine = cosines.of(number);
        let mut keyword = (matches.score(number), 0.0);
        let mut vector = cosine.map_or(0.0, deviation);
        // A short turn says little by itself: what it answers, and what answers it, count as well.
        let openness = openness(card.length, weights);
        if openness > 0.0 && is_dialogue(&card.kind) && card.group != 0 {
            let own;
            let members = match groups.get(&card.group) {
                Some(members) => members,
                None => {
                    own = reader.members(card.group, card.position, 4)?;
                    &own
                }
            };
            for m in members {
                let Some(place) = beside(&card, m.position) else { continue };
                keyword.1 += openness * manner.neighbours[place] * matches.score(m.number);
                // A long neighbour is about many things: its vector says little about this turn.
                if let (Some(share), Some(near)) = (manner.near_vectors.get(place), cosines.of(m.number)) {
                    vector += openness * self::openness(m.length, weights) * share * deviation(near);
                }
            }
        }
        candidates.push(Candidate {
            card,
            keyword,
            cosine,
            vector: vector * agreement,
            share,
            factors: Factors::default(),
            sum: 0.0,
        });
    }
    add_groups(&mut candidates, &groups, matches, weights);
    Ok(candidates)
}

/// How much a memory of `length` terms leaves to its neighbours: 1 for a short one, 0 for a long one.
pub(super) fn openness(length: u32, weights: &Weights) -> f32 {
    ((weights.long - length as f32) / (weights.long - weights.short).max(1.0)).clamp(0.0, 1.0)
}

/// How far the vector agrees with the keywords, 0 to 1: whether the best keyword matches lie clearly nearer than the rest.
fn agreement(cosines: &mut Cosines<'_>, by_keyword: &[(u32, f32)], deviation: impl Fn(f32) -> f32) -> f32 {
    if cosines.probe.is_none() {
        return 0.0;
    }
    let judges = by_keyword.iter().take(JUDGES);
    let judged: Vec<f32> = judges.filter_map(|(number, _)| cosines.of(*number)).map(deviation).collect();
    agreed(&judged)
}

/// How far deviations of the best keyword matches speak for the vector.
pub(super) fn agreed(judged: &[f32]) -> f32 {
    if judged.is_empty() {
        return 1.0;
    }
    let mean = judged.iter().sum::<f32>() / judged.len() as f32;
    // The mean of twenty random deviations passes 0.7 once in a thousand times.
    ((mean - 0.7) / 0.5).clamp(0.0, 1.0)
}

/// Adds the group's own score: a turn of a conversation about the question counts more than a stray match.
fn add_groups(
    candidates: &mut [Candidate],
    groups: &HashMap<i64, Vec<crate::index::Member>>,
    matches: &Matches,
    weights: &Weights,
) {
    let length = |members: &Vec<crate::index::Member>| members.iter().map(|m| m.length).sum::<u32>();
    let average = groups.values().map(length).sum::<u32>() as f32 / groups.len().max(1) as f32;
    let scores: HashMap<i64, f32> = groups
        .iter()
        .map(|(group, members)| {
            let mut pairs: Vec<(u32, u32)> = members.iter().map(|m| (m.number, m.length)).collect();
            pairs.sort_unstable();
            (*group, matches.together(&pairs, average))
        })
        .collect();
    let best = scores.values().fold(0f32, |m, s| m.max(*s));
    if best <= 0.0 {
        return;
    }
    for c in candidates {
        let share = scores.get(&c.card.group).map_or(0.0, |s| s / best);
        c.factors.group = manner(weights, &c.card).group * share;
    }
}

/// Turns what was gathered into points.
pub(super) fn score(candidates: &mut [Candidate], ask: &Ask, weights: &Weights) {
    let best = candidates.iter().fold(0f32, |m, c| m.max(c.keyword.0 + c.keyword.1));
    let points = Points::of(ask, weights);
    for c in candidates {
        let manner = manner(weights, &c.card);
        if best > 0.0 {
            c.factors.keyword = manner.keyword * c.keyword.0 / best;
            c.factors.neighbours = manner.keyword * c.keyword.1 / best;
        }
        c.factors.vector = manner.vector * c.share * (c.vector / weights.deviations).clamp(-0.5, 1.0);
        points.give(&c.card, &mut c.factors);
        c.sum = c.factors.sum();
    }
}

/// Which neighbour of a memory stands at a position of its group: the one before, after, two before, two after.
pub(super) fn beside(card: &Card, position: u32) -> Option<usize> {
    let places = [-1, 1, -2, 2];
    places.iter().position(|place| i64::from(position) - i64::from(card.position) == *place)
}

/// Looks at the best candidates word by word, where the model has word vectors.
fn rerank(
    reader: &Reader<'_>,
    candidates: &mut [Candidate],
    matches: &Matches,
    question: &Embedding,
    ask: &Ask,
    weights: &Weights,
) -> Result<(), IndexError> {
    let rarity =
        |term: &str| matches.terms().find(|(t, _, _)| *t == term).map_or(0.0, |(_, rarity, _)| rarity);
    let Some(probe) = late_probe(question, ask, rarity) else { return Ok(()) };
    let top = candidates.len().min(RERANKED);
    let mut scores = Vec::with_capacity(top);
    for c in candidates.iter().take(top) {
        scores.push(reader.late(&probe, c.card.number)?);
    }
    add_late(candidates, &scores, weights);
    Ok(())
}

/// A question's words, each counted by how rare it is among the owner's documents; words without a topic do not count.
pub(super) fn late_probe(question: &Embedding, ask: &Ask, rarity: impl Fn(&str) -> f32) -> Option<LateProbe> {
    let pieces = question.pieces.as_ref()?;
    let rarest = |word: &str| of_question(word).iter().map(|(term, _)| rarity(term)).fold(0.0, f32::max);
    let words: Vec<f32> = ask.text.split_whitespace().map(rarest).collect();
    let each: Vec<f32> =
        pieces.words.iter().map(|w| w.and_then(|w| words.get(w as usize)).copied().unwrap_or(0.0)).collect();
    LateProbe::of(pieces, &each)
}

/// Adds what late interaction says of the best candidates, and puts those in order.
pub(super) fn add_late(candidates: &mut [Candidate], scores: &[Option<f32>], weights: &Weights) {
    let low = scores.iter().flatten().fold(f32::INFINITY, |m, s| m.min(*s));
    let high = scores.iter().flatten().fold(f32::NEG_INFINITY, |m, s| m.max(*s));
    if high - low < 1e-6 {
        return;
    }
    for (c, s) in candidates.iter_mut().zip(scores) {
        c.factors.late = s.map_or(0.0, |s| manner(weights, &c.card).late * (s - low) / (high - low));
        c.sum = c.factors.sum();
    }
    let top = candidates.len().min(scores.len());
    candidates[..top].sort_by(by_sum);
}
