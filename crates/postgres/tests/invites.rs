//! Invitations, PINs and keys of requests: what the application's login cannot see, and how a database of version 4 comes to them.

use crate::server::{Release, Server};
use crate::story::{CARELESS, founding, set_up, team};
use heirloom_engine::shelf::tiers::story::{KEEPER_TOKEN, OWNER, Stage, moment, tiers};
use heirloom_engine::shelf::tiers::{
    Ended, Invite, KeyTurn, Role, SYSTEM, Taken, Terms, TierStore as _, Turn, UserContext, give_token,
    invite_hash, put_user,
};
use heirloom_engine::{World, pin::Answer};
use heirloom_postgres::PgStore;
use heirloom_postgres::team::MayDelete;
use serde_json::json;
use std::sync::Arc;

fn today() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

const NOON: &str = "2026-03-01T12:00:00Z";

fn anna(store: &PgStore, folder: &std::path::Path) -> (UserContext, UserContext) {
    let keeper = UserContext::by_token(store, KEEPER_TOKEN, moment(NOON)).unwrap();
    let world = World {
        now: moment(NOON),
        data: folder.to_owned(),
        nonce: "n".to_owned(),
        user: "the-keeper".to_owned(),
    };
    put_user(store, &keeper, "anna", &world).unwrap();
    give_token(store, &keeper, "anna", "hlm_anna", &Terms::default(), &world).unwrap();
    let anna = UserContext::by_token(store, "hlm_anna", moment(NOON)).unwrap();
    (keeper, anna)
}

#[test]
fn the_applications_login_reads_and_changes_no_pin_no_invitation_and_no_key() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let store = PgStore::at(&set_up(&server, "pins")).unwrap();
    let (keeper, anna) = anna(&store, folder.path());
    store.put_invite(&keeper, &Invite::of("one", "anna", today(), 1).unwrap()).unwrap();
    assert_eq!(store.take_invite(&anna, &invite_hash("one"), "4711", &[1; 32], today()).unwrap(), Taken::Set);
    store.put_invite(&keeper, &Invite::of("two", "anna", today(), 1).unwrap()).unwrap();
    store.once_begin(&anna, &"a".repeat(64), "asked", 1).unwrap();
    for table in ["pin", "invite"] {
        for statement in [
            format!("select * from heirloom.{table}"),
            format!("select count(*) from heirloom.{table}"),
            format!("update heirloom.{table} set user_id = 'eve'"),
            format!("delete from heirloom.{table}"),
            format!("copy heirloom.{table} to stdout"),
            format!("select set_config('heirloom.token', 'hlm_anna', false); select * from heirloom.{table}"),
        ] {
            let refused = server.asked("heirloom_app", "pins", &statement).unwrap_err();
            assert!(refused.contains("permission denied"), "{statement}: {refused}");
        }
    }
    // Without a token the functions are of no use, and with anna's they give away a salt and no hash.
    for statement in [
        "select * from heirloom.try_pin('x')",
        "select heirloom.take_invite('x', 's', 8, 1, 'd')",
        "select heirloom.put_invite('x', 'anna', 'now', '2030-01-01')",
    ] {
        assert!(server.asked("heirloom_app", "pins", statement).is_err(), "{statement}");
    }
    assert!(server.asked("heirloom_app", "pins", "select heirloom.kept_of('x')").is_err());
    assert_eq!(server.asked("heirloom_app", "pins", "select count(*) from heirloom.my_salt()").unwrap(), "0");
    assert_eq!(server.asked("heirloom_app", "pins", "select count(*) from heirloom.once").unwrap(), "0");
    let kept = server.sql("pins", "select kept from heirloom.pin");
    assert!(kept.len() == 64 && store.try_pin(&anna, &kept, today()).unwrap() != Answer::Right);
    // What lies in the table cannot be shown in the place of the PIN's hash.
    let shown = format!(
        "begin; select heirloom.begin('hlm_anna', 'anna', true, '5s'); select outcome from heirloom.try_pin('{kept}'); commit"
    );
    assert!(server.asked("heirloom_app", "pins", &shown).unwrap().contains("wrong"));
    // Somebody else's token administers nothing, and a link past its time sets nothing.
    assert!(store.put_invite(&anna, &Invite::of("mine", "anna", today(), 1).unwrap()).is_err());
    server.sql("pins", "update heirloom.invite set expires_at = now() - interval '1 second'");
    assert_eq!(
        store.take_invite(&anna, &invite_hash("two"), "0815", &[1; 32], today()).unwrap(),
        Taken::Ended
    );
    assert_eq!(store.try_pin(&anna, "4711", today()).unwrap(), Answer::Right);
}

#[test]
fn two_servers_on_one_database_agree_about_a_key() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let address = set_up(&server, "keys");
    let (one, two) = (PgStore::at(&address).unwrap(), PgStore::at(&address).unwrap());
    let (keeper, anna) = anna(&one, folder.path());
    let (name, day) = ("b".repeat(64), 24 * 60 * 60);
    assert_eq!(one.once_begin(&anna, &name, "asked", 1_000).unwrap(), KeyTurn::Yours);
    assert_eq!(two.once_begin(&anna, &name, "asked", 1_001).unwrap(), KeyTurn::Running);
    assert_eq!(two.once_begin(&anna, &name, "other", 1_001).unwrap(), KeyTurn::Other);
    assert_eq!(
        two.once_begin(&keeper, &name, "other", 1_001).unwrap(),
        KeyTurn::Yours,
        "keys are a user's own"
    );
    let done = Ended { status: 201, answer: json!({ "status": "created", "id": "fact:x" }) };
    one.once_end(&anna, &name, 1_002, Some(&done)).unwrap();
    assert_eq!(two.once_begin(&anna, &name, "asked", 1_003).unwrap(), KeyTurn::Done(done.clone()));
    // What was forgotten is not named, and the request is still not carried out twice.
    two.once_forget(&anna, &["fact:x"]).unwrap();
    let forgotten = Ended { answer: json!({}), ..done };
    assert_eq!(one.once_begin(&anna, &name, "asked", 1_004).unwrap(), KeyTurn::Done(forgotten));
    assert_eq!(one.once_begin(&anna, &name, "asked", 1_002 + day).unwrap(), KeyTurn::Yours, "after a day");
    one.once_end(&anna, &name, 1_002 + day, None).unwrap();
    assert_eq!(two.once_begin(&anna, &name, "again", 1_003 + day).unwrap(), KeyTurn::Yours, "it failed");
    // Of sixteen that come at once, one does it.
    let name = "c".repeat(64);
    let turns: Vec<KeyTurn> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|n| {
                let (store, anna, name) = (if n % 2 == 0 { &one } else { &two }, &anna, &name);
                scope.spawn(move || store.once_begin(anna, name, "asked", 5_000).unwrap())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(turns.iter().filter(|turn| **turn == KeyTurn::Yours).count(), 1, "{turns:?}");
}

#[test]
fn a_database_of_version_4_or_5_is_upgraded_in_place_and_every_run_of_team_is_audited() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let address = set_up(&server, "four");
    let stage = Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path());
    tiers(&stage.of("ada")).add_episode(Turn::of(Role::User, "the harbour is closed"), OWNER).unwrap();
    server.sql(
        "four",
        "drop function heirloom.put_invite, heirloom.take_invite, heirloom.my_salt, heirloom.try_pin, heirloom.kept_of;
         drop table heirloom.invite, heirloom.pin, heirloom.once; alter table heirloom.vector drop column pieces;
         update heirloom.version set version = 4",
    );
    let operator = server.address("keeper", "four");
    let needs = team(&operator).estimate().unwrap();
    assert_eq!((needs.before, needs.version, needs.rows), (Some(4), 6, 0));
    let done = team(&operator).upgrade(&founding(), &MayDelete::Nobody).unwrap();
    assert!(!done.founded && done.before == Some(4) && done.version == 6, "{done:?}");
    assert!(!team(&operator).upgrade(&founding(), &MayDelete::Nobody).unwrap().founded);
    team(&operator).init(&founding()).unwrap();
    let status = team(&operator).status().unwrap();
    assert!(status.found.unwrap().tables.iter().all(|table| table.guarded) && status.next.is_empty());
    let stage = Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path());
    assert_eq!(tiers(&stage.of("ada")).search("harbour", None, 5).unwrap().len(), 1);
    let store = PgStore::at(&address).unwrap();
    let (keeper, anna) = anna(&store, folder.path());
    store.put_invite(&keeper, &Invite::of("one", "anna", today(), 1).unwrap()).unwrap();
    assert_eq!(store.take_invite(&anna, &invite_hash("one"), "4711", &[1; 32], today()).unwrap(), Taken::Set);
    assert_eq!(store.once_begin(&anna, &"a".repeat(64), "asked", 1).unwrap(), KeyTurn::Yours);
    // Each run has a line in the deployment's own chain, which is whole and names the operator's login.
    let lines = server.sql(
        "four",
        &format!("select seq || ' ' || metadata from heirloom.audit where user_id = '{SYSTEM}' order by seq"),
    );
    let said: Vec<&str> = lines.lines().collect();
    assert_eq!(said.len(), 3, "{lines}");
    assert!(said[0].starts_with("1 ") && said[0].contains("schema 4 to 6"), "{lines}");
    assert!(said[1].contains("team upgrade: nothing") && said[2].contains("team init: nothing"), "{lines}");
    assert!(said.iter().all(|line| line.contains("an operator (keeper)")), "{lines}");
    let linked = format!("select bool_and(prev = before) from (select prev, coalesce(lag(hash) over (order by seq), repeat('0', 64)) as before
        from heirloom.audit where user_id = '{SYSTEM}') l");
    assert_eq!(server.sql("four", &linked), "t");
    // From version 5, which had all tables already.
    server.sql(
        "four",
        "alter table heirloom.vector drop column pieces; update heirloom.version set version = 5",
    );
    assert_eq!(team(&operator).upgrade(&founding(), &MayDelete::Nobody).unwrap().before, Some(5));
    assert_eq!(tiers(&stage.of("ada")).search("harbour", None, 5).unwrap().len(), 1);
}
