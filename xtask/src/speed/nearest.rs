//! How many of the exact ten nearest a search by vector finds, and how long it takes: real sentences, real embeddings.
//!
//! Comes in: sets of text as the retrieval benchmark reads them. Goes out: the share found and the time of a first and of a later question.

use super::{OWNER, middle, said, timed};
use crate::Outcome;
use crate::retrieval::{read, text};
use heirloom_engine::index::embed::builtin::Builtin;
use heirloom_engine::index::embed::{Detail, Embedder};
use heirloom_engine::index::{Change, Document, Index};
use std::collections::HashSet;
use std::path::Path;

/// Sentences that are put where nobody says how many, and questions asked.
const SENTENCES: usize = 100_000;
const QUESTIONS: usize = 200;
/// The nearest that count.
const NEAREST: usize = 10;
/// Shorter stretches are no sentences.
const SHORTEST: usize = 20;
/// Where there are too few sentences, neighbours are taken together, at most so many.
const NEIGHBOURS: usize = 12;
/// Sentences handed over in one go.
const BATCH: usize = 65_536;

/// The questions of sets, and so many of their sentences.
fn taken(sets: &[String], count: usize) -> Result<(Vec<String>, Vec<String>), String> {
    let (mut units, mut questions) = (Vec::new(), Vec::new());
    for set in sets {
        let set = read(Path::new(set))?;
        questions.extend(set.queries.iter().map(|query| text(query, "text").to_owned()));
        for unit in &set.units {
            let cut = text(unit, "text").split(['.', '!', '?', '\n']).map(str::trim);
            units.push(cut.filter(|s| s.len() >= SHORTEST).map(str::to_owned).collect::<Vec<_>>());
        }
    }
    questions.truncate(QUESTIONS);
    let (mut sentences, mut seen) = (Vec::new(), HashSet::new());
    for together in 1..=NEIGHBOURS {
        for stretch in units.iter().flat_map(|unit| unit.windows(together)).map(|some| some.join(". ")) {
            if sentences.len() == count {
                return Ok((sentences, questions));
            }
            if seen.insert(stretch.clone()) {
                sentences.push(stretch);
            }
        }
    }
    Ok((sentences, questions))
}

pub(super) fn run(words: &[String]) -> Outcome {
    let (count, sets) = match words {
        [count, sets @ ..] if count.parse::<usize>().is_ok() => (count.parse().unwrap_or(SENTENCES), sets),
        sets => (SENTENCES, sets),
    };
    let (sentences, questions) = taken(sets, count)?;
    if sentences.is_empty() || questions.is_empty() {
        return Err(super::USAGE.to_owned());
    }
    let model = Builtin::open().map_err(said)?;
    let embed = |texts: &[String]| -> Result<Vec<Vec<f32>>, String> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Ok(model.embed(&texts, Detail::Pooled).map_err(said)?.into_iter().map(|e| e.vector).collect())
    };
    let folder = tempfile::tempdir().map_err(said)?;
    let mut index = Index::open(folder.path()).map_err(said)?;
    let asked = embed(&questions)?;
    let mut exact: Vec<Vec<(u32, f32)>> = vec![Vec::new(); asked.len()];
    let mut number = 0;
    for batch in sentences.chunks(BATCH) {
        let document = |(i, body): (u32, &String)| Document {
            id: i.to_string(),
            body: body.clone(),
            ..Document::default()
        };
        let changes: Vec<Change> = (number..).zip(batch).map(document).map(Change::Put).collect();
        index.apply(OWNER, &changes, Some(&model), &[]).map_err(said)?;
        let vectors = embed(batch)?;
        for (question, exact) in asked.iter().zip(&mut exact) {
            let cosine = |v: &Vec<f32>| v.iter().zip(question).map(|(a, b)| a * b).sum::<f32>();
            exact.extend((number..).zip(&vectors).map(|(i, v)| (i, cosine(v))));
            exact.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
            exact.truncate(NEAREST);
        }
        number += batch.len() as u32;
    }
    let (mut found, mut wanted) = (0, 0);
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for (question, exact) in asked.iter().zip(&exact) {
        let mut fresh = Index::open(folder.path()).map_err(said)?;
        let mut near = Vec::new();
        for times in [&mut first, &mut later] {
            let reader = fresh.reader(OWNER, Some(model.space())).map_err(said)?;
            times.push(timed(|| {
                near = reader.best_by_vector(question, NEAREST);
                Ok(())
            })?);
        }
        found += near.iter().filter(|one| exact.iter().any(|e| e.0 == one.0)).count();
        wanted += exact.len();
    }
    println!(
        "{} sentences, {} questions: {:.3} of the exact {NEAREST} nearest; first question {:.2} ms, later ones {:.2} ms",
        sentences.len(),
        asked.len(),
        found as f64 / wanted.max(1) as f64,
        middle(&mut first),
        middle(&mut later)
    );
    Ok(())
}
