//! Records by the rules of their format that stand in no list of examples: health, tags at the cap, fields that never change.

use crate::env::{TestEnv, decision, target};
use serde_json::{Value, json};

fn tags(names: &[&str]) -> Vec<String> {
    let base = (0..12 - names.len().min(12)).map(|n| format!("t{n:02}"));
    base.chain(names.iter().map(|name| (*name).to_owned())).collect()
}

fn twelve() -> Vec<String> {
    (0..12).map(|n| format!("t{n:02}")).collect()
}

/// A stored decision with these tags, and the update that would give it others.
fn with_tags(stored: &[String], new: &[String]) -> (TestEnv, crate::env::Ran) {
    let env = TestEnv::ready();
    let mut document = decision("Use one queue");
    document["tags"] = json!(stored);
    env.create("use-one-queue", &document).ok();
    document["tags"] = json!(new);
    document["changes"] = json!([{ "date": "2026-02-01", "summary": "Edited" }]);
    let ran = env.update("use-one-queue", &document);
    (env, ran)
}

#[test]
fn a_record_without_a_category_is_listed_under_its_folder() {
    for category in [Value::Null, json!("")] {
        let env = TestEnv::ready();
        let mut document = decision("Use one queue");
        document.as_object_mut().unwrap().remove("category");
        if category == json!("") {
            document["category"] = category;
        }
        env.write(target("use-one-queue"), document.to_string());
        env.run(&["record", "index", "--rebuild"]).ok();
        assert_eq!(
            env.index(),
            ["- [DECISION] Use one queue -> .claude/memory/decisions/use-one-queue.json #tags:storage"]
        );
        assert!(env.run(&["record", "index", "--health"]).ok().stdout.contains("DECISION: 1"));
        assert!(env.run(&["list"]).ok().stdout.contains("decision:use-one-queue"));
    }
}

#[test]
fn health_asks_for_attention_where_a_record_changes_all_the_time_retired_or_not() {
    for (times, status, attention) in [(5, "active", false), (6, "active", true), (6, "retired", true)] {
        let env = TestEnv::ready();
        let mut document = decision("Use one queue");
        document["times_updated"] = json!(times);
        document["record_status"] = json!(status);
        env.write(target("use-one-queue"), document.to_string());
        env.write(target("other"), decision("Use another").to_string());
        env.run(&["record", "index", "--rebuild"]).ok();
        let said = env.run(&["record", "index", "--health"]).ok().stdout;
        assert_eq!(said.contains("NEEDS ATTENTION"), attention, "{times} {status}: {said}");
        assert_eq!(said.contains("GOOD"), !attention, "{said}");
        assert!(env.run(&["status", "--json"]).ok().json()["index_in_sync"].as_bool().unwrap());
    }
}

#[test]
fn tags_that_go_at_the_cap_without_another_coming_name_their_rule() {
    let (_, ran) = with_tags(&twelve(), &twelve()[..10]);
    assert_eq!((ran.code, ran.kind()), (Some(1), "MERGE_ERROR"));
    assert!(ran.stdout.contains("rule: no net shrink without addition"), "{}", ran.stdout);
    assert!(ran.stdout.contains("removed: [\"t10\",\"t11\"]"), "{}", ran.stdout);
    let (_, below) = with_tags(&twelve()[..11], &twelve()[..10]);
    assert!(below.stdout.contains("rule: grow-only"), "{}", below.stdout);
}

#[test]
fn at_the_cap_the_alphabet_says_which_tag_goes() {
    let more = |name: &str| [twelve(), vec![name.to_owned()]].concat();
    let (env, ran) = with_tags(&twelve(), &more("aaa"));
    ran.ok();
    let stored = env.decision("use-one-queue");
    assert_eq!(stored["tags"], json!([vec!["aaa".to_owned()], twelve()[..11].to_vec()].concat()));
    assert_eq!(stored["changes"][1]["old_value"], json!(["t11"]));
    let (env, ran) = with_tags(&twelve(), &more("zzz"));
    ran.ok();
    assert_eq!(env.decision("use-one-queue")["tags"], json!(twelve()));
    // Below the cap old tags come first.
    let eleven = twelve()[..11].to_vec();
    let (env, ran) = with_tags(&eleven, &[eleven.clone(), vec!["aaa".into(), "bbb".into()]].concat());
    ran.ok();
    let stored = env.decision("use-one-queue")["tags"].clone();
    assert!(eleven.iter().all(|tag| stored.as_array().unwrap().contains(&json!(tag))), "{stored}");
    assert_eq!(tags(&["x"]).len(), 12);
}

#[test]
fn an_empty_id_is_wrong_and_is_not_put_right() {
    let env = TestEnv::ready();
    let mut document = decision("Use one queue");
    document["id"] = json!("");
    let ran = env.create("use-one-queue", &document);
    assert_eq!((ran.code, ran.kind()), (Some(1), "VALIDATION_ERROR"), "{ran:?}");
    assert!(ran.stdout.contains("field: id") && !ran.stderr.contains("AUTO-FIX"), "{ran:?}");
    document["id"] = json!("Use ONE queue!");
    let ran = env.create("use-one-queue", &document).ok();
    assert!(ran.stderr.contains("[AUTO-FIX] id"), "{ran:?}");
}

#[test]
fn a_value_that_the_stored_file_lacks_is_a_change_of_what_never_changes() {
    for field in ["created_at", "schema_version"] {
        let env = TestEnv::ready();
        let mut stored = decision("Use one queue");
        stored.as_object_mut().unwrap().remove(field);
        env.write(target("use-one-queue"), stored.to_string());
        let mut new = decision("Use one queue");
        new["content"]["context"] = json!("Something else");
        let ran = env.update("use-one-queue", &new);
        assert_eq!((ran.code, ran.kind()), (Some(1), "MERGE_ERROR"), "{field}: {ran:?}");
        assert!(ran.stdout.contains(&format!("field: {field}")) && ran.stdout.contains("rule: immutable"));
        assert!(ran.stdout.contains("old: ") && ran.stdout.contains("new: "), "{}", ran.stdout);
    }
    // What only the program puts right is nobody's change.
    let env = TestEnv::ready();
    let mut stored = decision("Use one queue");
    stored.as_object_mut().unwrap().remove("schema_version");
    env.write(target("use-one-queue"), stored.to_string());
    stored["content"]["context"] = json!("Something else");
    env.update("use-one-queue", &stored).ok();
    assert_eq!(env.decision("use-one-queue")["schema_version"], "1.0");
}

#[test]
fn a_target_is_answered_in_its_plain_form() {
    let env = TestEnv::ready();
    let input = env.input(&decision("Use one queue"));
    let typed = "./.claude/memory//decisions/./use-one-queue.json";
    let plain = target("use-one-queue");
    let made = env.run(&crate::env::creating(typed, &input)).ok().json();
    assert_eq!(made["target"], plain.as_str());
    let mut new = decision("Prefer many small queues everywhere");
    new["changes"] = json!([{ "date": "2026-02-01", "summary": "Edited" }]);
    let input = env.input(&new);
    let args = ["record", "write", "--action", "update", "--target", typed, "--input", &input];
    let renamed = env.run(&args).ok().json();
    assert_eq!(renamed["renamed_from"], plain.as_str());
    assert!(renamed["target"].as_str().unwrap().starts_with(".claude/"), "{renamed}");
    let gone = env.run(&[
        "record",
        "write",
        "--action",
        "delete",
        "--target",
        "./.claude/memory/decisions/none.json",
    ]);
    assert!(gone.stdout.contains("target: .claude/memory/decisions/none.json"), "{gone:?}");
}

#[test]
fn transcript_content_may_be_a_list_of_texts() {
    let env = TestEnv::ready();
    let file = env.scratch().join("t.jsonl");
    let line = json!({ "type": "assistant", "content": ["We decided A because B", 7, null, "We chose C because D"] });
    std::fs::write(&file, format!("{line}\n")).unwrap();
    let event = json!({ "transcript_path": file, "cwd": env.project() });
    let ran = env.run_with(&["hook", "stop"], event.to_string().as_bytes());
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("- [DECISION] We decided A because B"), "{ran:?}");
}

#[test]
fn a_threshold_of_nothing_gives_no_empty_heading() {
    let env = TestEnv::ready();
    let settings = json!({ "triage": { "thresholds": { "decision": 0, "runbook": -1 } } });
    env.write(".claude/memory/memory-config.json", settings.to_string());
    let file = env.scratch().join("t.jsonl");
    let line = json!({ "type": "assistant", "content": "The sky is blue today" });
    std::fs::write(&file, format!("{line}\n")).unwrap();
    let event = json!({ "transcript_path": file, "cwd": env.project() });
    let ran = env.run_with(&["hook", "stop"], event.to_string().as_bytes());
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let data = ran.stderr.split("<triage_data>").nth(1).unwrap().split("</triage_data>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let kinds: Vec<&str> =
        data["categories"].as_array().unwrap().iter().map(|c| c["category"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["decision", "runbook"]);
    for found in data["categories"].as_array().unwrap() {
        let text = std::fs::read_to_string(found["context_file"].as_str().unwrap()).unwrap();
        assert!(text.ends_with("\n\n<transcript_data>\n</transcript_data>"), "{text}");
    }
}

#[test]
fn index_lines_with_extra_blanks_are_read() {
    let env = TestEnv::ready();
    env.write(target("redis"), decision("Redis for carts").to_string());
    let line =
        "-  [DECISION]   Redis for carts   ->   .claude/memory/decisions/redis.json   #tags:carts , redis";
    env.write(env.memory("index.md"), format!("# Memory Index\n\n{line}\n"));
    let event = json!({ "user_prompt": "what about redis here", "cwd": env.project() });
    let block = env.run_with(&["hook", "prompt"], event.to_string().as_bytes()).ok().stdout;
    assert!(
        block.contains(
            "- [DECISION] Redis for carts -> .claude/memory/decisions/redis.json #tags:carts,redis"
        ),
        "{block}"
    );
    let found =
        env.run(&["record", "candidate", "--category", "decision", "--new-info", "redis carts"]).ok().json();
    assert_eq!(found["candidate"]["title"], "Redis for carts");
    assert_eq!(found["candidate"]["tags"], json!(["carts", "redis"]));
}

#[test]
fn a_last_change_without_a_summary_is_an_unknown_one() {
    for (changes, said) in [
        (json!([{ "date": "2026-01-01" }]), "Unknown change"),
        (json!([{ "date": "2026-01-01", "summary": "first" }, { "date": "2026-01-02" }]), "Unknown change"),
        (json!([]), "Initial creation"),
        (json!([{ "date": "2026-01-01", "summary": "first" }]), "first"),
    ] {
        let env = TestEnv::ready();
        let mut document = decision("Redis for carts");
        document["changes"] = changes;
        env.write(target("redis"), document.to_string());
        env.run(&["record", "index", "--rebuild"]).ok();
        let found = env
            .run(&["record", "candidate", "--category", "decision", "--new-info", "redis carts"])
            .ok()
            .json();
        assert_eq!(found["candidate"]["excerpt"]["last_change_summary"], said);
    }
}

#[test]
fn a_wrong_field_says_what_to_do_about_it() {
    let env = TestEnv::ready();
    let mut document = decision("Use one queue");
    document["mood"] = json!("glad");
    document["content"]["status"] = json!("maybe");
    document["content"].as_object_mut().unwrap().remove("context");
    let said = env.create("use-one-queue", &document).stdout;
    for fix in ["fix: remove mood\n", "fix: add content.context\n", "fix: write content.status as "] {
        assert!(said.contains(fix), "{fix}: {said}");
    }
}
