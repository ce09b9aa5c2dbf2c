//! The statements of the store without Heirloom around them, through the same client, role and policies.
//!
//! Comes in: rows and questions that were made beforehand. Goes out: nothing; whoever calls takes the time. Never here: a check of what comes in.

use heirloom_engine::index::embed::Embedder as _;
use heirloom_engine::index::embed::builtin::Builtin;
use heirloom_engine::shelf::tiers::{
    Action, Event, Head, Metadata, UserContext, counted_terms, question_terms,
};
use heirloom_postgres::statements;
use std::collections::HashMap;
use tokio_postgres::{Client, Error, NoTls, Statement};

/// The same statements without Heirloom around them.
pub(super) struct Bare {
    /// Memories its user has, which the totals go on saying.
    memories: usize,
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
pub(super) struct Row {
    id: Vec<String>,
    content: Vec<String>,
    detail: Vec<serde_json::Value>,
    vector: Vec<Option<String>>,
    terms: Vec<String>,
    counts: Vec<f32>,
}

pub(super) struct Asked {
    terms: Vec<String>,
    weights: Vec<f64>,
    vector: Option<String>,
}

fn said(error: Error) -> String {
    error.to_string()
}

impl Bare {
    pub(super) fn new(address: &str, who: &UserContext, memories: usize) -> Result<Bare, String> {
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
            memories,
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

    pub(super) fn ready(&self, text: &str, n: usize) -> Row {
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

    pub(super) fn insert(&self, row: &Row) -> Result<(), String> {
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
                        &[
                            &self.who.user(),
                            model,
                            &vec![place],
                            &vec!["episodic"],
                            &row.vector,
                            &vec![None::<Vec<u8>>],
                        ],
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
        let total = self.memories as i64;
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

    pub(super) fn asked(&self, question: &str) -> Asked {
        let (terms, weights) =
            question_terms(question).into_iter().map(|(term, weight)| (term, f64::from(weight))).unzip();
        Asked { terms, weights, vector: self.vector(question) }
    }

    pub(super) fn search(&self, asked: &Asked) -> Result<(), String> {
        self.runtime
            .block_on(async {
                self.begin(false).await?;
                let totals = self.client.query_one(&self.totals, &[&self.who.user(), &asked.terms]).await?;
                let (memories, words): (i64, i64) = (totals.get(0), totals.get(1));
                let average = words as f64 / memories.max(1) as f64;
                let rows = self
                    .client
                    .query(
                        &self.hybrid,
                        &[
                            &self.who.user(),
                            &vec!["episodic"],
                            &asked.terms,
                            &asked.weights,
                            &(memories as f64),
                            &average,
                            &1.2f64,
                            &0.75f64,
                            &asked.vector,
                            &1_772_366_400i64,
                            &self.model.space().model,
                            &Vec::<i64>::new(),
                        ],
                    )
                    .await?;
                let mut best: Vec<(f64, i64)> = rows
                    .iter()
                    .map(|row| {
                        (row.get::<_, f64>(10) + row.get::<_, Option<f64>>(11).unwrap_or(0.0), row.get(0))
                    })
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

impl Bare {
    /// Many rows in one transaction, each table in one statement.
    pub(super) fn insert_many(&self, rows: &[Row]) -> Result<(), String> {
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
                let pieces = vec![None::<Vec<u8>>; many];
                self.client
                    .execute(&self.vector, &[&self.who.user(), model, &at, &tier, &vectors, &pieces])
                    .await?;
                self.note(&locked).await?;
                self.client.batch_execute("commit").await
            })
            .map_err(said)
    }
}
