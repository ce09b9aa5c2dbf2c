//! Settings: where each comes from, how they are changed, and that the ones older tools never read do something.
//!
//! Comes in: layers, environment, flags. Goes out: nothing, if the nearest counts and every setting is felt.

use crate::env::{ROOT, TestEnv, decision, target};
use serde_json::{Value, json};

fn settings(env: &TestEnv) -> Value {
    serde_json::from_slice(&std::fs::read(env.memory("memory-config.json")).unwrap()).unwrap()
}

fn origin(env: &TestEnv, key: &str) -> (Value, String) {
    let got = env.run(&["config", "get", key, "--json"]).ok().json();
    (got["value"].clone(), got["origin"].as_str().unwrap().to_owned())
}

#[test]
fn the_nearest_layer_counts_and_every_value_names_its_origin() {
    let mut env = TestEnv::ready();
    let key = "triage.max_messages";
    assert_eq!(origin(&env, key), (json!(50), "default".into()));
    env.run(&["config", "set", "--user", key, "60"]).ok();
    assert_eq!(origin(&env, key), (json!(60), "user".into()));
    env.run(&["config", "set", key, "70"]).ok();
    assert_eq!(origin(&env, key), (json!(70), "project".into()));
    env.set("HEIRLOOM_SET_TRIAGE__MAX_MESSAGES", "80");
    assert_eq!(origin(&env, key), (json!(80), "environment".into()));
    let flagged = env.run(&["config", "get", key, "--json", "--set", "triage.max_messages=90"]).ok().json();
    assert_eq!((&flagged["value"], &flagged["origin"]), (&json!(90), &json!("flag")));
    let listed = env.run(&["config", "list", "--json"]).ok().json();
    assert!(listed.as_array().unwrap().iter().any(|v| v["name"] == key && v["origin"] == "environment"));
    assert!(env.run(&["config", "list"]).ok().stdout.contains("WHAT IT DOES"));
}

#[test]
fn setting_is_strict_and_unsetting_gives_the_default_back() {
    let env = TestEnv::ready();
    for (key, value) in [
        ("retrieval.max_injct", "3"),
        ("retrieval.max_inject", "300"),
        ("retrieval.max_inject", "many"),
        ("retrieval.enabled", "yes"),
        ("retrieval.match_strategy", "magic"),
        ("categories.decision.folder", "../up"),
        ("categories.Lesson.enabled", "true"),
    ] {
        env.run(&["config", "set", key, value]).fails_with("CONFIG_ERROR", 1);
    }
    assert!(env.run(&["config", "set", "retrieval.max_injct", "3"]).stderr.contains("retrieval.max_inject"));
    env.run(&["config", "set", "retrieval.max_inject", "3"]).ok();
    assert_eq!(settings(&env)["retrieval"]["max_inject"], 3);
    env.run(&["config", "unset", "retrieval.max_inject"]).ok();
    assert_eq!(origin(&env, "retrieval.max_inject"), (json!(5), "default".into()));
    env.run(&["config", "unset", "retrieval.max_inject"]).fails_with("NOT_FOUND", 3);
    env.run(&["config", "get", "no.such.key"]).fails_with("CONFIG_ERROR", 1);
    env.run(&["config", "get", "categories.decision.description"]).fails_with("NOT_FOUND", 3);
}

#[test]
fn a_broken_settings_file_is_named_and_not_overwritten() {
    let env = TestEnv::ready();
    env.write(format!("{ROOT}/memory-config.json"), "{ broken");
    assert!(env.run(&["list"]).ok().stderr.contains("the file is ignored"));
    env.run(&["config", "set", "retrieval.max_inject", "3"]).fails_with("CONFIG_ERROR", 1);
    assert_eq!(std::fs::read(env.memory("memory-config.json")).unwrap(), b"{ broken");
    assert_eq!(env.run(&["verify"]).code, Some(1));
}

#[test]
fn an_unknown_key_costs_only_itself_and_is_named() {
    let env = TestEnv::ready();
    env.run(&["config", "set", "retrieval.max_inject", "3"]).ok();
    let mut document = settings(&env);
    document["retreival"] = json!({});
    document["retrieval"]["enabled"] = json!(true);
    env.write(format!("{ROOT}/memory-config.json"), document.to_string());
    assert!(env.run(&["list"]).ok().stderr.contains("retreival"));
    assert_eq!(origin(&env, "retrieval.max_inject").0, json!(3));
}

#[test]
fn a_category_of_ones_own_gets_the_same_treatment() {
    let env = TestEnv::ready();
    env.run(&[
        "config",
        "category",
        "add",
        "meeting_note",
        "--field",
        "attendees:list:required",
        "--field",
        "text",
        "--description",
        "what was said in meetings",
    ])
    .ok();
    let added = env.run(&[
        "add",
        "meeting_note",
        "Release moved",
        "-f",
        "attendees=Ann",
        "-f",
        "text=To May",
        "--json",
    ]);
    assert_eq!(added.ok().json()["path"], ".claude/memory/meeting-note/release-moved.json");
    env.run(&["add", "meeting_note", "Other", "-f", "colour=red"]).fails_with("VALIDATION_ERROR", 1);
    env.run(&["verify"]).ok();
    assert!(env.index()[0].starts_with("- [MEETING_NOTE] Release moved"));
    let block = env.run(&["recall", "when did the release move?"]).ok().stdout;
    assert!(block.contains("descriptions=\"meeting_note=what was said in meetings\""), "{block}");
    env.run(&["config", "category", "add", "meeting_note"]).fails_with("CONFIG_ERROR", 1);
    env.run(&["config", "category", "add", "other", "--folder", "decisions"]).fails_with("CONFIG_ERROR", 1);
    env.run(&["config", "category", "add", "Bad-Name"]).fails_with("CONFIG_ERROR", 1);
    env.run(&["config", "category", "disable", "nothing"]).fails_with("NOT_FOUND", 3);
}

#[test]
fn a_category_switched_off_takes_no_records_and_is_not_recalled_but_keeps_its_files() {
    let env = TestEnv::ready();
    env.create("subject", &decision("Use PostgreSQL for orders")).ok();
    env.run(&["config", "category", "disable", "decision"]).ok();
    env.run(&["add", "decision", "Use Redis because it is fast"]).fails_with("CONFIG_ERROR", 1);
    assert_eq!(env.run(&["recall", "where do orders live in PostgreSQL"]).ok().stdout, "");
    assert!(env.memory("decisions/subject.json").exists());
    env.run(&["config", "category", "enable", "decision"]).ok();
    assert!(env.run(&["recall", "where do orders live in PostgreSQL"]).ok().stdout.contains("PostgreSQL"));
}

#[test]
fn memory_root_moves_the_shelves_and_record_follows_it() {
    let env = TestEnv::ready();
    env.run(&["config", "set", "memory_root", "docs/memory"]).ok();
    let added = env.run(&["add", "decision", "Use PostgreSQL because we need jsonb", "--json"]).ok().json();
    assert_eq!(added["path"], "docs/memory/decisions/use-postgresql.json");
    let place = "docs/memory/decisions/use-postgresql.json";
    env.run(&["record", "write", "--action", "delete", "--target", place]).ok();
    env.run(&["record", "write", "--action", "restore", "--target", place]).ok();
    env.run(&["record", "index", "--validate"]).ok();
    let found =
        env.run(&["record", "candidate", "--category", "decision", "--new-info", "PostgreSQL and jsonb"]);
    assert_eq!(found.ok().json()["candidate"]["path"], place);
    assert!(
        env.run(&["recall", "why PostgreSQL and jsonb?"]).ok().stdout.contains("source=\"docs/memory/\"")
    );
    assert!(!env.memory("index.md").exists());
}

#[test]
fn a_project_cannot_move_its_memory_out_of_itself() {
    let env = TestEnv::ready();
    env.write(format!("{ROOT}/memory-config.json"), json!({ "memory_root": "../elsewhere" }).to_string());
    let added = env.run(&["add", "decision", "Use PostgreSQL because we need jsonb"]);
    added.fails_with("PATH_ERROR", 1);
    assert!(added.stderr.contains("cannot move its memory outside"), "{added:?}");
    assert!(!env.project().join(target("use-postgresql")).exists(), "the default does not step in");
    assert!(!env.base().join("elsewhere").exists());
}

#[test]
fn max_memories_per_category_refuses_the_next_one_and_says_what_to_do() {
    let env = TestEnv::ready();
    env.run(&["config", "set", "max_memories_per_category", "2"]).ok();
    env.create("one", &decision("The first choice")).ok();
    env.create("two", &decision("The second choice")).ok();
    let full = env.create("three", &decision("The third choice"));
    assert_eq!((full.kind(), full.code), ("CAPACITY_ERROR", Some(1)), "{full:?}");
    assert!(
        full.stdout.contains("max_memories_per_category: 2")
            && full.stdout.contains("fix: retire or archive one")
    );
    assert!(!env.memory("decisions/three.json").exists());
    env.run(&["add", "tech_debt", "Restart it by hand because it leaks"]).ok();
    env.run(&["retire", "one"]).ok();
    env.create("three", &decision("The third choice")).ok();
    let refused = env.run(&["audit", "--json", "--verdict", "refuse"]).ok().json();
    assert_eq!(refused[0]["code"], "CAPACITY_ERROR");
}

#[test]
fn max_retained_keeps_the_newest_and_names_what_was_still_open() {
    let env = TestEnv::ready();
    for n in 1..=6 {
        env.run(&[
            "add",
            "session_summary",
            &format!("Session {n}"),
            "-f",
            "next_actions=go on",
            "-f",
            "outcome=partial",
        ])
        .ok();
    }
    let active = env.run(&["list", "--json", "--kind", "session_summary"]).ok().items();
    assert_eq!(active.as_array().unwrap().len(), 5);
    let retired = env.run(&["list", "--json", "--retired"]).ok().items();
    assert_eq!(retired[0]["id"], "session_summary:session-1");
    let seventh = env.run(&["add", "session_summary", "Session 7", "-f", "outcome=success"]).ok();
    assert!(seventh.stderr.contains("session-2.json` still lists 1 open points"), "{seventh:?}");
    env.run(&["record", "index", "--validate"]).ok();
}

#[test]
fn retention_days_lets_gc_retire_what_nobody_touched() {
    let env = TestEnv::ready();
    env.create("old", &decision("From January")).ok();
    env.create("new", &decision("From today")).ok();
    let mut record = env.decision("old");
    record["updated_at"] = json!("2025-01-01T00:00:00Z");
    env.write(target("old"), record.to_string());
    let mut record = env.decision("new");
    record["updated_at"] = json!(heirloom_core::time::format(jiff::Timestamp::now()));
    env.write(target("new"), record.to_string());
    env.run(&["gc"]).ok();
    assert_eq!(env.decision("old")["record_status"], "active", "0 days is never");
    env.run(&["config", "set", "categories.decision.retention_days", "90"]).ok();
    let report = env.run(&["gc", "--json"]).ok().json();
    assert_eq!(report["retired"], json!([target("old")]));
    assert_eq!(env.decision("old")["retired_reason"], "Not updated for 90 days");
    assert_eq!(env.decision("new")["record_status"], "active");
}

#[test]
fn archive_retired_moves_collected_files_to_the_archive() {
    let env = TestEnv::ready();
    assert_eq!(origin(&env, "delete.archive_retired").0, json!(true), "as init writes it");
    for round in ["first", "second"] {
        let mut document = decision(round);
        document["id"] = json!("gone");
        document["record_status"] = json!("retired");
        document["retired_at"] = json!("2025-01-01T00:00:00Z");
        env.write(target("gone"), document.to_string());
        let report = env.run(&["gc", "--json"]).ok().json();
        assert_eq!((&report["archived"], &report["deleted"]), (&json!([target("gone")]), &json!([])));
    }
    assert!(!env.memory("decisions/gone.json").exists());
    let kept = |name: &str| std::fs::read_to_string(env.memory("archive/decisions").join(name)).unwrap();
    assert!(kept("gone.json").contains("first") && kept("gone-2.json").contains("second"));
    assert_eq!(env.run(&["list", "--all", "--json"]).ok().items(), json!([]));
}

#[test]
fn auto_commit_makes_one_commit_per_change_of_memory_paths_only() {
    let env = TestEnv::new();
    env.git(&["init", "-q"]);
    env.run(&["init"]).ok();
    env.at_terminal(&["config", "set", "auto_commit", "true"], "").ok();
    env.write("src/main.rs", "fn main() {}");
    env.git(&["add", "src/main.rs"]);
    env.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    crate::env::finish(env.command("chmod").args(["+x", ".git/hooks/pre-commit"])).ok();
    env.create("subject", &decision("Use PostgreSQL for orders")).ok();
    env.run(&["retire", "subject"]).ok();
    let log = env.git(&["log", "--format=%s"]);
    assert_eq!(
        log.lines().collect::<Vec<_>>(),
        ["memory: retire subject", &format!("memory: create {}", target("subject"))]
    );
    let files = env.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    assert!(files.lines().all(|file| file.starts_with(ROOT)), "{files}");
    assert!(!files.contains(".local"), "{files}");
    assert_eq!(
        env.git(&["diff", "--cached", "--name-only"]),
        "src/main.rs\n",
        "what the owner staged stays staged"
    );
}

#[test]
fn a_failing_commit_never_fails_a_save() {
    let env = TestEnv::ready();
    let add = ["add", "decision", "Use PostgreSQL because we need jsonb", "--set", "auto_commit=true"];
    let saved = env.at_terminal(&add, "").ok();
    assert!(saved.stderr.contains("saved, but not committed"), "{saved:?}");
    assert!(env.project().join(target("use-postgresql")).exists());
}

#[test]
fn retrieval_settings_bound_what_is_recalled() {
    let env = TestEnv::ready();
    for n in 1..=7 {
        env.create(&format!("n{n}"), &decision(&format!("Orders choice {n}"))).ok();
    }
    let lines = |set: &str| {
        env.run(&["recall", "what about the orders choice", "--set", set]).ok().stdout.lines().count()
    };
    assert_eq!(lines("retrieval.max_inject=5"), 5 + 2);
    assert_eq!(lines("retrieval.max_inject=2"), 2 + 2);
    assert_eq!(lines("retrieval.max_inject=0"), 0);
    assert_eq!(lines("retrieval.enabled=false"), 0);
}
