//! The life of a record from the command line: retired, restored, archived, collected.
//!
//! Comes in: records of several ages. Goes out: nothing, if each move answers as it should, twice too.

use crate::env::{ROOT, TestEnv, decision, target};
use serde_json::{Value, json};

fn with_record() -> TestEnv {
    let env = TestEnv::ready();
    env.create("subject", &decision("Use PostgreSQL for orders")).ok();
    env
}

/// A record that was retired that many days ago.
fn retired(env: &TestEnv, name: &str, days: i64) {
    use jiff::ToSpan as _;
    let at = jiff::Timestamp::now() - (days * 24).hours();
    let mut document = decision("Long gone");
    document["id"] = json!(name);
    document["record_status"] = json!("retired");
    document["retired_at"] = json!(heirloom_core::time::format(at));
    document["retired_reason"] = json!("done");
    env.write(target(name), document.to_string());
}

fn status(env: &TestEnv, name: &str) -> Value {
    env.decision(name)["record_status"].clone()
}

#[test]
fn retire_and_restore_are_there_and_back_and_idempotent() {
    let env = with_record();
    let done = env.run(&["retire", "subject", "--reason", "Replaced", "--json"]).ok().json();
    assert_eq!((&done[0]["status"], &done[0]["id"]), (&json!("retired"), &json!("decision:subject")));
    assert_eq!(env.index(), [""; 0]);
    assert_eq!(env.decision("subject")["retired_reason"], "Replaced");
    let bytes = std::fs::read(env.memory("decisions/subject.json")).unwrap();
    assert_eq!(env.run(&["retire", "subject", "--json"]).ok().json()[0]["status"], "already_retired");
    assert_eq!(std::fs::read(env.memory("decisions/subject.json")).unwrap(), bytes);
    assert_eq!(env.run(&["restore", "subject", "--json"]).ok().json()[0]["status"], "restored");
    assert_eq!(env.index().len(), 1);
    assert_eq!(env.decision("subject")["retired_at"], Value::Null);
    assert_eq!(env.run(&["restore", "subject", "--json"]).ok().json()[0]["status"], "already_active");
    assert!(env.run(&["restore", "subject"]).ok().stdout.contains("already active decision:subject"));
}

#[test]
fn archive_and_unarchive_are_there_and_back() {
    let env = with_record();
    assert_eq!(env.run(&["archive", "subject", "--json"]).ok().json()[0]["status"], "archived");
    assert_eq!(env.run(&["archive", "subject", "--json"]).ok().json()[0]["status"], "already_archived");
    assert_eq!(env.index(), [""; 0]);
    env.run(&["retire", "subject"]).fails_with("DELETE_ERROR", 1);
    env.run(&["restore", "subject"]).fails_with("RESTORE_ERROR", 1);
    assert_eq!(env.run(&["unarchive", "subject", "--json"]).ok().json()[0]["status"], "unarchived");
    assert_eq!(env.index().len(), 1);
    env.run(&["unarchive", "subject", "--json"]).fails_with("UNARCHIVE_ERROR", 1);
    env.run(&["retire", "subject"]).ok();
    env.run(&["archive", "subject"]).fails_with("ARCHIVE_ERROR", 1);
}

#[test]
fn several_names_are_all_known_before_anything_is_touched() {
    let env = with_record();
    env.create("other", &decision("Keep the logs")).ok();
    env.run(&["retire", "subject", "nothing"]).fails_with("NOT_FOUND", 3);
    assert_eq!(status(&env, "subject"), "active");
    env.run(&["retire", "subject", "other"]).ok();
    assert_eq!((status(&env, "subject"), status(&env, "other")), (json!("retired"), json!("retired")));
}

#[test]
fn restoring_warns_after_a_week_and_is_refused_after_the_grace_period() {
    let env = with_record();
    retired(&env, "week", 8);
    retired(&env, "fresh", 7);
    retired(&env, "month", 30);
    assert!(
        env.run(&["restore", "week"]).ok().stderr.contains("retired 8 days ago; check that it still holds")
    );
    assert!(!env.run(&["restore", "fresh"]).ok().stderr.contains("check that it still holds"));
    let late = env.run(&["restore", "month"]);
    late.fails_with("RESTORE_ERROR", 1);
    assert!(late.stderr.contains("grace period of 30 days"));
    env.at_terminal(&["restore", "month", "--set", "delete.grace_period_days=60"], "").ok();
}

#[test]
fn gc_collects_what_is_past_its_grace_period_and_says_first_what_it_would_do() {
    let env = with_record();
    env.run(&["config", "set", "delete.archive_retired", "false"]).ok();
    retired(&env, "old", 30);
    retired(&env, "young", 29);
    let mut dateless = decision("No date");
    dateless["record_status"] = json!("retired");
    env.write(target("dateless"), dateless.to_string());
    let before = env.files_below(&env.project());
    let planned = env.run(&["gc", "--dry-run", "--json"]).ok().json();
    assert_eq!(planned["deleted"], json!([target("old")]));
    assert_eq!(env.files_below(&env.project()), before);
    let report = env.run(&["gc"]).ok().stdout;
    assert!(
        report.contains("Grace period: 30 days") && report.contains(&format!("DELETED: {}", target("old")))
    );
    assert!(report.contains("SKIP") && report.contains("dateless.json"));
    assert!(!env.memory("decisions/old.json").exists() && env.memory("decisions/young.json").exists());
}

#[test]
fn a_name_retired_less_than_a_day_ago_stays_taken_and_an_older_one_is_free() {
    let env = with_record();
    env.run(&["retire", "subject"]).ok();
    let again = env.create("subject", &decision("Use PostgreSQL again"));
    assert_eq!((again.kind(), again.code), ("ANTI_RESURRECTION_ERROR", Some(1)));
    assert!(again.stdout.contains("retired_at: ") && again.stdout.contains("fix: "));
    retired(&env, "long-ago", 1);
    env.create("long-ago", &decision("Use it again")).ok();
    assert_eq!(status(&env, "long-ago"), "active");
}

#[test]
fn what_retirement_says_of_a_store_that_git_moved_is_an_error_not_a_loss() {
    let env = with_record();
    let unknown = target("gone");
    for (action, code) in [
        ("update", "UPDATE_ERROR"),
        ("delete", "DELETE_ERROR"),
        ("archive", "ARCHIVE_ERROR"),
        ("unarchive", "UNARCHIVE_ERROR"),
        ("restore", "RESTORE_ERROR"),
    ] {
        let input = env.input(&decision("x"));
        let ran = env.run(&["record", "write", "--action", action, "--target", &unknown, "--input", &input]);
        assert_eq!((ran.kind(), ran.code), (code, Some(1)), "{ran:?}");
        assert!(ran.stdout.contains(&format!("target: {unknown}\n")) && ran.stdout.contains("fix: "));
    }
    assert!(!env.memory("decisions/gone.json").exists());
    assert!(env.project().join(ROOT).exists());
}
