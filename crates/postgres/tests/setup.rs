//! Setting a database up and bringing it up to date: by an operator alone, all of it or nothing, with the rows that were there.

use crate::server::{Release, Server};
use crate::story::{CARELESS, founding, set_up, team};
use heirloom_core::Code;
use heirloom_engine::shelf::tiers::story::{KEEPER_TOKEN, OWNER, Stage, moment, tiers};
use heirloom_engine::shelf::tiers::{Role, TierStore as _, Turn, UserContext, token_hash};
use heirloom_postgres::PgStore;
use heirloom_postgres::team::{Founding, MayDelete, Team};
use std::sync::Arc;

const NOON: &str = "2026-03-01T12:00:00Z";

fn signed_in(address: &str, token: &str) -> heirloom_core::fault::Result<UserContext> {
    UserContext::by_token(&PgStore::at(address).unwrap(), token, moment(NOON))
}

#[test]
fn only_an_operator_changes_the_schema_and_twice_at_once_makes_it_once() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let operator = server.database("many");
    server.sql("many", "create role heirloom_app login");
    let app = server.address("heirloom_app", "many");
    let fault = signed_in(&app, KEEPER_TOKEN).unwrap_err();
    assert!(fault.code == Code::Config && fault.next_step().contains("team init"), "{fault:?}");
    assert_eq!(server.sql("many", "select to_regnamespace('heirloom') is null"), "t", "nothing was made");
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let one = || scope.spawn(|| team(&operator).init(&founding()));
        [one(), one(), one()].map(|thread| thread.join().unwrap()).into_iter().collect()
    });
    let founded = outcomes.iter().filter(|done| done.as_ref().is_ok_and(|done| done.founded)).count();
    assert_eq!(founded, 1, "{outcomes:?}");
    assert!(!team(&operator).init(&founding()).unwrap().founded, "again changes nothing");
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for n in 0..6 {
            let (app, folder) = (&app, folder.path());
            scope.spawn(move || {
                let stage = Stage::new(Arc::new(PgStore::at(app).unwrap()), folder);
                let call = stage.of("ada");
                for i in 0..10 {
                    let turn = Turn::of(Role::User, format!("process {n} turn {i}"));
                    tiers(&call).add_episode(turn, OWNER).unwrap();
                }
            });
        }
    });
    let stage = Stage::new(Arc::new(PgStore::at(&app).unwrap()), folder.path());
    let call = stage.of("ada");
    assert_eq!(stage.store.counts(tiers(&call).who()).unwrap().episodes, 60);
    assert_eq!(tiers(&call).verify_audit().unwrap(), 60, "one chain");
    // The first line of the first administrator says where the token came from.
    let keeper = stage.context("the-keeper", NOON);
    let lines = stage.store.audit(&keeper, 0, 10).unwrap();
    assert!(lines[0].metadata.by.as_deref() == Some("an operator"), "{lines:?}");
    // Somebody who holds the schema's lock is waited for, not for long.
    let status = team(&operator).status().unwrap();
    let found = status.found.unwrap();
    assert_eq!((status.version, found.users, found.memories), (Some(6), 2, 60));
    assert!(found.tables.iter().all(|table| table.guarded));
}

#[test]
fn the_printed_statements_set_a_database_up() {
    let server = Server::start(Release::Eighteen, CARELESS);
    server.database("printed");
    server.sql("printed", "create schema extensions; create extension vector schema extensions");
    let script = Team::init_script(&founding()).unwrap();
    // By hand pgvector is where the administrator put it.
    server.sql(
        "printed",
        &format!(
            "{}commit",
            script
                .replace("public.halfvec", "extensions.halfvec")
                .replace("pg_catalog, public", "pg_catalog, extensions")
                .replace("on schema public", "on schema extensions")
        ),
    );
    let app = server.address("heirloom_app", "printed");
    assert_eq!(signed_in(&app, KEEPER_TOKEN).unwrap().user(), "the-keeper");
    // And where `team init` finds it elsewhere, it uses it there.
    server.database("elsewhere");
    server.sql("elsewhere", "create schema extensions; create extension vector schema extensions");
    team(&server.address("keeper", "elsewhere")).init(&founding()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["printed", "elsewhere"] {
        let store = PgStore::at(&server.address("heirloom_app", name)).unwrap();
        let stage = Stage::new(Arc::new(store), folder.path());
        let call = stage.of("ada");
        tiers(&call).add_episode(Turn::of(Role::User, "vectors lie elsewhere"), OWNER).unwrap();
        assert_eq!(tiers(&call).search("vectors", None, 5).unwrap().len(), 1);
    }
}

#[test]
fn what_is_too_new_too_old_or_not_there_is_said_clearly() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let app = set_up(&server, "versions");
    let operator = server.address("keeper", "versions");
    // The functions say their version themselves; the row is what an operator's program looks at.
    server.sql("versions", "update heirloom.version set version = 99");
    let fault = team(&operator).init(&founding()).unwrap_err();
    assert!(fault.code == Code::Config && fault.message.contains("newer Heirloom"), "{fault:?}");
    let fault = PgStore::at(&app).unwrap().reach().unwrap_err();
    assert!(fault.message.contains("newer Heirloom"), "{fault:?}");
    server.sql("versions", "delete from heirloom.version");
    let fault = team(&operator).init(&founding()).unwrap_err();
    assert!(fault.message.contains("does not say its version"), "{fault:?}");
    server.database("bare");
    server.sql(
        "bare",
        "create extension vector; update pg_extension set extversion = '0.7.4' where extname = 'vector'",
    );
    let fault = team(&server.address("keeper", "bare")).init(&founding()).unwrap_err();
    assert!(fault.message.contains("0.7.4 is too old") && fault.next_step().contains("0.8"), "{fault:?}");
    let fault = signed_in(&server.address("heirloom_app", "nowhere"), KEEPER_TOKEN).unwrap_err();
    assert!(fault.code == Code::Config && fault.message.contains("nowhere"), "{fault:?}");
    assert_eq!(PgStore::at("not an address").unwrap_err().code, Code::Config);
}

/// The tables as version 0.1 made them, with what two users said there.
fn older(server: &Server, name: &str) {
    server.database(name);
    server.sql(
        name,
        "do $$ begin if to_regrole('app') is null then create role app login; create role heirloom_tiers nologin; end if; end $$;
         create extension vector; grant heirloom_tiers to app; alter database older owner to keeper; grant create on database older to app;
         set role app; create schema heirloom; create table heirloom.version (version integer not null); insert into heirloom.version values (1);
         create table heirloom.memory (user_id text not null, place bigint generated by default as identity, id text not null, tier text not null,
            status text not null, session text, slot text, occurred_at bigint not null, expires_at bigint, length integer not null,
            content text not null, detail jsonb not null, embedding halfvec(256), primary key (user_id, id)) partition by hash (user_id);
         create table heirloom.memory_0 partition of heirloom.memory for values with (modulus 1, remainder 0);
         create table heirloom.post (user_id text not null, tier text not null, term text not null, place bigint not null, count real not null,
            length integer not null, primary key (user_id, tier, term, place));
         create table heirloom.gone (user_id text not null, id text not null, primary key (user_id, id));
         create table heirloom.audit (user_id text not null, seq bigint not null, at text not null, action text not null, metadata text not null,
            prev text not null, hash text not null, primary key (user_id, seq));
         create table heirloom.owner (user_id text not null primary key, episodes bigint not null default 0, facts bigint not null default 0,
            episode_words bigint not null default 0, fact_words bigint not null default 0, seq bigint not null default 0, hash text not null);
         create table heirloom.account (user_id text primary key, added_at text not null, token_hash text);
         create table heirloom.model (name text primary key);",
    );
}

#[test]
fn a_database_of_0_1_is_taken_over_with_all_that_is_in_it() {
    let server = Server::start(Release::Sixteen, CARELESS);
    // What 0.1 stored is what we store, in other tables: it is made by us and carried back.
    let folder = tempfile::tempdir().unwrap();
    let source = Stage::new(Arc::new(PgStore::at(&set_up(&server, "source")).unwrap()), folder.path());
    for user in ["anna", "berta"] {
        let call = source.of(user);
        for n in 0..8 {
            tiers(&call)
                .add_episode(Turn::of(Role::User, format!("{user} spoke of harbour number {n}")), OWNER)
                .unwrap();
        }
    }
    older(&server, "older");
    let dump = |query: &str| server.sql("source", query);
    let insert = |table: &str, columns: &str, from: &str| {
        let rows = dump(&format!(
            "select coalesce(json_agg(t), '[]') from (select {columns} from {from} where user_id in ('anna', 'berta')) t"
        ));
        server.sql("older", &format!("insert into heirloom.{table} ({columns}) select {columns} from json_populate_recordset(null::heirloom.{table}, $x${rows}$x$)"));
    };
    let memory =
        "user_id, place, id, tier, status, session, slot, occurred_at, expires_at, length, content, detail";
    insert("memory", memory, "heirloom.memory");
    insert("post", "user_id, tier, term, place, count, length", "heirloom.post");
    insert("audit", "user_id, seq, at, action, metadata, prev, hash", "heirloom.audit");
    insert("owner", "user_id, episodes, facts, episode_words, fact_words, seq, hash", "heirloom.owner");
    let model = dump("select name from heirloom.model");
    let vectors = dump(
        "select string_agg(format('update heirloom.memory set embedding = %L where place = %s and user_id = %L', v.embedding, v.place, v.user_id), ';') from heirloom.vector v where user_id in ('anna', 'berta')",
    );
    server.sql("older", &vectors);
    server.sql(
        "older",
        &format!("insert into heirloom.model values ('{model}'); insert into heirloom.account values ('anna', '2025-01-01T00:00:00Z', '{}')", token_hash("hlm_of_0_1")),
    );
    let operator = server.address("keeper", "older");
    let fault = signed_in(&server.address("app", "older"), "hlm_of_0_1").unwrap_err();
    assert!(fault.code == Code::Config && fault.next_step().contains("team upgrade"), "{fault:?}");
    let needs = team(&operator).estimate().unwrap();
    assert_eq!((needs.before, needs.without_account, needs.tokens), (Some(1), 1, 1));
    assert!(needs.rows > 20 && needs.bytes > 0 && needs.seconds > 0.0, "{needs:?}");
    assert_eq!(server.sql("older", "select version from heirloom.version"), "1", "only said");
    let founding = Founding { app_role: Some("app".to_owned()), ..founding() };
    let done = team(&operator).upgrade(&founding, &MayDelete::These(vec!["anna".to_owned()])).unwrap();
    assert!(done.founded && done.version == 6, "{done:?}");
    assert!(!team(&operator).upgrade(&founding, &MayDelete::Nobody).unwrap().founded);
    // The old address works, by the old token, which may delete because somebody said so.
    let app = server.address("app", "older");
    let anna = signed_in(&app, "hlm_of_0_1").unwrap();
    assert_eq!((anna.user(), anna.token().unwrap().1.to_string().as_str()), ("anna", "read,write,delete"));
    let stage = Stage::new(Arc::new(PgStore::at(&app).unwrap()), folder.path());
    let call = stage.holder("hlm_of_0_1");
    assert_eq!(stage.store.counts(&anna).unwrap().episodes, 8);
    let found = tiers(&call).search("harbour number 7", None, 3).unwrap();
    assert_eq!(found[0].memory.content, "anna spoke of harbour number 7");
    assert!(found[0].why.iter().any(|(name, _)| name == "vector"), "vectors came along: {:?}", found[0].why);
    tiers(&call).verify_audit().unwrap();
    // The chain of whoever was there before goes on with what the operator did.
    let lines = server.sql(
        "older",
        "select metadata from heirloom.audit where action = 'account_change' and user_id = 'the-keeper'",
    );
    assert!(lines.contains("schema 1 to 6") && lines.contains("an operator (keeper)"), "{lines}");
    tiers(&call).add_episode(Turn::of(Role::User, "and on"), OWNER).unwrap();
    tiers(&call).verify_audit().unwrap();
    // Berta had rows and no account: she has one now, and no token. Without a token the login sees nothing, and owns nothing.
    let names: Vec<String> =
        stage.store.accounts(&stage.context("anna", NOON)).unwrap().into_iter().map(|a| a.user).collect();
    assert_eq!(names, ["anna", "berta", "the-keeper"]);
    assert_eq!(server.asked("app", "older", "select count(*) from heirloom.memory").unwrap(), "0");
    assert!(server.asked("app", "older", "drop schema heirloom cascade").is_err());
    assert!(server.asked("app", "older", "create schema mine").is_err());
    assert_eq!(server.sql("older", "select to_regnamespace('heirloom_before') is null"), "t");
}

#[test]
fn team_status_says_when_an_index_pays_and_team_index_builds_one_for_each_model() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let app = set_up(&server, "indexed");
    let operator = server.address("keeper", "indexed");
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::new(Arc::new(PgStore::at(&app).unwrap()), folder.path());
    let call = stage.of("ada");
    let turns = (0..300).map(|n| (Turn::of(Role::User, format!("harbour number {n}")), OWNER)).collect();
    tiers(&call).add_episodes(turns).unwrap();
    let advised = || team(&operator).status().unwrap().next.iter().any(|next| next.contains("team index"));
    assert!(!advised(), "three hundred are compared one by one");
    server.sql("indexed", "update heirloom.owner set episodes = 20001 where user_id = 'ada'");
    assert!(advised());
    server.sql("indexed", "insert into heirloom.model values ('endpoint:large', 4096)");
    let did = team(&operator).index().unwrap();
    assert!(did.iter().any(|line| line.contains("index built")), "{did:?}");
    assert!(did.iter().any(|line| line.contains("4096 dimensions") && line.contains("exact")), "{did:?}");
    assert!(!advised());
    let again = team(&operator).index().unwrap();
    assert!(again.iter().any(|line| line.contains("the index exists")), "{again:?}");
    // Searches of somebody with so many ask the index, and find what comparing all would.
    let found = tiers(&call).search("harbour number 250", None, 3).unwrap();
    assert_eq!(found[0].memory.content, "harbour number 250");
    assert!(found[0].explain.cosine.is_some_and(|cosine| cosine > 0.9), "{:?}", found[0].explain);
}

#[test]
fn signing_in_is_one_look_into_an_index_however_many_accounts_there_are() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let app = set_up(&server, "crowded");
    server.sql(
        "crowded",
        "insert into heirloom.account select 'user-' || n, '2026-01-01T00:00:00Z' from generate_series(1, 5000) as n;
         insert into heirloom.token select encode(sha256(n::text::bytea), 'hex'), 'user-' || n, '', '{read,write}', '2026-01-01T00:00:00Z', null
             from generate_series(1, 5000) as n;
         analyze heirloom.token, heirloom.account",
    );
    server.sql("crowded", "select pg_stat_reset()");
    for _ in 0..5 {
        assert_eq!(signed_in(&app, KEEPER_TOKEN).unwrap().user(), "the-keeper");
    }
    let read = || {
        let asked = "select coalesce(sum(seq_tup_read), 0) || ' ' || (coalesce(sum(idx_tup_fetch), 0) > 0) from pg_stat_user_tables
            where schemaname = 'heirloom' and relname in ('token', 'account')";
        server.sql("crowded", asked)
    };
    // What connections did is counted at the latest when they end.
    let seen = (0..40)
        .map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            read()
        })
        .find(|seen| seen.ends_with("true"));
    assert_eq!(seen.as_deref(), Some("0 true"), "no table was read through");
}
