//! Who somebody is, and what two machines see of them.

use crate::server::{Release, Server};
use crate::story::{CARELESS, set_up};
use heirloom_core::Code;
use heirloom_engine::shelf::tiers::story::{AGENT, OWNER, PERSON, Stage, moment, tiers};
use heirloom_engine::shelf::tiers::{FactWords, Role, TierStore as _, Turn, UserContext};
use heirloom_engine::{
    World,
    verbs::review::{accept_draft, shown},
};
use heirloom_postgres::PgStore;
use std::sync::Arc;

fn world(user: &str, folder: &std::path::Path) -> World {
    World {
        now: moment("2026-03-01T12:00:00Z"),
        data: folder.to_owned(),
        nonce: "n".to_owned(),
        user: user.to_owned(),
    }
}

#[test]
fn an_account_of_the_operating_system_is_nobody_in_a_shared_database() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let store = PgStore::at(&set_up(&server, "accounts")).unwrap();
    let account = UserContext::by_account(&world("the-keeper", folder.path())).unwrap();
    for outcome in [
        store.counts(&account).map(drop),
        store.accounts(&account).map(drop),
        store.users(&account).map(drop),
        store.audit(&account, 0, 10).map(drop),
        store.tokens(&account, None).map(drop),
    ] {
        assert_eq!(outcome.unwrap_err().code, Code::Unauthenticated);
    }
    for token in ["", " ", "hlm_wrong", "the-keeper"] {
        let fault = UserContext::by_token(&store, token, moment("2026-03-01T12:00:00Z")).unwrap_err();
        assert_eq!(fault.code, Code::Unauthenticated, "`{token}`");
    }
}

#[test]
fn two_machines_see_the_same_drafts_and_each_says_the_truth_about_the_audit() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let address = set_up(&server, "machines");
    let here = Stage::new(Arc::new(PgStore::at(&address).unwrap()), one.path());
    let there = Stage::new(Arc::new(PgStore::at(&address).unwrap()), two.path());
    let noon = moment("2026-03-01T12:00:00Z");
    tiers(&here.of("ada")).remember(FactWords::of("The user likes hail"), AGENT).unwrap_err();
    tiers(&here.of("ada")).add_episode(Turn::of(Role::User, "it rained"), OWNER).unwrap();
    let waits = |stage: &Stage| tiers(&stage.person("ada")).inbox().list(noon).unwrap();
    assert_eq!(waits(&here), waits(&there), "the same draft under the same key");
    assert_eq!(waits(&there).len(), 1);
    assert!(waits(&there)[0].verified);
    assert!(waits(&Stage::new(Arc::clone(&there.store), two.path())).len() == 1);
    // Accepted there, gone here.
    let item = waits(&there).remove(0);
    let person = there.person("ada");
    accept_draft(&person, &shown(&person, item)).unwrap();
    assert!(waits(&here).is_empty());
    let lines = tiers(&here.of("ada")).verify_audit().unwrap();
    assert_eq!(tiers(&there.of("ada")).verify_audit().unwrap(), lines);
    // A draft that somebody altered in the database cannot be accepted.
    tiers(&here.of("ada")).remember(FactWords::of("The user likes fog"), AGENT).unwrap_err();
    server.sql("machines", "update heirloom.draft set body = replace(body, 'fog', 'gin')");
    assert!(waits(&there).is_empty());
    assert_eq!(tiers(&there.person("ada")).inbox().broken().unwrap().len(), 1);
    // A chain whose last line was deleted is found by every machine, also by one that never saw it.
    tiers(&here.of("ada")).remember(FactWords::of("My car is red"), PERSON).unwrap();
    server.sql("machines", "delete from heirloom.audit where user_id = 'ada' and seq = (select max(seq) from heirloom.audit where user_id = 'ada')");
    let third = tempfile::tempdir().unwrap();
    let third = Stage::new(Arc::new(PgStore::at(&address).unwrap()), third.path());
    for stage in [&here, &there, &third] {
        let fault = tiers(&stage.of("ada")).verify_audit().unwrap_err();
        assert!(fault.code == Code::Damaged && fault.message.contains("is gone"), "{fault:?}");
    }
}
