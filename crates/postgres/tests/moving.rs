//! Whole users moved from SQLite to PostgreSQL and back: memories, accounts, tokens, audit, what waits.

use crate::server::{Release, Server};
use crate::story::{CARELESS, set_up};
use heirloom_engine::shelf::tiers::story::{AGENT, OWNER, PERSON, Stage, moment, tiers};
use heirloom_engine::shelf::tiers::{
    FactWords, ImportRules, Role, SqliteStore, Terms, Turn, Whose, give_token, put_user,
};
use heirloom_postgres::PgStore;
use std::sync::Arc;

const NOON: &str = "2026-03-01T12:00:00Z";

/// Everything of everybody, from one stage to another.
fn moved(from: &Stage, to: &Stage) {
    let mut archive = Vec::new();
    tiers(&from.person("ada")).export(Whose::Everybody, &mut archive, &mut |_| {}).unwrap();
    let rules = ImportRules { everybody: true, person: true, ..ImportRules::default() };
    let brought = tiers(&to.person("ada")).import(&mut archive.as_slice(), rules, &mut |_| {}).unwrap();
    assert!(brought.refused.is_empty() && brought.added >= 4, "{brought:?}");
    for what in ["accounts", "tokens", "audit_lines", "drafts"] {
        assert!(brought.beside.get(what).is_some_and(|count| *count > 0), "{what}: {brought:?}");
    }
}

/// What must be the same wherever the users are.
fn the_same(stage: &Stage) {
    let noon = moment(NOON);
    let bob = stage.holder("hlm_bob");
    assert_eq!(tiers(&bob).search("harbour", None, 5).unwrap()[0].memory.content, "Bob spoke of the harbour");
    let waits = tiers(&stage.person("bob")).inbox().list(noon).unwrap();
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert!(tiers(&bob).verify_audit().unwrap() > 3);
    let lines = tiers(&bob).audit(100, |line| line.action.name() == "confirmation_required").unwrap();
    assert_eq!(lines.len(), 1, "the chain came along");
}

#[test]
fn whole_users_move_to_postgres_and_back_with_tokens_audit_and_drafts() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let sqlite = |n: usize| {
        let folder = folders[n].path();
        Stage::new(Arc::new(SqliteStore::at(&folder.join("data/tiers"))), folder)
    };
    let from = sqlite(0);
    let ada = from.person("ada");
    let world = ada.project().world();
    for user in ["ada", "bob"] {
        put_user(from.store.as_ref(), tiers(&ada).who(), user, world).unwrap();
        let call = from.of(user);
        let name = if user == "bob" { "Bob" } else { "Ada" };
        tiers(&call)
            .add_episode(Turn::of(Role::User, format!("{name} spoke of the harbour")), OWNER)
            .unwrap();
        tiers(&call).remember(FactWords::of("I like rain"), PERSON).unwrap();
    }
    give_token(from.store.as_ref(), tiers(&ada).who(), "bob", "hlm_bob", &Terms::default(), world).unwrap();
    tiers(&from.of("bob")).remember(FactWords::of("The user plays chess"), AGENT).unwrap_err();
    the_same(&from);
    let shared = Stage::new(Arc::new(PgStore::at(&set_up(&server, "moving")).unwrap()), folders[1].path());
    moved(&from, &shared);
    the_same(&shared);
    let back = sqlite(2);
    moved(&shared, &back);
    the_same(&back);
    // One person's data, and nothing of anybody else's.
    let mut archive = Vec::new();
    tiers(&shared.person("ada")).export(Whose::User("bob"), &mut archive, &mut |_| {}).unwrap();
    let archive = String::from_utf8(archive).unwrap();
    assert!(archive.contains("Bob spoke") && archive.contains("plays chess") && archive.contains("\"line\""));
    assert!(!archive.contains("Ada spoke") && !archive.contains("hlm_bob"), "{archive}");
    assert!(tiers(&shared.person("ada")).export(Whose::User("eve"), &mut Vec::new(), &mut |_| {}).is_err());
}
