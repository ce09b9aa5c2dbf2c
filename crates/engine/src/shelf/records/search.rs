//! Search among records: words in tags, titles and content.
//!
//! Comes in: a question in words. Goes out: the records that have at least one of them, best first: a tag 3, a word of the title 2, a
//! word of the content 1, and 1 more for what was updated in the last thirty days. Never here: a record the gate would refuse.

use super::store::Records;
use crate::gate::policy::Row;
use crate::shelf::provenance;
use heirloom_core::{Memory, Status, fault::Result, text::STOP_WORDS, time};
use std::collections::BTreeSet;

const TAG: f64 = 3.0;
const TITLE: f64 = 2.0;
const CONTENT: f64 = 1.0;
const RECENT: f64 = 1.0;
/// Days an update counts as recent.
const RECENT_DAYS: i64 = 30;
/// Shortest word that may stand for the beginning of another.
const PREFIX_MIN: usize = 4;

/// A record that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The record.
    pub memory: Memory,
    /// What it is ranked by.
    pub score: f64,
    /// What the score is made of, each part with its points.
    pub parts: Vec<(String, f64)>,
}

impl Records<'_> {
    /// The records that fit a question, best first; `every` also looks among retired and archived ones.
    pub fn search(&self, question: &str, every: bool) -> Result<Vec<Hit>> {
        let words = words(question);
        let forgotten = provenance::forgotten(self.call.project().root())?;
        let mut hits = Vec::new();
        for found in self.scan().found {
            if !every && found.status() != Some(Status::Active) {
                continue;
            }
            let memory = self.memory(&found)?;
            let mut parts = parts(&words, &memory);
            let came_back = || {
                forgotten.contains(memory.id.as_str())
                    && provenance::came_back(self.call, memory.id.as_str(), &memory.content_hash)
            };
            if parts.is_empty() || came_back() || self.is_held_back(&memory) {
                continue;
            }
            if self.is_recent(&memory) {
                parts.push(("recently updated".to_owned(), RECENT));
            }
            let score = parts.iter().map(|(_, points)| points).sum();
            hits.push(Hit { memory, score, parts });
        }
        // Equal scores: by the kind's priority, then the newer first, then by id, so that the order is the same every time.
        hits.sort_by(|a, b| {
            let newer = b.memory.updated_at.cmp(&a.memory.updated_at);
            b.score
                .total_cmp(&a.score)
                .then_with(|| a.memory.kind.priority().cmp(&b.memory.kind.priority()))
                .then(newer)
                .then_with(|| a.memory.id.cmp(&b.memory.id))
        });
        Ok(hits)
    }

    fn is_held_back(&self, memory: &Memory) -> bool {
        let text = format!("{}\n{}\n{}", memory.title, memory.tags.join(" "), memory.body);
        self.call.screen().would_refuse(&text, Row::Records).is_some()
    }

    fn is_recent(&self, memory: &Memory) -> bool {
        let updated = memory.updated_at.as_deref().and_then(time::parse);
        updated.is_some_and(|at| time::days_between(at, self.call.project().world().now) <= RECENT_DAYS)
    }
}

fn parts(words: &[String], memory: &Memory) -> Vec<(String, f64)> {
    let tags: BTreeSet<String> = memory
        .tags
        .iter()
        .flat_map(|tag| {
            let tag = tag.to_lowercase();
            pieces(&tag).map(str::to_owned).chain([tag.clone()]).collect::<Vec<_>>()
        })
        .collect();
    let (title, body) = (memory.title.to_lowercase(), memory.body.to_lowercase());
    let mut parts = Vec::new();
    for word in words {
        if tags.contains(word) {
            parts.push((format!("tag {word}"), TAG));
        }
        if holds(&title, word) {
            parts.push((format!("title {word}"), TITLE));
        }
        if holds(&body, word) {
            parts.push((format!("content {word}"), CONTENT));
        }
    }
    parts
}

/// Whether a text has a word, or from four letters on one that begins with it. Scripts that do not part words with spaces have no
/// beginnings to go by: there the letters in their order are enough.
fn holds(text: &str, word: &str) -> bool {
    if !word.is_ascii() && text.contains(word) {
        return true;
    }
    let begins = word.chars().count() >= PREFIX_MIN;
    pieces(text).any(|piece| piece == word || (begins && piece.starts_with(word)))
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty())
}

/// The words of a question, each once; a question of nothing but stop words is taken as it is.
fn words(question: &str) -> Vec<String> {
    let lower = question.to_lowercase();
    let all: BTreeSet<&str> = pieces(&lower).collect();
    let telling: Vec<String> =
        all.iter().filter(|w| STOP_WORDS.binary_search(w).is_err()).map(|w| (*w).to_owned()).collect();
    if telling.is_empty() { all.into_iter().map(str::to_owned).collect() } else { telling }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_whole_or_from_four_letters_on_by_its_beginning() {
        assert!(holds("the postgres server", "postgres") && holds("the postgresql server", "post"));
        assert!(!holds("the postgres server", "pos") && !holds("repost", "post"));
        assert!(holds("データベース接続", "接続"));
    }

    #[test]
    fn stop_words_count_only_where_there_is_nothing_else() {
        assert_eq!(words("What is the queue, the QUEUE?"), ["queue"]);
        assert_eq!(words("to be or not"), ["be", "not", "or", "to"]);
        assert!(words("?!").is_empty());
    }
}
