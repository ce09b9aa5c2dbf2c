//! Heirloom on PostgreSQL beside the bare statements: an insert, a search, an import, signing in.
//!
//! Comes in: sizes. Goes out: times and their ratios, and bytes. Servers are those of the tests, on a folder of their own; commits wait for the disk, as they
//! do in a deployment. Never here: a connection to a server that was there before.

use super::bare::{Bare, Row};
use super::{OWNER, ROUNDS, Times, question, timed};
use crate::server::{Release, Server};
use crate::stress::tiers::{Dice, KEEPER_TOKEN, engine, fill, sentence, set_up, told};
use crate::{Outcome, report};
use heirloom_engine::shelf::tiers::{
    ImportRules, Role, SqliteStore, Tier, TierStore, Tiers, Turn, UserContext, Whose,
};
use heirloom_postgres::PgStore;
use std::sync::Arc;
use std::time::Instant;

/// The crowd that a user is among, and how much each of them has.
const CROWD: usize = 20;
const EACH: usize = 2_000;

pub(super) fn beside() -> Outcome {
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
    let bare = Bare::new(&address, ours.who(), EACH)?;
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
    searched(&bare, &ours, EACH, "hybrid search")?;
    report::line(&format!(
        "bytes of an audit line, index included: {:.0}",
        per_row(&server, "bench", "audit")
    ));
    Ok(())
}

/// Bytes of a row of a table, indexes included.
fn per_row(server: &Server, database: &str, table: &str) -> f64 {
    let asked = format!(
        "select pg_total_relation_size('heirloom.{table}')::float8 / greatest(count(*), 1) from heirloom.{table}"
    );
    server.sql(database, &asked).parse().unwrap_or_default()
}

/// One user's search beside the bare statements.
fn searched(bare: &Bare, ours: &Tiers<'_>, each: usize, what: &str) -> Outcome {
    let (mut a, mut b) = (Times(Vec::new()), Times(Vec::new()));
    let mut dice = Dice::new();
    for n in 0..ROUNDS {
        let question = question(dice.below(each));
        let ready = bare.asked(&question);
        in_turn(
            n,
            || timed(&mut a, || bare.search(&ready)),
            || timed(&mut b, || ours.search(&question, Some(Tier::Episodic), 10).map(drop).map_err(told)),
        )?;
    }
    told_beside(what, &mut a, &mut b);
    Ok(())
}

/// One user among many: what the first one said is copied for the others by the server, with keywords and vectors.
pub(super) fn crowd(users: usize, each: usize) -> Outcome {
    let server = Server::start(Release::Eighteen, &["shared_buffers=512MB", "max_wal_size=4GB"]);
    let address = set_up(&server, "crowd")?;
    let folder = tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?;
    let store: Arc<dyn TierStore> = Arc::new(PgStore::at(&address).map_err(told)?);
    let began = Instant::now();
    fill(&engine(&store, folder.path(), "user-0")?.tiers().map_err(told)?, each)?;
    let last = server.sql("crowd", "select max(place) from heirloom.memory");
    let others = format!("generate_series(1, {}) as n", users - 1);
    for (table, columns, own) in [
        (
            "memory",
            "place, id, tier, status, session, slot, occurred_at, expires_at, length, content, detail",
            "place + n * {last}, id, tier, status, session, slot, occurred_at, expires_at, length, content,
             jsonb_set(detail, '{user}', to_jsonb('user-' || n))",
        ),
        ("post", "tier, term, place, count, length", "tier, term, place + n * {last}, count, length"),
        ("vector", "model, place, tier, embedding", "model, place + n * {last}, tier, embedding"),
        ("owner", "episodes, facts, episode_words, fact_words", "episodes, facts, episode_words, fact_words"),
    ] {
        let own = own.replace("{last}", &last);
        server.sql(
            "crowd",
            &format!(
                "insert into heirloom.{table} (user_id, {columns}) select 'user-' || n, {own} from {others}, heirloom.{table} where user_id = 'user-0'"
            ),
        );
    }
    server.sql("crowd", "vacuum analyze");
    let bytes = sizes(&server, "crowd", users * each);
    report::line(&format!(
        "{users} users x {each} memories stored in {:.0} s; {bytes}",
        began.elapsed().as_secs_f64()
    ));
    let ours = engine(&store, folder.path(), &format!("user-{}", users / 2))?;
    let ours = ours.tiers().map_err(told)?;
    let bare = Bare::new(&address, ours.who(), each)?;
    searched(&bare, &ours, each, &format!("hybrid search of one user among {users} x {each}"))
}

/// Bytes of a memory in each table that it has rows in.
fn sizes(server: &Server, database: &str, memories: usize) -> String {
    let of = |table: &str| {
        let size = server.sql(database, &format!("select pg_total_relation_size('heirloom.{table}')"));
        size.parse::<f64>().unwrap_or_default() / memories as f64
    };
    let [memory, post, vector] = ["memory", "post", "vector"].map(of);
    format!(
        "bytes a memory, indexes included: {:.0} (row {memory:.0}, words {post:.0}, vector {vector:.0})",
        memory + post + vector
    )
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

/// Signing in by a token, among two accounts and among many.
pub(super) fn sign_in(accounts: usize) -> Outcome {
    let server = Server::start(Release::Eighteen, &["shared_buffers=512MB"]);
    let address = set_up(&server, "accounts")?;
    let store = PgStore::at(&address).map_err(told)?;
    let now = heirloom_core::time::parse("2026-03-01T12:00:00Z").unwrap_or_default();
    let read = || {
        let asked = "select seq_tup_read || ' rows read one after the other, ' || idx_scan || ' looks into an index' from pg_stat_user_tables where schemaname = 'heirloom' and relname = 'token'";
        server
            .sql("accounts", &format!("select pg_stat_force_next_flush(); {asked}"))
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned()
    };
    for more in [0, accounts] {
        server.sql(
            "accounts",
            &format!(
                "insert into heirloom.account select 'user-' || n, '2026-01-01T00:00:00Z' from generate_series(1, {more}) as n;
                 insert into heirloom.token select encode(sha256(n::text::bytea), 'hex'), 'user-' || n, '', '{{read,write}}', '2026-01-01T00:00:00Z', null
                 from generate_series(1, {more}) as n; analyze heirloom.token; select pg_stat_reset()"
            ),
        );
        let mut times = Times(Vec::new());
        for _ in 0..ROUNDS {
            timed(&mut times, || UserContext::by_token(&store, KEEPER_TOKEN, now).map(drop).map_err(told))?;
        }
        std::thread::sleep(std::time::Duration::from_secs(2));
        report::line(&format!(
            "{} accounts: sign-in p50 {:.2} ms, p99 {:.2} ms; {ROUNDS} of them: {}",
            more + 1,
            times.at(0.5),
            times.at(0.99),
            read()
        ));
    }
    let [account, token] = ["account", "token"].map(|table| per_row(&server, "accounts", table));
    report::line(&format!(
        "bytes of a user without memories, indexes included: account {account:.0}, token {token:.0}"
    ));
    Ok(())
}

/// Memories that are loaded in one go, and distinct words of each.
const BATCH: usize = 1_000;
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
pub(super) fn load(memories: usize) -> Outcome {
    let memories = memories.next_multiple_of(BATCH);
    let folder = tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?;
    let sqlite: Arc<dyn TierStore> = Arc::new(SqliteStore::at(&folder.path().join("tiers")));
    let from = engine(&sqlite, folder.path(), "user-1")?;
    let from = from.tiers().map_err(told)?;
    for at in (0..memories).step_by(BATCH) {
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
    let bare = Bare::new(&address, other.tiers().map_err(told)?.who(), memories)?;
    let batches: Vec<Vec<Row>> = (0..memories)
        .step_by(BATCH)
        .map(|at| (at..at + BATCH).map(|n| bare.ready(&thirty(n), n)).collect())
        .collect();
    let began = Instant::now();
    for batch in &batches {
        bare.insert_many(batch)?;
    }
    let alone = memories as f64 / began.elapsed().as_secs_f64();
    let to = engine(&store, folder.path(), "user-1")?;
    let rules = ImportRules { person: true, ..ImportRules::default() };
    let began = Instant::now();
    let brought =
        to.tiers().map_err(told)?.import(&mut archive.as_slice(), rules, &mut |_| {}).map_err(told)?;
    let ours = memories as f64 / began.elapsed().as_secs_f64();
    if brought.added != memories as u64 {
        return Err(format!("{brought:?}"));
    }
    let bytes = sizes(&server, "load", 2 * memories);
    report::line(&format!(
        "{memories} memories of {WORDS} distinct words: bare multi-row inserts {alone:.0}/s, import {ours:.0}/s ({:.2} of that); {bytes}",
        ours / alone
    ));
    Ok(())
}
