//! Questions in a process that runs on, beside FTS5: the same words, the same number of answers, statements prepared once.

use super::texts::{NOW, TELLING, questions};
use super::{OWNER, Place, middle, said, spent};
use crate::Outcome;
use heirloom_engine::index::Index;
use heirloom_engine::index::embed::Embedder;
use heirloom_engine::recall::{Ask, Weights, rank};
use rusqlite::Connection;

/// Questions of telling words, and of frequent ones, over which FTS5 takes seconds.
const QUESTIONS: [usize; 2] = [60, 12];
/// Words of a question, and answers to it.
const WORDS: usize = 8;
const ANSWERS: usize = 10;

pub(super) fn run(place: &Place, words: &[String], model: &dyn Embedder) -> Outcome {
    let mut index = Index::open(&place.index()).map_err(said)?;
    let fts = Connection::open(place.fts()).map_err(said)?;
    fts.execute_batch("pragma mmap_size = 2147418112; pragma cache_size = -65536;").map_err(said)?;
    // From its second question on a process has the files mapped.
    drop(index.reader(OWNER, Some(model.space())).map_err(said)?);
    let reader = index.reader(OWNER, Some(model.space())).map_err(said)?;
    let sorts = [("telling words", TELLING), ("words as frequent as in the texts", 0.0)];
    for ((sort, from), count) in sorts.into_iter().zip(QUESTIONS) {
        let (mut ours, mut theirs, mut hybrid) = (Vec::new(), Vec::new(), Vec::new());
        let questions = questions(words, from, count, WORDS);
        for round in 0..3 {
            for question in &questions {
                let text = question.join(" ");
                let ask = Ask { text: text.clone(), now: NOW, limit: ANSWERS, ..Ask::default() };
                let matching = question.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" OR ");
                let a = spent(|| reader.best_by_keywords(&text, ANSWERS).map_err(said))?;
                let b = spent(|| {
                    let statement = "select rowid from f where f match ?1 order by rank limit ?2";
                    let mut statement = fts.prepare_cached(statement).map_err(said)?;
                    let rows = statement
                        .query_map((&matching, ANSWERS as i64), |row| row.get::<_, i64>(0))
                        .map_err(said)?;
                    Ok(rows.count())
                })?;
                let c = spent(|| rank(&reader, Some(model), &ask, &Weights::default()).map_err(said))?;
                // The first round only brings pages in.
                if round > 0 {
                    ours.push(a.1.worked);
                    theirs.push(b.1.worked);
                    hybrid.push(c.1.worked);
                }
            }
        }
        let (ours, theirs, hybrid) = (middle(&mut ours), middle(&mut theirs), middle(&mut hybrid));
        println!(
            "8 {sort} in a warm process, processor time, p50: keywords {ours:.3} ms, FTS5 {theirs:.2} ms, ratio {:.0}; hybrid {hybrid:.2} ms",
            theirs / ours
        );
    }
    Ok(())
}
