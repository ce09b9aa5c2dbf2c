//! Words as the index knows them, and the ranking of what a backend found that keeps postings and vectors of its own.
//!
//! Comes in: text; what a backend knows of a question and its memories. Goes out: terms (lower case, accents off, stemmed), and hits by the same rules as an
//! index ranks by. Never here: another tokeniser than the index's, or a statement of a backend.

use super::sqlite::{SCOPE, document, speaker, whose};
use super::store::{Found, Question, SEATS, SPARE};
use super::{Role, Stored, Tier};
use crate::index::embed::{Embedding, Nearness, Worth};
use crate::index::{
    self, Bag, Card, Document, each_term, fingerprint, name_of, of_question, packed_pieces, rarity,
};
use crate::rank::brought::{Around, Groups, One, Placed, Ranked, Stretch, ranked, stretches};
use crate::rank::kin::{About, Name};
use crate::rank::{Ask, BY_KEYWORD, BY_VECTOR, Explain, HELD_BY_FEW, RELATED_AMONG, SHARE, Weights};
use heirloom_core::Trust;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The terms of a text with how much of each there is.
pub fn counted_terms(text: &str) -> BTreeMap<String, f32> {
    let mut counts = BTreeMap::new();
    each_term(text, |term, weight| *counts.entry(term.to_owned()).or_insert(0.0) += weight);
    counts
}

/// The terms of a question with their weights.
pub fn question_terms(text: &str) -> Vec<(String, f32)> {
    of_question(text)
}

/// The terms of a text.
pub(super) fn terms(text: &str) -> BTreeSet<String> {
    counted_terms(text).into_keys().collect()
}

/// The terms of a memory as an index counts them, and how long it is.
pub fn indexed_terms(stored: &Stored) -> (Vec<(String, f32)>, u32) {
    let bag = Bag::of(&document(stored));
    (bag.counts().map(|(term, count)| (term.to_owned(), count)).collect(), bag.length)
}

/// The text of a memory that a model is given.
pub fn passage(stored: &Stored) -> String {
    document(stored).passage()
}

/// What is kept of the word pieces of a text, where its model has them.
pub fn kept_pieces(embedding: &Embedding) -> Option<Vec<u8>> {
    embedding.pieces.as_ref().map(packed_pieces)
}

/// What a model says of a question.
#[derive(Debug, Clone)]
pub struct Judge {
    /// How far recall leans on its vectors.
    pub worth: Worth,
    /// From which cosine on they say something.
    pub nearness: Nearness,
    /// The question itself, if it was embedded.
    pub asked: Option<Embedding>,
}

/// What such a backend knows of all of a user's memories.
#[derive(Debug, Clone)]
pub struct Whole {
    /// How many there are.
    pub memories: i64,
    /// Terms that all of them hold together.
    pub words: i64,
    /// How many hold each of the question's terms.
    pub having: Vec<i64>,
    /// Cosines between the question and all of them: the mean and how they are spread.
    pub cosines: (f64, f64),
}

impl Whole {
    /// How long they are on average.
    pub fn average(&self) -> f64 {
        (self.words as f64 / self.memories.max(1) as f64).max(1.0)
    }
}

/// What it knows of one memory: features, no score.
#[derive(Debug, Clone, Default)]
pub struct Met {
    /// The number the backend gave it.
    pub place: i64,
    /// Its tier.
    pub tier: Option<Tier>,
    /// Its conversation.
    pub session: Option<String>,
    /// The place in it.
    pub position: u32,
    /// When it happened, in seconds.
    pub occurred_at: i64,
    /// Trust.
    pub trust: Option<Trust>,
    /// Who spoke.
    pub role: Option<Role>,
    /// Labels.
    pub tags: Vec<String>,
    /// Terms it holds.
    pub length: u32,
    /// How sure its writer was.
    pub confidence: f64,
    /// Its keyword score.
    pub keyword: f64,
    /// How near its vector is, if it has one.
    pub cosine: Option<f64>,
    /// How often it holds each of the question's terms, if it was asked for as a member of a conversation.
    pub counts: Vec<f32>,
}

/// A question to a backend that keeps postings and vectors of its own: it says what it found, and the ranking says what that is worth.
#[derive(Debug)]
pub struct Posed {
    ask: Ask,
    weights: Weights,
    terms: Vec<(String, f32)>,
    about: About,
    names: Vec<Name>,
    judge: Judge,
}

impl Posed {
    /// A question, read once.
    pub fn new(question: &Question<'_>, judge: Judge) -> Posed {
        let ask = Ask {
            text: question.text.to_owned(),
            now: question.now.as_second(),
            limit: question.limit,
            ..Ask::default()
        };
        let weights = Weights { recency: question.recency, ..Weights::default() };
        let terms = question_terms(question.text);
        let words: Vec<&str> = terms.iter().map(|(term, _)| term.as_str()).collect();
        let about = About::of(words.iter().copied());
        let names = about.kin(&words);
        Posed { ask, weights, terms, about, names, judge }
    }

    /// Its terms with their weights.
    pub fn terms(&self) -> &[(String, f32)] {
        &self.terms
    }

    /// Terms that answer some of the question's by another name; none where there are memories enough that hold its own.
    pub fn names(&self, whole: &Whole) -> Vec<&'static str> {
        let few = usize::try_from(whole.memories).is_ok_and(|all| all <= RELATED_AMONG);
        if few { self.names.iter().map(|name| name.term).collect() } else { Vec::new() }
    }

    /// Begins to rank what was met. `named` holds the terms, of the question and of its [names](Self::names), that memories hold which hold a name.
    pub fn ranking<'p>(
        &'p self,
        met: Vec<Met>,
        named: &HashMap<i64, Vec<String>>,
        whole: &'p Whole,
    ) -> Ranking<'p> {
        let mut sessions = HashMap::new();
        let mut ones: Vec<One> = met.into_iter().map(|met| self.one(met, whole, &mut sessions)).collect();
        for one in &mut ones {
            one.related = named.get(&one.place).map_or(0.0, |held| self.related(held));
        }
        ones.sort_by(|a, b| b.keyword.total_cmp(&a.keyword).then(a.place.cmp(&b.place)));
        let mut near: Vec<(f32, i64)> =
            ones.iter().filter_map(|one| Some((one.cosine?, one.place))).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        near.truncate(BY_VECTOR.max(self.ask.limit));
        let near: HashSet<i64> = near.into_iter().map(|(_, place)| place).collect();
        // The best by keyword, and behind them the trusted that a crowd of others left out.
        let best = ones.first().map_or(0.0, |one| one.keyword);
        let (mut first, mut seats) = (0..BY_KEYWORD.max(self.ask.limit), 0..SEATS);
        ones.retain(|one| {
            let seat = |one: &One| one.card.trust == index::Trust::High && one.keyword >= SHARE * best;
            let by_keyword =
                one.keyword > 0.0 && (first.next().is_some() || (seat(one) && seats.next().is_some()));
            by_keyword || one.related > 0.0 || near.contains(&one.place)
        });
        let stretches = stretches(&ones);
        Ranking { posed: self, whole, ones, stretches, sessions }
    }

    fn one(&self, met: Met, whole: &Whole, sessions: &mut HashMap<i64, String>) -> One {
        let group = met.session.as_deref().map_or(0, |session| fingerprint(&[session]));
        if let Some(session) = &met.session {
            sessions.insert(group, session.clone());
        }
        let plain = Document {
            kind: met.tier.unwrap_or(Tier::Semantic).kind().name().to_owned(),
            role: whose(met.role),
            position: met.position,
            occurred_at: met.occurred_at,
            trust: met.trust.unwrap_or(Trust::Low).into(),
            confidence: met.confidence as f32,
            scope: SCOPE.to_owned(),
            ..Document::default()
        };
        let speaker = speaker(&met.tags).and_then(name_of);
        let speaker = speaker.map_or(0, |name| fingerprint(&[&name]));
        let keyword = if met.counts.is_empty() { met.keyword as f32 } else { self.keyword(&met, whole) };
        One {
            card: Card { group, speaker, length: met.length, ..Card::of(&plain) },
            place: met.place,
            keyword,
            cosine: met.cosine.map(|cosine| cosine as f32),
            related: 0.0,
            counts: met.counts,
        }
    }

    /// The keyword score of a member of a conversation, as the backend's statement has it.
    fn keyword(&self, met: &Met, whole: &Whole) -> f32 {
        let of = |(factor, count): (f32, &f32)| {
            if *count > 0.0 {
                factor * index::saturated(*count, met.length, whole.average() as f32)
            } else {
                0.0
            }
        };
        self.factors(whole).into_iter().zip(&met.counts).map(of).sum()
    }

    /// What each term is worth: its weight by how rare it is.
    fn factors(&self, whole: &Whole) -> Vec<f32> {
        let rare = |having: &i64| rarity(whole.memories as f32, *having as f32);
        self.terms.iter().zip(&whole.having).map(|((_, weight), having)| weight * rare(having)).collect()
    }

    /// Share of the question's words that a memory answers by another name; those it holds itself do not count again.
    fn related(&self, held: &[String]) -> f32 {
        let has = |term: &str| held.iter().any(|held| held == term);
        let named = self.names.iter().filter(|name| has(name.term)).fold(0, |mask, name| mask | name.words);
        let own = self.terms.iter().take(64).enumerate().filter(|(_, (term, _))| has(term));
        let own = own.fold(0u64, |mask, (at, _)| mask | 1 << at);
        (named & !own).count_ones() as f32 / self.about.len().max(1) as f32
    }

    /// Which of the question's terms a memory holds, each counted by how rare it is: its inverse document frequency (IDF).
    fn found(&self, memory: Stored, placed: &Placed, whole: &Whole) -> Found {
        let held: HashSet<String> = indexed_terms(&memory).0.into_iter().map(|(term, _)| term).collect();
        // A word nobody wrote tells nothing apart; it counts like one that a single memory holds.
        let worth = |having: i64| rarity(whole.memories as f32, having.max(1) as f32);
        let (mut sum, mut shared, mut covered, mut counted, mut by_few) = (0.0, Vec::new(), 0.0, 0, 0);
        let mut own = 0u64;
        for (at, ((term, weight), having)) in self.terms.iter().zip(&whole.having).enumerate() {
            let (counts, worth) = (self.about.counts(at), weight * worth(*having));
            sum += if counts { worth } else { 0.0 };
            if held.contains(term) {
                own |= 1u64.checked_shl(at as u32).unwrap_or(0);
                shared.push((term.clone(), worth));
                covered += if counts { worth } else { 0.0 };
                counted += usize::from(counts);
                by_few += usize::from(counts && usize::try_from(*having).is_ok_and(|n| n <= HELD_BY_FEW));
            }
        }
        let nearness = self.judge.nearness.among(usize::try_from(whole.memories).unwrap_or(usize::MAX));
        let explain = Explain {
            factors: placed.factors,
            covered: if sum > 0.0 { covered / sum } else { 0.0 },
            held: counted,
            shared: by_few as f32 / self.about.len().max(1) as f32,
            related: placed.related,
            named: self.names.iter().any(|name| held.contains(name.term) && name.proper & !own != 0),
            // What a model that knows one language says of another one is noise.
            nearness: if self.about.foreign { Nearness::SILENT } else { nearness },
            terms: shared,
            cosine: placed.cosine,
            near: None,
            behind: None,
        };
        Found::of(memory, explain)
    }
}

/// A ranking that waits for what stands beside its candidates.
#[derive(Debug)]
pub struct Ranking<'p> {
    posed: &'p Posed,
    whole: &'p Whole,
    ones: Vec<One>,
    stretches: Vec<Stretch>,
    sessions: HashMap<i64, String>,
}

impl<'p> Ranking<'p> {
    /// Stretches of conversations that the ranking wants to see: which, from which position, to which.
    pub fn beside(&self) -> Vec<(&str, i32, i32)> {
        let place = |at: u32| i32::try_from(at).unwrap_or(i32::MAX);
        let of =
            |one: &Stretch| Some((self.sessions.get(&one.group)?.as_str(), place(one.from), place(one.to)));
        self.stretches.iter().filter_map(of).collect()
    }

    /// Ranks, knowing the members of these stretches.
    pub fn with(mut self, members: Vec<Met>) -> InOrder<'p> {
        let (posed, whole) = (self.posed, self.whole);
        let members: Vec<One> =
            members.into_iter().map(|met| posed.one(met, whole, &mut self.sessions)).collect();
        let groups = Groups::of(&self.stretches, members);
        let around = Around {
            all: usize::try_from(whole.memories).unwrap_or_default(),
            mean: whole.cosines.0 as f32,
            spread: whole.cosines.1 as f32,
            factors: posed.factors(whole),
            worth: posed.judge.worth,
        };
        let ranked = ranked(self.ones, &groups, &around, &posed.ask, &posed.weights);
        InOrder { posed, whole, ranked }
    }
}

/// Candidates in their order.
pub struct InOrder<'p> {
    posed: &'p Posed,
    whole: &'p Whole,
    ranked: Ranked,
}

impl InOrder<'_> {
    /// The memories whose word pieces are wanted, where the model has those.
    pub fn pieces(&self) -> Vec<i64> {
        let has = self.posed.judge.asked.as_ref().is_some_and(|asked| asked.pieces.is_some());
        if has { self.ranked.to_rerank() } else { Vec::new() }
    }

    /// Looks at the best word by word.
    pub fn rerank(&mut self, pieces: &HashMap<i64, Vec<u8>>) {
        let Some(asked) = &self.posed.judge.asked else { return };
        let factors = self.posed.factors(self.whole);
        let terms = || self.posed.terms.iter().zip(&factors);
        let rarity = |term: &str| terms().find(|((known, _), _)| known == term).map_or(0.0, |(_, f)| *f);
        self.ranked.rerank(asked, pieces, rarity, &self.posed.ask, &self.posed.weights);
    }

    /// Those whose texts are worth fetching: a few times what is wanted, and the best of the trusted.
    pub fn likely(&self) -> Vec<i64> {
        let (mut others, mut seats) = (self.posed.ask.limit.saturating_mul(SPARE), SEATS);
        let stays = |one: &Placed| {
            let left = if one.trusted && others == 0 { &mut seats } else { &mut others };
            let stays = *left > 0;
            *left = left.saturating_sub(1);
            stays
        };
        self.ranked.each().filter(stays).map(|one| one.place).collect()
    }

    /// The hits, from their texts.
    pub fn found(&self, mut texts: HashMap<i64, Stored>) -> Vec<Found> {
        let found = |one: Placed| Some(self.posed.found(texts.remove(&one.place)?, &one, self.whole));
        self.ranked.each().filter_map(found).collect()
    }
}

impl std::fmt::Debug for InOrder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InOrder").finish_non_exhaustive()
    }
}
