//! What a question is about: which of its words carry it, and the names that answer a word of it ("database", PostgreSQL).
//!
//! In: the terms of a question. Out: those that count, and terms that stand for some of them. The tables are made at build time from
//! `models/light.txt` and `models/neighbours.txt`. Never here: ranking; a table that grows with what is stored.

include!(concat!(env!("OUT_DIR"), "/recall_words.rs"));

/// Small words of another language that make a question foreign.
const FOREIGN_MIN: usize = 2;
/// Names a question is related to at most.
const NAMES_MAX: usize = 160;
/// Terms a question has at most: one bit each.
const TERMS_MAX: usize = 64;

/// A term that stands for words of a question, which are counted bit by bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) term: &'static str,
    /// The words it stands for.
    pub(crate) words: u64,
    /// Those among them where one of the two is a proper name: no model has a word for it, so no vector can confirm or deny what the table says.
    pub(crate) proper: u64,
}

/// The terms of a question, and which of them say what it is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct About {
    /// Bit by bit, which terms count.
    counts: u64,
    /// Whether the question is not in the language that the models know.
    pub(crate) foreign: bool,
}

impl About {
    /// Of a question's terms, in their order.
    pub(crate) fn of<'t>(terms: impl Iterator<Item = &'t str>) -> About {
        let (mut all, mut counts, mut foreign) = (0u64, 0u64, 0);
        for (at, term) in terms.take(TERMS_MAX).enumerate() {
            all |= 1 << at;
            counts |= u64::from(LIGHT.binary_search(&term).is_err()) << at;
            foreign += usize::from(FOREIGN.binary_search(&term).is_ok());
        }
        // A question of small words only is about those.
        About { counts: if counts == 0 { all } else { counts }, foreign: foreign >= FOREIGN_MIN }
    }

    /// Whether the term at this place counts.
    pub(crate) fn counts(&self, at: usize) -> bool {
        at < TERMS_MAX && (self.counts >> at) & 1 == 1
    }

    /// How many terms count.
    pub(crate) fn len(&self) -> usize {
        self.counts.count_ones() as usize
    }

    /// Terms that stand for some of the question's.
    pub(crate) fn kin(&self, terms: &[&str]) -> Vec<Name> {
        let place = |word: &str| terms.iter().take(TERMS_MAX).position(|term| *term == word);
        let is_proper = |name: &str| KNOWN.binary_search(&name).is_err();
        let mut found: Vec<Name> = Vec::new();
        let mut take = |term: &'static str, words: u64, is_proper: bool| {
            let proper = if is_proper { words } else { 0 };
            match found.iter().position(|known| known.term == term) {
                Some(at) => {
                    found[at].words |= words;
                    found[at].proper |= proper;
                }
                None if found.len() < NAMES_MAX => found.push(Name { term, words, proper }),
                None => {}
            }
        };
        let others = |names: &'static [&'static str]| names.iter().filter(|name| place(name).is_none());
        for (at, term) in terms.iter().take(TERMS_MAX).enumerate() {
            // Heads lie together by their first word.
            let from = HEADS.partition_point(|(words, _)| words.first().is_some_and(|first| first < term));
            for (words, names) in HEADS[from..].iter().take_while(|(words, _)| words.first() == Some(term)) {
                let places: Option<u64> =
                    words.iter().try_fold(0, |mask, word| Some(mask | 1 << place(word)?));
                if let Some(mask) = places {
                    others(names).for_each(|name| take(name, mask, is_proper(name)));
                }
            }
            if let Ok(row) = BACK.binary_search_by(|(name, _)| name.cmp(term)) {
                others(BACK[row].1).for_each(|name| take(name, 1 << at, is_proper(term)));
            }
        }
        found.retain_mut(|name| {
            name.words &= self.counts;
            name.proper &= self.counts;
            name.words != 0
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{is_stop, of_question};

    fn kin(question: &str) -> Vec<&'static str> {
        let terms = of_question(question);
        let terms: Vec<&str> = terms.iter().map(|(term, _)| term.as_str()).collect();
        About::of(terms.iter().copied()).kin(&terms).into_iter().map(|name| name.term).collect()
    }

    #[test]
    fn a_general_word_is_answered_by_its_names_and_a_name_by_its_general_word() {
        assert!(kin("which database?").contains(&"postgresql"));
        assert!(kin("which package manager is it?").contains(&"pnpm"));
        assert!(kin("background tasks are not processed").contains(&"queue"));
        assert!(kin("what is postgres for?").contains(&"databas"));
        assert!(!kin("who is the manager?").contains(&"pnpm"), "half of two words is not enough");
        assert!(kin("what do we know about the pelican?").is_empty());
    }

    #[test]
    fn a_name_that_no_model_has_a_word_for_needs_no_vector() {
        let proper = |question: &str, name: &str| {
            let terms = of_question(question);
            let terms: Vec<&str> = terms.iter().map(|(term, _)| term.as_str()).collect();
            let kin = About::of(terms.iter().copied()).kin(&terms);
            kin.iter().find(|kin| kin.term == name).is_some_and(|kin| kin.proper != 0)
        };
        assert!(proper("which database?", "postgresql") && proper("what is postgresql for?", "databas"));
        assert!(!proper("background tasks are not processed", "worker"));
    }

    #[test]
    fn a_name_with_capitals_inside_is_found_as_it_is_written() {
        let written = of_question("We load everything into BigQuery");
        let kin = kin("which warehouse?");
        assert!(written.iter().any(|(term, _)| kin.contains(&term.as_str())), "{written:?}");
    }

    #[test]
    fn small_words_count_only_where_there_are_no_others() {
        let about = |text: &str| {
            let terms = of_question(text);
            let about = About::of(terms.iter().map(|(term, _)| term.as_str()));
            terms
                .iter()
                .enumerate()
                .filter(|(at, _)| about.counts(*at))
                .map(|(_, (t, _))| t.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(about("what do we know about the dashboard?"), ["dashboard"]);
        assert_eq!(about("what do we use?"), ["us"]);
        assert_eq!(about("which CSS framework do we use?"), ["css", "framework"]);
    }

    #[test]
    fn a_question_in_another_language_is_known_by_its_small_words() {
        let foreign = |text: &str| About::of(of_question(text).iter().map(|(t, _)| t.as_str())).foreign;
        assert!(foreign("wann ist die nächste Besprechung?") && foreign("où est la clé pour les serveurs?"));
        assert!(!foreign("which database do we use?") && !foreign("may the process die at night?"));
    }

    #[test]
    fn the_tables_are_sorted_and_hold_no_word_that_questions_lose() {
        assert!(LIGHT.is_sorted() && FOREIGN.is_sorted() && KNOWN.is_sorted());
        assert!(BACK.is_sorted_by_key(|row| row.0) && HEADS.is_sorted_by_key(|row| row.0));
        let words = HEADS.iter().flat_map(|(words, names)| words.iter().chain(*names));
        let lost: Vec<_> = words.filter(|word| is_stop(word) || LIGHT.binary_search(word).is_ok()).collect();
        assert!(lost.is_empty(), "{lost:?}");
        assert!(HEADS.len() > 200);
    }
}
