//! `speed`: the index beside SQLite's own full-text search, and fresh processes beside one that does nothing, in one run.
//!
//! Comes in: how many memories. Goes out: ratios; whoever reads them knows what else the machine was doing. The texts are made up and the same in
//! every run: a title of 6 words, 3 tags, a body of 40, words by Zipf's law, one in twelve a rare identifier. Never here: a verdict.

use crate::Outcome;
use heirloom_engine::index::embed::Embedder as _;
use heirloom_engine::index::embed::builtin::Builtin;
use heirloom_engine::index::{Change, Document, Index, Trust};
use heirloom_engine::recall::{Ask, Weights, rank};
use rusqlite::Connection;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const NOW: i64 = 1_794_700_000;
const OWNER: &str = "me";
const PROMPT: &str = "why did the migration of the payment service to the new database cluster fail on the staging host yesterday";
/// Memories handed over in one go.
const BATCH: usize = 65_536;
/// Fresh processes started of each sort.
const SPAWNS: usize = 100;
/// Memories saved one by one by each of four processes.
const SAVES: usize = 50;

fn said(e: impl std::fmt::Display) -> String {
    e.to_string()
}

pub(crate) fn run(words: &[String]) -> Outcome {
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["nothing"] => Ok(()),
        ["answer", folder] => answer(Path::new(folder)),
        ["save", folder, name] => save(Path::new(folder), name),
        [] => measure(10_000),
        [count] => measure(count.parse().map_err(|_| "speed [HOW MANY MEMORIES]".to_owned())?),
        _ => Err("speed [HOW MANY MEMORIES]".to_owned()),
    }
}

fn measure(count: usize) -> Outcome {
    let folder = tempfile::tempdir().map_err(said)?;
    let words = words()?;
    build(count, folder.path(), &words)?;
    warm(folder.path(), &words)?;
    spawn(folder.path())?;
    write(folder.path())
}

/// A small fixed generator.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// 60,000 words: those of the model's vocabulary, short ones first, then joined pairs of them.
fn words() -> Result<Vec<String>, String> {
    let model = Builtin::open().map_err(said)?;
    let (vocab, _) = model.vocab();
    let mut whole: Vec<String> = (1996..vocab.len() as u16)
        .filter_map(|i| String::from_utf8(vocab.word(i)?.to_vec()).ok())
        .filter(|w| w.len() > 2 && w.bytes().all(|b| b.is_ascii_lowercase()))
        .collect();
    whole.sort_by_key(String::len);
    let mut draw = Draw(7);
    let mut all = whole.clone();
    while all.len() < 60_000 {
        let mut pick = || &whole[draw.next() as usize % whole.len()];
        all.push(format!("{}{}", pick(), pick()));
    }
    Ok(all)
}

/// A word by Zipf's law; `from` leaves out the most frequent ones.
fn word<'w>(words: &'w [String], draw: &mut Draw, from: f64) -> &'w str {
    let rank = ((words.len() as f64).ln() * (from + (1.0 - from) * draw.unit())).exp() as usize;
    &words[rank.saturating_sub(1).min(words.len() - 1)]
}

fn memory(number: usize, words: &[String], draw: &mut Draw) -> Document {
    let mut text = |count: usize| {
        let part = |draw: &mut Draw| match count > 6 && draw.next().is_multiple_of(12) {
            true => format!("id_{:x}", draw.next() % 0xFFFF_FFFF),
            false => word(words, draw, 0.0).to_owned(),
        };
        (0..count).map(|_| part(draw)).collect::<Vec<_>>()
    };
    Document {
        id: format!("note:{number}"),
        kind: "note".into(),
        title: text(6).join(" "),
        tags: text(3),
        body: text(40).join(" "),
        trust: Trust::High,
        occurred_at: NOW - (number as i64 % 400) * 86_400,
        confidence: 1.0,
        ..Document::default()
    }
}

/// Milliseconds of processor time a call takes, whatever else the machine is doing.
fn worked<T>(call: impl FnOnce() -> Result<T, String>) -> Result<(T, f64), String> {
    let spent = || {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        used.tv_sec as f64 * 1e3 + used.tv_nsec as f64 / 1e6
    };
    let before = spent();
    let value = call()?;
    Ok((value, spent() - before))
}

fn timed<T>(call: impl FnOnce() -> Result<T, String>) -> Result<f64, String> {
    let start = Instant::now();
    call()?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn size(folder: &Path, prefix: &str) -> f64 {
    use std::os::unix::fs::MetadataExt as _;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    ours.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.blocks() * 512).sum::<u64>() as f64 / 1e6
}

fn build(count: usize, folder: &Path, words: &[String]) -> Outcome {
    let model = Builtin::open().map_err(said)?;
    let mut index = Index::open(folder).map_err(said)?;
    let fts = Connection::open(folder.join("fts5.db")).map_err(said)?;
    fts.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = normal;
         create table t (id integer primary key, title text, tags text, body text);
         create virtual table f using fts5(title, tags, body, content='t', content_rowid='id', tokenize='porter unicode61');",
    )
    .map_err(said)?;
    let (mut ours, mut vectors, mut theirs) = (0.0, 0.0, 0.0);
    let mut draw = Draw(20_261_115);
    for first in (0..count).step_by(BATCH) {
        let part: Vec<Document> =
            (first..count.min(first + BATCH)).map(|i| memory(i, words, &mut draw)).collect();
        theirs += worked(|| {
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
        ours += worked(|| index.apply(OWNER, &changes, None, &[]).map_err(said))?.1;
        vectors += worked(|| index.embed_missing(OWNER, &model, BATCH).map_err(said))?.1;
    }
    drop(index);
    fts.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).map_err(said)?;
    let rate = |spent: f64| count as f64 / spent * 1e3;
    println!("{count} memories");
    println!(
        "keywords indexed per processor second: {:.0}, FTS5 {:.0}, ratio {:.2}; vectors {:.0}",
        rate(ours),
        rate(theirs),
        theirs / ours,
        rate(vectors)
    );
    println!(
        "size: text and keywords {:.0} MB, vectors {:.0} MB; FTS5 with text {:.0} MB",
        size(folder, "recall"),
        size(folder, "vectors-"),
        size(folder, "fts5")
    );
    Ok(())
}

fn warm(folder: &Path, words: &[String]) -> Outcome {
    let mut draw = Draw(99);
    let mut index = Index::open(folder).map_err(said)?;
    let model = Builtin::open().map_err(said)?;
    let fts = Connection::open(folder.join("fts5.db")).map_err(said)?;
    fts.execute_batch("pragma mmap_size = 2147418112; pragma cache_size = -65536;").map_err(said)?;
    let reader = index.reader(OWNER, Some(model.space())).map_err(said)?;
    let questions: Vec<Vec<&str>> =
        (0..60).map(|_| (0..8).map(|_| word(words, &mut draw, 0.45)).collect()).collect();
    let (mut ours, mut theirs, mut hybrid) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..3 {
        for question in &questions {
            let text = question.join(" ");
            let ask = Ask { text: text.clone(), now: NOW, limit: 10, ..Ask::default() };
            let matching = question.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" OR ");
            let a = timed(|| reader.best_by_keywords(&text, 10).map_err(said))?;
            let b = timed(|| {
                let statement = "select rowid from f where f match ?1 order by bm25(f) limit 10";
                let mut statement = fts.prepare_cached(statement).map_err(said)?;
                let rows = statement.query_map([&matching], |row| row.get::<_, i64>(0)).map_err(said)?;
                Ok(rows.count())
            })?;
            let c = timed(|| rank(&reader, Some(&model), &ask, &Weights::default()).map_err(said))?;
            // The first round only brings pages in.
            if round > 0 {
                ours.push(a);
                theirs.push(b);
                hybrid.push(c);
            }
        }
    }
    let (ours, theirs, hybrid) = (middle(&mut ours), middle(&mut theirs), middle(&mut hybrid));
    println!(
        "8 terms in a warm process, p50: keywords {ours:.3} ms, FTS5 {theirs:.2} ms, ratio {:.0}; hybrid {hybrid:.2} ms",
        theirs / ours
    );
    Ok(())
}

/// What a fresh process does for a prompt.
fn answer(folder: &Path) -> Outcome {
    let mut index = Index::open(folder).map_err(said)?;
    let model = Builtin::open().map_err(said)?;
    let reader = index.reader(OWNER, Some(model.space())).map_err(said)?;
    let ask = Ask { text: PROMPT.into(), now: NOW, limit: 5, ..Ask::default() };
    let mut out = String::new();
    for hit in rank(&reader, Some(&model), &ask, &Weights::default()).map_err(said)? {
        if let Some(document) = reader.document(hit.number).map_err(said)? {
            out.push_str(&format!("{} {:.3} {}\n", document.id, hit.score, document.title));
        }
    }
    std::io::stdout().write_all(out.as_bytes()).map_err(said)?;
    // As a hook does: the system takes everything back at once.
    std::process::exit(0)
}

fn fresh(words: &[&str], folder: &Path) -> Result<Command, String> {
    let mut command = Command::new(std::env::current_exe().map_err(said)?);
    command.arg("speed").args(&words[..1]);
    if words[0] != "nothing" {
        command.arg(folder);
    }
    command.args(&words[1..]).stdout(Stdio::null());
    Ok(command)
}

fn spawn(folder: &Path) -> Outcome {
    let (mut empty, mut full) = (Vec::new(), Vec::new());
    for round in 0..SPAWNS + 10 {
        let a = timed(|| fresh(&["nothing"], folder)?.status().map_err(said))?;
        let b = timed(|| fresh(&["answer"], folder)?.status().map_err(said))?;
        if round >= 10 {
            empty.push(a);
            full.push(b);
        }
    }
    let (empty, full) = (middle(&mut empty), middle(&mut full));
    println!(
        "fresh process, p50 of {SPAWNS}: ends at once {empty:.2} ms, answers a prompt {full:.2} ms, ratio {:.1}",
        full / empty
    );
    Ok(())
}

/// One process saving memories one by one, each in a transaction of its own.
fn save(folder: &Path, name: &str) -> Outcome {
    let words = words()?;
    let model = Builtin::open().map_err(said)?;
    let mut index = Index::open(folder).map_err(said)?;
    let mut draw = Draw(name.bytes().fold(17, |h, b| h * 31 + u64::from(b)));
    let mut times = Vec::new();
    for number in 0..SAVES {
        let mut document = memory(number, &words, &mut draw);
        document.id = format!("note:{name}-{number}");
        times.push(timed(|| index.apply(OWNER, &[Change::Put(document)], Some(&model), &[]).map_err(said))?);
    }
    println!("{:.3}", middle(&mut times));
    Ok(())
}

fn write(folder: &Path) -> Outcome {
    let mut bare = Vec::new();
    let mut file = std::fs::File::create(folder.join("bare")).map_err(said)?;
    for _ in 0..SAVES {
        bare.push(timed(|| file.write_all(&[7; 512]).and_then(|()| file.sync_all()).map_err(said))?);
    }
    let start = |name: &&str| fresh(&["save", *name], folder)?.stdout(Stdio::piped()).spawn().map_err(said);
    let writers = ["a", "b", "c", "d"].iter().map(start).collect::<Result<Vec<_>, String>>()?;
    let mut p50 = Vec::new();
    let mut failed = 0;
    for writer in writers {
        let output = writer.wait_with_output().map_err(said)?;
        match String::from_utf8_lossy(&output.stdout).trim().parse::<f64>() {
            Ok(time) if output.status.success() => p50.push(time),
            _ => failed += 1,
        }
    }
    let (bare, saved) = (middle(&mut bare), middle(&mut p50));
    println!(
        "four processes saving at once, {failed} failed: p50 {saved:.2} ms, a bare fsync {bare:.2} ms, ratio {:.1}",
        saved / bare
    );
    Ok(())
}
