//! Indexing beside FTS5: time and room on disk.

use super::texts::{Draw, FIRST, memory};
use super::{OWNER, Place, Spent, said, spent};
use crate::Outcome;
use heirloom_engine::index::embed::Embedder;
use heirloom_engine::index::{Change, Document, Index};
use rusqlite::Connection;
use std::path::Path;

/// Memories handed over in one go.
const BATCH: usize = 65_536;

fn size(folder: &Path, prefix: &str) -> f64 {
    use std::os::unix::fs::MetadataExt as _;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    ours.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.blocks() * 512).sum::<u64>() as f64 / 1e6
}

/// Puts so many memories into the project's index and into FTS5.
pub(super) fn run(count: usize, place: &Place, words: &[String], model: &dyn Embedder) -> Outcome {
    let mut index = Index::open(&place.index()).map_err(said)?;
    let fts = Connection::open(place.fts()).map_err(said)?;
    fts.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = normal;
         create table t (id integer primary key, title text, tags text, body text);
         create virtual table f using fts5(title, tags, body, content='t', content_rowid='id', tokenize='porter unicode61');",
    )
    .map_err(said)?;
    let (mut ours, mut vectors, mut theirs) = (Spent::default(), Spent::default(), Spent::default());
    let mut draw = Draw(FIRST);
    for first in (0..count).step_by(BATCH) {
        let part: Vec<Document> =
            (first..count.min(first + BATCH)).map(|i| memory(i, words, &mut draw)).collect();
        theirs += spent(|| {
            let tx = fts.unchecked_transaction().map_err(said)?;
            for (number, d) in (first as i64 + 1..).zip(&part) {
                let row = rusqlite::params![number, d.title, d.tags.join(" "), d.body];
                for statement in [
                    "insert into t values (?1, ?2, ?3, ?4)",
                    "insert into f (rowid, title, tags, body) values (?1, ?2, ?3, ?4)",
                ] {
                    tx.prepare_cached(statement).and_then(|mut s| s.execute(row)).map_err(said)?;
                }
            }
            tx.commit().map_err(said)
        })?
        .1;
        let changes: Vec<Change> = part.into_iter().map(Change::Put).collect();
        ours += spent(|| index.apply(OWNER, &changes, None, &[]).map_err(said))?.1;
        vectors += spent(|| index.embed_missing(OWNER, model, BATCH).map_err(said))?.1;
    }
    drop(index);
    fts.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).map_err(said)?;
    let rate = |spent: f64| count as f64 / spent * 1e3;
    println!("{count} memories");
    println!(
        "keywords indexed per processor second: {:.0}, FTS5 {:.0}, ratio {:.2}, by the clock {:.2}; vectors {:.0}",
        rate(ours.worked),
        rate(theirs.worked),
        theirs.worked / ours.worked,
        theirs.passed / ours.passed,
        rate(vectors.worked)
    );
    println!(
        "size: text and keywords {:.0} MB, vectors {:.0} MB; FTS5 with text {:.0} MB",
        size(&place.index(), "recall") + size(&place.index(), "cards"),
        size(&place.index(), "vectors-"),
        size(&place.0, "fts5")
    );
    Ok(())
}
