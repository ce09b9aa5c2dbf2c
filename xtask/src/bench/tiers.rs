//! The tiers: on PostgreSQL, Heirloom's insert and search beside the bare statements through the same client, role and policies; on SQLite, the
//! search of one user among a thousand as the deployment grows from ten thousand turns to a million.

use crate::server::{Release, Server};
use crate::stress::tiers::{Dice, engine, fill, sentence, set_up, told};
use crate::{Outcome, report};
use heirloom_core::Channel;
use heirloom_engine::gate::Entry;
use heirloom_engine::index::embed::Embedder as _;
use heirloom_engine::index::embed::builtin::Builtin;
use heirloom_engine::shelf::tiers::{
    Action, Event, Head, ImportRules, Metadata, Role, SqliteStore, Tier, TierStore, Turn, UserContext, Whose,
    counted_terms, question_terms,
};
use heirloom_postgres::{PgStore, statements};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, Error, NoTls, Statement};

const OWNER: Entry = Entry { channel: Channel::OwnerMessage, confirmed: false };
const ROUNDS: usize = 600;

/// The crowd that a user of the PostgreSQL run is among, and how much each of them has.
const CROWD: usize = 20;
const EACH: usize = 2_000;

pub(crate) fn run(words: &[String]) -> Outcome {
    match words.first().map(String::as_str) {
        None => postgres().and_then(|()| sqlite()),
        Some("postgres") => postgres(),
        Some("sqlite") => sqlite(),
        Some("alone") => alone(),
        Some("load") => load(),
        Some(_) => Err("usage: bench tiers [postgres|sqlite|alone|load]".to_owned()),
    }
}

/// Five words of a turn that was stored.
fn question(n: usize) -> String {
    sentence(n).split(' ').step_by(2).take(5).collect::<Vec<_>>().join(" ")
}

/// Sorted times, and places in them.
struct Times(Vec<Duration>);

impl Times {
    fn at(&mut self, share: f64) -> f64 {
        self.0.sort_unstable();
        let place = ((self.0.len() as f64 - 1.0) * share).round() as usize;
        self.0.get(place).copied().unwrap_or_default().as_secs_f64() * 1e3
    }
}

fn timed<T>(times: &mut Times, call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let began = Instant::now();
    let outcome = call()?;
    times.0.push(began.elapsed());
    Ok(outcome)
}

fn postgres() -> Outcome {
    // Commits wait for the disk, as they do in a deployment.
    let server = Server::start(Release::Eighteen, &["shared_buffers=512MB"]);
    let address = set_up(&server, "bench")?;
    let folder = tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?;
    let store: Arc<dyn TierStore> = Arc::new(PgStore::at(&address).map_err(told)?);
    for n in 0..CROWD {
        fill(&engine(&store, folder.path(), &format!("user-{n}"))?.tiers().map_err(told)?, EACH)?;
    }
    server.sql("bench", "vacuum analyze");
    let ours = engine(&store, folder.path(), "user-7")?;
    let ours = ours.tiers().map_err(told)?;
    let bare = Bare::new(&address, ours.who())?;
    let (mut a, mut b) = (Times(Vec::new()), Times(Vec::new()));
    for n in 0..ROUNDS {
        let text = sentence(EACH + n);
        let ready = bare.ready(&text, n);
        in_turn(
            n,
            || timed(&mut a, || bare.insert(&ready)),
            || timed(&mut b, || ours.add_episode(Turn::of(Role::User, text), OWNER).map(drop).map_err(told)),
        )?;
    }
    told_beside("insert", &mut a, &mut b);
    let (mut a, mut b) = (Times(Vec::new()), Times(Vec::new()));
    let mut dice = Dice::new();
    for n in 0..ROUNDS {
        let question = question(dice.below(EACH));
        let ready = bare.asked(&question);
        in_turn(
            n,
            || timed(&mut a, || bare.search(&ready)),
            || timed(&mut b, || ours.search(&question, Some(Tier::Episodic), 10).map(drop).map_err(told)),
        )?;
    }
    told_beside("hybrid search", &mut a, &mut b);
    Ok(())
}

/// Runs both; whoever went first the last time goes second now.
fn in_turn(
    n: usize,
    bare: impl FnOnce() -> Result<(), String>,
    ours: impl FnOnce() -> Result<(), String>,
) -> Outcome {
    if n.is_multiple_of(2) { bare().and_then(|()| ours()) } else { ours().and_then(|()| bare()) }
}

fn told_beside(what: &str, bare: &mut Times, ours: &mut Times) {
    let (bare, ours, tail) = (bare.at(0.5), ours.at(0.5), ours.at(0.99));
    report::line(&format!(
        "{what}: bare statements p50 {bare:.2} ms, Heirloom p50 {ours:.2} ms (p99 {tail:.2} ms), overhead {:.0} %",
        (ours / bare - 1.0) * 100.0
    ));
}

/// The same statements without Heirloom around them.
struct Bare {
    runtime: tokio::runtime::Runtime,
    client: Client,
    who: UserContext,
    model: Builtin,
    lock: Statement,
    begin: Statement,
    insert: Statement,
    post: Statement,
    vector: Statement,
    append: Statement,
    totals: Statement,
    hybrid: Statement,
    fetch: Statement,
}

/// The parameters of an insert, made before the clock runs.
struct Row {
    id: Vec<String>,
    content: Vec<String>,
    detail: Vec<serde_json::Value>,
    vector: Vec<Option<String>>,
    terms: Vec<String>,
    counts: Vec<f32>,
}

struct Asked {
    terms: Vec<String>,
    weights: Vec<f64>,
    vector: Option<String>,
}

fn said(error: Error) -> String {
    error.to_string()
}

impl Bare {
    fn new(address: &str, who: &UserContext) -> Result<Bare, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|e| e.to_string())?;
        let (client, connection) = runtime.block_on(tokio_postgres::connect(address, NoTls)).map_err(said)?;
        runtime.spawn(connection);
        let prepare = |text: &str| runtime.block_on(client.prepare(text)).map_err(said);
        let prepared = (
            prepare(statements::LOCK)?,
            prepare(statements::INSERT)?,
            prepare(statements::POST)?,
            prepare(statements::VECTOR)?,
            prepare(statements::APPEND)?,
            prepare(statements::TOTALS)?,
            prepare(&statements::hybrid(None))?,
            prepare(statements::FETCH)?,
        );
        let (lock, insert, post, vector, append, totals, hybrid, fetch) = prepared;
        let begin = prepare("select heirloom.begin($1, $2, $3, '15s')")?;
        let model = Builtin::open().map_err(|e| e.to_string())?;
        Ok(Bare {
            who: who.clone(),
            model,
            lock,
            begin,
            insert,
            post,
            vector,
            append,
            totals,
            hybrid,
            fetch,
            client,
            runtime,
        })
    }

    fn vector(&self, text: &str) -> Option<String> {
        let numbers: Vec<String> = self.model.vector(text).iter().map(|x| format!("{x:.6}")).collect();
        Some(format!("[{}]", numbers.join(",")))
    }

    async fn begin(&self, durable: bool) -> Result<(), Error> {
        self.client.batch_execute("begin").await?;
        self.client.query(&self.begin, &[&self.who.secret(), &self.who.user(), &durable]).await.map(drop)
    }

    fn ready(&self, text: &str, n: usize) -> Row {
        let (terms, counts) = counted_terms(text).into_iter().unzip();
        let detail = serde_json::json!({ "id": format!("episode:{n}"), "user": self.who.user(), "tier": "episodic", "content": "",
            "channel": "owner_message", "trust": "high", "accepted": false, "role": "user", "from_external_content": false, "position": 0,
            "confidence": 1.0, "status": "active", "occurred_at": "2026-03-01T12:00:00Z", "created_at": "2026-03-01T12:00:00Z",
            "updated_at": "2026-03-01T12:00:00Z", "expires_at": "2026-05-30T12:00:00Z" });
        Row {
            id: vec![format!("episode:bare-{n}")],
            content: vec![text.to_owned()],
            detail: vec![detail],
            vector: vec![self.vector(text)],
            terms,
            counts,
        }
    }

    fn insert(&self, row: &Row) -> Result<(), String> {
        self.runtime
            .block_on(async {
                self.begin(true).await?;
                let locked = self.client.query_one(&self.lock, &[&self.who.user()]).await?;
                let (tier, status) = (vec!["episodic"], vec!["active"]);
                let (none, at, expires, length) =
                    (vec![None::<&str>], vec![1_772_366_400i64], vec![Some(1_780_142_400i64)], vec![12i32]);
                let placed = self
                    .client
                    .query_one(
                        &self.insert,
                        &[
                            &self.who.user(),
                            &row.id,
                            &tier,
                            &status,
                            &none,
                            &none,
                            &at,
                            &expires,
                            &length,
                            &row.content,
                            &row.detail,
                        ],
                    )
                    .await?;
                let place: i64 = placed.get(1);
                let many = row.terms.len();
                let (tiers, places, lengths) = (vec!["episodic"; many], vec![place; many], vec![12i32; many]);
                self.client
                    .execute(
                        &self.post,
                        &[&self.who.user(), &tiers, &row.terms, &places, &row.counts, &lengths],
                    )
                    .await?;
                let model = &self.model.space().model;
                self.client
                    .execute(
                        &self.vector,
                        &[&self.who.user(), model, &vec![place], &vec!["episodic"], &row.vector],
                    )
                    .await?;
                self.note(&locked).await?;
                self.client.batch_execute("commit").await
            })
            .map_err(said)
    }

    /// A line that follows the chain, as the database wants it.
    async fn note(&self, locked: &tokio_postgres::Row) -> Result<(), Error> {
        let head = Head { seq: locked.get::<_, i64>(4).unsigned_abs(), hash: locked.get(5) };
        let metadata = Metadata { tier: Some("episodic".to_owned()), count: Some(1), ..Metadata::default() };
        let event = Event::new(
            Action::MemoryWrite,
            heirloom_core::time::parse("2026-03-01T12:00:00Z").unwrap_or_default(),
            metadata,
        );
        let line = event.after(self.who.user(), &head);
        let facts = serde_json::to_string(&line.metadata).unwrap_or_default();
        let total = EACH as i64;
        let totals = vec![total, 0, total * 12, 0];
        let texts = [line.at.clone(), line.action.name(), facts, line.prev.clone(), line.hash.clone()]
            .map(|text| vec![text]);
        let [at, action, metadata, prev, hash] = &texts;
        self.client
            .execute(
                &self.append,
                &[&self.who.user(), &vec![line.seq as i64], at, action, metadata, prev, hash, &totals],
            )
            .await
            .map(drop)
    }

    fn asked(&self, question: &str) -> Asked {
        let (terms, weights) =
            question_terms(question).into_iter().map(|(term, weight)| (term, f64::from(weight))).unzip();
        Asked { terms, weights, vector: self.vector(question) }
    }

    fn search(&self, asked: &Asked) -> Result<(), String> {
        self.runtime
            .block_on(async {
                self.begin(false).await?;
                let totals = self
                    .client
                    .query_one(&self.totals, &[&self.who.user(), &"episodic", &asked.terms])
                    .await?;
                let (memories, words): (i64, i64) = (totals.get(0), totals.get(2));
                let average = words as f64 / memories.max(1) as f64;
                let rows = self
                    .client
                    .query(
                        &self.hybrid,
                        &[
                            &self.who.user(),
                            &"episodic",
                            &asked.terms,
                            &asked.weights,
                            &(memories as f64),
                            &average,
                            &1.2f64,
                            &0.75f64,
                            &asked.vector,
                            &1_772_366_400i64,
                            &self.model.space().model,
                        ],
                    )
                    .await?;
                let mut best: Vec<(f64, i64)> = rows
                    .iter()
                    .map(|row| (row.get::<_, f64>(1) + row.get::<_, f64>(2), row.get(0)))
                    .collect();
                best.sort_by(|a, b| b.0.total_cmp(&a.0));
                let places: Vec<i64> = best.iter().take(10).map(|(_, place)| *place).collect();
                self.client.query(&self.fetch, &[&self.who.user(), &places]).await?;
                self.client.batch_execute("commit").await?;
                // That somebody looked is audited.
                self.begin(false).await?;
                let locked = self.client.query_one(&self.lock, &[&self.who.user()]).await?;
                self.note(&locked).await?;
                self.client.batch_execute("commit").await
            })
            .map_err(said)
    }
}

const USERS: usize = 1_000;

fn sqlite() -> Outcome {
    let mut first = None;
    for each in [10, 1_000] {
        let folder = tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?;
        let store: Arc<dyn TierStore> = Arc::new(SqliteStore::at(&folder.path().join("tiers")));
        let began = Instant::now();
        for n in 0..USERS {
            fill(&engine(&store, folder.path(), &format!("user-{n}"))?.tiers().map_err(told)?, each)?;
        }
        let filled = began.elapsed().as_secs_f64();
        let p50 = searched(&store, folder.path(), "user-500", each, USERS * each, filled)?;
        match first {
            None => first = Some(p50),
            Some(first) => {
                report::line(&format!("growth of p50 from 10,000 to 1,000,000: {:.2}x", p50 / first))
            }
        }
    }
    Ok(())
}

/// One user who has everything.
fn alone() -> Outcome {
    let mut first = None;
    for each in [10_000, 1_000_000] {
        let folder = tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?;
        let store: Arc<dyn TierStore> = Arc::new(SqliteStore::at(&folder.path().join("tiers")));
        let began = Instant::now();
        fill(&engine(&store, folder.path(), "one")?.tiers().map_err(told)?, each)?;
        let filled = began.elapsed().as_secs_f64();
        let p50 = searched(&store, folder.path(), "one", each, each, filled)?;
        match first {
            None => first = Some(p50),
            Some(first) => report::line(&format!("growth of p50 for one user: {:.2}x", p50 / first)),
        }
    }
    Ok(())
}

fn searched(
    store: &Arc<dyn TierStore>,
    folder: &std::path::Path,
    user: &str,
    each: usize,
    total: usize,
    filled: f64,
) -> Result<f64, String> {
    let engine = engine(store, folder, user)?;
    let tiers = engine.tiers().map_err(told)?;
    let mut times = Times(Vec::new());
    let mut dice = Dice::new();
    for n in 0..ROUNDS + 20 {
        let question = question(dice.below(each));
        let began = Instant::now();
        let found = tiers.search(&question, None, 10).map_err(told)?;
        if n >= 20 {
            times.0.push(began.elapsed());
        }
        if found.is_empty() {
            return Err(format!("nothing found for `{question}`"));
        }
    }
    let (p50, p99) = (times.at(0.5), times.at(0.99));
    report::line(&format!(
        "{total} turns, {each} of them the user's: search p50 {p50:.2} ms, p99 {p99:.2} ms ({:.0} turns stored a second)",
        total as f64 / filled
    ));
    Ok(p50)
}

/// Memories that are loaded, in one go and in all, and distinct words of each.
const BATCH: usize = 1_000;
const LOADED: usize = 20_000;
const WORDS: usize = 30;

/// The nth text of thirty distinct words.
fn thirty(n: usize) -> String {
    let mut words: Vec<String> = Vec::with_capacity(WORDS);
    let mut more = n * 7;
    while words.len() < WORDS {
        for word in sentence(more).split(' ') {
            if words.len() < WORDS && !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        }
        more += 1;
    }
    words.join(" ")
}

/// An archive imported, beside the same rows as bare multi-row inserts with everything made beforehand.
fn load() -> Outcome {
    let folder = tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?;
    let sqlite: Arc<dyn TierStore> = Arc::new(SqliteStore::at(&folder.path().join("tiers")));
    let from = engine(&sqlite, folder.path(), "user-1")?;
    let from = from.tiers().map_err(told)?;
    for at in (0..LOADED).step_by(BATCH) {
        let turns = (at..at + BATCH).map(|n| (Turn::of(Role::User, thirty(n)), OWNER)).collect();
        for kept in from.add_episodes(turns).map_err(told)? {
            kept.map_err(told)?;
        }
    }
    let mut archive = Vec::new();
    from.export(Whose::Own, &mut archive, &mut |_| {}).map_err(told)?;
    let server = Server::start(Release::Eighteen, &["shared_buffers=512MB", "max_wal_size=4GB"]);
    let address = set_up(&server, "load")?;
    let store: Arc<dyn TierStore> = Arc::new(PgStore::at(&address).map_err(told)?);
    let other = engine(&store, folder.path(), "user-2")?;
    let bare = Bare::new(&address, other.tiers().map_err(told)?.who())?;
    let batches: Vec<Vec<Row>> = (0..LOADED)
        .step_by(BATCH)
        .map(|at| (at..at + BATCH).map(|n| bare.ready(&thirty(n), n)).collect())
        .collect();
    let began = Instant::now();
    for batch in &batches {
        bare.insert_many(batch)?;
    }
    let alone = LOADED as f64 / began.elapsed().as_secs_f64();
    let to = engine(&store, folder.path(), "user-1")?;
    let rules = ImportRules { person: true, ..ImportRules::default() };
    let began = Instant::now();
    let brought =
        to.tiers().map_err(told)?.import(&mut archive.as_slice(), rules, &mut |_| {}).map_err(told)?;
    let ours = LOADED as f64 / began.elapsed().as_secs_f64();
    if brought.added != LOADED as u64 {
        return Err(format!("{brought:?}"));
    }
    let size = server.sql("load", "select pg_total_relation_size('heirloom.memory') + pg_total_relation_size('heirloom.post') + pg_total_relation_size('heirloom.vector')");
    let each = size.parse::<f64>().unwrap_or_default() / (2 * LOADED) as f64;
    report::line(&format!(
        "{LOADED} memories of {WORDS} distinct words: bare multi-row inserts {alone:.0}/s, import {ours:.0}/s ({:.2} of that); {each:.0} bytes a memory",
        ours / alone
    ));
    Ok(())
}

impl Bare {
    /// Many rows in one transaction, each table in one statement.
    fn insert_many(&self, rows: &[Row]) -> Result<(), String> {
        let of = |f: fn(&Row) -> String| -> Vec<String> { rows.iter().map(f).collect() };
        let (ids, contents) = (of(|row| row.id[0].clone()), of(|row| row.content[0].clone()));
        let details: Vec<_> = rows.iter().map(|row| row.detail[0].clone()).collect();
        let many = rows.len();
        self.runtime
            .block_on(async {
                self.begin(true).await?;
                let locked = self.client.query_one(&self.lock, &[&self.who.user()]).await?;
                let (tier, status) = (vec!["episodic"; many], vec!["active"; many]);
                let (none, at) = (vec![None::<&str>; many], vec![1_772_366_400i64; many]);
                let (expires, length) = (vec![Some(1_780_142_400i64); many], vec![30i32; many]);
                let placed = self
                    .client
                    .query(
                        &self.insert,
                        &[
                            &self.who.user(),
                            &ids,
                            &tier,
                            &status,
                            &none,
                            &none,
                            &at,
                            &expires,
                            &length,
                            &contents,
                            &details,
                        ],
                    )
                    .await?;
                let places: HashMap<String, i64> =
                    placed.iter().map(|row| (row.get(0), row.get(1))).collect();
                let place = |row: &Row| places.get(&row.id[0]).copied().unwrap_or_default();
                let (mut terms, mut at, mut counts) = (Vec::new(), Vec::new(), Vec::new());
                for row in rows {
                    terms.extend(row.terms.iter().map(String::as_str));
                    counts.extend_from_slice(&row.counts);
                    at.extend(vec![place(row); row.terms.len()]);
                }
                let (tiers, lengths) = (vec!["episodic"; terms.len()], vec![30i32; terms.len()]);
                self.client
                    .execute(&self.post, &[&self.who.user(), &tiers, &terms, &at, &counts, &lengths])
                    .await?;
                let at: Vec<i64> = rows.iter().map(place).collect();
                let vectors: Vec<_> = rows.iter().map(|row| row.vector[0].clone()).collect();
                let model = &self.model.space().model;
                self.client.execute(&self.vector, &[&self.who.user(), model, &at, &tier, &vectors]).await?;
                self.note(&locked).await?;
                self.client.batch_execute("commit").await
            })
            .map_err(said)
    }
}
