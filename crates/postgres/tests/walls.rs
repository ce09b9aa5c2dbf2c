//! Walls between users: statements without a filter, foreign ids, a role that cannot pass.

use crate::server::{Release, Server};
use crate::story::CARELESS;
use heirloom_core::Code;
use heirloom_engine::shelf::tiers::story::{OWNER, PERSON, Stage, tiers};
use heirloom_engine::shelf::tiers::{Action, FactWords, Role, Turn};
use heirloom_postgres::PgStore;
use std::sync::Arc;

const TABLES: [&str; 5] = ["memory", "post", "gone", "audit", "owner"];

/// A database in which two users have each said one thing and forgotten another.
fn two_users(server: &Server, folder: &std::path::Path) -> Stage {
    let stage = Stage::new(Arc::new(PgStore::at(&server.database("walls")).unwrap()), folder);
    for user in ["ada", "o'brien \\"] {
        let call = stage.of(user);
        tiers(&call)
            .add_episode(Turn::of(Role::User, format!("{user} spoke of secret plans")), OWNER)
            .unwrap();
        let fact = tiers(&call).remember(FactWords::of("I like rain"), PERSON).unwrap().stored.id;
        tiers(&call).delete(&[fact], "test").unwrap();
    }
    stage
}

#[test]
fn a_statement_without_a_filter_reaches_only_the_users_own_rows() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let _stage = two_users(&server, folder.path());
    let as_user = |user: &str, statement: &str| {
        server.sql(
            "walls",
            &format!("begin; set local role heirloom_tiers; set local heirloom.user_id = '{user}'; {statement}; commit"),
        )
    };
    for table in TABLES {
        let all = server.sql("walls", &format!("select count(distinct user_id) from heirloom.{table}"));
        assert_eq!(all, "2", "both users have rows in {table}");
        // The filter that every statement of ours has is left out on purpose.
        let seen = as_user("ada", &format!("select distinct user_id from heirloom.{table}"));
        assert_eq!(seen, "ada", "{table}");
        assert_eq!(as_user("nobody", &format!("select count(*) from heirloom.{table}")), "0");
    }
    let without = "begin; set local role heirloom_tiers; select count(*) from heirloom.memory; commit";
    assert_eq!(server.sql("walls", without), "0", "no user set, no row");
    as_user("ada", "delete from heirloom.memory");
    as_user("ada", "update heirloom.audit set action = 'x'");
    assert_eq!(server.sql("walls", "select user_id from heirloom.memory"), "o'brien \\");
    assert_eq!(
        server.sql("walls", "select count(*) from heirloom.audit where action = 'x' and user_id <> 'ada'"),
        "0"
    );
    let role = "select rolsuper or rolbypassrls or rolcanlogin or rolcreaterole from pg_roles where rolname = 'heirloom_tiers'";
    assert_eq!(server.sql("walls", role), "f");
    // Neither another user's name nor a partition's opens a way around.
    let forged = "insert into heirloom.gone values ('o''brien \\', 'x')";
    for statement in [
        forged,
        "select * from heirloom.memory_0",
        "select * from heirloom.account",
        "truncate heirloom.memory",
    ] {
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| as_user("ada", statement)));
        assert!(refused.is_err(), "{statement} went through");
    }
}

#[test]
fn ids_of_others_are_refused_and_each_attempt_is_audited() {
    const USERS: usize = 5;
    const EACH: usize = 20;
    let server = Server::start(Release::Sixteen, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::new(Arc::new(PgStore::at(&server.database("ids")).unwrap()), folder.path());
    let engines: Vec<_> = (0..USERS).map(|n| stage.of(&format!("user-{n}"))).collect();
    let mut ids: Vec<Vec<String>> = Vec::new();
    for call in &engines {
        let turns =
            (0..EACH).map(|n| (Turn::of(Role::User, format!("shared words number {n}")), OWNER)).collect();
        ids.push(
            tiers(call).add_episodes(turns).unwrap().into_iter().map(|k| k.unwrap().stored.id).collect(),
        );
    }
    let mut foreign = [0; USERS];
    for round in 0..200 {
        let (me, whose, which) = (round % USERS, (round / USERS) % USERS, (round * 7) % EACH);
        let mine = tiers(&engines[me]);
        let found = mine.search("shared words", None, 5).unwrap();
        assert!(!found.is_empty() && found.iter().all(|f| f.memory.user == format!("user-{me}")));
        let id = ids[whose][which].clone();
        let outcome = match round % 3 {
            0 => mine.show(&id).map(drop),
            1 => mine.set_days(&id, 5).map(drop),
            _ if whose != me => mine.delete(&[id], "test").map(drop),
            _ => continue,
        };
        match outcome {
            Ok(()) => assert_eq!(whose, me),
            Err(fault) => {
                assert_eq!((fault.code, whose == me), (Code::NotFound, false));
                foreign[me] += 1;
            }
        }
    }
    for (me, call) in engines.iter().enumerate() {
        let refused = tiers(call).audit(usize::MAX, |line| line.action == Action::AccessRefused).unwrap();
        assert_eq!(refused.len(), foreign[me]);
        assert_eq!(stage.store.counts(tiers(call).who()).unwrap().episodes, EACH as u64);
        tiers(call).verify_audit().unwrap();
    }
}
