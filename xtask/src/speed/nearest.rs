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

/// Sentences that are put, and questions asked.
const SENTENCES: usize = 100_000;
const QUESTIONS: usize = 200;
/// The nearest that count.
const NEAREST: usize = 10;
/// Shorter stretches are no sentences.
const SHORTEST: usize = 20;

pub(super) fn run(sets: &[String]) -> Outcome {
    let (mut sentences, mut questions) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for set in sets {
        let set = read(Path::new(set))?;
        questions.extend(set.queries.iter().map(|query| text(query, "text").to_owned()));
        for unit in &set.units {
            let cut = text(unit, "text").split(['.', '!', '?', '\n']).map(str::trim);
            let whole = cut.filter(|s| s.len() >= SHORTEST && seen.insert((*s).to_owned()));
            sentences.extend(whole.map(str::to_owned));
        }
    }
    if sentences.is_empty() || questions.is_empty() {
        return Err(super::USAGE.to_owned());
    }
    sentences.truncate(SENTENCES);
    questions.truncate(QUESTIONS);
    let model = Builtin::open().map_err(said)?;
    let embed = |texts: &[String]| -> Result<Vec<Vec<f32>>, String> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Ok(model.embed(&texts, Detail::Pooled).map_err(said)?.into_iter().map(|e| e.vector).collect())
    };
    let folder = tempfile::tempdir().map_err(said)?;
    let mut index = Index::open(folder.path()).map_err(said)?;
    let document = |(i, body): (usize, &String)| Document {
        id: i.to_string(),
        body: body.clone(),
        ..Document::default()
    };
    let changes: Vec<Change> = sentences.iter().enumerate().map(document).map(Change::Put).collect();
    index.apply(OWNER, &changes, Some(&model), &[]).map_err(said)?;
    let (vectors, asked) = (embed(&sentences)?, embed(&questions)?);
    let (mut found, mut wanted) = (0, 0);
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for question in &asked {
        let mut exact: Vec<(usize, f32)> =
            vectors.iter().map(|v| v.iter().zip(question).map(|(a, b)| a * b).sum()).enumerate().collect();
        exact.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        let exact: HashSet<u32> = exact.iter().take(NEAREST).map(|one| one.0 as u32).collect();
        let mut fresh = Index::open(folder.path()).map_err(said)?;
        let mut near = Vec::new();
        for times in [&mut first, &mut later] {
            let reader = fresh.reader(OWNER, Some(model.space())).map_err(said)?;
            times.push(timed(|| {
                near = reader.best_by_vector(question, NEAREST);
                Ok(())
            })?);
        }
        found += near.iter().filter(|one| exact.contains(&one.0)).count();
        wanted += exact.len();
    }
    println!(
        "{} sentences, {} questions: {:.3} of the exact {NEAREST} nearest; first question {:.2} ms, later ones {:.2} ms",
        vectors.len(),
        asked.len(),
        found as f64 / wanted.max(1) as f64,
        middle(&mut first),
        middle(&mut later)
    );
    Ok(())
}
