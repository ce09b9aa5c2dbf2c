//! `record write` beyond the recorded cases: versions, merge rules, what an update keeps.
//!
//! Comes in: documents as agents write them. Goes out: nothing, if what must not be lost is not.

use crate::env::{TestEnv, creating, decision, target};
use serde_json::{Value, json};

fn with_record() -> TestEnv {
    let env = TestEnv::ready();
    env.create("subject", &decision("Use PostgreSQL for orders")).ok();
    env
}

/// The stored record with one more change entry, ready to be changed.
fn next(env: &TestEnv) -> Value {
    let mut document = env.decision("subject");
    let mut changes = document["changes"].as_array().cloned().unwrap_or_default();
    changes.push(json!({ "date": "2026-02-01", "summary": "Changed" }));
    document["changes"] = json!(changes);
    document
}

#[test]
fn a_change_made_meanwhile_is_noticed_by_token_and_by_md5() {
    let env = with_record();
    let bytes = std::fs::read(env.memory("decisions/subject.json")).unwrap();
    let hashes = [heirloom_core::hash::sha256(&bytes), heirloom_core::hash::md5(&bytes)];
    let stale = env.input(&next(&env));
    env.update("subject", &next(&env)).ok();
    for hash in &hashes {
        let place = target("subject");
        let call =
            ["record", "write", "--action", "update", "--target", &place, "--input", &stale, "--hash", hash];
        let ran = env.run(&call);
        // The stale document misses the new entry; either answer says that it is stale, and nothing is lost.
        assert!(["OCC_CONFLICT", "MERGE_ERROR"].contains(&ran.kind()), "{ran:?}");
        assert_eq!(ran.code, Some(1));
    }
    let fresh = env.input(&next(&env));
    let place = target("subject");
    let ran = env.run(&[
        "record", "write", "--action", "update", "--target", &place, "--input", &fresh, "--hash", &hashes[0],
    ]);
    assert_eq!(ran.kind(), "OCC_CONFLICT");
    for key in ["expected_hash: ", "current_hash: ", "fix: "] {
        assert!(ran.stdout.contains(key), "{ran:?}");
    }
    assert!(std::path::Path::new(&fresh).exists(), "what was not stored is not taken away");
}

#[test]
fn an_update_without_a_version_is_allowed_and_warned_about() {
    let env = with_record();
    let (place, input) = (target("subject"), env.input(&next(&env)));
    let ran = env.run(&["record", "write", "--action", "update", "--target", &place, "--input", &input]).ok();
    assert!(ran.stderr.contains("WARNING: no --hash"));
    assert!(!std::path::Path::new(&input).exists(), "the hand-over is taken away once it is stored");
}

#[test]
fn an_update_never_changes_what_belongs_to_the_record() {
    let env = with_record();
    let before = env.decision("subject");
    let mut document = next(&env);
    for (key, value) in [
        ("created_at", json!("1999-01-01")),
        ("id", json!("other")),
        ("category", json!("runbook")),
        ("record_status", json!("retired")),
        ("retired_at", json!("1999-01-01")),
        ("times_updated", json!(99)),
    ] {
        document[key] = value;
    }
    env.update("subject", &document).ok();
    let after = env.decision("subject");
    for key in ["created_at", "id", "category", "record_status", "retired_at"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    assert_eq!(after["times_updated"], 1);
}

#[test]
fn an_update_may_not_lose_tags_files_or_changes() {
    let env = with_record();
    env.write("kept.rs", "");
    let mut document = next(&env);
    document["related_files"] = json!(["kept.rs", "gone.rs"]);
    document["tags"] = json!(["storage", "orders"]);
    env.update("subject", &document).ok();
    type Lose = fn(&mut Value);
    let cases: [(&str, Lose); 3] = [
        ("tags", |d| d["tags"] = json!(["orders"])),
        ("related_files", |d| d["related_files"] = json!(["gone.rs"])),
        ("changes", |d| d["changes"] = json!([])),
    ];
    for (field, lose) in cases {
        let mut document = next(&env);
        lose(&mut document);
        let ran = env.update("subject", &document);
        assert_eq!((ran.kind(), ran.code), ("MERGE_ERROR", Some(1)), "{field}");
        assert!(
            ran.stdout.contains(&format!("field: {field}\n")) && ran.stdout.contains("\nrule: "),
            "{ran:?}"
        );
    }
    let mut document = next(&env);
    document["related_files"] = json!(["kept.rs"]);
    env.update("subject", &document).ok();
}

#[test]
fn the_fifty_newest_changes_are_kept() {
    let env = with_record();
    let mut document = next(&env);
    document["changes"] =
        (0..60).map(|n| json!({ "date": "2026-02-01", "summary": format!("entry {n}") })).collect();
    env.update("subject", &document).ok();
    let record = env.decision("subject");
    let changes = record["changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["summary"]), (50, &json!("entry 10")));
    env.update("subject", &next(&env)).ok();
    assert_eq!(env.decision("subject")["changes"][0]["summary"], "entry 11");
}

#[test]
fn a_count_at_its_limit_does_not_overflow() {
    let env = with_record();
    let mut record = env.decision("subject");
    record["times_updated"] = json!(u64::MAX);
    env.write(target("subject"), record.to_string());
    env.update("subject", &next(&env)).ok();
    assert_eq!(env.decision("subject")["times_updated"], json!(u64::MAX));
}

#[test]
fn numbers_and_unicode_survive_a_round_trip_byte_for_byte() {
    let env = TestEnv::ready();
    let mut document = decision("Größe: 日本語 𝔘𝔫𝔦");
    document["confidence"] = json!(0.1);
    document["content"]["context"] = json!("naïve “quotes” \\ / \u{1f980}");
    env.create("subject", &document).ok();
    let record = env.decision("subject");
    for key in ["title", "confidence", "content"] {
        assert_eq!(record[key], document[key], "{key}");
    }
    let text = std::fs::read_to_string(env.memory("decisions/subject.json")).unwrap();
    assert!(text.contains("日本語") && text.ends_with("}\n") && text.contains("\n  \"title\""));
}

#[test]
fn a_target_in_another_project_is_that_projects_business() {
    let env = with_record();
    let other = env.base().join("other");
    std::fs::create_dir_all(other.join(".claude/memory")).unwrap();
    let place = other.join(target("fresh")).display().to_string();
    let input = env.input(&decision("A fresh choice"));
    env.run(&creating(&place, &input)).ok();
    assert!(other.join(target("fresh")).exists());
    assert_eq!(env.index().len(), 1);
    let index = std::fs::read_to_string(other.join(".claude/memory/index.md")).unwrap();
    assert!(index.contains(&format!(" -> {}", target("fresh"))));
}

#[test]
fn the_index_tools_answer_without_an_index() {
    let env = TestEnv::ready();
    let validate = env.run(&["record", "index", "--validate"]);
    assert_eq!(validate.code, Some(1));
    assert!(validate.stdout.contains("index.md does not exist"));
    assert!(env.run(&["record", "index", "--query", "x"]).ok().stdout.contains("does not exist"));
    assert!(env.run(&["record", "index", "--health"]).ok().stdout.contains("NEEDS ATTENTION"));
    assert!(env.run(&["record", "index", "--rebuild"]).ok().stdout.contains("No active memories"));
    let nowhere = env.run(&["record", "index", "--rebuild", "--root", "/nonexistent/x"]);
    assert_eq!(nowhere.code, Some(1));
}
