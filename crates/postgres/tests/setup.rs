//! Setting a database up: twice at once, by a login of few rights, too old, too new, not there.

use crate::server::{Release, Server};
use crate::story::CARELESS;
use heirloom_core::Code;
use heirloom_engine::shelf::tiers::TierStore as _;
use heirloom_engine::shelf::tiers::story::{OWNER, Stage, tiers};
use heirloom_engine::shelf::tiers::{Role, Turn};
use heirloom_postgres::PgStore;
use std::sync::Arc;

#[test]
fn many_processes_set_one_database_up_at_once() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let address = server.database("many");
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for n in 0..6 {
            let (address, folder) = (&address, folder.path());
            scope.spawn(move || {
                let stage = Stage::new(Arc::new(PgStore::at(address).unwrap()), folder);
                let call = stage.of("ada");
                for i in 0..10 {
                    tiers(&call)
                        .add_episode(Turn::of(Role::User, format!("process {n} turn {i}")), OWNER)
                        .unwrap();
                }
            });
        }
    });
    let stage = Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path());
    let call = stage.of("ada");
    assert_eq!(stage.store.counts(tiers(&call).who()).unwrap().episodes, 60);
    assert_eq!(tiers(&call).verify_audit().unwrap(), 60, "one chain");
}

#[test]
fn a_login_without_rights_is_told_what_an_administrator_must_do() {
    let server = Server::start(Release::Sixteen, CARELESS);
    server.database("plain");
    server.sql("plain", "create role app login; grant create on database plain to app");
    let address = server.address("app", "plain");
    let store = PgStore::at(&address).unwrap();
    let fault = store.accounts().unwrap_err();
    assert_eq!(fault.code, Code::Config);
    assert!(
        fault.message.contains("pgvector") && fault.next_step().contains("create extension vector"),
        "{fault:?}"
    );
    server.sql("plain", "create extension vector");
    let fault = store.accounts().unwrap_err();
    assert!(fault.next_step().contains("create role heirloom_tiers"), "{fault:?}");
    server.sql(
        "plain",
        "create role heirloom_tiers nologin nosuperuser nobypassrls; grant heirloom_tiers to app",
    );
    assert!(store.accounts().unwrap().is_empty(), "the same store goes on once that is done");
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::new(Arc::new(store), folder.path());
    tiers(&stage.of("ada")).add_episode(Turn::of(Role::User, "hello"), OWNER).unwrap();

    server.database("loose");
    server.sql("loose", "create extension vector; alter role heirloom_tiers bypassrls");
    let fault = PgStore::at(&server.address("keeper", "loose")).unwrap().accounts().unwrap_err();
    assert!(fault.message.contains("could pass the walls"), "{fault:?}");
}

#[test]
fn what_is_too_new_too_old_or_not_there_is_said_clearly() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let address = server.database("versions");
    PgStore::at(&address).unwrap().accounts().unwrap();
    server.sql("versions", "update heirloom.version set version = 99");
    let fault = PgStore::at(&address).unwrap().accounts().unwrap_err();
    assert!(fault.code == Code::Config && fault.message.contains("newer Heirloom"), "{fault:?}");
    server
        .sql("versions", "update heirloom.version set version = 3; update heirloom.model set name = 'other'");
    let fault = PgStore::at(&address).unwrap().accounts().unwrap_err();
    assert!(fault.message.contains("vectors of `other`"), "{fault:?}");
    server.sql("versions", "update pg_extension set extversion = '0.7.4' where extname = 'vector'");
    let fault = PgStore::at(&address).unwrap().accounts().unwrap_err();
    assert!(fault.message.contains("0.7.4 is too old") && fault.next_step().contains("0.8"), "{fault:?}");
    let fault = PgStore::at(&server.address("keeper", "nowhere")).unwrap().accounts().unwrap_err();
    assert!(fault.code == Code::Config && fault.message.contains("nowhere"), "{fault:?}");
    let fault = PgStore::at("not an address").unwrap_err();
    assert_eq!(fault.code, Code::Config);
}
