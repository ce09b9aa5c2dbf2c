//! Walls between users: ids of others.

use crate::server::{Release, Server};
use crate::story::{CARELESS, set_up};
use heirloom_core::Code;
use heirloom_engine::shelf::tiers::story::{OWNER, Stage, tiers};
use heirloom_engine::shelf::tiers::{Action, Role, Turn};
use heirloom_postgres::PgStore;
use std::sync::Arc;

#[test]
fn ids_of_others_are_refused_and_each_attempt_is_audited() {
    const USERS: usize = 5;
    const EACH: usize = 20;
    let server = Server::start(Release::Sixteen, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::new(Arc::new(PgStore::at(&set_up(&server, "ids")).unwrap()), folder.path());
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
