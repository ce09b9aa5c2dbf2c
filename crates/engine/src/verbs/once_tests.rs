//! Keys of idempotency: once, by one user, for one request, for a day.

use super::*;
use crate::shelf::tiers::KEY_WORK as WORK;
use crate::shelf::tiers::{Access, SqliteStore, UserContext};
use crate::{Project, World};
use heirloom_core::{Settings, hash};
use std::sync::Arc;

struct Place(tempfile::TempDir);

impl Place {
    fn call(&self, user: &str, second: i64) -> Call {
        let data = self.0.path().join("data");
        let now = jiff::Timestamp::from_second(second).unwrap();
        let world = World { now, data: data.clone(), nonce: "n".repeat(32), user: user.to_owned() };
        let who = UserContext::by_account(&world).unwrap();
        let access = Access::new(Arc::new(SqliteStore::at(&data.join("tiers"))), who, &data.join("tiers"));
        Call::new(Project::nowhere(world), Settings::standard()).with_tiers(access)
    }
}

fn key(name: &str) -> String {
    hash::sha256(name.as_bytes())
}

fn done() -> Done {
    Done { status: 201, answer: serde_json::json!({ "id": "fact:x" }) }
}

#[test]
fn a_key_is_worked_on_once_and_then_gives_the_first_answer() {
    let place = Place(tempfile::tempdir().unwrap());
    let call = place.call("ana", 1_000_000);
    assert_eq!(begin(&call, &key("a"), "r1").unwrap(), Turn::Yours);
    assert_eq!(begin(&call, &key("a"), "r1").unwrap(), Turn::Running);
    end(&call, &key("a"), "r1", Some(&done())).unwrap();
    assert_eq!(begin(&call, &key("a"), "r1").unwrap(), Turn::Done(done()));
    assert_eq!(begin(&call, &key("a"), "r2").unwrap(), Turn::Other);
    assert_eq!(begin(&place.call("bob", 1_000_000), &key("a"), "r2").unwrap(), Turn::Yours);
}

#[test]
fn what_failed_can_be_tried_again_and_what_is_a_day_old_is_forgotten() {
    let place = Place(tempfile::tempdir().unwrap());
    let call = place.call("ana", 1_000_000);
    begin(&call, &key("a"), "r1").unwrap();
    end(&call, &key("a"), "r1", None).unwrap();
    assert_eq!(begin(&call, &key("a"), "r1").unwrap(), Turn::Yours);
    end(&call, &key("a"), "r1", Some(&done())).unwrap();
    assert_eq!(begin(&place.call("ana", 1_000_000 + KEPT - 1), &key("a"), "r1").unwrap(), Turn::Done(done()));
    assert_eq!(begin(&place.call("ana", 1_000_000 + KEPT), &key("a"), "r2").unwrap(), Turn::Yours);
}

#[test]
fn a_process_that_died_in_the_middle_blocks_its_key_for_a_while_only() {
    let place = Place(tempfile::tempdir().unwrap());
    begin(&place.call("ana", 1_000_000), &key("a"), "r1").unwrap();
    assert_eq!(begin(&place.call("ana", 1_000_000 + WORK - 1), &key("a"), "r1").unwrap(), Turn::Running);
    assert_eq!(begin(&place.call("ana", 1_000_000 + WORK), &key("a"), "r1").unwrap(), Turn::Yours);
}

#[test]
fn a_name_that_is_no_hash_is_refused() {
    let place = Place(tempfile::tempdir().unwrap());
    let call = place.call("ana", 1_000_000);
    for name in ["", "../../x", "lock", &"g".repeat(64)] {
        assert_eq!(begin(&call, name, "r").unwrap_err().code, Code::Usage);
    }
}

#[test]
fn what_is_a_day_old_is_taken_off_the_disk() {
    let place = Place(tempfile::tempdir().unwrap());
    for (name, second) in [("a", 1_000_000), ("b", 1_000_000 + KEPT / 2), ("c", 1_000_000 + KEPT)] {
        let call = place.call("ana", second);
        begin(&call, &key(name), "r").unwrap();
        end(&call, &key(name), "r", Some(&done())).unwrap();
    }
    let folder = folder(&place.call("ana", 1_000_000)).unwrap();
    let mut left = entries(&folder);
    left.sort();
    let mut wanted = [key("b"), key("c")].map(|name| folder.join(name));
    wanted.sort();
    assert_eq!(left, wanted);
}

#[test]
fn what_was_forgotten_is_named_no_more_and_its_request_is_still_done_once() {
    let place = Place(tempfile::tempdir().unwrap());
    let call = place.call("ana", 1_000_000);
    begin(&call, &key("a"), "r").unwrap();
    end(&call, &key("a"), "r", Some(&done())).unwrap();
    forget(&call, &["fact:x"]).unwrap();
    let gone = Done { status: 201, answer: serde_json::json!({}) };
    assert_eq!(begin(&call, &key("a"), "r").unwrap(), Turn::Done(gone));
    let file = folder(&call).unwrap().join(key("a"));
    assert!(!std::fs::read_to_string(&file).unwrap().contains("fact:x"));
    drop_user(&call, "ana").unwrap();
    assert!(!file.exists());
    drop_user(&call, "ana").unwrap();
}
