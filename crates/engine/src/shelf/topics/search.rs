//! Search among lessons: keywords, context, recency, use.
//!
//! Comes in: a question in words; `"a phrase"`, `context:TASK-12`, `tag:git` and `type:lesson` narrow it. Goes out: the best hits with
//! why each is there. Never here: an entry the gate would refuse, one that was forgotten and came back, or, unless asked for, one in
//! the archive.

use super::lesson::Lesson;
use super::stock::{Held, Part};
use super::{Topics, index, names};
use crate::budget::{self, Left};
use heirloom_core::{Memory, Status, fault::Result, text::STOP_WORDS, time};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// The fewest letters of a word that counts for a task or a prompt.
const TELLING: usize = 3;
/// The same where somebody searches: `CI` and `Go` are words.
const SEARCHED: usize = 2;

const PER_KEYWORD: f64 = 3.0;
const FOR_CONTEXT: f64 = 5.0;
const PER_TAG: f64 = 2.0;
const PER_FIVE_USES: f64 = 1.0;
/// How much a lesson of today has over one of long ago.
const FOR_RECENCY: f64 = 2.0;
/// Recency fades by this rate per week: half of it is left after seven.
const FADE_PER_WEEK: f64 = 0.1;
/// However often it was read, use alone never outweighs a keyword.
const MAX_FOR_USES: f64 = 2.5;

/// A lesson that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The lesson.
    pub memory: Memory,
    /// What it is ranked by.
    pub score: f64,
    /// What the score is made of.
    pub why: Why,
}

/// What a score is made of.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Why {
    /// Words of the question that occur in the lesson.
    pub keywords: Vec<String>,
    /// The reference or context that fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Words of the question that name its topic or subtopic.
    pub tags: Vec<String>,
    /// 0 to 1, 1 for today.
    pub recency: f64,
    /// How often it was loaded.
    pub uses: u64,
    /// Whether a word of the question names its topic or subtopic itself, not only what is said of them.
    #[serde(skip)]
    pub place: bool,
}

impl Why {
    /// The parts of the score, each with its points.
    pub fn parts(&self) -> Vec<(String, f64)> {
        let each = |what: &str, words: &[String], points: f64| -> Vec<(String, f64)> {
            words.iter().map(|word| (format!("{what} {word}"), points)).collect()
        };
        let mut parts = each("word", &self.keywords, PER_KEYWORD);
        parts.extend(each("topic", &self.tags, PER_TAG));
        parts.extend(self.context.iter().map(|context| (format!("context {context}"), FOR_CONTEXT)));
        parts.push(("recency".to_owned(), FOR_RECENCY * self.recency));
        parts.push((format!("loaded {} times", self.uses), self.for_uses()));
        parts.retain(|(_, points)| *points >= 0.01);
        parts
    }

    fn for_uses(&self) -> f64 {
        (PER_FIVE_USES * (self.uses / 5) as f64).min(MAX_FOR_USES)
    }
}

/// A question, taken apart.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Question {
    words: BTreeSet<String>,
    phrases: Vec<String>,
    contexts: Vec<String>,
    tags: Vec<String>,
    /// Asked for a type that lessons are not.
    elsewhere: bool,
    /// The fewest letters of a word that counts.
    least: usize,
}

impl Question {
    /// Words of at least so many letters count.
    pub(super) fn read(text: &str, least: usize) -> Question {
        let mut question = Question { least, ..Question::default() };
        let mut plain = String::new();
        let quotes = text.matches('"').count();
        for (at, piece) in text.split('"').enumerate() {
            // Every second piece stands between quotes; one left open is plain words.
            if at % 2 == 1 && quotes > at {
                let phrase = piece.trim().to_lowercase();
                if !phrase.is_empty() {
                    question.phrases.push(phrase);
                }
            }
            plain.push_str(piece);
            plain.push(' ');
        }
        let mut rest = String::new();
        for word in plain.split_whitespace() {
            match word.split_once(':').map(|(head, tail)| (head.to_lowercase(), tail.to_lowercase())) {
                Some((head, tail)) if !tail.is_empty() && head == "context" => question.contexts.push(tail),
                Some((head, tail)) if !tail.is_empty() && (head == "tag" || head == "topic") => {
                    question.tags.push(tail)
                }
                Some((head, tail)) if !tail.is_empty() && head == "type" => {
                    question.elsewhere |= tail != "lesson"
                }
                _ => {
                    if is_reference(word) {
                        // As a whole only: the `task` of `TASK-1` is in every lesson of every task.
                        question.contexts.push(bare(word).to_lowercase());
                    } else {
                        rest.push_str(word);
                        rest.push(' ');
                    }
                }
            }
        }
        question.words = words(&rest, least);
        question
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.phrases.is_empty() && self.contexts.is_empty() && self.tags.is_empty()
    }

    /// What fits, or nothing if nothing does.
    fn why(&self, held: &Held, all: &str, description: &str) -> Option<Why> {
        if self.elsewhere || self.phrases.iter().any(|phrase| !all.contains(phrase)) {
            return None;
        }
        let names = words(&format!("{} {} {description}", held.topic, held.subtopic), self.least);
        if self.tags.iter().any(|tag| !named(tag, &held.topic) && !named(tag, &held.subtopic)) {
            return None;
        }
        let there = words(all, self.least);
        let mut why = Why {
            keywords: self.words.intersection(&there).cloned().chain(self.phrases.iter().cloned()).collect(),
            tags: self.words.intersection(&names).cloned().chain(self.tags.iter().cloned()).collect(),
            ..Why::default()
        };
        let place = words(&format!("{} {}", held.topic, held.subtopic), self.least);
        why.place = !self.tags.is_empty() || self.words.intersection(&place).next().is_some();
        why.keywords.extend(self.contexts.iter().filter(|wanted| mentions(all, wanted)).cloned());
        let context = held.lesson.context.to_lowercase();
        why.context = self.contexts.iter().find(|wanted| mentions(&context, wanted)).cloned();
        let fits = !why.keywords.is_empty() || !why.tags.is_empty() || why.context.is_some();
        fits.then_some(why)
    }
}

/// Whether a topic or subtopic is called so, in the form `add` gives it or as it stands.
pub(crate) fn named(given: &str, name: &str) -> bool {
    given == name.to_lowercase() || names::subtopic(given).is_ok_and(|form| form == name)
}

/// Whether a question names a lesson's topic or subtopic, which are its tags.
pub(crate) fn names_topic(question: &str, tags: &[String]) -> bool {
    !words(question, TELLING).is_disjoint(&words(&tags.join(" "), TELLING))
}

/// `TASK-12`, `#34`: names of work, not words.
fn is_reference(word: &str) -> bool {
    let word = bare(word);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match word.rsplit_once('-') {
        Some((head, tail)) => digits(tail) && head.bytes().any(|b| b.is_ascii_alphabetic()),
        None => word.strip_prefix('#').is_some_and(digits),
    }
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '#')
}

/// Whether a text holds a reference as a whole: `task-1` is not in `task-12`.
fn mentions(text: &str, wanted: &str) -> bool {
    text.match_indices(wanted).any(|(at, _)| {
        let open = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        open(text[..at].chars().next_back()) && open(text[at + wanted.len()..].chars().next())
    })
}

/// Words that can match: lower case, of so many letters or more, no stop words. Scripts without spaces give pairs of characters.
fn words(text: &str, least: usize) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let lower = text.to_lowercase();
    for run in lower.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        if run.is_ascii() {
            if run.len() >= least && STOP_WORDS.binary_search(&run).is_err() {
                out.insert(run.to_owned());
            }
            continue;
        }
        let chars: Vec<char> = run.chars().collect();
        if chars.iter().any(|c| is_unspaced(*c)) {
            out.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if chars.len() >= least {
            out.insert(run.to_owned());
        }
    }
    out
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn recency(lesson: &Lesson, now: Timestamp) -> f64 {
    let then = time::parse(&lesson.date.to_string()).unwrap_or(now);
    let weeks = time::days_between(then, now).max(0) as f64 / 7.0;
    (-FADE_PER_WEEK * weeks).exp()
}

impl Topics<'_> {
    /// The lessons in use that fit a question, best first.
    pub fn search(&self, question: &str, limit: usize) -> Result<Vec<Hit>> {
        self.hits(self.ranked(question)?, limit)
    }

    /// What somebody who searches finds, where two letters are a word; `every` also looks among archived and retired lessons.
    pub fn found(&self, question: &str, every: bool) -> Result<Vec<Hit>> {
        let counts = |held: &Held| every || held.status == Status::Active;
        self.hits(self.ranked_among(&Question::read(question, SEARCHED), counts)?, usize::MAX)
    }

    fn hits(&self, found: Vec<(Held, f64, Why)>, limit: usize) -> Result<Vec<Hit>> {
        let found = found.into_iter().take(limit);
        found.map(|(held, score, why)| Ok(Hit { memory: self.memory(&held)?, score, why })).collect()
    }

    pub(crate) fn ranked(&self, question: &str) -> Result<Vec<(Held, f64, Why)>> {
        let mut found =
            self.ranked_among(&Question::read(question, TELLING), |held| held.status == Status::Active)?;
        // Where a lesson lies says more about a task than a word in its title, however old it is.
        found.sort_by_key(|(_, _, why)| !why.place);
        Ok(found)
    }

    fn ranked_among(
        &self,
        question: &Question,
        counts: impl Fn(&Held) -> bool,
    ) -> Result<Vec<(Held, f64, Why)>> {
        if question.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.call.project().world().now;
        let stock = self.stock();
        let uses = self.uses()?;
        let index = crate::files::read_text(&stock.index_path(), crate::files::MAX_FILE)
            .ok()
            .flatten()
            .unwrap_or_default();
        // The first of two lines about a subtopic counts.
        let descriptions = index::lines(&index);
        let descriptions: HashMap<(&str, &str), &str> = descriptions
            .iter()
            .rev()
            .map(|(topic, subtopic, words)| ((topic.as_ref(), subtopic.as_ref()), words.as_ref()))
            .collect();
        let forgotten = self.forgotten()?;
        let mut out = Vec::new();
        for topic in stock.topics() {
            for held in stock.entries(&topic, Part::default()) {
                if !counts(&held)
                    || self.came_back(&forgotten, &held)
                    || !budget::goes_on_or_leaves(Left::Files)
                {
                    continue;
                }
                let all = held.lesson.texts().map(|(_, text)| text.to_lowercase()).join("\n");
                let said = descriptions.get(&(held.topic.as_str(), held.subtopic.as_str()));
                let Some(mut why) = question.why(&held, &all, said.copied().unwrap_or_default()) else {
                    continue;
                };
                if self.held_back(&held).is_some() {
                    continue;
                }
                why.recency = recency(&held.lesson, now);
                why.uses = uses.get(held.id.as_str()).map_or(0, |uses| uses.count);
                let score = PER_KEYWORD * why.keywords.len() as f64
                    + PER_TAG * why.tags.len() as f64
                    + if why.context.is_some() { FOR_CONTEXT } else { 0.0 }
                    + FOR_RECENCY * why.recency
                    + why.for_uses();
                out.push((held, score, why));
            }
        }
        // Equal scores: the newer first, then by id, so that the order is the same every time.
        out.sort_by(|(a, x, _), (b, y, _)| {
            y.total_cmp(x).then_with(|| b.lesson.date.cmp(&a.lesson.date)).then_with(|| a.id.cmp(&b.id))
        });
        Ok(out)
    }
}
