//! Questions in a process that runs on, beside FTS5: the same words, the same number of answers, statements prepared once.
//!
//! In a round each side answers all questions one after the other, so that neither has its caches emptied by the other. What a keyword search takes
//! right after other work is told beside it.

use super::texts::{NOW, TELLING, questions};
use super::{OWNER, Place, Spent, middle, said, spent};
use crate::Outcome;
use heirloom_engine::index::Index;
use heirloom_engine::index::embed::Embedder;
use heirloom_engine::rank::{Ask, Weights, rank};
use rusqlite::Connection;

/// Questions of telling words, and of frequent ones, over which FTS5 takes seconds.
const QUESTIONS: [usize; 2] = [60, 12];
/// Words of a question, and answers to it.
const WORDS: usize = 8;
const ANSWERS: usize = 10;
/// Times everything is asked.
const ROUNDS: usize = 3;

pub(super) fn run(place: &Place, words: &[String], model: &dyn Embedder) -> Outcome {
    let mut index = Index::open(&place.index()).map_err(said)?;
    let fts = Connection::open(place.fts()).map_err(said)?;
    fts.execute_batch("pragma mmap_size = 2147418112; pragma cache_size = -65536;").map_err(said)?;
    // From its second question on a process has the files mapped.
    drop(index.reader(OWNER, Some(model.space())).map_err(said)?);
    let reader = index.reader(OWNER, Some(model.space())).map_err(said)?;
    let sorts = [("telling words", TELLING), ("words as frequent as in the texts", 0.0)];
    for ((sort, from), count) in sorts.into_iter().zip(QUESTIONS) {
        let questions: Vec<(String, String)> = questions(words, from, count, WORDS)
            .iter()
            .map(|q| (q.join(" "), q.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" OR ")))
            .collect();
        let keywords = |text: &str| spent(|| reader.best_by_keywords(text, ANSWERS).map_err(said));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let (mut hybrid, mut after) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            // The first round only brings pages in.
            let counts = |times: &mut Vec<f64>, time: Spent| times.extend((round > 0).then_some(time.worked));
            for (text, _) in &questions {
                counts(&mut ours, keywords(text)?.1);
            }
            for (_, matching) in &questions {
                let answer = spent(|| {
                    let statement = "select rowid from f where f match ?1 order by rank limit ?2";
                    let mut statement = fts.prepare_cached(statement).map_err(said)?;
                    let rows = statement
                        .query_map((matching, ANSWERS as i64), |row| row.get::<_, i64>(0))
                        .map_err(said)?;
                    Ok(rows.count())
                })?;
                counts(&mut theirs, answer.1);
            }
            for (text, _) in &questions {
                let ask = Ask { text: text.clone(), now: NOW, limit: ANSWERS, ..Ask::default() };
                let answer = spent(|| rank(&reader, Some(model), &ask, &Weights::default()).map_err(said))?;
                counts(&mut hybrid, answer.1);
            }
            for (before, (text, _)) in questions.iter().rev().zip(&questions) {
                let ask = Ask { text: before.0.clone(), now: NOW, limit: ANSWERS, ..Ask::default() };
                rank(&reader, Some(model), &ask, &Weights::default()).map_err(said)?;
                counts(&mut after, keywords(text)?.1);
            }
        }
        let (ours, theirs) = (middle(&mut ours), middle(&mut theirs));
        let (hybrid, after) = (middle(&mut hybrid), middle(&mut after));
        println!(
            "8 {sort} in a warm process, processor time, p50: keywords {ours:.3} ms, FTS5 {theirs:.2} ms, ratio {:.0} (right after other work \
             {after:.3} ms, {:.0}); hybrid {hybrid:.2} ms",
            theirs / ours,
            theirs / after
        );
    }
    Ok(())
}
